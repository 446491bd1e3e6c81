"""Kernels give the same results with any Numba: by schedlab's pipeline where it was tested, else by Numba's own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numba
import pytest
from numba.core.lowering import Lower

from schedlab.errors import InputError
from schedlab.kernels.numba_versions import OLDEST, chosen_pipeline, digest_table, refuse_older

PROJECT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("core_of_the_engine.py")


def versions_in_the_table() -> set[str]:
    return {version for digests in digest_table().values() for one in digests.values() for version in one.split()}


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@pytest.mark.parametrize("version", ["0.61.2", "0.62.0", "0.68.2rc1", "0.69.0dev0", "1.0", "unknown"])
def test_versions_that_may_work_are_taken(version):
    refuse_older(version)


@pytest.mark.parametrize("version", ["0.60.0", "0.61.0", "0.61.1rc1", "0.5"])
def test_older_versions_are_refused_in_one_sentence(version):
    with pytest.raises(InputError, match=f"numba {version} is installed") as caught:
        refuse_older(version)
    assert "\n" not in str(caught.value)


def test_the_installation_has_the_same_bound():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    (bound,) = (one for one in project["project"]["dependencies"] if one.startswith("numba"))
    assert bound == f"numba>={'.'.join(map(str, OLDEST))}"


def test_the_program_says_so_instead_of_failing_somewhere_in_a_kernel():
    pretend = "import numba; numba.__version__ = '0.60.0'; from schedlab.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", pretend, "demo"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "numba 0.60.0 is installed" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_table_has_each_function_of_each_tested_version_once():
    for name, digests in digest_table().items():
        listed = [version for versions in digests.values() for version in versions.split()]
        assert sorted(listed) == sorted(versions_in_the_table()), name


def test_a_tested_numba_is_taken_for_schedlabs_pipeline():
    pipeline = chosen_pipeline("", digest_table())
    assert pipeline.own is (numba.__version__ in versions_in_the_table())


def test_plain_can_be_asked_for_and_nothing_else():
    assert not chosen_pipeline("plain", digest_table()).own
    with pytest.raises(InputError, match="SCHEDLAB_COMPILER is 'fast'"):
        chosen_pipeline("fast", digest_table())


def test_a_numba_with_one_other_function_is_taken_for_the_plain_pipeline(monkeypatch):
    def storevar(self, value, name, argidx=None):
        """Not what was tested."""

    monkeypatch.setattr(Lower, "storevar", storevar)
    pipeline = chosen_pipeline("", digest_table())
    assert not pipeline.own
    assert f"numba {numba.__version__}" in pipeline.why


def test_a_numba_without_one_of_the_functions_is_taken_for_the_plain_pipeline(monkeypatch):
    monkeypatch.delattr(Lower, "storevar")
    assert not chosen_pipeline("", digest_table()).own


def test_functions_of_two_versions_do_not_make_a_tested_one():
    table = digest_table()
    first, second = list(table)[:2]
    mixed = {**table, first: dict.fromkeys(table[first], "1.0"), second: dict.fromkeys(table[second], "2.0")}
    assert not chosen_pipeline("", mixed).own


def printed(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_versions_say_how_kernels_are_compiled():
    lines = printed(sys.executable, "-m", "schedlab", "versions", SCHEDLAB_COMPILER="plain").splitlines()
    assert [line.split()[1:] for line in lines if line.startswith("compiler ")] == [
        ["plain", "(as", "SCHEDLAB_COMPILER", "says)"]
    ]


BY_THE_OLDEST = (0, 3, 7)
"""What the oldest Numba simulates, by the plain pipeline, of the kinds of the program; this Numba does the others.

Each kind is so compiled once by the plain pipeline, which takes up to a minute and a half.
"""


@pytest.fixture(scope="module")
def starts() -> list[str]:
    """The starts of small simulations of many kinds, compiled as here."""
    return printed(sys.executable, PROGRAM).splitlines()


@pytest.mark.slow
def test_the_plain_pipeline_gives_the_same_starts(starts):
    others = [number for number in range(len(starts)) if number not in BY_THE_OLDEST]
    found = printed(sys.executable, PROGRAM, *map(str, others), SCHEDLAB_COMPILER="plain")
    assert found.splitlines() == [starts[number] for number in others]


@pytest.mark.slow
@pytest.mark.parametrize(
    "version", [".".join(map(str, OLDEST)), *(end(versions_in_the_table(), key=as_numbers) for end in (min, max))]
)
def test_the_oldest_and_the_newest_numba_give_the_same_starts(version, starts, tmp_path):
    if version == numba.__version__:
        pytest.skip(f"numba {version} is what all other tests run with")
    others = tmp_path / "packages"  # Numba and its NumPy; all else is what is installed
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", others, f"numba=={version}"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"numba {version} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    path = os.pathsep.join((str(others), str(PROJECT / "src")))
    assert printed(sys.executable, "-c", "import numba; print(numba.__version__)", PYTHONPATH=path).strip() == version
    chosen = range(len(starts)) if version in versions_in_the_table() else BY_THE_OLDEST
    found = printed(sys.executable, PROGRAM, *map(str, chosen), PYTHONPATH=path)
    assert found.splitlines() == [starts[number] for number in chosen]
