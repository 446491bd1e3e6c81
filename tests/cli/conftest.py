"""What the tests of the command line share: a way to run it, and a trace of three jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schedlab.cli.app import app

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Three jobs for four processors: strictly in order they start at 0, 10 and 20; EASY lets the third one in at 2."""
    jobs = ((0, 10, 3), (1, 10, 4), (2, 5, 1))
    lines = ["; MaxProcs: 4"]
    lines += [
        f"{number} {submit} -1 {run_time} {size} -1 -1 {size} {run_time} -1 1 {number} -1 -1 -1 -1 -1 -1"
        for number, (submit, run_time, size) in enumerate(jobs, start=1)
    ]
    path = tmp_path / "three.swf"
    path.write_text("\n".join(lines) + "\n")
    return path
