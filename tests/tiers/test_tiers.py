"""How tests are told apart by the CPU seconds that they take: on three tests, of which one takes long."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiers import recorded

TESTS = Path(__file__).resolve().parents[1]

CONFTEST = """
from pathlib import Path
import tiers
tiers.QUICK, tiers.TOO_LONG, tiers.RECORDED = 0.2, 0.4, Path("slow.txt")
pytest_plugins = ["tiers"]
"""

MODULE = """
import time
import pytest

def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def test_long():
    work(1.5)

@pytest.mark.slow
def test_long_by_nature():
    work(1.5)

def test_short():
    pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a small project whose quick tests take a fifth of a second."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(MODULE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: slow\n")
    return tmp_path


def run(project: Path, *words: str, **environment: str) -> str:
    """Return what pytest says at the end, with the kernels as plain Python."""
    usual = {name: value for name, value in os.environ.items() if name != "SCHEDLAB_RECORD_SLOW"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=project,
        env=usual | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parent)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_a_test_that_takes_too_long_fails_unless_it_is_slow(project: Path) -> None:
    said = run(project)
    assert "test_some.py::test_long - " in said
    assert "let `make tiers` record what is slow" in said
    assert "1 failed, 2 passed" in said


def test_what_was_slow_is_marked_from_then_on(project: Path) -> None:
    assert "1 failed, 1 passed, 1 deselected" in run(project, "-m", "not slow", SCHEDLAB_RECORD_SLOW="1")  # it is ended
    assert (project / "slow.txt").read_text() == "test_some.py::test_long\n"
    assert "1 passed, 2 deselected" in run(project, "-m", "not slow")


def test_what_is_no_longer_slow_is_forgotten_and_what_did_not_run_is_not(project: Path) -> None:
    (project / "slow.txt").write_text("test_others.py::test_long\ntest_some.py::test_short\n")
    run(project, "-m", "not slow", SCHEDLAB_RECORD_SLOW="1", PYTHONPATH=str(Path(__file__).parent))
    assert (project / "slow.txt").read_text() == "test_others.py::test_long\ntest_some.py::test_long\n"


def test_each_test_that_was_slow_still_exists() -> None:
    for name in recorded():
        file, _, rest = name.partition("::")
        function = rest.split("[")[0].split("::")[-1]
        assert f"def {function}(" in (TESTS.parent / file).read_text(encoding="utf-8"), f"run make tiers: no {name}"
