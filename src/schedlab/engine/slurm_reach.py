"""How far down the queue Slurm's backfill pass has to look, on nodes.

A job that has no room on what is free now cannot start, and its reservation matters only to jobs behind it. So nothing
is planned for those behind the last one that has room: until something is released, none of them starts.
"""

from __future__ import annotations

from schedlab.engine.hetjobs import has_het_jobs
from schedlab.engine.node_pass import fits
from schedlab.engine.node_state import Nodes
from schedlab.engine.preemption_state import gives_way
from schedlab.engine.queue_list import QueueList
from schedlab.engine.rivals import has_rivals
from schedlab.engine.rules import NO_SPECULATION, Rules
from schedlab.engine.state import State
from schedlab.kernels import inlined, inner_kernel


@inlined
def out_of_reach(state: State, queue: QueueList, rules: Rules) -> int:
    """Return how many jobs at the end of the queue a pass need not look at.

    It looks at all if jobs may start in others' place, or together, or before what is planned for them.
    """
    others = gives_way(state.site) or has_rivals(state.rivals) or has_het_jobs(state.hets)
    if others or rules.speculation > NO_SPECULATION:
        return 0
    return _behind_all_that_fit(state.nodes, queue)


@inner_kernel
def _behind_all_that_fit(nodes: Nodes | None, queue: QueueList) -> int:
    if nodes is None:
        return 0
    behind = 0
    while behind < queue.length[0] and not fits(nodes, queue.order[queue.length[0] - 1 - behind]):
        behind += 1
    return behind
