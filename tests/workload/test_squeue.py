"""What squeue shows at a moment, as text and as JSON of several versions of Slurm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workload.files import format_of, read_workload
from schedlab.workload.squeue import read_squeue

HEADER = (
    "JOBID|USER|ACCOUNT|PARTITION|QOS|STATE|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS|NODES|MIN_MEMORY|TRES_PER_NODE|"
    "FEATURES|NAME"
)
ROWS = [
    "7|ann|ocean|gpu|high|RUNNING|2026-04-01T10:00:00|2026-04-01T10:05:00|2:00:00|4|1|8G|gres:gpu:a100:2|ib|run",
    "8|bob|ocean|cpu|(null)|PENDING|2026-04-01T10:01:00|N/A|UNLIMITED|64|2|2Gc|N/A|(null)|a|b",
    "9|bob|ocean|cpu|(null)|COMPLETED|2026-04-01T10:01:00|2026-04-01T10:02:00|60|1|1|0|N/A|(null)|done",
]


def text_of(directory: Path, *lines: str) -> Path:
    path = directory / "now.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_text_with_a_header_is_read(tmp_path: Path) -> None:
    path = text_of(tmp_path, HEADER, *ROWS)
    jobs = read_workload(path)
    assert format_of(path) == "squeue"
    assert (jobs.job_id.tolist(), jobs.submit_time.tolist(), jobs.wait_time.tolist()) == ([7, 8], [0, 60], [300, -1])
    assert (jobs.run_time.tolist(), jobs.requested_time.tolist()) == ([-1, -1], [7200, -1])
    assert (jobs.requested_processors.tolist(), jobs.allocated_processors.tolist()) == ([4, 64], [4, -1])
    resources = jobs.resources
    assert resources is not None
    assert (resources.nodes.tolist(), resources.memory_per_node.tolist()) == ([1, 2], [8192, 0])
    assert (resources.memory_per_core.tolist(), resources.gpus_per_node.tolist()) == ([0, 2048], [2, 0])
    assert (resources.gpu_type.texts(), resources.qos.texts()) == (["a100", ""], ["high", ""])
    assert {" Note: running: 1", " Note: waiting: 1", " Note: ended, left out: 1"} <= set(jobs.header)


def test_times_may_be_of_another_zone(tmp_path: Path) -> None:
    path = text_of(tmp_path, HEADER, *ROWS)
    there = read_workload(path, timezone="Europe/Stockholm")
    assert read_squeue(path).start_time - there.start_time == 2 * 3600


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["   JOBID PARTITION     NAME", "       7       gpu      run"], "columns are truncated to a width"),
        (
            ["JOBID|CPUS", "7|4"],
            "SUBMIT_TIME is missing; create the file with TZ=UTC SLURM_BITSTR_LEN=0 squeue",
        ),
        ([HEADER, ROWS[0], "8|bob"], "line 3: 2 columns instead of 15"),
        ([HEADER, ROWS[0].replace("|4|", "|four|")], "line 2: CPUS is 'four', not a whole number"),
        ([HEADER, ROWS[0].replace("2026-04-01T10:00:00", "today")], "line 2: SUBMIT_TIME is 'today', not a time"),
        ([HEADER, ROWS[2]], "no job is waiting or running"),
    ],
)
def test_a_bad_dump_is_refused_in_one_sentence(tmp_path: Path, lines: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        read_squeue(text_of(tmp_path, *lines))
    assert "\n" not in str(caught.value)


def modern(number: int) -> dict[str, object]:
    return {"set": True, "infinite": False, "number": number}


MODERN = {
    "job_id": 7,
    "user_name": "ann",
    "account": "ocean",
    "partition": "gpu",
    "qos": "high",
    "name": "run",
    "job_state": ["PENDING"],
    "cpus": modern(16),
    "tasks": modern(8),
    "cpus_per_task": modern(2),
    "node_count": modern(2),
    "memory_per_node": modern(4096),
    "memory_per_cpu": {"set": False, "infinite": False, "number": 0},
    "time_limit": modern(90),
    "submit_time": modern(1_775_037_600),
    "start_time": {"set": True, "infinite": False, "number": 0},
    "tres_per_node": "gres/gpu:a100:2",
    "features": "ib",
    "exclusive": ["true"],
}
OLDER = MODERN | {
    "job_state": "RUNNING",
    "cpus": 16,
    "tasks": 8,
    "cpus_per_task": 2,
    "node_count": 2,
    "memory_per_node": 4096,
    "memory_per_cpu": None,
    "time_limit": 4_294_967_295,
    "submit_time": 1_775_037_660,
    "start_time": 1_775_037_700,
    "tres_per_node": "gres:gpu:a100:2",
    "exclusive": 0,
}


def json_of(directory: Path, *jobs: object) -> Path:
    path = directory / "now.json"
    path.write_text(json.dumps({"meta": {"Slurm": {"release": "24.05"}}, "jobs": jobs}))
    return path


def test_json_is_read_with_plain_numbers_and_with_objects(tmp_path: Path) -> None:
    path = json_of(tmp_path, MODERN, OLDER | {"job_id": 8})
    jobs = read_workload(path)
    assert format_of(path) == "squeue"
    assert (jobs.job_id.tolist(), jobs.submit_time.tolist(), jobs.wait_time.tolist()) == ([7, 8], [0, 60], [-1, 40])
    assert (jobs.requested_time.tolist(), jobs.requested_processors.tolist()) == ([5400, -1], [16, 16])
    resources = jobs.resources
    assert resources is not None
    assert (resources.tasks.tolist(), resources.cores_per_task.tolist()) == ([8, 8], [2, 2])
    assert (resources.gpus_per_node.tolist(), resources.gpu_type.texts()) == ([2, 2], ["a100", "a100"])
    assert (resources.exclusive.tolist(), resources.memory_per_node.tolist()) == ([1, 0], [4096, 4096])
    assert resources.constraint.texts() == ["ib", "ib"]


def test_json_has_a_record_for_all_waiting_tasks_of_an_array(tmp_path: Path) -> None:
    tasks = {"array_job_id": modern(2), "array_max_tasks": modern(5), "array_task_id": {"set": False, "number": 0}}
    one = {"array_job_id": 2, "array_max_tasks": 5, "array_task_id": 7, "array_task_string": ""}
    path = json_of(
        tmp_path, MODERN | tasks | {"job_id": 2, "array_task_string": "1-6:2%5"}, OLDER | one | {"job_id": 9}
    )
    jobs = read_workload(path)
    assert jobs.job_id.tolist() == [2, 2, 2, 9]
    assert jobs.resources is not None
    assert (jobs.resources.array.texts(), jobs.resources.array_limit.tolist()) == (["2"] * 4, [5] * 4)
    assert " Note: tasks of arrays, in 1 records of the file: 3" in jobs.header


def test_json_says_who_is_held_who_waits_for_others_and_who_begins_later(tmp_path: Path) -> None:
    held = MODERN | {"job_id": 7, "priority": modern(0), "hold": True, "state_reason": "JobHeldUser"}
    needs = MODERN | {"job_id": 8, "dependency": "afterok:10(unfulfilled)", "state_reason": "Dependency"}
    later = MODERN | {"job_id": 9, "eligible_time": modern(1_775_137_600), "state_reason": "BeginTime"}
    jobs = read_workload(json_of(tmp_path, held, needs, later, MODERN | {"job_id": 10, "state_reason": "Resources"}))
    assert (jobs.job_id.tolist(), jobs.submit_time.tolist()) == ([8, 10, 9], [0, 0, 100_000])
    assert jobs.dependencies is not None
    assert [jobs.dependencies.parents_of(row).tolist() for row in range(3)] == [[1], [], []]
    told = {"held, left out: 1", "waiting for other jobs: 1", "waiting for their begin time: 1", "waiting: 4"}
    assert {f" Note: {note}" for note in told} <= set(jobs.header)


@pytest.mark.parametrize(
    ("told", "whole"),
    [
        ({"shared": "none"}, True),
        ({"shared": None}, False),
        ({"exclusive": ["true"], "shared": ["none"], "oversubscribe": False}, True),
        ({"exclusive": [], "shared": [], "oversubscribe": True}, False),
        ({"shared": ["none"]}, True),
        ({"shared": [], "submit_line": "sbatch -N2 --exclusive -t60 job.sh"}, True),
        ({"shared": [], "submit_line": "sbatch -n4 job.sh --exclusive"}, False),
    ],
    ids=["22.05", "22.05, none", "v0.0.40", "v0.0.40, none", "v0.0.42", "v0.0.45", "v0.0.45, none"],
)
def test_whole_nodes_are_said_in_many_ways(tmp_path: Path, told: dict[str, object], whole: bool) -> None:
    job = {name: value for name, value in MODERN.items() if name != "exclusive"}
    jobs = read_workload(json_of(tmp_path, job | told))
    assert jobs.resources is not None
    assert jobs.resources.exclusive.tolist() == [int(whole)]


def test_components_in_json_are_one_job(tmp_path: Path) -> None:
    parts = [MODERN | {"job_id": 14 + n, "het_job_id": modern(14), "het_job_offset": modern(n)} for n in (0, 1)]
    jobs = read_workload(json_of(tmp_path, *parts))
    assert (jobs.job_id.tolist(), jobs.job_processors.tolist()) == ([14], [32])
    assert jobs.resources is not None
    assert (jobs.resources.tasks.tolist(), jobs.resources.gpus.tolist()) == ([32], [8])


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        (MODERN | {"cpus": "many"}, "job 7: cpus is 'many', not a whole number"),
        (MODERN | {"time_limit": 2**60}, "job 7: time_limit is 1152921504606846976, more than there can be"),
        (MODERN | {"tres_per_node": "gres/gpu:a:b:c"}, "job 7: --gres is"),
        ({}, "job 1: job_id is 'None', not a whole number"),
        (5, "job 1: "),
    ],
)
def test_a_bad_job_in_json_is_named(tmp_path: Path, job: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_squeue(json_of(tmp_path, job))


def test_json_without_jobs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "now.json"
    path.write_text('{"meta": {"Slurm": {}}, "nodes": []}')
    with pytest.raises(InputError, match="not the output of squeue --json"):
        read_workload(path)
