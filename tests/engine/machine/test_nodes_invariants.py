"""What must hold for every schedule with an allocation of nodes, whatever the scheduler."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from features import GROUPS, outcome, random_simulation, setting
from hypothesis import given, settings
from hypothesis import strategies as st
from node_cases import Shape, node_inputs, node_workloads, on_nodes, random_nodes, rows_of

import schedlab.engine.reference.simulate as twin_simulate
from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.reference.machine import Nodes
from schedlab.engine.reference.nodes import empty_nodes, requests_of
from schedlab.engine.reference.placement import new_placement
from schedlab.engine.reference.plan_pass import PlanPass
from schedlab.engine.reference.simulate import replay, replay_on_nodes, simulate_plain
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.workload.resources import WHOLE

SCHEDULERS = [
    "fcfs",
    "saf",
    "wfp3",
    "fcfs+easy",
    "fcfs+easy@actual",
    "saf+easy:sjf",
    "wfp3+easy,window=3",
    "fcfs+easy@ave2/incremental",
    "saf+easy,starvation=8",
    "fcfs+conservative",
    "saf+conservative@actual",
    "fcfs+slurm(interval=4,resolution=3,window=40,queue_depth=3,delay=2)",
]


def running_at(second, schedule):
    return np.flatnonzero((schedule.start_time <= second) & (second < schedule.end_time)).tolist()


def check_capacity(schedule, places, nodes):
    """Check that no resource of any node is exceeded at any instant, and who is alone is alone."""
    for second in set(schedule.start_time.tolist()):
        cores, memory = np.zeros(len(nodes.cores), np.int64), np.zeros(len(nodes.cores), np.int64)
        jobs, alone = np.zeros(len(nodes.cores), np.int64), np.zeros(len(nodes.cores), np.bool_)
        gpus = np.zeros(len(nodes.device_type), np.int64)
        for job in running_at(second, schedule):
            for part in places[job]:
                cores[part.node] += part.cores
                memory[part.node] += part.memory
                jobs[part.node] += 1
                alone[part.node] |= part.alone
                for number, thousandths in part.gpus:
                    gpus[number] += thousandths
        assert (cores <= nodes.cores).all()
        assert (memory <= nodes.memory).all()
        assert (gpus <= WHOLE).all()
        assert (jobs[alone] == 1).all()


def check_request(parts, nodes, shape):
    """Check that a job has what it asked for."""
    tasks = [part.tasks for part in parts]
    assert sum(tasks) == nodes.tasks[shape]
    assert min(tasks) >= 1
    assert len({part.node for part in parts}) == len(parts)
    assert nodes.nodes[shape] in (0, len(parts))
    assert nodes.tasks_per_node[shape] == 0 or max(tasks) <= nodes.tasks_per_node[shape]
    for part in parts:
        assert nodes.allowed[nodes.eligible[shape], part.node]
        assert part.alone == nodes.exclusive[shape]
        first, end = nodes.device_offset[part.node : part.node + 2]
        assert all(first <= number < end for number, _ in part.gpus)
        if part.alone:
            assert part.cores == nodes.cores[part.node]
            assert nodes.memory[part.node] in (part.memory, UNLIMITED)
            assert part.gpus == tuple((number, WHOLE) for number in range(first, end))
            continue
        assert part.cores == part.tasks * nodes.task_cores[shape]
        assert part.memory == nodes.node_memory[shape] + part.tasks * nodes.task_memory[shape]
        wanted = nodes.node_gpus[shape] + part.tasks * nodes.task_gpus[shape] if nodes.share[shape] == WHOLE else 1
        assert len(part.gpus) == wanted
        assert all(thousandths == nodes.share[shape] for _, thousandths in part.gpus)
        assert all(nodes.gpu_type[shape] in (-1, nodes.device_type[number]) for number, _ in part.gpus)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(case=node_workloads())
@settings(max_examples=25, deadline=None)
def test_no_resource_of_a_node_is_exceeded_and_everybody_gets_what_he_asked_for(scheduler, case):
    workload, nodes = case
    schedule, places = replay_on_nodes(on_nodes(workload, nodes, scheduler))
    check_capacity(schedule, places, nodes)
    for shape, parts in zip(nodes.shape.tolist(), places, strict=True):
        check_request(parts, nodes, shape)


def reserved_start(case, schedule, places, job):
    """Return when a job would fit, once it heads the queue, if nobody submitted after it were started any more."""
    workload, nodes = case
    start, end = schedule.start_time, schedule.end_time
    heads_from = max(workload.submit_time[job], start[:job].max(initial=0))
    before = [one for one in range(len(start)) if (start[one], one) < (heads_from, job) and one != job]
    request, placement = requests_of(nodes)[job][0], new_placement(nodes)
    for second in sorted({int(heads_from), *(int(end[one]) for one in before if end[one] > heads_from)}):
        view = Nodes(empty_nodes(nodes), [], placement)
        for one in before:
            if end[one] > second:
                view = view.without(places[one])
        if placement.place(view.nodes, request) is not None:
            return second
    raise AssertionError("the machine never empties")


@given(case=node_workloads(shortest=1, enforced=False))
@settings(max_examples=80, deadline=None)
def test_easy_never_delays_the_head_on_nodes_when_run_times_are_exact(case):
    for text in ("fcfs+easy@actual", "fcfs+easy:sjf@actual"):
        schedule, places = replay_on_nodes(on_nodes(*case, text))  # type: ignore[call-arg]
        for job in range(len(places)):
            assert schedule.start_time[job] <= reserved_start(case, schedule, places, job)


def plain_nodes(workload, sizes):
    """Return nodes of these sizes, and requests that only say how many cores."""
    rows = rows_of(workload)
    widths = rows.job_processors[np.argsort(rows.submit_time, kind="stable")].tolist()
    shapes = sorted(set(widths))
    count = len(sizes)
    cluster = {
        "cores": sizes,
        "memory": [UNLIMITED] * count,
        "weight": [0] * count,
        "gpus": [0] * count,
        "types": [],
        "allowed": [[True] * count],
    }
    return node_inputs(cluster, [Shape(0, width) for width in shapes], [shapes.index(width) for width in widths], 0)


FEATURES = [(), *((feature,) for group in GROUPS for feature in group)]
ON_NODES = ["none", "easy", "easy:ORDER", "conservative", "fixed", "slurm", "slurm, every event"]


def simulations(features):
    """Yield backfilling, case, seed, workload and options of random simulations with some features."""
    for backfilling in ON_NODES:
        try:
            case = setting(backfilling, features)
        except InputError:
            continue
        if not case.refused:
            for seed in range(2):
                yield backfilling, case, seed, *random_simulation(case, seed)


def without_size(scheduler):
    """Leave out multifactor's size: on nodes it counts nodes, too."""
    if not isinstance(scheduler.policy, Multifactor):
        return scheduler
    return replace(scheduler, policy=replace(scheduler.policy, size=0, favor="large", relative=False))


