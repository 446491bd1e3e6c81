"""Policies that are Python functions: what they may ask, how texts name them, and what is said when they fail."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.imports import named_classes
from schedlab.model.lublin_feitelson import lublin
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.policy import SAF
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

MINE = """
import numpy as np

def widest_first(q):
    return -q

def fair(user, q, w, free):
    assert (user >= 0).all()
    return np.where(q <= free, user % 3, 10 + user % 3) - w / 1e6

def fails(p):
    return p / np.where(p == 7, "x", 1)

def fails_together(p):
    if len(p) > 1:
        raise ZeroDivisionError("too many")
    return p

class Order:
    pass

def nothing():
    return 1
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    yield
    sys.modules.pop("mine", None)


def jobs_of_users(number: int = 60) -> Workload:
    jobs = lublin(number, 32, rng=3, load=1.4)
    rng = np.random.default_rng(5)
    return jobs.replace(
        requested_time=jobs.run_time + rng.integers(0, 900, number),
        user_id=rng.integers(0, 7, number),
        queue_id=rng.integers(0, 3, number),
    )


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("mine:widest_first", "mine:widest_first"),
        ("mine:widest_first + easy : sjf @ ave2", "mine:widest_first+easy:sjf@ave2/incremental"),
        ("easy:mine:fair", "fcfs+easy:mine:fair"),
        ("fcfs+easy:mine:fair,window=9", "fcfs+easy:mine:fair,window=9"),
        ("ours=mine:fair+conservative", "ours=mine:fair+conservative"),
    ],
)
def test_a_text_may_name_a_function(mine, text, canonical):
    assert Scheduler.parse(text).text == canonical
    assert Scheduler.parse(canonical).text == canonical
    assert named_classes(canonical) == [f"mine:{'fair' if 'fair' in text else 'widest_first'}"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mine:Order", "is not a function of arrays"),
        ("mine:nothing", "has no arguments"),
        ("mine:absent", "AttributeError"),
        (
            "no_such_module:f",
            r"there is no no_such_module\.py in the current directory, /.*, and no such package is installed",
        ),
        ("saf:fcfs", "order of candidates|:ORDER|:fcfs"),
    ],
)
def test_what_is_no_policy_is_one_sentence_and_is_not_called(mine, text, sentence):
    with pytest.raises(InputError, match=sentence):
        Scheduler.parse(text)


@pytest.mark.parametrize("rest", ["", "+easy", "+conservative", "+slurm(interval=60)", "+easy:mine:widest_first"])
def test_functions_of_users_and_free_processors_equal_the_twin(mine, rest):
    jobs = jobs_of_users()
    ours = simulate(jobs, f"mine:fair{rest}")
    assert ours.start_time.tolist() == simulate_plain(jobs, f"mine:fair{rest}").start_time.tolist()
    assert ours.scheduler == f"mine:fair{rest}"


def test_a_function_sees_each_job_with_its_own_columns():
    jobs, seen = jobs_of_users(), {}

    def watched(r, user, queue, account):
        seen.update(zip(r.tolist(), zip(user.tolist(), queue.tolist(), account.tolist(), strict=True), strict=True))
        return r

    simulate(jobs, Scheduler(FunctionPolicy(watched), "easy"))
    expected = zip(jobs.user_id.tolist(), jobs.queue_id.tolist(), [-1] * len(jobs), strict=True)
    assert seen == dict(zip((jobs.submit_time - jobs.submit_time[0]).tolist(), expected, strict=True))


def test_free_processors_are_those_of_the_machine_when_the_pass_begins():
    columns = {"submit_time": [0, 1, 2], "run_time": [10, 10, 5], "requested_time": [10, 10, 5]}
    jobs = Workload.from_columns({**columns, "requested_processors": [3, 4, 1]}, processors=4)
    free_at = []

    def watched(r, free):
        free_at.append(int(free))
        return r

    simulate(jobs, Scheduler(FunctionPolicy(watched)))
    assert free_at[:2] == [4, 1]
    assert max(free_at) == 4


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda p: 1 / 0, r"policy <lambda> failed: ZeroDivisionError: division by zero \(asked at 0 s about job 1\)"),
        (lambda p, w: p[:1], r"returned shape \(1,\) for 2 jobs: .* one score per job \(asked at \d+ s about 2 jobs\)"),
        (lambda p: [{}] * len(p), r"failed: TypeError: .* about job 1\)"),
    ],
)
def test_errors_in_a_function_name_it_and_the_job(function, sentence):
    columns = {"submit_time": [0, 1, 2], "run_time": [10, 10, 5], "requested_time": [10, 10, 5]}
    jobs = Workload.from_columns({**columns, "requested_processors": [4, 4, 4]}, processors=4)
    with pytest.raises(InputError, match=sentence):
        simulate(jobs, Scheduler(FunctionPolicy(function)))


def test_a_compiled_function_is_a_policy():
    numba = pytest.importorskip("numba")

    @numba.njit
    def area(p, q):
        return (p * q).astype(np.float64)

    jobs = jobs_of_users()
    starts = simulate(jobs, Scheduler(FunctionPolicy(area), "easy")).start_time
    assert starts.tolist() == simulate(jobs, Scheduler(SAF(), "easy")).start_time.tolist()


def test_where_users_are_not_known_a_function_that_asks_for_them_is_refused():
    policy = FunctionPolicy(lambda user: user)
    with pytest.raises(InputError, match="takes user, but only p, q, r, w, R are"):
        policy.scores(*(np.array([1, 2]) for _ in range(4)))


def test_a_campaign_runs_a_function(mine, tmp_path):
    entry = {"generate": "lublin", "jobs": 20, "processors": 16}
    campaign = Campaign(name="own", schedulers=["ours=mine:widest_first+easy", "lqf+easy"], workloads=[entry])
    results = run_campaign(campaign, tmp_path / "own", workers=1).results().set_index("scheduler")
    assert results.mean_wait["ours"] == results.mean_wait["lqf+easy"]


def test_a_function_that_takes_what_no_job_has_is_refused_and_not_called(mine) -> None:
    jobs = jobs_of_users(3)
    with pytest.raises(InputError, match="the argument 'command' is not a column"):
        simulate(jobs, "os:system")


@pytest.mark.parametrize("backfill", ["none", "easy"])
def test_a_function_may_ask_for_own_columns_and_those_of_resources(backfill: str) -> None:
    jobs = jobs_of_users(60)
    rng = np.random.default_rng(2)
    jobs = jobs.with_columns(deadline=rng.integers(0, 99, len(jobs)), team=rng.choice(["bio", "chem"], len(jobs)))

    def by_team(deadline, team, gpus, w):
        return deadline - 50.0 * (team == "bio") + gpus - 0.0 * w

    scheduler = Scheduler(FunctionPolicy(by_team), backfill=backfill)
    fast, plain = simulate(jobs, scheduler), simulate_plain(jobs, scheduler)
    assert fast.start_time.tolist() == plain.start_time.tolist()
    assert fast.start_time.tolist() != simulate(jobs, Scheduler("fcfs", backfill=backfill)).start_time.tolist()
