"""Nodes that go down, are drained and come back, and maintenance: the engine, its reference, and what must always hold.

The random comparison runs the engine as plain Python: the same code without compilation.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from features import GROUPS, POLICIES
from laws import assert_laws_hold
from node_cases import prepared_rows, random_nodes, rows_of
from node_comparison import compare_on_nodes
from plain_process import number_printed
from random_seeds import one_in, seeds
from site_cases import random_site

from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.parts.outages.numbers import outage_inputs
from schedlab.schedule.stretches import run_of_pauses
from schedlab.scheduler.predictor import Requested

BACKFILLINGS = ("none", "easy", "easy:ORDER", "conservative", "fixed", "slurm", "slurm, every event")
SEEDS = 3
"""How many workloads with each feature; by hand, as many as are asked for."""

MORE = 8
"""The same under Slurm's passes where scores change with time."""

TIMED = {name for name, policy in POLICIES.items() if policy.changes_with_time}
ONCE = {
    "easy:ORDER": [(("workflows",), 11604)],
    "slurm, every event": [(("in_order", "starvation"), 11186), (("wfp3", "in_order"), 30247)],
    "easy": [(("alternatives",), 100)],
}
"""Workloads for which they once differed, which only many more would show."""

FEATURES = [(), *((feature,) for group in GROUPS for feature in group if feature != "pyss")]


