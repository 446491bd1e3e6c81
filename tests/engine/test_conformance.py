"""Both engines give the answers that were worked out by hand in `conformance/`, and these make sense."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from schedlab.engine import simulate
from schedlab.engine.twin import simulate_plain
from schedlab.schedule import Schedule
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

DIRECTORY = Path(__file__).resolve().parents[2] / "conformance"
COLUMNS = {"start": "start_time", "end": "end_time", "backfilled": "backfilled", "killed": "killed"}


class Case(NamedTuple):
    """A case of the suite: its jobs and what is written about them."""

    name: str
    workload: Workload
    expect: list[dict[str, Any]]
    wrong: list[dict[str, Any]]


def _load(path: Path) -> Case:
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    workload = read_swf(path.with_suffix(".swf"))
    assert workload.processors == case["processors"], path.name
    return Case(path.stem, workload, case["expect"], case.get("wrong", []))


CASES = [_load(path) for path in sorted((DIRECTORY / "cases").glob("*.toml"))]


def _variant(answer: dict[str, Any]) -> tuple[str, str]:
    return answer["scheduler"], answer.get("events", "batched")


EXPECTATIONS = [
    pytest.param(case.workload, answer, id=f"{case.name}-{'-'.join(_variant(answer))}")
    for case in CASES
    for answer in case.expect
]


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["compiled", "plain"])
@pytest.mark.parametrize(("workload", "answer"), EXPECTATIONS)
def test_the_engine_gives_the_answer_of_the_pencil(
    engine: Callable[..., Schedule], workload: Workload, answer: dict[str, Any]
) -> None:
    scheduler, events = _variant(answer)
    schedule = engine(workload, scheduler=scheduler, events=events)
    for key in COLUMNS.keys() & answer.keys():
        assert getattr(schedule, COLUMNS[key]).tolist() == answer[key], key


def test_the_suite_is_complete() -> None:
    assert len(CASES) >= 20
    page = (DIRECTORY / "README.md").read_text(encoding="utf-8")
    for case in CASES:
        number = case.name.split("-")[0]
        assert f"\n## {number} " in page, f"{case.name} is not explained"
        assert {"fcfs", "fcfs+easy"} <= {answer["scheduler"] for answer in case.expect}, case.name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_wrong_rule_gives_another_answer(case: Case) -> None:
    right = {_variant(answer): answer["start"] for answer in case.expect}
    for answer in case.wrong:
        assert answer["start"] != right[_variant(answer)], answer["rule"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_expected_schedule_starts_a_job_too_early_or_overfills_the_machine(case: Case) -> None:
    jobs = case.workload
    duration = np.minimum(jobs.run_time, jobs.requested_time)
    for answer in case.expect:
        start = np.array(answer["start"])
        assert (start >= jobs.submit_time).all(), answer
        for second in start:
            running = (start <= second) & (second < start + duration)
            assert jobs.job_processors[running].sum() <= case.workload.processors, (answer, second)
