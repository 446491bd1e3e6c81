"""Accounting logs of Torque and PBS."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workload.files import read_workload
from schedlab.workload.torque import read_torque
from schedlab.workload.workload import Workload

APRIL = 1775037600
WORDS = {
    "user": "ann",
    "group": "staff",
    "jobname": "model.sh",
    "queue": "batch",
    "ctime": str(APRIL),
    "qtime": str(APRIL + 1),
    "etime": str(APRIL + 1),
    "start": str(APRIL + 300),
    "owner": "ann@login2",
    "exec_host": "n1/0+n1/1+n2/0+n2/1",
    "Resource_List.nodes": "2:ppn=2",
    "Resource_List.walltime": "02:00:00",
    "session": "77",
    "end": str(APRIL + 3900),
    "Exit_status": "0",
    "resources_used.cput": "02:00:00",
    "resources_used.mem": "4096kb",
}


def record(number: str = "7.head", kind: str = "E", **changes: str | None) -> str:
    words = WORDS | {name.replace("__", "."): value for name, value in changes.items()}
    message = " ".join(f"{name}={value}" for name, value in words.items() if value is not None)
    return f"04/01/2026 11:05:00;{kind};{number};{message}"


def read(directory: Path, *lines: str) -> Workload:
    path = directory / "20260401"
    path.write_text("\n".join(lines) + "\n")
    return read_torque(path)


def test_every_field_has_its_meaning(tmp_path: Path) -> None:
    jobs = read(tmp_path, record())
    found = {field: column.tolist() for field, column in jobs.to_frame().fillna(-1).items()}
    assert found == {
        "job_id": [7],
        "submit_time": [0],
        "wait_time": [300],
        "run_time": [3600],
        "allocated_processors": [4],
        "average_cpu_time": [1800.0],
        "used_memory": [1024],
        "requested_processors": [4],
        "requested_time": [7200],
        "requested_memory": [-1],
        "status": [1],
        "user_id": [1],
        "group_id": [1],
        "executable_id": [1],
        "queue_id": [1],
        "partition_id": [-1],
        "preceding_job_id": [-1],
        "think_time": [-1],
    }
    assert (jobs.name, jobs.start_time) == ("20260401", APRIL)
    assert {" User: 1 ann", " Group: 1 staff", " Queue: 1 batch"} <= set(jobs.header)


@pytest.mark.parametrize(
    ("hosts", "slots"),
    [
        ("n1/0", 1),
        ("n1/0*999999999+n2/0*999999999+n3/0*999999999", -1),
        ("n-1/0+n-1/1", 2),
        ("n1/0-15+n2/0-15", 32),
        ("n1/0-3,8+n2/5", 6),
        ("n1/0*16+n2/0*16", 32),
        ("n1/1*8", 8),
    ],
)
def test_slots_of_hosts_are_counted(tmp_path: Path, hosts: str, slots: int) -> None:
    assert read(tmp_path, record(exec_host=hosts)).allocated_processors.tolist() == [slots]


@pytest.mark.parametrize(
    ("changes", "processors"),
    [
        ({"Resource_List__nodes": "3:ppn=8"}, 24),
        ({"Resource_List__nodes": "n1:ppn=4+n2:bigmem:ppn=2"}, 6),
        ({"Resource_List__nodes": "5"}, 5),
        ({"Resource_List__ncpus": "48"}, 48),
        ({"Resource_List__nodes": None, "Resource_List__mppwidth": "96"}, 96),
        ({"Resource_List__nodes": None}, -1),
    ],
)
def test_without_hosts_the_request_counts(tmp_path: Path, changes: dict[str, str | None], processors: int) -> None:
    jobs = read(tmp_path, record(exec_host=None, **changes))
    assert (jobs.allocated_processors.tolist(), jobs.requested_processors.tolist()) == ([-1], [processors])


@pytest.mark.parametrize("hosts", ["n1/x", "n1", "n1/0+", "n1/0+n1/", "n1/0,+n2/1"])
def test_hosts_that_are_no_slots_are_refused(tmp_path: Path, hosts: str) -> None:
    with pytest.raises(InputError, match=r"line 1: exec_host is not written as n1/0\+n1/1"):
        read(tmp_path, record(exec_host=hosts))


def test_a_total_of_slots_comes_before_the_hosts(tmp_path: Path) -> None:
    assert read(tmp_path, record(total_execution_slots="12")).job_processors.tolist() == [12]


@pytest.mark.parametrize(("exit_status", "status"), [("0", 1), ("1", 0), ("-11", 0), ("271", 5)])
def test_exit_status(tmp_path: Path, exit_status: str, status: int) -> None:
    assert read(tmp_path, record(Exit_status=exit_status)).status.tolist() == [status]


def test_only_jobs_that_ended_count_and_the_rest_is_told(tmp_path: Path) -> None:
    others = [record(kind="S", end=None), "04/01/2026 11:04:00;Q;8.head;queue=batch"]
    jobs = read(tmp_path, *others, record(), record("8.head", start="0"), "")
    assert (jobs.job_id.tolist(), jobs.run_time.tolist(), jobs.wait_time.tolist()) == ([7, 8], [3600, -1], [300, -1])
    assert " Note: records of other types than E left out: 2" in jobs.header


def test_the_same_record_counts_once_and_the_lines_of_others_stay(tmp_path: Path) -> None:
    again = record(start=str(APRIL + 500))  # another run of the same job
    jobs = read(tmp_path, record(), record(), again)
    assert jobs.run_time.tolist() == [3600, 3400]
    assert " Note: in the file more than once, counted once: 1" in jobs.header
    with pytest.raises(InputError, match="line 3: the job ends before it starts"):
        read(tmp_path, record(), record(), record(end=str(APRIL)))


def test_a_limit_that_is_no_duration_is_unknown_and_told(tmp_path: Path) -> None:
    jobs = read(tmp_path, record(), record("8.head", Resource_List__walltime="long"))
    assert jobs.requested_time.tolist() == [7200, -1]
    assert " Note: limits that are no durations, taken as unknown: 1" in jobs.header


def test_arrays_are_numbered_from_1_and_limits_may_be_seconds(tmp_path: Path) -> None:
    jobs = read(tmp_path, record("9[1].head"), record("9[2].head", Resource_List__walltime="5400"))
    assert (jobs.job_id.tolist(), jobs.requested_time.tolist()) == ([1, 2], [7200, 5400])


def test_users_and_accounts(tmp_path: Path) -> None:
    jobs = read(tmp_path, record(user=None, owner="bob@login1"), record(account="ocean"))
    assert {" User: 1 bob", " User: 2 ann", " Group: 1 staff", " Group: 2 ocean"} <= set(jobs.header)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "the file is empty"),
        ([record(kind="S")], "no record of type E"),
        ([record(), "04/01/2026 11:05:00;E"], "line 2: not a record"),
        ([record(), record()[:60]], "line 2: ctime is missing; the line is truncated"),
        ([record(), record()[:200]], "line 2: end is missing; the line is truncated"),
        ([record(end=str(APRIL))], "line 1: the job ends before it starts"),
        ([record(), record(start="noon")], "line 2: start is not a Unix time"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, lines: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=rf"20260401.*{sentence}"):
        read(tmp_path, *lines)


def test_it_is_known_by_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "20260401").write_text("04/01/2026 11:04:00;Q;8.head;queue=batch\n" + record())
    assert read_workload(tmp_path / "20260401", processors=16).run_time.tolist() == [3600]


@pytest.mark.parametrize(
    ("changes", "gpus"),
    [
        ({"Resource_List__ngpus": "2", "Resource_List__select": "1:ncpus=4:ngpus=2"}, 2),
        ({"Resource_List__select": "2:ncpus=4:ngpus=2+1:ncpus=8"}, 4),
        ({"exec_vnode": "(n1:ncpus=4:ngpus=2:mem=8gb)+(n2:ncpus=4:ngpus=1)", "Resource_List__ngpus": "2"}, 3),
        ({"Resource_List__nodes": "2:ppn=4:gpus=2:shared"}, 4),
        ({"Resource_List__nodes": "n1:ppn=4:gpus=1+n2:ppn=4"}, 1),
        ({"exec_gpus": "n1-gpu/0+n1-gpu/1+n2-gpu/0"}, 3),
    ],
)
def test_gpus_of_pbs_and_torque_are_counted(tmp_path: Path, changes: dict[str, str], gpus: int) -> None:
    jobs = read(tmp_path, record(**changes))
    assert jobs.resources is not None
    assert jobs.resources.gpus.tolist() == [gpus]
    assert jobs.resources.tasks.tolist() == jobs.job_processors.tolist()


def test_a_log_without_gpus_has_no_resources_and_other_accelerators_are_noted(tmp_path: Path) -> None:
    assert read(tmp_path, record()).resources is None
    jobs = read(tmp_path, record(Resource_List__naccelerators="1"))
    assert " Note: ask for accelerators (naccelerators), which are not read: 1" in jobs.header
