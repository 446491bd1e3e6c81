"""JSON of Slurm's tools is told apart by its structure, in the notations of 21.08 and of later versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedlab.errors import InputError
from schedlab.workload.files import format_of, read_workload
from schedlab.workload.sacct import read_sacct
from schedlab.workload.squeue import read_squeue


def number(value: int | None, *, infinite: bool = False) -> dict[str, Any]:
    return {"set": value is not None, "infinite": infinite, "number": value or 0}


LATE: dict[str, Any] = {
    "account": "oc",
    "allocation_nodes": 2,
    "array": {"job_id": 0, "limits": {"max": {"running": {"tasks": 0}}}, "task_id": number(None), "task": ""},
    "association": {"account": "oc", "cluster": "c", "partition": "", "user": "ann", "id": 14},
    "cluster": "c",
    "constraints": "ib",
    "group": "g",
    "het": {"job_id": 0, "job_offset": number(None)},
    "job_id": 41,
    "name": "j",
    "nodes": "n[01-02]",
    "partition": "cpu",
    "qos": "normal",
    "required": {"CPUs": 8, "memory_per_cpu": number(512), "memory_per_node": number(None)},
    "reservation": {"id": 0, "name": ""},
    "state": {"current": ["COMPLETED"], "reason": "None"},
    "steps": [{}, {}],
    "submit_line": "sbatch --switches=1 job.sh",
    "time": {
        "elapsed": 3600,
        "eligible": 1_770_000_000,
        "end": 1_770_004_200,
        "start": 1_770_000_600,
        "submission": 1_770_000_000,
        "limit": number(120),
        "total": {"seconds": 28_800, "microseconds": 0},
    },
    "tres": {
        "allocated": [
            {"type": "cpu", "name": "", "id": 1, "count": 8},
            {"type": "mem", "name": "", "id": 2, "count": 4096},
            {"type": "gres", "name": "gpu:a100", "id": 9, "count": 4},
        ],
        "requested": [
            {"type": "cpu", "name": "", "id": 1, "count": 8},
            {"type": "gres", "name": "gpu:a100", "id": 9, "count": 4},
        ],
    },
    "user": "ann",
}
"""A job of `sacct --json` of 23.02 and later."""

EARLY = LATE | {
    "array": {"job_id": 0, "limits": {"max": {"running": {"tasks": 0}}}, "task_id": None, "task": None},
    "het": {"job_id": 0, "job_offset": None},
    "required": {"CPUs": 8, "memory": 2**63 + 512},
    "reservation": {"id": 0, "name": 0},
    "state": {"current": "COMPLETED", "reason": "None"},
    "time": LATE["time"] | {"limit": 120},
}
"""The same job as 21.08 prints it."""

QUEUE = {"job_id": 7, "job_state": ["PENDING"], "submit_time": number(5), "cpus": number(4), "node_count": number(1)}


def written(directory: Path, *jobs: object, **others: object) -> Path:
    path = directory / "slurm.json"
    path.write_text(json.dumps({"meta": {"Slurm": {"release": "25.11.0"}}, "jobs": list(jobs)} | others))
    return path


def changed(job: dict[str, Any], **parts: dict[str, Any]) -> dict[str, Any]:
    """Return a job with some values within its objects changed."""
    return job | {name: {**job[name], **values} for name, values in parts.items()}


@pytest.mark.parametrize("job", [EARLY, LATE], ids=["21.08", "25.11"])
def test_accounting_of_all_versions_is_read_as_what_it_is(tmp_path: Path, job: dict[str, Any]) -> None:
    path = written(tmp_path, job)
    jobs = read_workload(path)
    assert format_of(path) == "sacct"
    assert (jobs.job_id[0], jobs.wait_time[0], jobs.run_time[0], jobs.requested_time[0]) == (41, 600, 3600, 7200)
    assert (jobs.job_processors[0], jobs.status[0], jobs.average_cpu_time[0]) == (8, 1, 3600.0)
    asked = jobs.resources
    assert asked is not None
    assert (asked.nodes[0], asked.memory_per_core[0], asked.gpus[0], asked.gpu_type.texts()) == (2, 512, 4, ["a100"])
    assert (asked.constraint.texts(), asked.switches[0], asked.reservation.texts()) == (["ib"], 1, [""])
    assert " Note: steps dropped: 2" in jobs.header


def test_states_arrays_and_heterogeneous_jobs_are_as_in_the_text(tmp_path: Path) -> None:
    out = changed(LATE | {"job_id": 42}, state={"current": ["TIMEOUT"]}, time={"limit": number(1), "elapsed": 60})
    endless = changed(LATE | {"job_id": 43}, time={"limit": number(None, infinite=True)})
    task = changed(
        LATE | {"job_id": 44}, array={"job_id": 40, "task_id": number(3), "limits": {"max": {"running": {"tasks": 2}}}}
    )
    never = {"start": 0, "end": 0, "elapsed": 0, "eligible": 0}
    waits = changed(
        LATE | {"job_id": 40, "nodes": "None assigned", "allocation_nodes": 0},
        array={"job_id": 40, "task": "4-9%2"},
        state={"current": ["PENDING"]},
        time=never,
    )
    parts = [changed(LATE | {"job_id": 50 + n}, het={"job_id": 50, "job_offset": number(n)}) for n in (0, 1)]
    jobs = read_workload(written(tmp_path, out, endless, task, waits, *parts), het_jobs="components")
    assert jobs.job_id.tolist() == [42, 43, 44, 40, 50, 51]
    assert (jobs.status.tolist(), jobs.run_time.tolist()) == ([0, 1, 1, -1, 1, 1], [60, 3600, 3600, -1, 3600, 3600])
    assert jobs.requested_time.tolist() == [60, -1, 7200, 7200, 7200, 7200]
    asked = jobs.resources
    assert asked is not None
    assert asked.het_job.texts() == ["", "", "", "", "50", "50"]
    assert (asked.array.texts()[2:4], asked.array_limit.tolist()[2:4]) == (["40", "40"], [2, 2])
    assert " Note: array tasks that never started, counted as one job: 1" in jobs.header


def test_memory_without_the_mark_was_asked_for_on_each_node(tmp_path: Path) -> None:
    jobs = read_workload(written(tmp_path, EARLY | {"required": {"CPUs": 8, "memory": 2000}}))
    assert jobs.resources is not None
    assert (jobs.resources.memory_per_node[0], jobs.resources.memory_per_core[0]) == (2000, 0)


def test_an_elapsed_time_may_be_what_marks_a_missing_number_elsewhere(tmp_path: Path) -> None:
    jobs = read_workload(written(tmp_path, changed(LATE, time={"elapsed": 65_535})))
    assert jobs.run_time.tolist() == [65_535]


def test_accounting_is_no_queue_and_a_queue_no_accounting(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is the output of sacct --json: accounting"):
        read_squeue(written(tmp_path, LATE))
    with pytest.raises(InputError, match="these are the jobs of a queue"):
        read_sacct(written(tmp_path, QUEUE))
    assert format_of(written(tmp_path, QUEUE)) == "squeue"


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"sinfo": [{"node": {}}]}, r"squeue --json or sacct --json.*this is the state of a cluster \(sinfo\)"),
        ({"nodes": []}, r"this is the state of a cluster \(nodes\)"),
        ({"associations": []}, r"this is a list of sacctmgr \(associations\)"),
    ],
)
def test_json_of_other_tools_is_refused_by_name(tmp_path: Path, keys: dict[str, object], sentence: str) -> None:
    path = tmp_path / "slurm.json"
    path.write_text(json.dumps(keys | {"errors": []}))
    with pytest.raises(InputError, match=sentence) as caught:
        read_workload(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        (changed(LATE, time={"elapsed": "long"}), "job 41: time.elapsed is 'long', not a whole number"),
        (changed(LATE, time={"submission": 0}), "job 41: Submit is unknown, but every job was submitted"),
        (LATE | {"required": 5}, "job 41: required is 5, not an object"),
        ({**LATE, "job_id": None}, "job 'None'|job None|job_id is missing"),
        (LATE | {"tres": {"allocated": 7}}, "job 41: "),
    ],
)
def test_a_bad_job_is_named(tmp_path: Path, job: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_workload(written(tmp_path, job))


def test_lenient_reading_needs_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one job per line"):
        read_workload(written(tmp_path, LATE), lenient=True)
