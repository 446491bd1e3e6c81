"""A snapshot is taken from Slurm's programs in PATH, as they are, and what one of them refuses is named."""

from __future__ import annotations

import json
import os

import pytest
from site_samples import NODES, QUEUE, RESERVATIONS

from schedlab.errors import InputError
from schedlab.when.shares_seen import read_priorities, read_usage
from schedlab.when.snapshots import SnapshotFiles, read_snapshot, take_snapshot


def program(directory, name, *lines):
    path = directory / name
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Programs called as Slurm's, which print files; sshare refuses."""
    for name, text in {"queue": QUEUE, "node": NODES, "reservation": RESERVATIONS}.items():
        (tmp_path / name).write_text(text)
    program(tmp_path, "squeue", f"cat {tmp_path}/queue")
    program(tmp_path, "scontrol", f"cat {tmp_path}/$2")
    program(tmp_path, "sprio", "echo '9|450'; echo '10|200'")
    program(tmp_path, "sshare", "echo 'sshare: error: Problem talking to the database' >&2", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_the_programs_in_path_are_asked(programs):
    found = take_snapshot()
    assert found.queue.jobs.job_id.tolist() == [7, 8, 9, 10]
    assert found.services == dict.fromkeys(("n1", "n2", "n3", "n4"), "in service")
    assert dict(zip(found.queue.records["job_id"], found.queue.records["priority"], strict=True))[9] == 450
    assert found.usage is None
    assert any("sshare" in note and "Problem talking to the database" in note for note in found.notes)


def test_without_squeue_or_where_it_fails_a_sentence_says_so(programs, monkeypatch):
    program(programs, "squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2", "exit 1")
    with pytest.raises(
        InputError, match=r"squeue --all --json fails \(slurm_load_jobs error: Unable to contact .*\): .* --squeue FILE"
    ):
        take_snapshot()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match="squeue is not in PATH"):
        take_snapshot()


def test_json_says_of_when_it_is_and_of_text_it_is_told_what_was_assumed(tmp_path):
    job = {"job_id": 1, "job_state": ["PENDING"], "submit_time": {"number": 1_000}, "cpus": {"number": 4}}
    whole = {"jobs": [job | {"time_limit": {"number": 5}}], "last_update": {"set": True, "number": 2_000}}
    path = tmp_path / "squeue.json"
    path.write_text(json.dumps(whole))
    assert read_snapshot(SnapshotFiles(path)).now == 2_000
    path.write_text(QUEUE)
    os.utime(path, (5_000, 5_000))
    found = read_snapshot(SnapshotFiles(path))
    assert found.now == 5_000
    assert any("does not say of when it is: taken to be of 1970-01-01 01:23:20 UTC" in note for note in found.notes)


def test_a_truncated_file_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "squeue.json"
    path.write_text('{"jobs": [{"job_id": 1, "job_st')
    with pytest.raises(InputError, match="not JSON"):
        read_snapshot(SnapshotFiles(path), 1)


def test_usage_of_users_is_read_from_text_and_json(tmp_path):
    text = "Account|User|RawShares|RawUsage\nroot||1|7\n lab||1|7\n  lab|ann|1|5\n  lab|bob|1|2\n"
    share = {"name": "ann", "parent": "lab", "type": ["USER"], "usage": 5}
    document = {"shares": {"shares": [{"name": "lab", "parent": "root", "type": ["ASSOCIATION"], "usage": 7}, share]}}
    (tmp_path / "text").write_text(text)
    (tmp_path / "json").write_text(json.dumps(document))
    assert read_usage(tmp_path / "text") == {("ann", "lab"): 5.0, ("bob", "lab"): 2.0}
    assert read_usage(tmp_path / "json") == {("ann", "lab"): 5.0}


@pytest.mark.parametrize(
    ("reader", "text", "words"),
    [
        (read_usage, "Account|User\nroot|\n", "RawUsage is missing"),
        (read_usage, "Account|User|RawUsage\nlab|ann\n", "line 2: 2 cells instead of 3"),
        (read_usage, "Account|User|RawUsage\nlab|ann|much\n", "'much', not a number"),
        (read_usage, "{}", "no list of shares"),
        (read_priorities, "7|5\nhello\n", "line 2: 'hello' is not NUMBER"),
        (read_priorities, "7|high\n", "'high', not a number"),
    ],
)
def test_what_is_not_understood_of_shares_and_priorities_is_said(tmp_path, reader, text, words):
    (tmp_path / "said").write_text(text)
    with pytest.raises(InputError, match=words):
        reader(tmp_path / "said")