@pytest.mark.parametrize("features", FEATURES, ids=lambda features: " & ".join(features) or "nothing")
def test_requests_for_cores_alone_know_no_difference_between_nodes_and_processors(features):
    """On one node nothing is fragmented; nor on nodes of one core each, but there reservations are for some of them.

    Slurm reserves the one node whole, as it does with `shared=`; with an interval, it plans otherwise on nodes.
    """
    for backfilling, case, seed, workload, options in simulations(features):
        if backfilling == "slurm":
            continue
        scheduler = asked = without_size(case.scheduler)
        if isinstance(scheduler.backfill, Slurm):
            whole = replace(scheduler.backfill, shared=workload.processors)
            scheduler = replace(scheduler, backfill=whole)
        expected = outcome(simulate_plain(workload, scheduler, **options))
        for sizes in ([workload.processors], [1] * workload.processors)[: 2 if backfilling == "none" else 1]:
            nodes = plain_nodes(workload, sizes)
            found = outcome(replay(on_nodes(workload, nodes, asked, **options)))
            assert found == expected, f"{asked}, {options.keys()}, seed {seed}, {len(sizes)} nodes"


@pytest.mark.parametrize("features", FEATURES, ids=lambda features: " & ".join(features) or "nothing")
def test_each_feature_goes_with_nodes(features):
    """Views refuse to give more than there is, so it is enough that every job comes to its end."""
    for _, case, seed, workload, options in simulations(features):
        nodes = random_nodes(rows_of(workload), random.Random(seed))
        schedule = replay(on_nodes(workload, nodes, case.scheduler, **options))
        assert (schedule.start_time >= schedule.queued_since).all()


@given(case=node_workloads(shortest=1, enforced=True), text=st.sampled_from(["fcfs+conservative", "saf+conservative"]))
@settings(max_examples=50, deadline=None)
def test_conservative_backfilling_keeps_its_promises_on_nodes(case, text):
    """Nobody outlives his request, so nobody starts later than he was first told."""
    promised = {}

    class Witness(PlanPass):
        def reserve(self, job, before, longer_round=False):
            super().reserve(job, before, longer_round)
            promised.setdefault(job.number, self.reserved[job])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twin_simulate, "PlanPass", Witness)
        schedule = replay(on_nodes(*case, text))  # type: ignore[call-arg]
    for job, second in promised.items():
        assert schedule.start_time[job] <= second