def random_events(names, begin, end, random):
    """Return events of nodes that all come back, between two seconds and a little later, and some maintenance."""
    events, rest = [], max(end - begin, 4)
    for name in names:
        second = begin - 5
        while random.random() < 0.7:
            second += random.randint(0, rest // 2)
            kinds = random.choice([("down",), ("drain",), ("drain", "down"), ("down", "drain")])
            for kind in kinds:
                events.append(NodeEvent(second, kind, (name,)))
                second += random.randint(0, rest // 3)
            events.append(NodeEvent(second, "up", (name,)))
    second = begin
    while random.random() < 0.6:
        second += random.randint(0, rest // 2)
        closed = tuple(random.sample(names, random.randint(1, len(names))))
        announced = random.choice([None, second, second - random.randint(0, rest)])
        last = second + random.randint(1, rest)
        events.append(NodeEvent(second, "maintenance", closed, last, announced))
        second = last
    return NodeEvents(tuple(events), random.choice(["requeue", "lost"]), Random(second).choice([0, 0, 1, 20]))


def random_gpu_events(nodes, begin, end, random):
    """Return events of single GPUs that all come back."""
    events, rest = [], max(end - begin, 4)
    for name, count in zip(nodes.names, np.diff(nodes.device_offset).tolist(), strict=True):
        second = begin - 5
        while count and random.random() < 0.7:
            gpus = tuple(random.sample(range(count), random.randint(1, count)))
            second += random.randint(0, rest // 2)
            back = second + random.randint(0, rest // 3)
            events += [NodeEvent(second, "gpu-down", (name,), gpus=gpus), NodeEvent(back, "gpu-up", (name,), gpus=gpus)]
            second = back + random.randint(0, 3)
    return tuple(events)


def prepared_with(workload, case, options, seed):
    """Return a simulation on random nodes and partitions with random events, ready to run, and its events."""
    random = Random(seed)
    rows = rows_of(workload)
    nodes, site = random_site(rows, random_nodes(rows, random, scheduler=case.scheduler), random)
    first, last = int(workload.submit_time.min()), int((workload.submit_time + workload.run_time).max())
    events = random_events(list(nodes.names), first, last, random)
    events = replace(events, events=(*events.events, *random_gpu_events(nodes, first, last, random)))
    prepared = prepared_rows(workload, case.scheduler, fails=case.fails, **options)
    outages = outage_inputs(events, nodes, int(prepared.jobs["submit"][0]))
    return prepared._replace(nodes=nodes, limits=site, outages=outages), events


def check(backfilling, features, seed):
    """Compare the engine with its reference, and look at the schedule; return whether it can be done."""
    found = compare_on_nodes(backfilling, features, seed, prepared_with)
    if found is not None and found.schedule is not None:
        assert_node_events_hold(found)
    return found is not None


def assert_node_events_hold(found):
    """No job runs where nodes are away, begins where they are closed, or would reach into maintenance."""
    schedule, case = found.schedule, found.case
    assert_events_are_respected(schedule, found.events, found.what)
    assert_laws_hold(schedule, events=found.known_events)
    if not case.scheduler.runtimes.learns:
        assert_nothing_reaches_into_maintenance(schedule, ends_foreseen(schedule, case), found.events, found.what)


def closed_spans(events, name):
    """Return from when to when no job may run on a node, and from when to when none may begin there."""
    empty, blocked, since, down = [], [], None, None
    for event in events:
        if name not in event.nodes:
            continue
        if event.gpus:
            continue
        if event.event == "maintenance":
            blocked.append((event.second, event.end))
        elif event.event == "up":
            blocked += [] if since is None else [(since, event.second)]
            empty += [] if down is None else [(down, event.second)]
            since = down = None
        else:
            since = event.second if since is None else since
            if event.event == "down":
                down = event.second if down is None else down
    return empty, blocked


def assert_events_are_respected(schedule, events, what):
    """No run overlaps a node that is down or begins on a closed one; each run is done, or its work was lost."""
    placement, runs = schedule.placement, schedule.runs
    for number, run in enumerate(runs):
        places = placement.node[placement.offsets[number] : placement.offsets[number + 1]]
        for node in places.tolist():
            empty, blocked = closed_spans(events, placement.nodes[node])
            assert all(run["end"] <= begin or run["start"] >= end for begin, end in empty), what
            assert not any(begin <= run["start"] < end for begin, end in blocked), what
    order = np.argsort(runs["start"], kind="stable")
    by_job = {}
    for run in runs[order]:
        by_job.setdefault(int(run["job"]), []).append(run)
    for own in by_job.values():
        assert all(one["end"] <= other["start"] for one, other in pairwise(own)), what
        assert sum(bool(run["done"]) for run in own) <= 1, what
        assert not any(run["done"] for run in own[:-1]), what


def ends_foreseen(schedule, case):
    """Return until when each run would last by what is known when it begins: its request, or its exact run time.

    Whether it will have to stand still for others, nobody knows then.
    """
    runs = schedule.runs
    if isinstance(case.scheduler.runtimes, Requested):
        return runs["start"] + runs["request"]
    ends = runs["end"].copy()
    if schedule.pauses is not None:
        np.subtract.at(ends, run_of_pauses(schedule), schedule.pauses["end"] - schedule.pauses["start"])
    return ends


def assert_nothing_reaches_into_maintenance(schedule, ends, events, what):
    """No run begins that would reach into a maintenance which is known then."""
    placement = schedule.placement
    for number, (run, end) in enumerate(zip(schedule.runs, ends, strict=True)):
        places = placement.node[placement.offsets[number] : placement.offsets[number + 1]].tolist()
        names = {placement.nodes[node] for node in places}
        for event in events:
            known = event.announced is None or event.announced <= run["start"]
            if event.event == "maintenance" and known and names & set(event.nodes):
                assert end <= event.second or run["start"] >= event.end, what


@pytest.mark.parametrize("backfilling", one_in(3, BACKFILLINGS))
def test_the_engine_with_node_events_equals_its_twin_and_respects_them(backfilling):
    assert number_printed(__file__, backfilling) >= 24 * SEEDS, "hardly anything was compared"


if __name__ == "__main__":
    by_hand = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts = {features: MORE if sys.argv[1] == "slurm" and set(features) & TIMED else SEEDS for features in FEATURES}
    cases = [(features, seed) for features in FEATURES for seed in seeds(by_hand or counts[features])]
    print(sum(check(sys.argv[1], *case) for case in [*cases, *ONCE.get(sys.argv[1], ())]))
