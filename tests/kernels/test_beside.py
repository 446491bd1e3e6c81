"""Parts of kernels that another process optimises: the same results, whatever becomes of that process."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedlab import kernels
from schedlab.kernels import beside, linked_pipeline
from schedlab.kernels.disk_cache import KernelCache

pytestmark = pytest.mark.skipif(
    kernels.config.DISABLE_JIT or not kernels.pipeline().own, reason="nothing is compiled by schedlab's own pipeline"
)

NUMBERS = np.arange(10)
"""Of which the kernels below add the squares, and 1 for each."""


def sum_of_squares() -> Any:
    """Return new kernels: one that Python calls, of a part that calls another part."""

    @kernels.inner_kernel
    def plus_one(value):
        return value + 1

    @kernels.compiled_beside
    def square(value):
        return plus_one(value * value)

    @kernels.compiled_beside
    def add_squares(values):
        total = square(values[0]) - square(values[0])
        for value in values:
            total += square(value)
        return total

    def of(values):
        return add_squares(values)

    return of


@pytest.fixture
def begun(monkeypatch):
    """The commands of the processes that have been begun."""
    begun, begin = [], subprocess.Popen

    def note(command, *rest, **others):
        begun.append(command)
        return begin(command, *rest, **others)

    monkeypatch.setattr(subprocess, "Popen", note)
    monkeypatch.setattr(linked_pipeline, "possible", lambda: True)
    return begun


@pytest.mark.parametrize("outermost", [kernels.bare_kernel, kernels.kernel], ids=["own", "of Numba"])
def test_parts_are_found_by_kernels_of_either_pipeline(begun, outermost):
    compiled = outermost(sum_of_squares())
    assert compiled(NUMBERS) == 295
    assert len(begun) == 2
    assert compiled(NUMBERS * 0.5) == 81.25
    assert len(begun) == 4


def test_a_process_that_fails_is_done_without(begun, monkeypatch):
    monkeypatch.setattr(beside, "get_executable", lambda: "/bin/false")
    assert kernels.bare_kernel(sum_of_squares())(NUMBERS) == 295
    assert len(begun) == 2


def test_a_process_that_cannot_begin_is_done_without(begun, monkeypatch):
    monkeypatch.setattr(beside, "get_executable", lambda: "/there/is/no/python")
    assert kernels.bare_kernel(sum_of_squares())(NUMBERS) == 295


def test_where_there_is_one_processor_nothing_is_optimised_beside(begun, monkeypatch):
    monkeypatch.setattr(linked_pipeline, "possible", lambda: False)
    assert kernels.bare_kernel(sum_of_squares())(NUMBERS) == 295
    assert begun == []


@pytest.mark.skipif(sys.platform != "linux", reason="it is possible on Linux only")
@pytest.mark.parametrize(
    ("able", "processors", "executable", "frozen", "machine"),
    [
        (True, 2, sys.executable, False, "x86_64"),
        (False, 1, sys.executable, False, "x86_64"),
        (False, 2, None, False, "x86_64"),
        (False, 2, sys.executable, True, "x86_64"),
        (False, 2, sys.executable, False, "aarch64"),
    ],
)
def test_it_takes_two_processors_a_python_and_a_machine_on_which_it_was_tried(
    monkeypatch, able, processors, executable, frozen, machine
):
    monkeypatch.setattr(kernels.config, "NUMBA_NUM_THREADS", processors)
    monkeypatch.setattr(beside, "get_executable", lambda: executable)
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert beside.possible() is able


@kernels.compiled_beside
def twice(value):
    return value + value


def twice_the_first(values):
    return twice(values[0])


def kept_in(directory: Path) -> Any:
    compiled: Any = kernels.bare_kernel(twice_the_first)
    compiled._cache = KernelCache(twice_the_first, directory)
    return compiled


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from {module} import NUMBERS, kept_in
compiled = kept_in(Path({directory!r}))
print(compiled(NUMBERS + 3), sum(compiled.stats.cache_hits.values()))
"""


def test_parts_are_kept_on_disk_with_the_kernel_that_calls_them(tmp_path):
    program = PROGRAM.format(here=str(Path(__file__).parent), module=Path(__file__).stem, directory=str(tmp_path))
    for found in (0, 1):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.stdout == f"6 {found}\n", done.stderr
