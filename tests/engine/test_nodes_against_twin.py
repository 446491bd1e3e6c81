"""On nodes, the compiled engine decides as the plain one: starts, nodes, tasks and GPUs of every job."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from node_cases import node_workloads, on_nodes

from schedlab.engine.drive import Driver
from schedlab.engine.node_inputs import NodeInputs
from schedlab.engine.nodes import order_of
from schedlab.engine.parts import assemble
from schedlab.engine.prepared import Prepared
from schedlab.engine.twin.simulate import replay_on_nodes
from schedlab.workload.workload import Workload

SCHEDULERS = (
    "fcfs",
    "saf",
    "fcfs+easy",
    "saf+easy",
    "fcfs+easy:sjf",
    "wfp3+easy",
    "fcfs+easy@ave2/incremental",
    "saf@similar+easy@requested",
    "saf+easy,starvation=20",
    "spf+easy,window=4",
)


def simulated(prepared: Prepared) -> tuple[np.ndarray, np.ndarray, list[list[tuple[int, ...]]]]:
    """Return starts, who was backfilled, and (node, tasks, GPUs as bits) of each job, in order of submission."""
    driver = Driver(prepared, assemble(prepared))
    driver.run()
    state = driver.parts.state
    nodes, number = state.nodes, order_of(prepared.nodes)
    held = []
    for job in range(len(prepared.jobs)):
        run = nodes.run[job]
        places = nodes.places[nodes.offsets[run] : nodes.offsets[run + 1]]
        held.append([(int(number[place["node"]]), int(place["tasks"]), int(place["bits"])) for place in places])
    return state.start, state.backfilled, held


def as_bits(nodes: NodeInputs, parts: Any) -> list[tuple[int, ...]]:
    """Return what the plain engine says of a job in the same form."""
    return [
        (part.node, part.tasks, sum(1 << int(gpu - nodes.device_offset[part.node]) for gpu, _ in part.gpus))
        for part in parts
    ]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(data=st.data())
def test_every_job_starts_when_and_where_the_plain_engine_starts_it(scheduler: str, data: st.DataObject):
    workload, nodes = data.draw(node_workloads())
    compare(workload, nodes, scheduler)


def compare(workload: Workload, nodes: NodeInputs, scheduler: str) -> None:
    plain, parts = replay_on_nodes(on_nodes(workload, nodes, scheduler))
    start, backfilled, held = simulated(on_nodes(workload, nodes, scheduler))
    assert start.tolist() == plain.start_time.tolist()
    assert backfilled.tolist() == plain.backfilled.tolist()
    assert [sorted(one) for one in held] == [sorted(as_bits(nodes, one)) for one in parts]
