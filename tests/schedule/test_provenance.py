"""Where a result comes from: versions, and the fingerprint of its input."""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from schedlab.schedule import provenance as provenance_module
from schedlab.schedule.provenance import input_sha256, versions
from schedlab.workload.workload import FIELDS, Workload


def test_versions_are_those_that_are_installed() -> None:
    found = versions()
    assert found["python"] == platform.python_version()
    for library in ("schedlab", "numpy", "scipy", "numba", "pandas", "pyarrow"):
        assert found[library] == version(library)


def checkout(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a checkout with one file that takes the place of the one of this module."""
    module = directory / "src" / "schedlab" / "schedule" / "provenance.py"
    module.parent.mkdir(parents=True)
    module.write_text("a = 1\n")
    for variable in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(provenance_module, "__file__", str(module))
    return module


def git(directory: Path, *arguments: str) -> None:
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(directory), *person, *arguments], check=True, capture_output=True)


def test_a_checkout_has_a_commit_and_says_whether_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = checkout(tmp_path, monkeypatch)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    git(tmp_path, "tag", "v1.0")  # the name of a tag is no commit
    clean = versions()["commit"]
    assert re.fullmatch("[0-9a-f]{12}", clean)
    module.write_text("a = 2\n")
    assert versions()["commit"] == f"{clean}-dirty"


def test_what_is_installed_without_a_checkout_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(tmp_path, monkeypatch)
    assert "commit" not in versions()


def test_a_checkout_that_git_cannot_read_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(tmp_path, monkeypatch)
    (tmp_path / ".git").mkdir()
    assert "commit" not in versions()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "commit" not in versions()


def test_the_fingerprint_is_that_of_the_columns_in_their_order() -> None:
    jobs = Workload.from_columns({"submit_time": [0, 5], "run_time": [9, 8], "requested_processors": [1, 2]})
    columns = [np.asarray(getattr(jobs, field)) for field in FIELDS]
    content = b"".join(column.astype(column.dtype.newbyteorder("<")).tobytes() for column in columns)
    assert len(FIELDS) == 18
    assert input_sha256(jobs) == hashlib.sha256(content).hexdigest()
    assert input_sha256(jobs[::2]) == input_sha256(jobs[:1])


def test_the_fingerprint_of_jobs_with_distributions_changes_with_the_distributions_and_with_who_follows_them() -> None:
    jobs = Workload.from_columns({"submit_time": [0, 0], "run_time": [9, 9], "requested_processors": [1, 1]})
    distributions = ("uniform(0s,9s)", "uniform(0s,10s)")
    with_distributions = [
        jobs,
        jobs.replace(distribution=np.array([0, 1]), distributions=distributions),
        jobs.replace(distribution=np.array([0, 0]), distributions=distributions),
        jobs.replace(distribution=np.array([0, 1]), distributions=("uniform(0s,9s)", "uniform(0s,11s)")),
        jobs.replace(distribution=np.array([0, 1]), distributions=distributions, sequences=("9s", "10s")),
    ]
    assert len({input_sha256(one) for one in with_distributions}) == len(with_distributions)
