"""A trained agent in a simulation: it replaces the scheduling pass, and starts jobs until it chooses to wait."""

from __future__ import annotations

import numpy as np

from schedlab.engine.decisions.agent_view import in_view, jobs_shown, nothing_to_come, summary_shown
from schedlab.engine.decisions.starts import Starts
from schedlab.engine.jobs.clock import NOW, STARTED
from schedlab.engine.prepared import Prepared
from schedlab.engine.world import World
from schedlab.scheduler.agent import AgentPolicy
from schedlab.scheduler.agent_network import POSSIBLE


class AgentPlayer:
    """An agent in a simulation.

    Parameters
    ----------
    prepared
        The simulation.
    policy
        The agent.
    """

    def __init__(self, prepared: Prepared, policy: AgentPolicy) -> None:
        self.agent = policy.agent
        self.processors = prepared.processors
        self.decisions = 0
        self._starts = Starts()

    def play(self, world: World) -> None:
        """Start the jobs that the agent chooses in this second, until it waits or no visible job fits."""
        while (job := self._choice(world)) is not None:
            self._starts.start(world, job)

    def _choice(self, world: World) -> int | None:
        """Return the job that the agent starts next, or None to wait."""
        jobs = world.waiting.queue.members()
        if not len(jobs):
            return None
        clock, rules, agent = world.state.clock, world.rules, self.agent
        oldest = jobs[[np.argmin(world.state.entered[jobs])]]
        starves = 0 <= rules.starvation < clock[NOW] - world.seen["submit"][oldest[0]]
        if starves or clock[STARTED] < rules.in_order:
            return int(oldest[0]) if self._starts.possible(world, oldest)[0] else None
        visible = in_view(world, jobs, agent.slots)
        possible = self._starts.possible(world, visible)
        if not possible.any():
            return None
        self.decisions += 1
        mask = np.append(possible, not nothing_to_come(world))
        shown = jobs_shown(world, visible, self.processors, agent.longest)
        shown[:, POSSIBLE] = possible
        action = agent.network.choose(shown, summary_shown(world, jobs, self.processors, agent.slots), mask)
        return None if action == len(visible) else int(visible[action])
