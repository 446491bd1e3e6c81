"""Advance reservations: the engine, its reference, and what must always hold.

The random comparison runs the engine as plain Python: the same code without compilation.
"""

from __future__ import annotations

import sys
from random import Random

import numpy as np
import pytest
from laws import assert_laws_hold
from node_cases import random_nodes
from node_comparison import compare_on_nodes
from plain_process import number_printed
from random_seeds import one_in, seeds
from site_cases import random_site
from test_node_events import (
    FEATURES,
    assert_events_are_respected,
    assert_nothing_reaches_into_maintenance,
    ends_foreseen,
    random_events,
)
from test_preemption import ENDLESS, TIERS, random_preemption

from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.parts.outages.numbers import outage_inputs
from schedlab.engine.parts.reservations.numbers import NO_RESERVATION, booking_inputs
from schedlab.engine.prepared import prepare
from schedlab.errors import InputError
from schedlab.speculate.requests import requests_of

STEPS = {"none": 3, "easy": 2, "easy:ORDER": 6, "conservative": 5, "fixed": 9, "slurm": 5, "slurm, every event": 9}
"""How far apart the features are that are compared, by backfilling; all of them with a number of seeds by hand."""


def random_reservations(names, begin, end, random):
    """Return some reservations, of which no two have a node at a time."""
    found, second, rest = [], begin, max(end - begin, 4)
    for number in range(random.randint(1, 4)):
        second += random.randint(0, rest // 3)
        mine = tuple(random.sample(names, random.randint(1, len(names))))
        last = second + random.randint(1, rest)
        announced = random.choice([None, None, second, second - random.randint(0, rest)])
        found.append(NodeEvent(second, "reservation", mine, last, announced, f"r{number}", ("ann",)))
        if random.random() < 0.5 and len(mine) < len(names):
            others = tuple(name for name in names if name not in mine)
            found.append(NodeEvent(second, "reservation", others, last + 3, announced, f"s{number}", ("ann",)))
            last += 3
        second = last
    return found


def random_owners(prepared, events, nodes, site, random):
    """Return the reservation of each job: where it would fit, and not after the end."""
    found = events.reservations
    submit = prepared.jobs["submit"].tolist()
    of_job = np.array([random.randint(-1, len(found) - 1) for _ in submit], dtype=np.int64)
    late = [of_job[row] >= 0 and found[of_job[row]].end <= second for row, second in enumerate(submit)]
    of_job[late] = NO_RESERVATION
    while True:
        try:
            return booking_inputs(nodes, site, events, of_job)
        except InputError as error:
            of_job[error.row] = NO_RESERVATION


def prepared_with(workload, case, options, seed):
    """Return a simulation on random nodes and partitions with random reservations, ready to run, and its events."""
    random = Random(seed)
    nodes, site = random_site(workload, random_nodes(workload, random, scheduler=case.scheduler), random, TIERS)
    preemption = random_preemption(site, random, case, range(len(workload))) if random.random() < 0.3 else None
    first, last = int(workload.submit_time.min()), int((workload.submit_time + workload.run_time).max())
    reservations = random_reservations(list(nodes.names), first, last, random)
    others = random_events(list(nodes.names), first, last, random) if random.random() < 0.4 else NodeEvents(())
    events = NodeEvents((*others.events, *reservations), others.interrupted)
    if not case.fails:
        options = {**options, "requests": requests_of(workload, None)}
    prepared = prepare(workload, case.scheduler, **options)
    outages = outage_inputs(events, nodes, int(prepared.jobs["submit"][0]))
    nodes, bookings = random_owners(prepared, events, nodes, site, random)
    outages = outages._replace(bookings=bookings)
    return prepared._replace(nodes=nodes, limits=site, preemption=preemption, outages=outages), events


def check(backfilling, features, seed):
    """Compare the engine with its reference, and look at the schedule; return whether it can be done."""
    found = compare_on_nodes(backfilling, features, seed, prepared_with, patience=ENDLESS)
    if found is None or found.schedule is None:
        return False
    schedule, case, prepared, events, what = found
    others = [event for event in events if event.event != "reservation"]
    assert_events_are_respected(schedule, others, what)
    ends = None if case.scheduler.runtimes.learns else ends_foreseen(schedule, case)
    if ends is not None:
        assert_nothing_reaches_into_maintenance(schedule, ends, others, what)
    assert_reservations_are_respected(schedule, ends, prepared, events, what)
    of_job = prepared.in_workload_order(prepared.outages.bookings.of_job)
    names = [events.reservations[number].name if number >= 0 else "" for number in of_job]
    assert_laws_hold(schedule, events=found.known_events, reservation=names)
    return True


def assert_reservations_are_respected(schedule, ends, prepared, events, what):
    """No job runs outside its reservation before the end of that, and none begins within another one.

    Nor does any begin that would reach, by the ends that are foreseen, into another one that is known then.
    """
    placement, reservations = schedule.placement, events.reservations
    of_job = prepared.in_workload_order(prepared.outages.bookings.of_job)
    for number, run in enumerate(schedule.runs):
        places = placement.node[placement.offsets[number] : placement.offsets[number + 1]].tolist()
        names = {placement.nodes[node] for node in places}
        own = of_job[run["job"]]
        if own != NO_RESERVATION and run["start"] < reservations[own].end:
            mine = reservations[own]
            assert run["start"] >= mine.second, what
            assert run["end"] <= mine.end, what
            assert names <= set(mine.nodes), what
            continue
        for event in reservations:
            if names & set(event.nodes):
                assert not event.second <= run["start"] < event.end, what
                known = event.announced is None or event.announced <= run["start"]
                if known and ends is not None:
                    assert ends[number] <= event.second or run["start"] >= event.end, what


@pytest.mark.parametrize("backfilling", one_in(2, STEPS))
def test_the_engine_with_reservations_equals_its_twin_and_respects_them(backfilling):
    compared = number_printed(__file__, backfilling)
    assert compared >= len(FEATURES) // STEPS[backfilling] - 1, "hardly anything was compared"


if __name__ == "__main__":
    by_hand = len(sys.argv) > 2
    compared, count = (FEATURES, int(sys.argv[2])) if by_hand else (FEATURES[:: STEPS[sys.argv[1]]], 3)
    print(sum(check(sys.argv[1], features, seed) for features in compared for seed in seeds(count)))
