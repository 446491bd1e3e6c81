"""Which runs may be preempted, in the order of preemption, and how much each of them helps.

A heterogeneous job gives way as a whole. Its first component stands for it in the order, by its own rank, nodes and
submission; all components have to be running, and each has to be one that may be preempted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import BLOCK, USED
from schedlab.engine.hetjobs import HetJobs, end_of_all, first_of_all
from schedlab.engine.node_state import PICKED, Nodes
from schedlab.engine.preemption_state import YOUNGEST, Preemption, class_of_run
from schedlab.engine.site_state import Site
from schedlab.engine.state import NOW, State
from schedlab.kernels import inlined, inner_kernel

MOST = 1 << 40
"""More than the number of chosen nodes that any run has."""


@inner_kernel
def candidates(preemption: Preemption, site: Site, nodes: Nodes, state: State, option: int) -> int:
    """List the runs that may be preempted, in the order of preemption; return how many there are."""
    running, who = state.running, preemption.who
    _count_components(state.hets, preemption, site, nodes, state, option)
    count = 0
    for place in range(running.status[USED]):
        number = running.order[place]
        for i in range(running.counts[number]):
            job = running.records[number * BLOCK + i].job
            if not _may_end(preemption, site, nodes, state, option, job) or _lacks_component(
                state.hets, preemption.use, job
            ):
                continue
            k = count
            while k > 0 and _gives_way_before(preemption, site, nodes, state, job, who[k - 1]):
                who[k] = who[k - 1]
                k -= 1
            who[k] = job
            count += 1
    return count


@inlined
def _may_end(preemption: Preemption, site: Site, nodes: Nodes, state: State, option: int, job: int) -> bool:
    """Return whether a run may be preempted for a job in one of its partitions."""
    his = class_of_run(preemption, site, nodes, job)
    return (
        not preemption.ending[job]
        and not preemption.suspends[his]
        and preemption.may[preemption.of_option[option], his]
        and state.clock[NOW] - state.start[job] > preemption.exempt[his]
        and _is_in(site, nodes, site.partition[option], job)
    )


@inlined
def _count_components(
    hets: HetJobs | None, preemption: Preemption, site: Site, nodes: Nodes, state: State, option: int
) -> None:
    """Count in `Preemption.use`, by the first component of each job, those of its runs that may be preempted."""
    if hets is not None:
        running = state.running
        preemption.use[:] = 0
        for place in range(running.status[USED]):
            number = running.order[place]
            for i in range(running.counts[number]):
                job = running.records[number * BLOCK + i].job
                preemption.use[hets.first[job]] += _may_end(preemption, site, nodes, state, option, job)


@inlined
def _lacks_component(hets: HetJobs | None, count: NDArray[np.int64], job: int) -> bool:
    """Return whether a run does not stand for its job, or a component of that may not be preempted."""
    if hets is not None:
        return hets.first[job] != job or count[job] < hets.end[job] - job
    return False


@inlined
def _is_in(site: Site, nodes: Nodes, partition: int, job: int) -> bool:
    """Return whether a run has any node of a partition."""
    run, found = nodes.run[job], False
    for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
        found = found or site.member[partition, nodes.places[entry].node]
    return found


@inlined
def _gives_way_before(preemption: Preemption, site: Site, nodes: Nodes, state: State, one: int, other: int) -> bool:
    if preemption.counters[YOUNGEST] > 0:
        if state.start[one] != state.start[other]:
            return state.start[one] > state.start[other]
        return one < other
    mine = preemption.rank[class_of_run(preemption, site, nodes, one)]
    his = preemption.rank[class_of_run(preemption, site, nodes, other)]
    if mine != his:
        return mine < his
    width = nodes.offsets[nodes.run[one] + 1] - nodes.offsets[nodes.run[one]]
    others = nodes.offsets[nodes.run[other] + 1] - nodes.offsets[nodes.run[other]]
    return width < others or (width == others and one < other)


@inner_kernel
def measure_use(hets: HetJobs | None, preemption: Preemption, nodes: Nodes, last: int, count: int) -> None:
    """Record how many of the chosen nodes each run has, up to the last preempted one."""
    chosen = preemption.chosen
    for i in range(nodes.counters[PICKED]):
        chosen[nodes.notes[i].picked] = True
    for i in range(count):
        preemption.use[i] = 0
        if i <= last:
            for part in range(first_of_all(hets, preemption.who[i]), end_of_all(hets, preemption.who[i])):
                run = nodes.run[part]
                for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
                    preemption.use[i] += chosen[nodes.places[entry].node]
    for i in range(nodes.counters[PICKED]):
        chosen[nodes.notes[i].picked] = False


@inner_kernel
def sort_by_use(preemption: Preemption, count: int) -> None:
    """Move the runs with most of the chosen nodes to the front; equal ones keep their order."""
    who, use = preemption.who, preemption.use
    for i in range(1, count):
        job, most, k = who[i], use[i], i
        while k > 0 and use[k - 1] < most:
            who[k], use[k] = who[k - 1], use[k - 1]
            k -= 1
        who[k], use[k] = job, most
