"""Episodes in compiled steps: the outcome is the engine's, whatever is decided; no Gymnasium is needed."""

from __future__ import annotations

import numpy as np
import pytest
from gym_samples import model_jobs, random_jobs
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.gym.episodes import Episodes
from schedlab.gym.pool import OVER, PROPOSED, QUEUED
from schedlab.gym.sources import METRICS, Source
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload

MANY = 400
"""Slots: every waiting job is visible."""

PLAYED = [
    ("next", "fcfs", "saf", "saf"),
    ("next", "fcfs", "fcfs", "fcfs"),
    ("next", "fcfs", "saf+easy", "saf+easy"),
    ("next", "fcfs", "wfp3+easy", "wfp3+easy"),
    ("backfill", "fcfs", "fcfs", "fcfs+easy"),
    ("backfill", "saf", "saf", "saf+easy"),
    ("backfill", "fcfs", "spf", "fcfs+easy:spf"),
    ("inspect", "saf+easy", "saf", "saf+easy"),
    ("inspect", "wfp3", "fcfs", "wfp3"),
]
"""What is decided, the base policy, what the agent plays, and the scheduler that does the same."""


def played(episodes: Episodes, policy: str) -> tuple[Schedule, float]:
    """Return the schedule and the sum of the rewards of an agent that plays a policy."""
    number = episodes.know(policy)
    episodes.begin(0, np.random.default_rng(0))
    rewards = 0.0
    while not episodes.over[0]:
        episodes.step(np.array([episodes.play(0, number)]))
        rewards += float(episodes.pool.reward[0])
    return episodes.schedule(0), rewards


@pytest.mark.parametrize(("decision", "base", "policy", "scheduler"), PLAYED)
@pytest.mark.parametrize("jobs", [model_jobs(1), random_jobs(2), random_jobs(3, enforced=False)], ids=str)
def test_an_agent_that_plays_a_policy_gives_the_schedule_of_that_scheduler(decision, base, policy, scheduler, jobs):
    episodes = Episodes(1, jobs, window=None, decision=decision, base=base, slots=MANY)
    schedule, rewards = played(episodes, policy)
    expected = simulate(jobs, scheduler)
    assert schedule.start_time.tolist() == expected.start_time.tolist()
    assert schedule.end_time.tolist() == expected.end_time.tolist()
    assert schedule.killed.tolist() == expected.killed.tolist()
    if decision != "next":
        assert schedule.backfilled.tolist() == expected.backfilled.tolist()
    assert rewards == pytest.approx(-expected.metrics()["mean_bounded_slowdown"], rel=1e-9)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_one_policy_all_the_time_is_that_scheduler(number):
    jobs, policies = model_jobs(4), ("fcfs", "saf+easy", "wfp3+easy")
    episodes = Episodes(1, jobs, window=None, decision="policy", policies=policies, period=7_200)
    episodes.begin(0, np.random.default_rng(0))
    while not episodes.over[0]:
        episodes.step(np.array([number]))
    assert episodes.schedule(0).start_time.tolist() == simulate(jobs, policies[number]).start_time.tolist()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("decision", ["next", "backfill", "inspect", "policy", "commit"])
