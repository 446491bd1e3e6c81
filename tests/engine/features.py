"""Every feature of a simulation, so that tests can put together any of them: schedulers, workloads, event orders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from random_workloads import small_work_and_age

from schedlab.scheduler import FunctionPolicy, Scheduler
from schedlab.scheduler.backfilling import Conservative, Easy, NoBackfill, Slurm
from schedlab.scheduler.compatible import refusal
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy_text import policy_from_text
from schedlab.scheduler.retries import Retries
from schedlab.scheduler.scheduler_text import as_backfill
from schedlab.speculate.requests import DistributionTables, Requests
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.workload import Workload

UNIFORM = DistributionTables(
    begin=np.zeros(1),
    step=np.full(1, 4.0),
    below=np.linspace(0, 1, 11)[None],
    part=(np.linspace(0, 40, 11) ** 2 / 80)[None],
)
"""A distribution of run times: uniform from 0 to 40 seconds, of which E[X; X <= t] = t^2 / 80."""


class TwiceTheLast:
    """A predictor of a user's own."""

    def __init__(self) -> None:
        self.last: dict[int, int] = {}

    def predict(self, job: Any) -> float:
        return 2 * self.last.get(job.user_id, 3) / job.processors

    def learn(self, job: Any, run_time: int) -> None:
        self.last[job.user_id] = run_time


BACKFILLINGS = {
    "none": NoBackfill(),
    "easy": Easy(),
    "easy:ORDER": Easy(policy_from_text("sqf")),
    "conservative": Conservative(),
    "fixed": Conservative(fixed=True),
    "slurm": as_backfill(
        "slurm(interval=4,depth=6,resolution=3,reserve_age=5,window=40,queue_depth=3,delay=2,limits=stop,tick=2)"
    ),
    "slurm, shared nodes": as_backfill(
        "slurm(interval=5,resolution=4,window=60,delay=1,shared=3,user_depth=2,partition_depth=4,association_depth=3,"
        "user_partition_depth=2,partition_queue_depth=2,partition_reserve=2,starts=2,main_starts=2,plan_size=7,"
        "ties=number,tick=1)"
    ),
    "slurm, every event": as_backfill("slurm(interval=0,depth=all,resolution=1,window=all,reserve=2,delay=0)"),
}

POLICIES = {
    "saf": policy_from_text("saf"),
    "wfp3": policy_from_text("wfp3"),
    "formula of R": policy_from_text("p/R + q"),
    "formula of R and w": policy_from_text("p*q - 2*w + R"),
    "multifactor": policy_from_text("multifactor(fairshare=1000,age=30,max_age=30,half_life=20,period=7)"),
    "multifactor, always": policy_from_text(
        "multifactor(age=50,size=90,favor=small,relative=yes,fairshare=70,shares=classic,ends=lost,period=5,accrue=always)"
    ),
    "function": FunctionPolicy(lambda p, q: q - p),
    "function of w": FunctionPolicy(small_work_and_age),
}

RUN_TIMES: dict[str, dict[str, Any]] = {
    "@actual": {"runtimes": "actual"},
    "@ave2/incremental": {"runtimes": "ave2"},
    "@similar/doubling": {"runtimes": "similar", "correction": "doubling"},
    "@groups/incremental": {"runtimes": "groups(user.processors,shrink=0)"},
    "@e-loss/requested": {"runtimes": "e-loss", "correction": "requested"},
    "@python": {"runtimes": TwiceTheLast()},
    "POLICY@actual": {"order_runtimes": "actual", "runtimes": "requested"},
    "POLICY@similar": {"order_runtimes": "similar", "runtimes": "requested"},
    "POLICY@groups": {"order_runtimes": "groups", "runtimes": "requested"},
    "POLICY@python+@mean": {"order_runtimes": TwiceTheLast(), "runtimes": "mean"},
}

OPTIONS = {"starvation": {"starvation": 9}, "window": {"window": 3}}
OTHERS = ("in_order", "requests", "speculation", "dependencies", "workflows", "pyss", "alternatives", "patience")
OTHERS += ("checkpoints",)
GROUPS: tuple[Iterable[str], ...] = (POLICIES, RUN_TIMES, *([one] for one in (*OPTIONS, *OTHERS)))
"""Features of one group exclude each other."""


