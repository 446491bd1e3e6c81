"""Policies in Python that know what runs and has run: by their arguments, or by methods that are told of each run."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from schedlab.engine.reference.simulate import simulate_plain
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.model.lublin_feitelson import lublin
from schedlab.scheduler.backfilling import Easy
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload


def jobs_of(*rows, processors=4):
    submit, run, wide, user = zip(*rows, strict=True)
    given = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": wide}
    return Workload.from_columns({**given, "user_id": user}, processors=processors)


def random_jobs(number=60):
    jobs, rng = lublin(number, 32, rng=3, load=1.4), np.random.default_rng(5)
    return jobs.replace(
        requested_time=jobs.run_time + rng.integers(0, 900, number), user_id=rng.integers(-1, 4, number)
    )


class FewRuns:
    """Users with few runs first; whoever has used much, later."""

    half_life = 3600.0

    def __init__(self, weight=2):
        self.weight, self._runs = weight, {}

    def score(self, user, q, usage):
        return np.array([self._runs.get(int(one), 0) for one in user]) * self.weight + q + usage / 1000

    def on_start(self, job, now):
        self._runs[job.user_id] = self._runs.get(job.user_id, 0) + 1

    def on_end(self, job, now, run_time):
        self._runs[job.user_id] -= 1 - run_time / 1e6


def shares(usage, running, now, w):
    return usage / 3600 + running - w / 1e4 + now * 0


shares.half_life = 86400  # type: ignore[attr-defined]


def test_usage_halves_with_its_half_life_and_counts_what_runs():
    # Until the last jobs come at 200, user 1 holds 2 processors from 0 to 100 and then 1, user 2 one from 0 to 200.
    seen = {}

    def watch(user, usage, running, now, r):
        seen[int(now)] = dict(zip(user.tolist(), zip(usage.tolist(), running.tolist(), strict=True), strict=True))
        return r

    watch.half_life = 100.0  # type: ignore[attr-defined]
    jobs = jobs_of((0, 100, 2, 1), (0, 200, 1, 2), (100, 400, 1, 1), (200, 10, 4, 1), (200, 10, 4, 2), (200, 10, 4, 3))
    simulate(jobs, Scheduler(watch))
    full = 100 / np.log(2)  # a processor that was always held
    one = 2 * full * (1 - 0.5) * 0.5 + full * (1 - 0.5)
    assert seen[200][1] == (pytest.approx(one), 1)
    assert seen[200][2] == (pytest.approx(full * (1 - 0.25)), 0)
    assert seen[200][3] == (0, 0)


def test_an_object_is_told_of_each_run_in_order():
    told = []

    class Telling:
        def score(self, r):
            return r

        def on_start(self, job, now):
            told.append(("start", job.job_id, job.user_id, now))

        def on_end(self, job, now, run_time):
            told.append(("end", job.job_id, now, run_time))

    simulate(jobs_of((0, 10, 4, 7), (2, 5, 2, 8), (3, 6, 2, 9), (40, 1, 1, 7)), Scheduler(Telling()))
    assert told[:6] == [
        ("start", 1, 7, 0),
        ("end", 1, 10, 10),
        ("start", 2, 8, 10),
        ("start", 3, 9, 10),
        ("end", 2, 15, 5),
        ("end", 3, 16, 6),
    ]


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative", "slurm(interval=60)"])
@pytest.mark.parametrize("policy", [shares, FewRuns(3)], ids=["function", "object"])
def test_the_engine_and_its_reference_tell_the_same(policy, backfill):
    jobs, scheduler = random_jobs(), Scheduler(policy, backfill)
    assert simulate(jobs, scheduler).start_time.tolist() == simulate_plain(jobs, scheduler).start_time.tolist()


def test_a_stateful_order_of_candidates_equals_the_reference():
    jobs, scheduler = random_jobs(), Scheduler("fcfs", Easy(FunctionPolicy(FewRuns(3))))
    fast, plain = simulate(jobs, scheduler), simulate_plain(jobs, scheduler)
    assert fast.start_time.tolist() == plain.start_time.tolist()
    assert fast.start_time.tolist() != simulate(jobs, "fcfs+easy").start_time.tolist()


def test_each_simulation_begins_with_a_copy():
    policy = FewRuns()
    first, second = (simulate(random_jobs(), Scheduler(policy, "easy")).start_time.tolist() for _ in range(2))
    assert first == second
    assert policy._runs == {}


@pytest.mark.parametrize("policy", [shares, FewRuns(3)], ids=["function", "object"])
def test_a_simulation_in_steps_forks_and_grows_with_its_state(policy):
    jobs = random_jobs(40)
    jobs = jobs[np.argsort(jobs.submit_time, kind="stable")]
    whole = simulate(jobs, Scheduler(policy, "easy")).start_time.tolist()
    simulation = Simulation(jobs[:30], Scheduler(policy, "easy"))
    simulation.run(int(jobs.submit_time[30]) - 1)
    simulation.submit(jobs[30:])
    fork = simulation.fork()
    simulation.run()
    fork.run()
    assert simulation.schedule().start_time.tolist() == fork.schedule().start_time.tolist() == whole


MODULE = """
class Ages:
    def __init__(self, days, name="plain"):
        self.days, self.name = days, name

    def score(self, r, now):
        return r / self.days

