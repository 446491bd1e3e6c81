"""A trained agent at work: it is asked in place of a scheduling pass, and starts jobs until it waits.

What it is shown is what `schedlab.gym` shows agents whose decision is "next", so that it decides the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.by_hand import start_by_hand
from schedlab.engine.calendar import NEVER, SOONEST
from schedlab.engine.node_pass import fits
from schedlab.engine.node_state import Nodes
from schedlab.engine.parts import Parts
from schedlab.engine.prepared import Prepared
from schedlab.engine.state import FREE, NOW, STARTED, SUBMITTED
from schedlab.kernels import bare_kernel
from schedlab.scheduler.agent import AgentPolicy
from schedlab.scheduler.agent_network import (
    CONTEXT,
    JOB_FEATURES,
    LONG_WAIT,
    PROCESSORS,
    REQUEST,
    WAIT,
)


class AgentPlayer:
    """An agent in a simulation.

    Parameters
    ----------
    prepared
        The simulation.
    policy
        Who plays.
    """

    def __init__(self, prepared: Prepared, policy: AgentPolicy) -> None:
        self.agent = policy.agent
        self.processors = prepared.processors
        self.decisions = 0

    def play(self, parts: Parts) -> None:
        """Let it start jobs of this second, until it waits or no visible job fits."""
        while (job := self._choice(parts)) is not None:
            start_by_hand(*parts[:9], parts.rules, job)

    def _choice(self, parts: Parts) -> int | None:
        """Return the job that it starts next, None to wait."""
        jobs = parts.waiting.queue.members()
        if not len(jobs):
            return None
        clock, rules, seen = parts.state.clock, parts.rules, parts.seen
        ages = jobs[np.argsort(parts.state.entered[jobs], kind="stable")]
        oldest = seen[ages[0]]
        starves = 0 <= rules.starvation < clock[NOW] - oldest["submit"]
        if starves or clock[STARTED] < rules.in_order:
            return int(ages[0]) if self._fitting(parts, ages[:1]).all() else None
        visible = jobs[np.lexsort((jobs, seen["submit"][jobs]))][: self.agent.slots]
        possible = self._fitting(parts, visible)
        if not possible.any():
            return None
        self.decisions += 1
        ends = parts.state.completions.status[SOONEST] == NEVER and clock[SUBMITTED] == len(parts.jobs)
        mask = np.zeros(len(visible) + 1, dtype=np.bool_)
        mask[:-1], mask[-1] = possible, not ends
        action = self.agent.network.choose(self._shown(parts, visible), self._summary(parts, jobs), mask)
        return None if action == len(visible) else int(visible[action])

    def _fitting(self, parts: Parts, jobs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which jobs could start now."""
        found: NDArray[np.bool_] = parts.jobs["processors"][jobs] <= parts.state.clock[FREE]
        if parts.needs is not None:
            found &= parts.needs.ready[jobs]
        if parts.state.nodes is not None:
            fit_on_nodes(parts.state.nodes, jobs, found)
        return found

    def _shown(self, parts: Parts, visible: NDArray[np.int64]) -> NDArray[np.float32]:
        seen, now = parts.seen, parts.state.clock[NOW]
        shown = np.zeros((len(visible), len(JOB_FEATURES)), dtype=np.float32)
        shown[:, WAIT] = np.minimum((now - seen["submit"][visible]) / LONG_WAIT, 1.0)
        shown[:, REQUEST] = np.minimum(seen["estimate"][visible] / self.agent.longest, 1)
        shown[:, PROCESSORS] = parts.jobs["processors"][visible] / self.processors
        return shown

    def _summary(self, parts: Parts, waiting: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what is shown of the machine and its queue; see the page on environments."""
        clock, seen, count = parts.state.clock, parts.seen, len(waiting)
        widths: NDArray[Any] = parts.jobs["processors"][waiting]
        width = float(widths.sum()) / self.processors
        area = float(np.dot(widths.astype(np.float64), seen["estimate"][waiting])) / (self.processors * LONG_WAIT)
        waited = float((clock[NOW] - seen["submit"][waiting]).sum()) / (max(count, 1) * LONG_WAIT)
        end = int(parts.state.running.status[SOONEST])
        summary = np.empty(CONTEXT, dtype=np.float32)
        summary[0] = clock[FREE] / self.processors
        summary[1] = count / (count + self.agent.slots)
        summary[2] = width / (1.0 + width)
        summary[3] = area / (1.0 + area)
        summary[4] = waited / (1.0 + waited)
        summary[5] = 1.0 if end == NEVER else min(max(end - clock[NOW], 0) / LONG_WAIT, 1.0)
        return summary


@bare_kernel
def fit_on_nodes(nodes: Nodes, jobs: NDArray[np.int64], found: NDArray[np.bool_]) -> None:
    """Leave only those jobs marked that fit on the nodes now."""
    for i in range(len(jobs)):
        if found[i]:
            found[i] = fits(nodes, jobs[i])