class Setting(NamedTuple):
    """A simulation with some features."""

    scheduler: Scheduler
    options: dict[str, Any]
    dependencies: bool
    workflows: bool
    fails: bool
    moldable: bool
    cancelled: bool = False
    checkpoints: bool = False

    @property
    def refused(self) -> bool:
        """Whether this is one of the pairs that make no sense."""
        events = {name: self.options[name] for name in ("events", "in_order") if name in self.options}
        links = {"dependencies": self.dependencies, "shared_places": self.workflows, "moldable": self.moldable}
        links |= {"cancelled": self.cancelled, "checkpoints": self.checkpoints}
        return (self.moldable and self.fails) or refusal(self.scheduler, **events, **links) is not None


def setting(backfilling: str, features: Iterable[str]) -> Setting:
    """Return a simulation with these features."""
    chosen = set(features)
    policy = next((POLICIES[name] for name in POLICIES if name in chosen), policy_from_text("fcfs"))
    values: dict[str, Any] = {}
    for name in chosen:
        values |= RUN_TIMES.get(name, {}) | OPTIONS.get(name, {})
    if "speculation" in chosen:
        values["retries"] = Retries(speculation=0.0)
    options: dict[str, Any] = {}
    if "pyss" in chosen:
        options["events"] = "pyss"
    if "in_order" in chosen:
        options["in_order"] = 3
    backfill = BACKFILLINGS[backfilling]
    if isinstance(backfill, Slurm) and isinstance(policy, Multifactor):
        backfill = replace(backfill, reserve_priority=60)
    return Setting(
        Scheduler(policy, backfill, **values),
        options,
        dependencies=bool(chosen & {"dependencies", "workflows"}),
        workflows="workflows" in chosen,
        fails=bool(chosen & {"requests", "speculation"}) or backfilling == "fixed",
        moldable="alternatives" in chosen,
        cancelled="patience" in chosen,
        checkpoints="checkpoints" in chosen,
    )


def random_simulation(case: Setting, seed: int) -> tuple[Workload, dict[str, Any]]:
    """Return a small random workload that goes with a setting, and the other arguments of `simulate`."""
    rng = np.random.default_rng(seed)
    jobs, processors = int(rng.integers(2, 19)), int(rng.integers(1, 9))
    whole = case.fails or case.checkpoints or "events" in case.options or bool(rng.integers(2))
    workload = Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, rng.choice([1, 8, 50]), jobs)),
            "run_time": rng.integers(0, 30, jobs),
            "requested_time": rng.integers(1, 40, jobs),
            "requested_processors": rng.integers(1, processors + 1, jobs),
            "user_id": rng.integers(1, 4, jobs),
        },
        processors=processors,
        requests_enforced=whole,
    )
    if case.dependencies:
        workload = with_dependencies(workload, case.workflows, rng)
    if case.moldable:
        workload = workload.replace(alternatives=random_alternatives(jobs, processors, rng))
    if case.cancelled:
        patience = rng.choice([0, 0, 1, 5, 20, 60], jobs)
        workload = workload.replace(resources=Resources.of(jobs, tasks=workload.job_processors, patience=patience))
    if case.checkpoints:
        workload = with_checkpoints(workload, rng)
    return workload, case.options | ({"requests": random_requests(jobs, rng)} if case.fails else {})