class Greedy:
    def __init__(self, k=1):
        self.k = k

    def decide(self, view):
        for job in view.waiting:
            if view.fits(job):
                view.start(job)

class Guess:
    def __init__(self, share=0.5):
        self.share = share

    def predict(self, job):
        return job.requested_time * self.share

    def learn(self, job, run_time):
        pass
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = f"own_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "text",
    [
        "{}:Ages(3)",
        "{}:Ages(days=3, name='a+b')+easy",
        "{0}:Ages(days=3)+{0}:Greedy(k=2)",
        "{}:Ages(2)+easy:saf",
        "fcfs+easy:{}:Ages(2)",
        "saf@{}:Guess(share=0.25)+easy@requested",
        "{0}:Ages(2)@{0}:Guess+{0}:Greedy@{0}:Guess(0.5)",
    ],
)
def test_a_text_makes_policies_passes_and_predictors_with_arguments(module, text):
    scheduler = Scheduler.parse(text.format(module))
    assert scheduler.text.replace("/incremental", "") == text.format(module)
    assert Scheduler.parse(scheduler.text).text == scheduler.text
    simulate(random_jobs(20), scheduler)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}:Ages+easy", "missing 1 required positional argument: 'days'; it is made by Ages(days, name='plain')"),
        ("saf@{}:Guess(shares=2)", "unexpected keyword argument 'shares'; it is made by Guess(share=0.5)"),
        ("os:system('true')+easy", "os:system is no class with a method score"),
    ],
)
def test_what_a_text_cannot_make_is_told(module, text, told):
    with pytest.raises(InputError) as error:
        Scheduler.parse(text.format(module))
    assert told in str(error.value)


def test_errors_in_what_is_told_name_policy_and_job():
    class Wrong(FewRuns):
        def on_start(self, job, now):
            raise KeyError("no such user")

    with pytest.raises(InputError, match=r"^policy <Wrong\(weight=2\)>: on_start failed for job 1 at 0 s: KeyError: "):
        simulate(jobs_of((0, 10, 4, 7), (2, 5, 2, 8)), Scheduler(Wrong()))


def test_what_is_no_policy_is_refused():
    with pytest.raises(InputError, match=r"not a policy: .*; make one with FewRuns\(\)$"):
        Scheduler(FewRuns)
    shares_at_once = type("Now", (), {"half_life": 0, "score": lambda self, usage: usage})()
    with pytest.raises(InputError, match=r"policy <Now>: half_life=0 is not a number above 0"):
        Scheduler(shares_at_once)
