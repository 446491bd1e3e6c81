"""A queue in the order of a policy, beside Slurm's own, in all forms in which Slurm prints a queue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schedlab.cli.app import app
from schedlab.errors import InputError
from schedlab.slurm.shadow import shadow

QUEUE = {
    "jobs": [
        {"job_id": 1, "job_state": "PENDING", "priority": 9, "time_limit": 60, "cpus": 4, "submit_time": 100},
        {"job_id": 2, "job_state": ["PENDING"], "priority": {"set": True, "number": 8}, "time_limit": 10, "cpus": 1,
         "submit_time": 200},
        {"job_id": 3, "job_state": "PENDING", "priority": 0, "time_limit": 1, "cpus": 1, "submit_time": 200},
        {"job_id": 4, "job_state": "RUNNING", "priority": 7, "time_limit": 1, "cpus": 1, "submit_time": 20},
    ]
}  # fmt: skip
TEXT = """JOBID|STATE|SUBMIT_TIME|TIME_LIMIT|CPUS|PRIORITY
1|PENDING|1970-01-01T00:01:40|1:00:00|4|9
2|PENDING|1970-01-01T00:03:20|10:00|1|8
3|PENDING|1970-01-01T00:03:20|1:00|1|0
4|RUNNING|1970-01-01T00:00:20|1:00|1|7
"""
RECORD = "JobId={} JobName=x\n   Priority={}\n   JobState={}\n   SubmitTime={}\n   TimeLimit={}\n   NumCPUs={}\n\n"


def scontrol() -> str:
    """Return the same queue as scontrol shows it."""
    lines = [line.split("|") for line in TEXT.splitlines()[1:]]
    return "".join(RECORD.format(job, priority, *rest) for job, *rest, priority in lines)


def test_a_queue_is_ordered_and_held_jobs_are_left_out() -> None:
    rows = shadow("saf", QUEUE)
    assert [(row["job"], row["rank"], row["slurm_rank"]) for row in rows] == [(2, 1, 2), (1, 2, 1)]


@pytest.mark.parametrize("form", ["json", "text", "scontrol"])
def test_all_forms_of_a_queue_have_the_same_shadow(tmp_path: Path, form: str) -> None:
    path = tmp_path / "queue"
    path.write_text({"json": json.dumps(QUEUE), "text": TEXT, "scontrol": scontrol()}[form])
    rows = shadow("saf", path)
    assert [(row["job"], row["slurm_rank"], row["limit"], row["processors"]) for row in rows] == [
        (2, 2, 600, 1),
        (1, 1, 3600, 4),
    ]


@pytest.mark.parametrize("limit", [None, 4_294_967_295, {"set": False, "infinite": True, "number": 0}])
def test_a_job_without_a_limit_is_ranked_as_the_longest_and_shown_as_unlimited(tmp_path: Path, limit: object) -> None:
    long = QUEUE["jobs"][0] | {"job_id": 5, "time_limit": 364 * 1440}
    queue = {"jobs": [long, QUEUE["jobs"][0] | {"job_id": 6, "time_limit": limit}]}
    assert [(row["job"], row["limit"]) for row in shadow("spf", queue)] == [(5, 364 * 86_400), (6, None)]
    path = tmp_path / "queue.json"
    path.write_text(json.dumps(queue))
    said = CliRunner().invoke(app, ["slurm", "shadow", "spf", "--queue", str(path)]).output
    assert "unlimited" in said
    assert "1 job without a limit: ranked as if for a year" in said


def test_what_is_no_queue_is_refused(tmp_path: Path) -> None:
    for other in ({}, {"jobs": ["1"]}):
        with pytest.raises(InputError, match=r"squeue --json|the queue, job 1"):
            shadow("saf", other)
    for number in (float("nan"), "many", []):
        with pytest.raises(InputError, match=r"job 1: cpus is .*, not a whole number"):
            shadow("saf", {"jobs": [QUEUE["jobs"][0] | {"cpus": number}]})
    with pytest.raises(InputError, match="this is the output of sacct --json"):
        shadow("saf", {"jobs": [{"job_id": 1, "time": {"submission": 5}, "state": {"current": ["PENDING"]}}]})


def test_a_queue_without_priorities_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "queue"
    path.write_text("\n".join(line.rpartition("|")[0] for line in TEXT.splitlines()))
    with pytest.raises(InputError, match="the queue has no priorities; create the file with TZ=UTC"):
        shadow("saf", path)
