"""Forks know nothing of the future; told all of it, they end as the simulation did."""

from __future__ import annotations

import numpy as np
import pytest
from when_samples import busy_log

import schedlab as sl
from schedlab.durations import WEEK
from schedlab.when import forks
from schedlab.when.forks import Forking, Twin, fork_waits
from schedlab.when.start_forecast import forecast_of_state
from schedlab.when.state import state_at


class TrueRunTimes:
    """Run times as they were, in place of drawn ones; jobs are known by their numbers."""

    def __init__(self, log, state):
        self.lasted = (log.end_time - log.start_time)[state.rows]

    def draw(self, user, request, elapsed, forks, rng):
        return np.tile(self.lasted, (forks, 1)) if len(user) else np.empty((forks, 0), dtype=np.int64)


class Told:
    """Run times of all jobs that are there, as they are given."""

    def __init__(self, lasts):
        self.lasts = lasts

    def draw(self, user, request, elapsed, forks, rng):
        return np.tile(self.lasts[: len(user)], (forks, 1))


class TrueArrivals:
    """What was submitted after the present second, in place of past weeks."""

    def __init__(self, log, now):
        self.log, self.now = log, now

    def draw_weeks(self, forks, week, rng):
        return np.ones(forks, dtype=np.int64)

    def of(self, week, back):
        jobs, low = self.log.workload, self.now + week * WEEK
        rows = np.flatnonzero((jobs.submit_time > low) & (jobs.submit_time <= low + WEEK))
        return jobs[rows], np.ones(len(rows), dtype=np.bool_)


@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+easy", "saf+easy", '"w*q/p"+easy'])
@pytest.mark.parametrize("seed", range(2))
def test_with_true_run_times_and_arrivals_a_fork_is_the_simulation(scheduler, seed):
    log = sl.simulate(busy_log(seed, 200), scheduler)
    differs = asked = 0
    for now in np.quantile(log.workload.submit_time, [0.3, 0.6]).astype(int).tolist():
        state = state_at(log, now)
        who = state.waiting
        run_times, arrivals = TrueRunTimes(log, state), TrueArrivals(log, now)
        rng = np.random.default_rng(0)
        waits = fork_waits(Twin(scheduler, 16), state, who, run_times, arrivals, Forking(1), rng)
        differs += int((waits[0] != log.start_time[state.rows[who]] - now).sum())
        asked += len(who)
    assert asked >= 4
    assert differs == 0


def forecasts(log, now, **options):
    return sl.when.forecast(log, now, sl.when.Twin("fcfs+easy", 16), forks=4, **options).waits.tolist()


def test_another_future_gives_the_same_forecast():
    jobs = busy_log(3, 150)
    log = sl.simulate(jobs, "fcfs+easy")
    now = int(np.quantile(jobs.submit_time, 0.7))
    ahead = log.end_time > now
    # Whatever ends or is submitted later is otherwise: other run times, sizes and users, and fewer jobs.
    elapsed = np.maximum(now - log.start_time, 0)
    other = jobs.replace(
        run_time=np.where(ahead, np.maximum(jobs.requested_time, elapsed + 1), jobs.run_time),
        user_id=np.where(jobs.submit_time > now, 99, jobs.user_id),
        requested_processors=np.where(jobs.submit_time > now, 16, jobs.requested_processors),
    )
    other = other[: int(0.9 * len(jobs))]
    changed = sl.simulate(other, "fcfs+easy")
    past = jobs.submit_time <= now
    assert (changed.start_time[past[: len(other)]] != log.start_time[: len(other)][past[: len(other)]]).any()
    assert len(forecasts(log, now)[0]) >= 3
    assert forecasts(log, now) == forecasts(changed, now)


def test_the_same_seed_gives_the_same_numbers_and_another_one_others():
    log = sl.simulate(busy_log(3, 150), "fcfs+easy")
    now = int(np.quantile(log.workload.submit_time, 0.7))
    assert forecasts(log, now, seed=4) == forecasts(log, now, seed=4) != forecasts(log, now, seed=5)


