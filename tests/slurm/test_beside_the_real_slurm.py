"""Runs on the real Slurm beside a model of it, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.slurm.ensemble import EnsembleComparison
from schedlab.slurm.translation import check_scheduler
from schedlab.slurm.validation import by_rules_of, model_phases, validate


def jobs() -> sl.Workload:
    """Four cores; a job of two, a wide one, a short narrow one, which passes by the wide one."""
    columns = {
        "submit_time": [25, 26, 27],
        "run_time": [600, 600, 100],
        "requested_time": [600, 600, 120],
        "requested_processors": [2, 4, 1],
    }
    return sl.Workload.from_columns(columns, processors=4, name="three")


def test_distances_are_to_the_mean_of_the_others_and_of_the_runs():
    # Three runs that start the second job at 600, 606 and 612: each mean of others by hand.
    schedule = sl.simulate(jobs(), "fcfs+slurm")
    runs = [replace(schedule, start_time=schedule.start_time + np.array([0, late, 0])) for late in (0, 6, 12)]
    frame = EnsembleComparison(tuple(runs), {"model": (runs[0],)}).to_frame()
    assert frame.loc["distance", ("laboratory", "mean")] == pytest.approx((9 + 0 + 9) / 3 / 3)
    assert frame.loc["distance", ("laboratory", "highest")] == pytest.approx(3)
    assert frame.loc["distance", ("model", "mean")] == pytest.approx(6 / 3)
    assert frame.loc["mean wait", ("laboratory", "lowest")] == schedule.wait_time.mean()


def test_one_run_and_other_jobs_are_refused():
    schedule = sl.simulate(jobs(), "fcfs+slurm")
    with pytest.raises(InputError, match="give two phases or more"):
        EnsembleComparison((schedule,), {})
    with pytest.raises(InputError, match="same jobs"):
        EnsembleComparison((schedule, sl.simulate(jobs()[:2], "fcfs+slurm")), {})


def test_phases_of_the_model_see_submissions_in_the_same_second_or_the_next():
    found = model_phases(jobs(), "fcfs+slurm", phases=20)
    assert {int(schedule.start_time[0]) for schedule in found} == {25, 26}
    assert all(schedule.workload.submit_time.tolist() == [25, 26, 27] for schedule in found)


def test_jobs_of_one_second_are_seen_in_the_order_of_their_submission():
    # One core, two jobs at once: whoever is seen in the next second was submitted behind the other, as on a real Slurm.
    columns = {"submit_time": [5, 5], "run_time": [60, 60], "requested_time": [60, 60], "requested_processors": [1, 1]}
    pair = sl.Workload.from_columns(columns, processors=1, name="pair")
    found = model_phases(pair, "fcfs+slurm", phases=20)
    assert all(schedule.start_time[0] < schedule.start_time[1] for schedule in found)


def test_phases_of_the_model_meet_the_backfill_passes_at_other_points():
    # The third job has room at once, behind the wide one: it starts in the next pass, whenever that is.
    found = model_phases(jobs(), "fcfs+slurm", phases=40)
    starts = {int(schedule.start_time[2]) for schedule in found}
    assert starts <= set(range(27, 60))
    assert len(starts) > 10


def test_phases_of_the_model_end_jobs_at_slurms_next_look_at_their_limits():
    beyond = jobs().replace(run_time=[700, 600, 100])
    found = model_phases(beyond, "fcfs+slurm", phases=40)
    lengths = [schedule.end_time - schedule.start_time for schedule in found]
    assert {tuple(length[1:].tolist()) for length in lengths} == {(600, 100)}
    assert {int(length[0]) for length in lengths} <= set(range(600, 630))
    assert len({int(length[0]) for length in lengths}) > 10
    assert all(schedule.killed.tolist() == [True, False, False] for schedule in found)


def test_a_site_may_let_jobs_run_on_beyond_their_limits():
    beyond = jobs().replace(run_time=[700, 600, 100])
    for schedule in model_phases(beyond, "fcfs+slurm(overtime=60)", phases=5):
        assert 660 <= schedule.end_time[0] - schedule.start_time[0] < 690


@pytest.mark.usefixtures("real_slurm")
def test_the_model_is_held_against_the_real_slurm():
    found = validate(jobs(), "fcfs+slurm", phases=2)
    frame = found.to_frame()
    assert frame.loc["backfilled", ("laboratory", "mean")] == pytest.approx(1 / 3)
    assert frame.loc["distance", ("model", "mean")] <= 20
    assert "mean wait, s" in str(found)


def test_the_model_follows_the_rules_of_the_slurm_that_runs_in_every_phase(slurm_version: str):
    # "rest on busy nodes" of slurm-by-hand.json: the last job starts at once only where passes rest. Others go on every
    # 30 s from a moment that differs by phase, so that in some phase it waits for longer than a tick or two.
    columns = {
        "submit_time": [10, 20, 307],
        "run_time": [900, 300, 60],
        "requested_time": [1800, 300, 300],
        "requested_processors": [3, 2, 1],
    }
    quiet = sl.Workload.from_columns(columns, processors=4, name="quiet")
    found = validate(quiet, phases=4, slurm=slurm_version)
    for runs in (found.reference, found.groups["model"]):
        waits = [int(one.wait_time[2]) for one in runs]
        assert (max(waits) <= 3) == (slurm_version == "22.05"), waits


def test_a_text_that_names_a_version_keeps_it_and_no_rule_is_turned_round_on_a_real_slurm():
    chosen = Scheduler.parse("fcfs+slurm(version=26.05)")
    assert by_rules_of(None, chosen) == chosen
    with pytest.raises(InputError, match="a real Slurm has all rules of its version: remove otherwise="):
        check_scheduler(Scheduler.parse("fcfs+slurm(otherwise=passes_rest)"))
    with pytest.raises(InputError, match="neither installed nor fetched"):
        by_rules_of("25.05", Scheduler.parse("fcfs+slurm"))
