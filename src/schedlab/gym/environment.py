"""The Gymnasium environment: one simulation whose decisions an agent takes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.wording import install

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError:
    raise InputError(f"environments need Gymnasium: {install('gym')}") from None

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.gym.decisions import POLICIES, Decision
from schedlab.gym.episodes import Episodes
from schedlab.gym.machines import episodes_for
from schedlab.gym.node_episodes import NodeEpisodes
from schedlab.gym.pool import DECISIONS, FEATURES, OVER, SUMMARY, WRONG
from schedlab.gym.side_by_side import SideBySide
from schedlab.gym.sources import Episode, Model
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload

Observation = Literal["jobs", "summary", "both"]
Masked = Literal["replace", "error"]


class InvalidActionError(InputError, gymnasium.error.InvalidAction):
    """An action is out of range, or masked where that is an error."""


class ResetNeededError(InputError, gymnasium.error.ResetNeeded):
    """A step without an episode, or after its end."""


@explained
class SchedulingEnv(gymnasium.Env[Any, Any]):
    """Scheduling decisions of one simulation, for a learning agent.

    Parameters
    ----------
    workload
        A log of which episodes are windows, several, or a function that draws a workload with the generator it gets.
    decision
        What the agent decides. "next": which visible job starts now, or to wait for the next event. "backfill": heads
        of the queue under `base` start by themselves; which job may start before a blocked head, of those that do not
        delay its reservation, or none. "inspect": whether the job that `base` would start is accepted (0) or skipped
        (1), so that nothing starts before the next event or for `pause` seconds. "policy": which of `policies` decides
        for the next `period` seconds.
    processors
        Size of the machine; None takes the workload's own.
    observation
        "jobs": float32 (slots, 8); "summary": float32 (8,), of the machine and its queue; "both": a dictionary of both.
    reward
        The metric to minimise, one of `schedlab.gym.sources.METRICS`.
    increments
        Whether each reward is what the metric has grown by since the last one, negative; else the reward is 0 until the
        end and the negative metric there. Both add up to the negative metric of the episode.
    window
        Jobs of an episode, consecutive ones at a random place; None takes the workload as a whole.
    load
        How many times as densely as in the log jobs are submitted, or a range from which that is drawn.
    base
        The policy behind "backfill" and "inspect"; with `commit`, the order in which jobs are backfilled if it has
        "+easy".
    policies
        What "policy" chooses from.
    commit
        With "next": the job that is picked is waited for, whether it fits or not, and there is no action to wait, as
        in SC'20.
    slots
        How many jobs are visible at most.
    order
        By which policy visible jobs are ordered, and chosen if more wait.
    pause, period
        Seconds, see `decision`; a period of 0 lets a policy be chosen at every event.
    longest
        Seconds: the request that counts as 1; None takes the longest of the workload.
    cluster
        The machine, instead of `processors`: nodes with cores, memory and GPUs. Everything but `commit` goes with it.
    node_events
        What happens to the nodes: they fail, are drained, come back, are maintained and reserved, in the seconds of the
        workload, whatever `load` is. Jobs that fail with their nodes wait again.
    masked_action
        What happens to a masked action: "replace" takes the last action that is not masked (to wait, where that is
        possible) and says so in `info["action_replaced"]`; "error" raises.
    render_mode
        None, or "ansi".

    Raises
    ------
    InputError
        If an argument makes no sense, or a job cannot be simulated: an empty workload, a job wider than the machine.

    Notes
    -----
    `info["action_mask"]` (and `action_masks()`) says which actions are possible. An episode ends (`terminated`) when
    all jobs have started; what waits for nothing but time is simulated to the end. It is never truncated.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> env = SchedulingEnv(jobs, window=None, slots=3, reward="mean_wait")
    >>> observation, info = env.reset(seed=1)
    >>> info["action_mask"].tolist()
    [True, False, False, True]
    >>> env.step(0)[4]["action_mask"].tolist()
    [False, True, False, True]
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        workload: Workload | Sequence[Workload] | Model,
        decision: Decision = "next",
        *,
        processors: int | None = None,
        observation: Observation = "jobs",
        reward: str = "mean_bounded_slowdown",
        increments: bool = True,
        window: int | None = 256,
        load: float | tuple[float, float] = 1.0,
        base: str = "fcfs",
        policies: Sequence[str] = POLICIES,
        commit: bool = False,
        slots: int = 128,
        order: str = "fcfs",
        pause: int = 600,
        period: int = 3_600,
        longest: int | None = None,
        cluster: Cluster | None = None,
        node_events: NodeEvents | None = None,
        masked_action: Masked = "replace",
        render_mode: str | None = None,
    ) -> None:
        if masked_action not in ("replace", "error"):
            raise InputError(f"masked_action={masked_action!r} is unknown; known are replace and error")
        if render_mode not in (None, "ansi"):
            raise InputError(f"render_mode={render_mode!r} is unknown; known is ansi")
        self.episodes: Episodes | NodeEpisodes = episodes_for(
            1,
            workload,
            processors=processors,
            window=window,
            load=load,
            decision=decision,
            base=base,
            policies=policies,
            commit=commit,
            slots=slots,
            order=order,
            pause=pause,
            period=period,
            reward=reward,
            increments=increments,
            longest=longest,
            cluster=cluster,
            node_events=node_events,
        )
        self.observed: Observation = observation
        self.observation_space = observation_space(self.episodes, observation)
        self.action_space = spaces.Discrete(self.episodes.rules.actions)
        self.render_mode = render_mode
        self._strict = masked_action == "error"
        self._action = np.zeros(1, dtype=np.int64)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed
            Of the generator that draws this and the following episodes; None goes on with the one at hand.
        options
            `workload` (its number), `start` (the row of the first job) and `load` fix what would be drawn.

        Raises
        ------
        InputError
            If an option is unknown, or the model draws jobs that cannot be simulated.
        """
        super().reset(seed=seed)
        self.episodes.begin(0, self.np_random, options)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out an action, and let time pass until the next decision.

        Raises
        ------
        InputError
            If there is no episode, or if the action is out of range, or masked where that is an error.
        """
        pool = self.episodes.pool
        if pool.progress[0, OVER]:
            raise ResetNeededError("no episode has begun, or it is over: call reset() before step()")
        self._action[0] = self._checked(action)
        self.episodes.step(self._action)
        self.episodes.check()
        over = bool(pool.progress[0, OVER])
        return self._observation(), float(pool.reward[0]), over, False, self._info()

    def _checked(self, action: Any) -> int:
        try:
            number = operator.index(action)
        except TypeError:
            raise InvalidActionError(f"action {action!r} is not a whole number") from None
        mask = self.episodes.pool.mask[0]
        if not 0 <= number < len(mask):
            raise InvalidActionError(f"action {number} is out of range: actions go from 0 to {len(mask) - 1}")
        if self._strict and not mask[number]:
            possible = np.flatnonzero(mask).tolist()
            raise InvalidActionError(f"action {number} is masked: possible are {possible}")
        return number

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are possible, as sb3-contrib's MaskablePPO asks."""
        mask: NDArray[np.bool_] = self.episodes.pool.mask[0].copy()
        return mask

    def schedule(self) -> Schedule:
        """Return the schedule of the episode.

        Raises
        ------
        InputError
            If it is not over.
        """
        return self.episodes.schedule(0)

    @property
    def episode(self) -> Episode:
        """The jobs of the episode at hand."""
        return self.episodes.drawn(0)

    @property
    def decisions(self) -> int:
        """Actions taken in the episode so far."""
        return int(self.episodes.pool.progress[0, DECISIONS])

    def render(self) -> Any:
        """Return a line of text about the decision at hand."""
        if self.render_mode is None:
            gymnasium.logger.warn('give render_mode="ansi" to render')
            return None
        clock, progress = self.episodes.pool.clock[0], self.episodes.pool.progress[0]
        return (
            f"second {clock[0]}: {clock[1]} of {self.episodes.rules.processors} processors free, {progress[1]} jobs "
            f"wait, {clock[3]} of {progress[0]} have started"
        )

    def _observation(self) -> Any:
        pool = self.episodes.pool
        if self.observed == "jobs":
            return pool.shown[0].copy()
        if self.observed == "summary":
            return pool.summary[0].copy()
        return {"jobs": pool.shown[0].copy(), "summary": pool.summary[0].copy()}

    def _info(self) -> dict[str, Any]:
        pool = self.episodes.pool
        progress = pool.progress[0]
        return {
            "action_mask": pool.mask[0].copy(),
            "action_replaced": bool(progress[WRONG]),
            "now": int(pool.clock[0, 0]),
        }


def observation_space(episodes: SideBySide, observation: Observation) -> spaces.Space[Any]:
    """Return the space of an observation.

    Raises
    ------
    InputError
        If there is no such observation.
    """
    jobs = spaces.Box(0, 1, (episodes.rules.slots, FEATURES), np.float32)
    summary = spaces.Box(0, 1, (SUMMARY,), np.float32)
    known: dict[str, spaces.Space[Any]] = {
        "jobs": jobs,
        "summary": summary,
        "both": spaces.Dict({"jobs": jobs, "summary": summary}),
    }
    if observation not in known:
        raise InputError(f"observation={observation!r} is unknown; known are {', '.join(known)}")
    return known[observation]
