"""The lock: one holder at a time, and none that is dead."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from campaign_runs import python, wait_until

from schedlab.campaign.run import lock as lock_module
from schedlab.campaign.run.lock import SILENCE, Lock
from schedlab.errors import InputError, OutputError

HOLD = """
import sys
from schedlab.campaign.run.lock import Lock
with Lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""

TRY = """
import sys
from schedlab.campaign.run.lock import Lock
from schedlab.errors import InputError
sys.stdin.readline()
try:
    with Lock(sys.argv[1]):
        print("held", flush=True)
        sys.stdin.read()
except InputError as error:
    print(error, flush=True)
"""

PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}


def dead_holder(path: Path) -> int:
    """Have a process die that holds a lock, and return its number."""
    with python(HOLD, path, **PIPES) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        process.kill()
    assert path.exists()
    return process.pid


def held_by(path: Path, *, silent: float = 0, **holder: Any) -> Path:
    """Write the lock of somebody who touched it last some seconds ago."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"host": "elsewhere", "pid": 7, "started": "x", "token": "abc"} | holder))
    os.utime(path, (time.time() - silent,) * 2)
    return path


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error, Lock(path, "the directory"):
        pass
    return str(error.value)


def test_a_second_holder_is_refused_with_host_and_process_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    with Lock(path):
        message = (
            f"the directory is in use by process {os.getpid()} on {socket.gethostname()}: wait until it has finished"
        )
        assert refused(path).startswith(message)
        assert refused(path).startswith(message), "being refused does not free it"
    with Lock(path) as again:
        assert again.taken_over is None
    assert list(tmp_path.iterdir()) == []


def test_another_process_is_refused_as_long_as_the_first_one_lives(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    with python(HOLD, path, **PIPES) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "held\n"
        assert f"in use by process {process.pid} on" in refused(path)
        process.stdin.close()
        process.wait()
    with Lock(path):
        pass


def test_the_lock_of_a_process_that_was_killed_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    pid = dead_holder(path)
    with Lock(path) as lock:
        assert lock.taken_over is not None
        assert lock.taken_over["pid"] == pid
        assert lock.held()
        refused(path)
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_dead_but_not_yet_buried_holds_nothing(tmp_path: Path) -> None:
    with python(HOLD, tmp_path / "lock.json", **PIPES) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        wait_until(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z")
        with Lock(tmp_path / "lock.json"):
            pass


def test_a_process_that_got_the_number_of_a_dead_one_does_not_keep_its_lock(tmp_path: Path) -> None:
    path = held_by(tmp_path / "lock.json", host=socket.gethostname(), pid=os.getpid(), started="boot 17")
    with Lock(path) as lock:
        assert lock.taken_over is not None
        assert lock.taken_over["started"] == "boot 17"


def test_a_holder_on_another_host_counts_as_alive_until_it_fell_silent(tmp_path: Path) -> None:
    path = held_by(tmp_path / "lock.json", silent=SILENCE / 2)
    assert "in use by process 7 on elsewhere" in refused(path)
    with Lock(held_by(path, silent=SILENCE + 60)) as lock:
        assert lock.taken_over is not None
        assert lock.taken_over["host"] == "elsewhere"


@pytest.mark.parametrize("content", ["", "\0\0", "{", '{"host": "no', '{"host": 3}', '{"host": "\\ud800", "pid": 7}'])
def test_a_harmed_lock_counts_until_it_is_old(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lock.json"
    path.write_text(content)
    assert re.search("in use|cannot be read", refused(path))
    os.utime(path, (0, 0))
    with Lock(path) as lock:
        assert lock.held()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["null", "[1]", '"x"', '{"name": "my-project"}', "notes of mine\n"])
def test_a_file_that_is_not_a_lock_is_never_removed(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lock.json"
    path.write_text(content)
    os.utime(path, (0, 0))
    assert "lock.json was not written by schedlab; move it elsewhere" in refused(path)
    assert path.read_text() == content


def test_a_link_in_place_of_a_lock_is_refused_and_its_target_is_left_alone(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "lock.json"
    path.symlink_to(target)  # to nothing: whoever waited for it to go would wait for ever
    assert "was not written by schedlab" in refused(path)
    held_by(target, silent=SILENCE + 60)
    assert "was not written by schedlab" in refused(path)
    assert (path.is_symlink(), target.exists()) == (True, True)


def test_the_token_of_a_foreign_lock_leads_nowhere(tmp_path: Path) -> None:
    path = held_by(tmp_path / "run" / "lock.json", silent=SILENCE + 60, token="/../../x")
    with Lock(path) as lock:
        assert lock.held()
    assert [file.name for file in tmp_path.rglob("*")] == ["run"]


def test_a_holder_touches_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_module, "HEARTBEAT", 0.01)
    path = tmp_path / "lock.json"
    with Lock(path):
        os.utime(path, (0, 0))
        wait_until(lambda: time.time() - path.stat().st_mtime < 60)


def test_who_lost_the_lock_neither_touches_nor_removes_that_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_module, "HEARTBEAT", 0.01)
    path = tmp_path / "lock.json"
    with Lock(path) as lock:
        held_by(path, silent=1_000)
        time.sleep(0.1)
        assert not lock.held()
        assert time.time() - path.stat().st_mtime > 900
    assert json.loads(path.read_text())["host"] == "elsewhere"


def test_a_place_without_a_directory_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(OutputError, match="cannot lock the run: Not a directory"),
        Lock(tmp_path / "file" / "x", "the run"),
    ):
        pass


def test_of_many_who_race_for_the_lock_of_a_dead_process_exactly_one_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    for round_ in range(60):
        held_by(path, host=socket.gethostname(), token=f"dead{round_}")
        outcomes = _race(path, 8)
        assert sorted(outcomes) == ["held"] + ["refused"] * 7
        assert list(tmp_path.iterdir()) == []


def _race(path: Path, number: int) -> list[str]:
    """Have threads race for a lock; whoever gets it holds it until all have tried."""
    begin, end = threading.Barrier(number), threading.Barrier(number)
    outcomes: list[str] = []

    def run() -> None:
        begin.wait()
        try:
            with Lock(path) as lock:
                end.wait(30)
                outcomes.append("held" if lock.held() else "lost")
        except InputError as error:
            outcomes.append("refused" if f"process {os.getpid()} " in str(error) else str(error))
            end.wait(30)

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_of_two_processes_that_race_for_a_dead_lock_exactly_one_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    for round_ in range(3):
        held_by(path, host=socket.gethostname(), token=f"dead{round_}")
        with python(TRY, path, **PIPES) as one, python(TRY, path, **PIPES) as other:
            racers = (one, other)
            for racer in racers:
                assert racer.stdin is not None
                racer.stdin.write("\n")
                racer.stdin.flush()
            said = [racer.stdout.readline() for racer in racers if racer.stdout is not None]
            [winner] = [racer for racer, line in zip(racers, said, strict=True) if line == "held\n"]
            assert sum(f"in use by process {winner.pid} on" in line for line in said) == 1
