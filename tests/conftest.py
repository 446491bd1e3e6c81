"""What the tests share: the real traces and the published scores, where there are some, and places without room."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numba
import pytest
import typer.main
import typer.testing
from hypothesis import settings

# The first call of a kernel compiles it: a deadline per example would only measure that.
settings.register_profile("schedlab", deadline=None)
settings.load_profile("schedlab")

# The program is made of its options once: that takes longer than most commands do.
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]

pytest_plugins = ["tiers"]

PROJECT = Path(__file__).resolve().parent.parent
TESTS = PROJECT / "tests"
PACKAGE = PROJECT / "src" / "schedlab"

PLAIN = "engine"
"""Where tests run small simulations of many combinations of features, each of which would be compiled by itself."""

COMPILED = "kernels"
"""Where tests are of compilation itself."""

DOCUMENTATION = {"test_docs.py", "test_docstrings.py", "test_examples.py", "test_gallery.py", "test_interactive.py"}
"""Tests of what readers run, which is compiled for them; other tests beside the packages look at texts and types."""

DRAWN = {"report": "test_gantt.py"}
"""Of pages, only what one kernel draws is tested compiled, too: the others wait for browsers, not for kernels."""

NO_PROCESSES = {"cli", "papers", "report", "schedule", "scheduler", "test_docs.py"}
"""Where campaigns run in the process of the test: to start others takes seconds each time, and `campaign` tests it."""


def pytest_configure(config: pytest.Config) -> None:
    """Let plain Python divide by zero as compiled kernels do, without a warning."""
    if numba.config.DISABLE_JIT:
        config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as `compiled`, `plain` or `both` by where they are."""
    kernels = packages_with_kernels()
    for item in items:
        package = package_of(item.path)
        if package == COMPILED:
            item.add_marker(pytest.mark.compiled)
        elif package == PLAIN and not {"compiled", "both"} & set(item.keywords):
            item.add_marker(pytest.mark.plain)
        elif package in kernels | DOCUMENTATION and item.path.name == DRAWN.get(package, item.path.name):
            item.add_marker(pytest.mark.both)


def package_of(path: Path) -> str:
    """Return the package that tests belong to, or the name of their file."""
    return path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else ""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes run tests: one more than there are cores, as some wait for daemons and browsers."""
    from schedlab.campaign.run.executors import usable_cores

    return usable_cores() + 1


@pytest.fixture(autouse=True)
def _no_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if package_of(request.path) in NO_PROCESSES:
        from campaign_runs import Sent

        monkeypatch.setattr("schedlab.campaign.run.executors.LocalExecutor", Sent)


def packages_with_kernels() -> set[str]:
    """Return the packages that have kernels of their own."""
    using = "\nfrom schedlab.kernels import"
    files = (file for file in PACKAGE.rglob("*.py") if using in file.read_text(encoding="utf-8"))
    return {file.relative_to(PACKAGE).parts[0] for file in files}


@pytest.fixture(scope="session")
def traces() -> Path:
    """Return the directory of real traces, or skip: they are not part of the project."""
    directory = Path(os.environ.get("SCHEDLAB_TRACES", PROJECT.parent / "shared" / "traces"))
    if not directory.is_dir():
        pytest.skip(f"no traces in {directory}; set SCHEDLAB_TRACES to a directory with logs in SWF")
    return directory


@pytest.fixture(scope="session")
def workflow_files(traces: Path) -> Path:
    """Return the directory of published descriptions of workflows, beside the directory of traces, or skip."""
    directory = traces.parent / "workflows"
    if not (directory / "catalogue.csv").is_file():
        pytest.skip(f"no workflows: there is no {directory / 'catalogue.csv'}")
    return directory


@pytest.fixture(scope="session")
def published_scores(traces: Path) -> Path:
    """Return the file of scores published with SC'17, beside the directory of traces, or skip."""
    path = traces.parent / "sc17" / "score-distribution.csv.gz"
    if not path.is_file():
        pytest.skip(f"no published scores: there is no {path}")
    return path


@pytest.fixture(scope="session")
def sites(traces: Path) -> Path:
    """Return the directory of real sites' Slurm configurations, beside the directory of traces, or skip."""
    directory = traces.parent / "slurm-sites"
    if not directory.is_dir():
        pytest.skip(f"no configurations of sites: there is no {directory}")
    return directory


@contextmanager
def file_system(place: Path, options: str) -> Iterator[Path]:
    """Give a small file system, or skip: only the superuser may make one."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("one may not mount a small file system here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of 512 KiB."""
    with file_system(tmp_path / "tiny", "size=512k") as place:
        yield place


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system in which there is room for the names of files, and for nothing in them."""
    with file_system(tmp_path / "full", "size=64k") as place:
        (place / "filler").write_bytes(bytes(64 * 1024))
        yield place


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system in which nobody may write, root included."""
    with file_system(tmp_path / "read-only", "ro") as place:
        yield place
