"""Both engines give the answers that were worked out by hand in `conformance/`, and these make sense."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.schedule import Schedule
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.preceding import preceding_jobs
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import submit_workflows
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

pytestmark = pytest.mark.both

DIRECTORY = Path(__file__).resolve().parents[2] / "conformance"
COLUMNS = {"end": "end_time", "backfilled": "backfilled", "killed": "killed"}


class Case(NamedTuple):
    """A case of the suite: its jobs, the workflows beside them, and what is written about both."""

    name: str
    jobs: Workload
    workflows: list[tuple[Workflow, int]]
    expect: list[dict[str, Any]]
    wrong: list[dict[str, Any]]

    def workload(self, answer: dict[str, Any]) -> Workload:
        """Return the jobs with the workflows, submitted as an answer says."""
        if not self.workflows:
            return self.jobs
        submissions = [Submission(workflow, answer["submission_mode"], submit) for workflow, submit in self.workflows]
        return submit_workflows(self.jobs, submissions)

    def starts(self, answer: dict[str, Any]) -> list[int]:
        """Return the start of every job of the workload that an answer is about."""
        if not self.workflows:
            return list(answer["start"])
        jobs, tasks = iter(answer["start"]), iter(answer["tasks"])
        numbers = self.workload(answer).workflows.number
        return [next(jobs if number < 0 else tasks) for number in numbers]


def _load(path: Path) -> Case:
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    jobs = read_swf(path.with_suffix(".swf"))
    assert jobs.processors == case["processors"], path.name
    if case.get("preceding_jobs"):
        dependencies, dangling = preceding_jobs(jobs)
        assert dangling == 0, path.name
        jobs = jobs.replace(dependencies=dependencies)
    if "alternatives" in case:
        jobs = jobs.replace(alternatives=Alternatives.from_texts(case["alternatives"]))
    if "after" in case:
        links = [
            (entry["job"] - 1, parent - 1, delay)
            for entry in case["after"]
            for parent, delay in zip(entry["parents"], entry["delay"], strict=True)
        ]
        jobs = jobs.replace(dependencies=Dependencies.from_pairs(*zip(*links, strict=True), jobs=len(jobs)))
    workflows = [(_workflow(entry["tasks"]), entry["submit"]) for entry in case.get("workflow", [])]
    return Case(path.stem, jobs, workflows, case["expect"], case.get("wrong", []))


def _workflow(tasks: list[dict[str, Any]]) -> Workflow:
    return Workflow.arrange(
        "workflow",
        [Task(task["id"], task["processors"], task["run_time"], task["requested_time"]) for task in tasks],
        {task["id"]: task.get("after", []) for task in tasks},
    )


CASES = [_load(path) for path in sorted((DIRECTORY / "cases").glob("*.toml"))]


def _variant(answer: dict[str, Any]) -> tuple[str, str, str]:
    return answer["scheduler"], answer.get("events", "batched"), answer.get("submission_mode", "jobs")


EXPECTATIONS = [
    pytest.param(case, answer, id=f"{case.name}-{'-'.join(_variant(answer))}")
    for case in CASES
    for answer in case.expect
]


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["engine", "reference"])
@pytest.mark.parametrize(("case", "answer"), EXPECTATIONS)
def test_the_engine_gives_the_answer_of_the_pencil(
    engine: Callable[..., Schedule], case: Case, answer: dict[str, Any]
) -> None:
    scheduler, events, _ = _variant(answer)
    schedule = engine(case.workload(answer), scheduler=scheduler, events=events)
    assert schedule.start_time.tolist() == case.starts(answer)
    for key in COLUMNS.keys() & answer.keys():
        assert getattr(schedule, COLUMNS[key]).tolist() == answer[key], key
    if "sizes" in answer:
        assert [[job + 1, *rest] for job, *rest in schedule.sizes.tolist()] == answer["sizes"]


def test_the_suite_is_complete() -> None:
    assert len(CASES) >= 50
    page = (DIRECTORY / "README.md").read_text(encoding="utf-8")
    for case in CASES:
        number = case.name.split("-")[0]
        assert f"\n## {number} " in page, f"{case.name} is not explained"
        assert {"fcfs", "fcfs+easy"} <= {answer["scheduler"] for answer in case.expect}, case.name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_wrong_rule_gives_another_answer(case: Case) -> None:
    right = {_variant(answer): case.starts(answer) for answer in case.expect}
    for answer in case.wrong:
        assert case.starts(answer) != right[_variant(answer)], answer["rule"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_expected_schedule_starts_a_job_too_early_or_overfills_the_machine(case: Case) -> None:
    if case.jobs.alternatives is not None:
        pytest.skip("its jobs have several sizes; laws of these are in tests/engine/parts/malleable")
    for answer in case.expect:
        jobs = case.workload(answer)
        start = np.array(case.starts(answer))
        end = start + np.minimum(jobs.run_time, jobs.requested_time)
        assert (start >= jobs.submit_time).all(), answer
        for second in start:
            running = (start <= second) & (second < end)
            assert jobs.job_processors[running].sum() <= jobs.processors, (answer, second)
        after = jobs.dependencies
        if after is not None:
            assert (start[after.children] >= end[after.parents] + after.delay).all(), answer
