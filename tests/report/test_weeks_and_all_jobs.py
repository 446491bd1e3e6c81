"""A comparison of one log: its answer is of the same jobs as the table, and says where weeks tell something else.

Eight weeks of one job each but for the fourth, which has twenty, and a job in a ninth week that is not whole. Every job
runs for 100 s. Under `steady` each waits 900 s, so that its slowdown is 10. Under `hasty` none waits but those of the
fourth week, which wait 9,900 s: 100. So `hasty` is ten times better in seven of eight weeks, and worse over all jobs.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from schedlab.campaign.results.comparison import Comparison
from schedlab.campaign.results.ranking import SchedulerRanking, ranking
from schedlab.durations import WEEK
from schedlab.engine.simulation import simulate
from schedlab.report.evidence import evidence_of_comparison
from schedlab.report.html import Evidence, answer_of, render
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload

JOBS_OF_WEEK = [1, 1, 1, 20, 1, 1, 1, 1, 1]
CROWDED = 3


def log() -> Workload:
    submit = [week * WEEK + number for week, jobs in enumerate(JOBS_OF_WEEK) for number in range(jobs)]
    columns = {"submit_time": submit, "run_time": [100] * len(submit), "requested_processors": [1] * len(submit)}
    columns |= {"requested_time": columns["run_time"]}
    return Workload.from_columns(columns, name="log", processors=64)


def waiting(seconds: np.ndarray, name: str) -> Schedule:
    """Return a schedule in which each job waits as long as it is told."""
    workload = log()
    start = workload.submit_time + seconds
    return dataclasses.replace(simulate(workload, "fcfs"), scheduler=name, start_time=start, end_time=start + 100)


def compared(steady: np.ndarray, hasty: np.ndarray, **trim: float) -> Comparison:
    schedules = {"steady": waiting(steady, "steady"), "hasty": waiting(hasty, "hasty")}
    return Comparison(schedules, {name: one.metrics(**trim) for name, one in schedules.items()}, **trim)


WEEK_OF_JOB = np.repeat(np.arange(len(JOBS_OF_WEEK)), JOBS_OF_WEEK)
STEADY = np.full(len(WEEK_OF_JOB), 900)
HASTY = np.where(WEEK_OF_JOB == CROWDED, 9_900, 0)


def ranked(evidence: Evidence) -> SchedulerRanking:
    return ranking(evidence.frame, evidence.baseline, evidence.metric, whole=evidence.whole)


def test_the_answer_names_the_best_over_all_jobs_and_says_that_weeks_tell_something_else() -> None:
    slowdowns = pd.DataFrame({"week": WEEK_OF_JOB, "steady": (STEADY + 100) / 100, "hasty": (HASTY + 100) / 100})
    weeks = slowdowns[slowdowns.week < 8].groupby("week").mean()
    below = 1 - np.exp(np.log(weeks.hasty / weeks.steady).mean())
    answer = " ".join(answer_of(evidence_of_comparison(compared(STEADY, HASTY))))
    assert answer.startswith(
        "No scheduler has a lower mean bounded slowdown (how many times its run time a job spends in the system) over "
        f"all jobs than steady, the baseline: 10; hasty has {slowdowns.hasty.mean():.3g}. "
        f"Week by week, where every week counts alike, the order is the other way: that of hasty is {below:.0%} below "
        "that of steady (geometric mean, 95% interval "
    )
    assert "better in 7 of 8 weeks. So neither of the two is surely better. " in answer
    # 20 of 28 jobs wait 9,900 s.
    assert "Under hasty, jobs wait 118 min on average instead of 15 min and the longest wait is 2.75 h" in answer


def test_no_verdict_is_better_where_weeks_and_all_jobs_contradict_each_other() -> None:
    evidence = evidence_of_comparison(compared(STEADY, HASTY))
    assert [(row.scheduler, row.paired and row.paired.verdict) for row in ranked(evidence).of()] == [
        ("steady", None),
        ("hasty", "mixed"),
    ]
    page = render(evidence)
    assert '<span class="verdict mixed">mixed</span>' in page
    assert 'class="verdict better"' not in page


def test_a_baseline_that_is_worse_over_all_jobs_but_better_by_weeks_is_no_loser_either() -> None:
    evidence = evidence_of_comparison(compared(STEADY, HASTY), baseline="hasty")
    answer = " ".join(answer_of(evidence))
    assert "steady has the lowest mean bounded slowdown" in answer
    # Of 28 jobs 20 have a slowdown of 100, the others of 1.
    assert f"over all jobs: 10, {2_008 / 28:.3g} under hasty." in answer
    assert "the order is the other way: that of hasty is" in answer
    assert [row.paired.verdict for row in ranked(evidence).of() if row.paired] == ["mixed"]


@pytest.mark.parametrize("trim", [{}, {"warm_up": 3 * WEEK}, {"cool_down": 0.2}])
@pytest.mark.parametrize("metric", ["mean_bounded_slowdown", "p95_wait", "max_bounded_slowdown"])
def test_the_answer_is_of_the_jobs_and_the_metric_of_the_table(metric: str, trim: dict[str, float]) -> None:
    comparison = compared(STEADY, HASTY, **trim)
    evidence = evidence_of_comparison(comparison, metric=metric)
    assert evidence.whole == {name: values[metric] for name, values in comparison.metrics.items()}
    jobs = comparison.metrics["steady"]["jobs"]
    assert evidence.frame[evidence.frame.scheduler == "steady"].jobs.sum() <= jobs


def test_where_both_say_the_same_the_answer_has_both_figures() -> None:
    evidence = evidence_of_comparison(compared(STEADY, np.where(WEEK_OF_JOB == CROWDED, 900, 0)))
    first, second, third, *_ = answer_of(evidence)
    # 20 jobs have a slowdown of 10, 8 of 1.
    assert first.endswith(f"over all jobs: {(20 * 10 + 8) / 28:.3g}, 10 under steady.")
    assert second.startswith(f"Week by week, that of hasty is {1 - 0.1 ** (7 / 8):.0%} below that of steady (geometric")
    assert third == "Under hasty, jobs wait 10.7 min on average instead of 15 min."


def test_a_longest_wait_that_is_much_longer_is_told_beside_a_shorter_mean() -> None:
    # The last job, after the eight whole weeks, waits for hours: the mean is still shorter.
    hasty = np.where(WEEK_OF_JOB < 8, 0, 20_000)
    answer = answer_of(evidence_of_comparison(compared(STEADY, hasty)))
    assert "Under hasty, jobs wait 11.9 min on average instead of 15 min, but the longest wait is 5.56 h instead" in (
        " ".join(answer)
    )