def test_rewards_add_up_to_the_metric_whatever_is_done(metric, decision):
    """To 1e-9; and increments to the same as the reward at the end."""
    jobs = model_jobs(5, jobs=100)
    sums = []
    for increments in (True, False):
        told = {"decision": "next", "commit": True} if decision == "commit" else {"decision": decision}
        episodes = Episodes(1, jobs, window=None, slots=8, reward=metric, increments=increments, **told)
        rng = np.random.default_rng(6)
        episodes.begin(0, rng)
        rewards = []
        while not episodes.over[0]:
            episodes.step(np.array([rng.choice(np.flatnonzero(episodes.pool.mask[0]))]))
            rewards.append(float(episodes.pool.reward[0]))
        expected = episodes.schedule(0).metrics()[metric]
        assert sum(rewards) == pytest.approx(-expected, rel=1e-9)
        assert increments or not any(rewards[:-1])
        sums.append(sum(rewards))
    assert sums[0] == pytest.approx(sums[1], rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 1_000),
    st.sampled_from(["next", "backfill", "inspect", "policy", "commit"]),
    st.sampled_from(["fcfs", "saf+easy", "wfp3+easy"]),
    st.integers(1, 70),
    st.booleans(),
)
def test_a_random_agent_never_breaks_the_machine(seed, decision, base, slots, enforced):
    jobs = random_jobs(seed, enforced=enforced)
    told = {"decision": "next", "commit": True} if decision == "commit" else {"decision": decision}
    episodes = Episodes(1, jobs, window=None, base=base, slots=slots, policies=("fcfs", base), pause=7, **told)
    rng, pool = np.random.default_rng(seed), episodes.pool
    try:
        episodes.begin(0, rng)
    except InputError:
        return
    decisions = 0
    while not pool.progress[0, OVER]:
        possible = np.flatnonzero(pool.mask[0])
        assert len(possible) > 0
        waiting = min(int(pool.progress[0, QUEUED]), slots)
        assert ((pool.shown[0] >= 0) & (pool.shown[0] <= 1)).all()
        assert ((pool.summary[0] >= 0) & (pool.summary[0] <= 1)).all()
        assert not pool.shown[0, waiting:].any()
        assert (pool.shown[0, :waiting, 2] > 0).all()
        if decision in ("next", "backfill", "commit"):
            assert not pool.mask[0, waiting:slots].any()
        if decision == "inspect":
            proposed = int(pool.progress[0, PROPOSED])
            assert pool.shown[0, 0, 2] == np.float32(jobs.job_processors[proposed] / 8)
        episodes.step(np.array([rng.choice(possible)]))
        decisions += 1
        assert decisions < 100_000
    schedule = episodes.schedule(0)
    assert (schedule.start_time >= jobs.submit_time).all()
    moments = np.concatenate([schedule.start_time, schedule.end_time])
    change = np.concatenate([jobs.job_processors, -jobs.job_processors])
    order = np.lexsort((change, moments))
    assert np.cumsum(change[order]).max() <= 8


def test_backfilled_jobs_do_not_delay_the_head_if_run_times_are_exact():
    """Whatever is backfilled, a head starts no later than it could by what ran when it came to the front."""
    jobs = random_jobs(7, jobs=80)
    run = np.maximum(jobs.run_time, 1)
    jobs = jobs.replace(requested_time=run, run_time=run)
    episodes = Episodes(1, jobs, window=None, decision="backfill", slots=MANY)
    rng, pool = np.random.default_rng(8), episodes.pool
    episodes.begin(0, rng)
    promised: dict[int, int] = {}
    while not episodes.over[0]:
        now, free, head = int(pool.clock[0, 0]), int(pool.clock[0, 1]), int(pool.queue[0, 0])
        ends = pool.start[0] + run
        for job in np.argsort(ends, kind="stable"):
            if pool.start[0, job] >= 0 and ends[job] > now and free < jobs.job_processors[head]:
                free += int(jobs.job_processors[job])
                if free >= jobs.job_processors[head]:
                    promised.setdefault(head, int(ends[job]))
        episodes.step(np.array([rng.choice(np.flatnonzero(pool.mask[0]))]))
    start = episodes.schedule(0).start_time
    assert promised
    assert all(start[job] <= moment for job, moment in promised.items())


def test_a_committed_job_is_waited_for():
    """By hand: job 1 is picked, so that job 2, which fits, has to wait behind it; with backfilling it does not."""
    columns = {"submit_time": [0, 1, 2], "run_time": [10, 10, 5], "requested_time": [10, 10, 5]}
    jobs = Workload.from_columns(columns | {"requested_processors": [3, 4, 1]}, processors=4)
    for base, expected in (("fcfs", [0, 10, 20]), ("fcfs+easy", [0, 10, 2])):
        episodes = Episodes(1, jobs, window=None, commit=True, slots=3, base=base)
        episodes.begin(0, np.random.default_rng(0))
        while not episodes.over[0]:
            episodes.step(np.array([0]))
        assert episodes.schedule(0).start_time.tolist() == expected


