"""What a state is: everything in it is saved, forked and grown, or written anew before it is read.

The simulations run as plain Python: the same code without compilation.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from cluster_cases import random_cluster, random_events, random_jobs, random_reservation
from features import BACKFILLINGS, GROUPS, outcome, random_simulation, setting
from plain_process import number_printed
from random_seeds import seeds
from test_hetjobs import in_tiers, with_het_jobs, without_wide_ones

from schedlab.cluster.node_events import NodeEvents
from schedlab.cluster.preemption import Preemption
from schedlab.engine.axes import RECORD, SCRATCH, axes_of
from schedlab.engine.jobs.clock import SUBMITTED
from schedlab.engine.machine.state import LOGGED
from schedlab.engine.parts.heterogeneous import numbers
from schedlab.engine.parts.limits.state import HEADS
from schedlab.engine.parts.preemption.state import PAUSES
from schedlab.engine.parts.requeues.kernels import FIRST, HELD
from schedlab.engine.parts.submission_limits.state import REFUSED
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.engine.queue.tree import QueueTree
from schedlab.engine.steps.copies import arrays_of, digest_of_fixed
from schedlab.engine.steps.growth import grown, moves_of
from schedlab.engine.steps.observable import put_together
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError

CASES = 12
"""How many simulations of each kind."""

END = 600
"""Simulations that have not ended by then are left out: their jobs preempt each other, or wait for each other."""

ON_CLUSTERS = ("fcfs", "saf+easy", "wfp3+conservative", "saf+slurm(interval=4)", "fcfs+easy,placement=fgd")
WITH_HETS = (
    "fcfs",
    "saf+slurm(interval=20)",
    "wfp3+slurm(interval=20,hetjob_prio=max)",
    "multifactor(size=1000)+slurm(interval=20,hetjob_prio=avg,hetjob_immediate=yes)",
)
IN_TIERS = (
    "fcfs",
    "saf+easy",
    "multifactor(size=1000,favor=small)+easy",
    "saf+slurm(interval=20)",
    "fcfs+slurm(tick=1)",
)


def with_features(random):
    """Return any features that go together, on processors."""
    while True:
        groups = random.sample(range(len(GROUPS)), random.randint(0, 3))
        features = [random.choice(sorted(GROUPS[group])) for group in groups]
        try:
            case = setting(random.choice(sorted(BACKFILLINGS)), features)
        except InputError:
            continue
        if not case.refused and not any("python" in one or "function" in one for one in features):
            workload, options = random_simulation(case, random.randint(0, 10_000))
            return workload, case.scheduler, options


def on_clusters(random):
    """Return a cluster with partitions and limits, and perhaps with events of its nodes and a reservation."""
    cluster = random_cluster(random)
    options = {"cluster": cluster}
    if random.random() < 0.6:
        events = random_events(random, cluster)
        reserved = (random_reservation(random, cluster),) if random.random() < 0.5 else ()
        options["node_events"] = NodeEvents((*events.events, *reserved), events.interrupted)
    jobs = random_jobs(random, cluster, events=options.get("node_events"))
    return jobs, random.choice(ON_CLUSTERS), options


def with_hets(random):
    """Return heterogeneous jobs on a cluster with partitions and limits."""
    cluster, scheduler = random_cluster(random), random.choice(WITH_HETS)
    jobs = with_het_jobs(random_jobs(random, cluster), random)
    return without_wide_ones(jobs, scheduler, cluster), scheduler, {"cluster": cluster}


def with_preemption(random):
    """Return jobs in two tiers, of which the higher one preempts the lower one."""
    cluster, jobs = in_tiers(random)
    alone = replace(jobs.resources, het_job=replace(jobs.resources.het_job, codes=np.full(len(jobs), -1)))
    mode = random.choice(["requeue", "suspend", "suspend"])
    preemption = Preemption("partition", mode, requeue_delay=1 if mode == "suspend" else 20)
    return jobs.replace(resources=alone), random.choice(IN_TIERS), {"cluster": replace(cluster, preemption=preemption)}


KINDS = {"features": with_features, "clusters": on_clusters, "components": with_hets, "preemption": with_preemption}


def fields_of(part, name="", above=None):
    """Yield the path, the axis and the value of each field of a world that is no record of its own."""
    try:
        axes = axes_of(type(part))
    except TypeError:
        assert above is not None, f"{name}: fields without an axis, in a record without one"
        axes = dict.fromkeys(part._fields, above)
    for field, axis in axes.items():
        value, path = getattr(part, field), f"{name}.{field}" if name else field
        if hasattr(value, "_fields"):
            yield from fields_of(value, path, above if axis == RECORD else axis)
        else:
            yield path, axis, value


def used(part, path):  # noqa: PLR0911
    """Return which entries of a log or list are in use: all, but for a few."""
    nodes, limits = part.nodes, part.limits
    if path == "nodes.places":
        return slice(int(nodes.counters[LOGGED]))
    if path == "preemption.pauses":
        return slice(int(part.preemption.counters[PAUSES]))
    if path == "submission_limits.refused":
        return slice(int(part.submission_limits.counters[REFUSED]))
    if path == "nodes.ahead.reserved":
        held, offsets = nodes.ahead.held, nodes.ahead.offsets
        return np.concatenate([begin + np.arange(count) for begin, count in zip(offsets, held, strict=False)])
    if path.startswith("requeues."):  # a ring, which may begin elsewhere
        counters, held = part.requeues.counters, part.requeues.held
        ring = (counters[FIRST] + np.arange(counters[HELD])) % max(len(held), 1)
        return {"counters": np.arange(len(counters)) != FIRST, "held": ring, "due": slice(None)}[path.split(".")[-1]]
    if path == "limits.counters":  # the pass makes its reservations anew
        return np.arange(len(limits.counters)) != HEADS
    if path == "priority.shares.order":  # which is sorted anew, whatever it was
        return np.argsort(part.priority.shares.order)
    return slice(None)


def queues_of(part, name=""):
    """Yield the path of each queue."""
    for field, value in zip(part._fields, part, strict=True):
        path = f"{name}.{field}" if name else field
        if isinstance(value, QueueList | QueueTree):
            yield path
        elif hasattr(value, "_fields"):
            yield from queues_of(value, path)


def assert_loaded_as_forked(simulation):
    """Compare a simulation from a file with a copy, number by number."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "state.sim"
        simulation.save(path)
        loaded = Simulation.load(path)
    copy = simulation.fork()
    for (path, _, one), (_, _, other) in zip(fields_of(copy._world), fields_of(loaded._world), strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes(), f"{path} is not what it was in the file"
            assert not one.flags.writeable or one is not dict(arrays_of(simulation._world)).get(path)
    loaded.run()
    copy.run()
    assert outcome(loaded.schedule()) == outcome(copy.schedule())


def assert_grown_by_nothing(simulation):
    """Compare a simulation to which no job is added with what it was, field by field."""
    prepared, world, _ = put_together(simulation._given, simulation._told, open_ended=True)
    jobs = np.arange(len(prepared.jobs))
    moves = moves_of(simulation._prepared, prepared, jobs, int(simulation._clock[SUBMITTED]))
    old = simulation.fork()._world
    new = grown(old, world, moves)
    queues = tuple(queues_of(old))
    for (path, axis, one), (_, _, other) in zip(fields_of(old), fields_of(new), strict=True):
        if isinstance(one, np.ndarray) and axis != SCRATCH and not path.startswith(queues):
            assert one[used(old, path)].tolist() == other[used(new, path)].tolist(), f"{path} is forgotten"
    for one, other in zip(old.waiting, new.waiting, strict=True):
        if one is not None:
            assert sorted(one.members().tolist()) == sorted(other.members().tolist())


def assert_scratch_is_written_before_it_is_read(simulation, random):
    """Write nonsense into all scratch, and compare how it ends."""
    other, expected = simulation.fork(), simulation.fork()
    for _, axis, array in fields_of(other._world):
        if axis == SCRATCH and isinstance(array, np.ndarray) and array.flags.writeable and array.dtype.kind in "bif":
            array[:] = random.choice([0, 1]) if array.dtype.kind == "b" else -random.randint(2, 9)
    other.run()
    expected.run()
    assert outcome(other.schedule()) == outcome(expected.schedule())


def assert_nothing_fixed_is_left_unwritten(simulation):
    """Put a simulation together in memory that held other numbers, and compare what never changes in it."""
    digests = set()
    for held in (0, 1):
        with patch.multiple(np, empty=partial(in_used_memory, held), empty_like=partial(like_in_used_memory, held)):
            _, world, _ = put_together(simulation._given, simulation._told, open_ended=True)
        digests.add(digest_of_fixed(world))
    assert len(digests) == 1, "numbers that never change are read and were never written"


def in_used_memory(held, shape, dtype=float, **options):
    array = np.zeros(shape, dtype, **options)
    array.reshape(-1).view(np.uint8)[:] = held
    return array


def like_in_used_memory(held, prototype, dtype=None, shape=None, **_):
    return in_used_memory(held, prototype.shape if shape is None else shape, dtype or prototype.dtype)


def check(kind, seed):
    """Interrupt a random simulation, and compare what becomes of its state."""
    random = Random(f"{kind}, {seed}")
    workload, scheduler, options = KINDS[kind](random)
    if not len(workload):
        return False
    try:
        simulation = Simulation(workload, scheduler, **options)
    except InputError:
        return False
    simulation._at.open_ended = True  # as if jobs had been added
    simulation._stand(*put_together(workload, simulation._told, open_ended=True))
    simulation.run(random.randint(0, int(np.median(workload.submit_time)) + 30))
    if simulation.fork().run(END):
        assert_nothing_fixed_is_left_unwritten(simulation)
        assert_loaded_as_forked(simulation)
        assert_grown_by_nothing(simulation)
        assert_scratch_is_written_before_it_is_read(simulation, random)
        return True
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_a_state_is_saved_forked_and_grown(kind):
    assert number_printed(__file__, kind) > CASES / 3, "hardly anything was compared"


if __name__ == "__main__":
    # What was never written is the same everywhere.
    np.empty, np.empty_like = np.zeros, np.zeros_like
    numbers.PATIENCE = 7200
    count = int(sys.argv[2]) if len(sys.argv) > 2 else CASES
    print(sum(check(sys.argv[1], seed) for seed in seeds(count)))
