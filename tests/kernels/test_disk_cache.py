"""Compiled code on disk: found again wherever the same sources lie, and never that of another signature."""

from __future__ import annotations

import ast
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import schedlab
from schedlab import kernels
from schedlab.kernels import disk_cache
from schedlab.kernels.disk_cache import KernelCache, digest_of_sources
from schedlab.kernels.numba_versions import Pipeline

PACKAGE = Path(schedlab.__file__).parent

CASES = [
    *(("site/site.py", True), ("cluster/sacctmgr.py", True), ("engine/reference/clock.py", True)),
    *(("engine/loop.py", False), ("engine/jobs/calendar.py", False), ("kernels/decorators.py", False)),
    ("workload/resources.py", False),  # of which kernels use constants
]


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(PACKAGE, tmp_path / "schedlab", ignore=shutil.ignore_patterns("__pycache__", "web")))


def test_the_same_sources_elsewhere_and_touched_have_the_same_digest(copy, tmp_path):
    before = digest_of_sources(PACKAGE, tmp_path / "memo")
    for file in copy.rglob("*.py"):
        os.utime(file, (1, 1))
    assert digest_of_sources(copy, tmp_path / "memo") == before


@pytest.mark.parametrize(("file", "same"), CASES)
def test_only_sources_that_kernels_depend_on_count(copy, tmp_path, file, same):
    before = digest_of_sources(copy, tmp_path / "memo")
    with (copy / file).open("a", encoding="utf-8") as source:
        source.write("ANOTHER = 1\n")
    assert (digest_of_sources(copy, tmp_path / "memo") == before) is same


def test_whatever_makes_a_kernel_of_a_function_makes_its_text_count():
    found = set()
    for file in (PACKAGE / "engine").rglob("*.py"):
        for part in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(part, ast.FunctionDef):
                nodes = (node for one in part.decorator_list for node in ast.walk(one))
                found |= {node.id for node in nodes if isinstance(node, ast.Name)} & set(kernels.__all__)
    assert "inner_kernel" in found
    assert found <= disk_cache._DECORATORS


def test_what_two_pipelines_compile_is_kept_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    places = set()
    for own in (True, False):
        monkeypatch.setattr(disk_cache, "pipeline", lambda own=own: Pipeline(own, "so"))
        places.add(disk_cache.cache_directory())
    assert len(places) == 2


def plus_one(values):
    return values + 1


def kept_in(directory):
    compiled: Any = kernels.kernel(plus_one)
    compiled._cache = KernelCache(plus_one, directory)
    return compiled


@pytest.mark.skipif(kernels.config.DISABLE_JIT, reason="nothing is compiled")
def test_two_processes_that_compile_two_signatures_at_once_keep_both(tmp_path):
    first, second = kept_in(tmp_path), kept_in(tmp_path)
    assert first(np.array([1])).tolist() == [2]
    assert second(np.array([0.5])).tolist() == [1.5]
    again = kept_in(tmp_path)
    assert again(np.array([1])).tolist() == [2]
    assert again(np.array([0.5])).tolist() == [1.5]
    assert sum(again.stats.cache_hits.values()) == 2
    assert not again.stats.cache_misses


@pytest.mark.skipif(kernels.config.DISABLE_JIT, reason="nothing is compiled")
def test_what_llvm_optimises_more_or_less_is_kept_apart(monkeypatch, tmp_path):
    for level in (1, 3, 1):
        monkeypatch.setattr(kernels.config, "OPT", type(kernels.config.OPT)(level))
        assert kept_in(tmp_path)(np.array([1])).tolist() == [2]
    assert len(list(tmp_path.glob("*.kernel"))) == 2


@pytest.mark.skipif(kernels.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_damaged_file_is_compiled_again(tmp_path):
    assert kept_in(tmp_path)(np.array([1])).tolist() == [2]
    for file in tmp_path.glob("*.kernel"):
        file.write_bytes(file.read_bytes()[:40])
    assert kept_in(tmp_path)(np.array([1])).tolist() == [2]


@pytest.mark.skipif(kernels.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("place", ["file", "link to nothing", "link to a file"])
def test_without_a_place_for_compiled_code_it_runs_all_the_same(tmp_path, place):
    (tmp_path / "file").touch()
    (tmp_path / "link to nothing").symlink_to(tmp_path / "nothing")
    (tmp_path / "link to a file").symlink_to(tmp_path / "file")
    assert kept_in(tmp_path / place / "kernels")(np.array([1])).tolist() == [2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link to a file", "link to nothing"]
    told = kernels.why_not_kept(str(tmp_path / place / "kernels"))
    assert "set SCHEDLAB_CACHE to another directory" in told
    assert "cannot be made (" in told
