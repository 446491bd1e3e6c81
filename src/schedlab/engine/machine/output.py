"""The placement that a simulation on nodes returns: where jobs ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.machine.state import LOGGED, RUNS, order_of
from schedlab.schedule.placement import Placement

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def placement_of(prepared: Prepared, world: World) -> Placement:
    """Return the nodes of the runs of a simulation: all runs if they may fail, otherwise those of the jobs."""
    inputs, nodes = prepared.nodes, world.nodes
    assert inputs is not None
    assert nodes is not None
    runs, places = int(nodes.counters[RUNS]), int(nodes.counters[LOGGED])
    # Memory is left out if no job requests any.
    counted = bool((inputs.memory < UNLIMITED).any() and (inputs.node_memory.any() or inputs.task_memory.any()))
    offsets = nodes.offsets[: runs + 1]
    counts = np.diff(offsets)
    job = world.state.begun[:runs]
    log = nodes.places[:places]
    request = log["request"]
    node, tasks = order_of(inputs)[log["node"]], log["tasks"]
    held = np.where(inputs.exclusive[request], inputs.cores[node], tasks * inputs.task_cores[request])
    gpus = np.bitwise_count(log["bits"]).astype(np.int64)
    there = np.where(inputs.memory == UNLIMITED, 0, inputs.memory)
    asked = inputs.node_memory[request] + tasks * inputs.task_memory[request]
    whole = inputs.exclusive if inputs.whole_memory is None else inputs.exclusive | inputs.whole_memory
    memory = np.where(whole[request] | (there[node] == 0), there[node], asked)
    if prepared.asked is None:  # no job ran twice: in the workload's order
        row = job if prepared.order is None else prepared.order[job]
        first = np.argsort(row, kind="stable")
        take = np.repeat(offsets[first], counts[first]) + _ramp(counts[first])
        node, held, gpus, memory, ran = node[take], held[take], gpus[take], memory[take], counts[first]
        counts = np.zeros(len(job) if prepared.spread is not None else len(prepared.jobs), dtype=np.int64)
        counts[slice(None) if prepared.spread is not None else row[first]] = ran  # a cancelled job has no nodes
        offsets = np.concatenate([[0], np.cumsum(counts)])
    return Placement(
        inputs.names,
        inputs.cores,
        np.diff(inputs.device_offset),
        offsets=offsets.astype(np.int64),
        node=node.copy(),
        held_cores=held,
        held_gpus=gpus,
        memory=there if counted else None,
        held_memory=memory if counted else None,
        switches=inputs.switches,
    )


def _ramp(counts: np.ndarray) -> np.ndarray:
    """Return 0, 1, ... up to each count, concatenated."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