def test_a_skipped_job_is_proposed_again_after_the_pause():
    columns = {"submit_time": [0, 1], "run_time": [5_000, 10], "requested_time": [5_000, 10]}
    jobs = Workload.from_columns(columns | {"requested_processors": [1, 1]}, processors=2)
    episodes = Episodes(1, jobs, window=None, decision="inspect", pause=600)
    episodes.begin(0, np.random.default_rng(0))
    for action in (0, 1, 1, 0):
        episodes.step(np.array([action]))
    assert episodes.schedule(0).start_time.tolist() == [0, 1_201]


def test_windows_and_loads_are_drawn_from_the_log():
    jobs = model_jobs(9, jobs=300)
    source = Source(jobs, processors=None, window=50, load=(0.5, 2.0), metric="mean_wait", longest=None)
    one = source.draw(np.random.default_rng(1))
    again = source.draw(np.random.default_rng(1))
    assert (one.low, one.load) == (again.low, again.load)
    assert one.high - one.low == 50
    fixed = source.draw(np.random.default_rng(1), {"start": 20, "load": 2.0}).workload
    assert fixed.run_time.tolist() == jobs.run_time[20:70].tolist()
    gaps = np.diff(fixed.submit_time) - np.diff(jobs.submit_time[20:70]) / 2
    assert np.abs(gaps).max() <= 1
    episodes = Episodes(1, jobs, window=50, slots=MANY)
    episodes.know("saf")
    episodes.begin(0, np.random.default_rng(1), {"start": 20, "load": 2.0})
    episodes.play_out(0, episodes.know("saf"))
    assert episodes.schedule(0).start_time.tolist() == simulate(fixed, "saf").start_time.tolist()


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"decision": "all"}, "decision='all' is unknown"),
        ({"decision": "inspect", "commit": True}, "commit=True needs decision='next'"),
        ({"slots": 0}, "slots=0: give a whole number"),
        ({"period": -1}, "period=-1: give whole seconds"),
        ({"window": 0}, "must be at least one job"),
        ({"window": 1_000}, "window=1000, but the workload has 60 jobs"),
        ({"processors": 2}, "processors"),
        ({"load": 0}, "give a positive number"),
        ({"load": (2, 1)}, "give a positive number"),
        ({"reward": "makespan"}, "is not a metric that grows while jobs wait"),
        ({"order": "wfp3"}, "changes with time"),
        ({"base": "fcfs+conservative"}, "inside an environment, policies are formulas"),
        ({"base": "saf@actual"}, "inside an environment, policies are formulas"),
        ({"decision": "policy", "policies": ()}, "no policies to choose from"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(told, sentence):
    with pytest.raises(InputError, match=None) as refused:
        Episodes(1, random_jobs(1), **({"window": None} | told))
    assert sentence in str(refused.value)


def test_workloads_that_cannot_be_episodes_are_refused():
    jobs = random_jobs(1)
    with pytest.raises(InputError, match="no workload"):
        Episodes(1, [])
    with pytest.raises(InputError, match="processors="):
        Episodes(1, [jobs, jobs.replace(processors=16)], window=None)
    with pytest.raises(InputError, match="a model of jobs needs window="):
        Episodes(1, lambda rng: jobs, window=None)
    with pytest.raises(InputError, match="the model has drawn 60 jobs, but window=20"):
        Episodes(1, lambda rng: jobs, window=20, processors=8).begin(0, np.random.default_rng(1))
    with pytest.raises(InputError, match="no episode with a decision"):
        Episodes(1, jobs[:1], window=1, decision="backfill").begin(0, np.random.default_rng(1))


def test_a_score_that_is_not_a_number_names_the_job():
    jobs = random_jobs(1)
    with pytest.raises(InputError, match="the score is not a number for the job submitted at"):
        Episodes(1, jobs, window=None, base='"log(p - 1000)"').begin(0, np.random.default_rng(1))