def with_checkpoints(workload: Workload, rng: np.random.Generator) -> Workload:
    """Return jobs of which most write checkpoints, on their way, when they are told to end, or both.

    Half of them request so little that they have to go on several times.
    """
    jobs = len(workload)
    told = rng.random(jobs) < 0.4
    interval = np.where(rng.random(jobs) < 0.6, rng.integers(1, 9, jobs), 0)
    cost = np.where((interval > 0) | told, rng.integers(0, 4, jobs), 0)
    cost = np.where(interval > 0, np.minimum(cost, interval), cost)
    restart = np.where((interval > 0) | told, rng.integers(0, 4, jobs), 0)
    asked = np.maximum(workload.requested_time // rng.choice([1, 3], jobs), 8)
    resources = workload.resources or Resources.of_processors(workload.job_processors)
    columns = {"checkpoint_interval": interval, "checkpoint_cost": cost, "restart_cost": restart}
    columns["checkpoint_when_told"] = told.astype(np.int64)
    return workload.replace(requested_time=asked, resources=replace(resources, **columns))


def with_dependencies(workload: Workload, workflows: bool, rng: np.random.Generator) -> Workload:
    """Return the workload with jobs that wait for others, some of which may share the place of a workflow."""
    jobs = len(workload)
    pairs = rng.integers(0, jobs, (jobs // 2, 2))
    child, parent = pairs.max(axis=1), pairs.min(axis=1)
    keep = child > parent
    delay = rng.choice([0, 0, 4], len(pairs))
    after = Dependencies.from_pairs(child[keep], parent[keep], delay[keep], jobs=jobs)
    if not workflows:
        return workload.replace(dependencies=after)
    flow = Workflow("flow", (Task("a", 2, 15.0, 30.0, ()), Task("b", 1, 5.0, 9.0, ())))
    number = rng.integers(-1, 2, jobs)
    flows = WorkflowJobs(number, np.zeros(jobs, dtype=np.int64), [Submission(flow, "aware", 0)] * 2)
    return workload.replace(dependencies=after, workflows=flows)


def random_alternatives(jobs: int, processors: int, rng: np.random.Generator) -> Alternatives:
    """Return up to three other sizes of some of the jobs, a few of which are too large for the machine."""
    owner = rng.integers(0, jobs, rng.integers(1, 2 * jobs + 1))
    count = len(owner)
    return Alternatives.of(
        owner,
        processors=rng.integers(1, processors + 2, count),
        run_time=rng.integers(0, 30, count),
        requested_time=rng.integers(1, 40, count),
        jobs=jobs,
    )


def random_requests(jobs: int, rng: np.random.Generator) -> Requests:
    """Return sequences of requests that may be too short."""
    sequences = [np.unique(rng.integers(1, 30, rng.integers(1, 4))) for _ in range(jobs)]
    return Requests(
        offsets=np.concatenate([[0], np.cumsum([len(one) for one in sequences])]),
        lengths=np.concatenate(sequences),
        most=np.full(jobs, 60),
        growth=rng.choice([0.0, 1.5], jobs),
        distribution=rng.integers(-1, 1, jobs),
        application=rng.integers(-1, 2, jobs),
        history=int(rng.choice([0, 0, 2])),
        distributions=UNIFORM,
    )


def outcome(schedule: Any) -> dict[str, list[Any]]:
    """Return what a schedule says of each job, in a form that shows a difference."""
    names = ("start_time", "end_time", "backfilled", "killed", "corrections", "predicted_run_time", "queued_since")
    found = {name: getattr(schedule, name).tolist() for name in names}
    found |= {} if schedule.cancelled is None else {"cancelled": schedule.cancelled.tolist()}
    found |= {} if schedule.alternative is None else {"alternative": schedule.alternative.tolist()}
    return found | ({} if schedule.runs is None else {"runs": sorted(schedule.runs.tolist())})


def check_invariants(schedule: Any, workload: Workload) -> None:
    """Check what holds for every schedule, whatever the features."""
    width = schedule.workload.job_processors
    runs = schedule.runs
    job, start, end = np.arange(len(width)), schedule.start_time, schedule.end_time
    if runs is not None:
        job, start, end = runs["job"], runs["start"], runs["end"]
    assert np.all(start >= workload.submit_time[job])
    assert np.all(schedule.start_time >= schedule.queued_since)
    for second in start:
        at_work = (start <= second) & (second < end)
        assert width[job[at_work]].sum() <= workload.processors
        assert len(np.unique(job[at_work])) == at_work.sum()
    ran = np.ones(len(width), dtype=bool) if schedule.cancelled is None else ~schedule.cancelled
    if not ran.all():
        patience = workload.resources.patience
        waits = schedule.start_time - workload.submit_time
        assert np.all(waits[~ran] == patience[~ran])
        if runs is None:
            assert np.all((waits < patience) | (patience == 0) | ~ran)
    after = workload.dependencies
    if after is not None:
        held = ran[after.children]
        assert np.all((schedule.start_time[after.children] >= schedule.end_time[after.parents] + after.delay)[held])