def test_a_short_job_that_comes_at_this_hour_every_week_goes_first():
    # All jobs use their whole requests. One holds the machine until 100 s from now; each week, 50 s behind this hour,
    # a job of 10 s is submitted, which goes before the one that waits.
    now = 2 * WEEK
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [50, WEEK + 50, now - 100, now - 50],
            "run_time": [10, 10, 200, 1_000],
            "requested_time": [10, 10, 200, 1_000],
            "requested_processors": [4] * 4,
            "user_id": [1, 1, 2, 3],
        },
        processors=4,
    )
    log = sl.simulate(jobs, "sjf+easy")
    for arrivals, wait in ((True, 110), (False, 100)):
        found = sl.when.forecast(log, now, forks=5, arrivals=arrivals)
        assert found.jobs.job_id.tolist() == [4]
        assert found.waits.tolist() == [[wait]] * 5


def slurm_waits(how, interval=300):
    """Return the forecast of two jobs: one of the whole machine, and a short one, to be backfilled when a run ends.

    Nothing is known of run times: any share of the requests is as likely.
    """
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 0, 0, 0],
            "run_time": [7_000, 80_000, 7_000, 1_000],
            "requested_time": [7_200, 86_400, 7_200, 1_800],
            "requested_processors": [2, 1, 4, 2],
        },
        processors=4,
    )
    state = state_at(sl.simulate(jobs, "fcfs"), 10)
    twin = Twin(f"fcfs+slurm(interval={interval})", 4)
    return forecast_of_state(state, twin, None, how._replace(arrivals=False))


def test_less_frequent_backfill_passes_start_those_that_they_start_later_and_others_when_they_would():
    whole, short = slurm_waits(Forking(6, pace=0)).waits.T
    same, later = slurm_waits(Forking(6, pace=0.9)).waits.T
    assert (short < whole).all()
    assert (same == whole).all()
    assert (later != short).any()
    assert (np.abs(later - short) <= 600).all()  # a pass comes every ten minutes at least


@pytest.mark.parametrize(("interval", "pace"), [(300, 0.003), (700, 0.9)])
def test_backfill_passes_are_never_more_frequent_than_those_of_the_site(interval, pace):
    exact, near = (slurm_waits(Forking(3, pace=one), interval).waits for one in (0, pace))
    assert exact.max() < 100_000  # of which 0.003 are 300 s
    assert (exact == near).all()


def test_backfill_passes_reserve_for_fewer_jobs_the_further_a_fork_is(monkeypatch):
    # Three of four processors are busy until 1,000 s. Behind a job of three, for 400 s, and one of all four, a job of
    # one waits, which runs for 2,000 s: beside the first, but not before the second if processors are kept for that.
    lasts = [1_000, 400, 100, 2_000]
    columns = {"submit_time": [0] * 4, "run_time": lasts, "requested_time": lasts, "requested_processors": [3, 3, 4, 1]}
    state = state_at(sl.simulate(sl.Workload.from_columns(columns, processors=4), "fcfs"), 10)

    def starts(pace):
        twin, waiting, rng = Twin("fcfs+slurm(interval=30)", 4), np.array([1, 2, 3]), np.random.default_rng(0)
        waits = fork_waits(twin, state, waiting, Told(lasts), None, Forking(1, pace=pace), rng)
        return (waits[0] + 10).tolist()

    exact = starts(0)
    assert exact[0] == 1_000
    assert 1_500 <= exact[2] < 1_560  # both have ended, and a pass has come
    assert starts(0.001) == exact  # of the first hour, all are exact
    monkeypatch.setattr(forks, "RESERVED", 0)
    assert starts(0.001) == exact  # and for ten jobs always
    monkeypatch.setattr(forks, "FEW", 1)
    first, second, third = starts(0.001)
    assert (first, second) == (1_000, third + 2_000)
    assert third < 60
    assert starts(0) == exact


def test_when_the_time_is_over_ten_forks_have_been_made_the_same_as_without_a_bound():
    whole, cut = slurm_waits(Forking(11)), slurm_waits(Forking(11, within=0))
    assert (cut.forks, cut.left_out, len(cut.waits)) == (10, 1, 10)
    assert (cut.waits == whole.waits[:10]).all()
    assert whole.left_out == 0
    assert cut.made_of == "10 of 11 simulations (the time for them was over)"
    assert whole.made_of == "11 simulations"
