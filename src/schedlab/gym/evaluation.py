"""Agents and schedulers judged on the same windows of a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.utils.seeding import np_random
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.engine.many.simulate_many import simulate_many
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.gym.environment import SchedulingEnv
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.agent import agent_at
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

Agent = Callable[[Any, Mapping[str, Any]], Any]
"""Takes an observation and the `info` that came with it, and returns an action."""


class PolicyAgent:
    """An agent that plays a policy, with or without EASY, as far as the decision allows.

    It knows the jobs themselves and not only what is shown of them, but chooses among visible jobs.

    Parameters
    ----------
    policy
        Such as "saf" or "wfp3+easy".

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> env = SchedulingEnv(jobs, window=None)
    >>> play(PolicyAgent("saf"), env).start_time.tolist()
    [0, 10, 2]
    """

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self._env: SchedulingEnv | None = None
        self._number = 0

    def bind(self, env: SchedulingEnv) -> None:
        """Set the environment in which it plays; an episode that runs there is abandoned."""
        self._env, self._number = env, env.episodes.know(self.policy)

    def __call__(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Return its action."""
        if self._env is None:
            raise InputError(f"{self!r} is not bound to an environment: call bind(env) before the episode")
        return self._env.episodes.play(0, self._number)

    def __repr__(self) -> str:
        return f"PolicyAgent({self.policy!r})"


class RandomAgent:
    """An agent that takes any action that is not masked, all with the same probability.

    Parameters
    ----------
    rng
        Draws the actions.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def __call__(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Return its action."""
        return int(self.rng.choice(np.flatnonzero(info["action_mask"])))


@explained
def play(agent: Agent, env: SchedulingEnv, *, seed: int | None = None, **options: Any) -> Schedule:
    """Let an agent play an episode, and return its schedule.

    Parameters
    ----------
    agent
        Who decides.
    env
        Where.
    seed, **options
        Of `SchedulingEnv.reset`.
    """
    if isinstance(agent, PolicyAgent):
        agent.bind(env)
    observation, info = env.reset(seed=seed, options=options)
    over = False
    while not over:
        observation, _, over, _, info = env.step(agent(observation, info))
    return env.schedule()


@dataclass(frozen=True)
class Protocol:
    """On what agents are judged: windows of a workload that are the same for all.

    Parameters
    ----------
    workload
        The log.
    starts
        The rows of the first jobs of the windows, in order of submission.
    window
        Jobs of a window.
    arguments
        Everything else that `SchedulingEnv` is told.

    Examples
    --------
    >>> from schedlab.model.lublin_feitelson import lublin
    >>> from schedlab.workload.cleaning import clean
    >>> jobs = clean(lublin(400, 64, rng=np.random.default_rng(1), load=1.1))
    >>> protocol = Protocol.drawn(jobs, 3, window=50, rng=np.random.default_rng(2))
    >>> judged = evaluate({"random": RandomAgent(np.random.default_rng(3)), "saf": PolicyAgent("saf"),
    ...                    "EASY": "fcfs+easy"}, protocol)
    >>> judged.values["mean_bounded_slowdown"].shape, judged.agents
    ((3, 3), ('random', 'saf', 'EASY'))
    """

    workload: Workload
    starts: tuple[int, ...]
    window: int = 256
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    @explained
    def drawn(
        cls,
        workload: Workload,
        windows: int,
        *,
        window: int = 256,
        first: int = 0,
        rng: np.random.Generator,
        **arguments: Any,
    ) -> Protocol:
        """Draw windows, from a row on: train before it, and judge behind it.

        Raises
        ------
        InputError
            If there are fewer jobs behind that row than a window has.
        """
        last = len(workload) - window
        if not 0 <= first <= last:
            raise InputError(
                f"no window of {window} jobs begins at row {first} or later; the workload has {len(workload)} jobs"
            )
        starts = rng.integers(first, last + 1, size=windows)
        return cls(workload, tuple(int(start) for start in starts), window, arguments)

    def environment(self) -> SchedulingEnv:
        """Return the environment in which agents are judged."""
        return SchedulingEnv(self.workload, window=self.window, **self.arguments)


@dataclass(frozen=True)
class Judged:
    """How good agents and schedulers are, window by window.

    Parameters
    ----------
    agents
        Their names.
    values
        By metric: float64 of shape (windows, agents).
    decisions
        How many decisions each took, over all windows; 0 for schedulers that are no agents.
    seconds
        How long each took per decision, the simulation included; NaN for schedulers that are no agents.
    """

    agents: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]
    decisions: tuple[int, ...]
    seconds: tuple[float, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each window, agent and metric."""
        import pandas as pd

        rows = [
            {"window": window, "agent": agent, "metric": metric, "value": float(values[window, place])}
            for metric, values in self.values.items()
            for window in range(len(values))
            for place, agent in enumerate(self.agents)
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        import pandas as pd

        columns: dict[str, Any] = {f"{name} (mean)": one.mean(axis=0) for name, one in self.values.items()}
        columns |= {"decisions": self.decisions, "us per decision": np.array(self.seconds) * 1e6}
        return pd.DataFrame(columns, index=list(self.agents)).to_string(float_format="{:,.2f}".format, na_rep="-")


@explained
def evaluate(
    agents: Mapping[str, Agent | str],
    protocol: Protocol,
    *,
    metrics: Sequence[str] = ("mean_bounded_slowdown", "mean_wait"),
) -> Judged:
    """Judge agents, and schedulers beside them, on the same windows.

    Parameters
    ----------
    agents
        By name: an agent, or the text of any scheduler of schedlab, which is simulated as it is; "@agent:FILE" is one.
    protocol
        The windows.
    metrics
        Names as in `Schedule.metrics`.

    Raises
    ------
    InputError
        If a window does not exist, or a scheduler or metric is unknown.
    """
    env = protocol.environment()
    source = env.episodes.source
    workloads = [source.draw(np_random(row)[0], {"start": start}).workload for row, start in enumerate(protocol.starts)]
    values = {name: np.empty((len(workloads), len(agents))) for name in metrics}
    decisions, seconds = [], []
    machine: dict[str, Any] = {name: protocol.arguments.get(name) for name in ("cluster", "node_events")}
    for place, agent in enumerate(agents.values()):
        if isinstance(agent, str) and agent_at(agent) is None and machine["cluster"] is None:
            found = simulate_many(workloads, agent, metrics=list(metrics))[:, 0, :]
            for column, name in enumerate(metrics):
                values[name][:, place] = found[:, column]
            decisions.append(0)
            seconds.append(float("nan"))
            continue
        taken, begun = 0, time.perf_counter()
        for row, start in enumerate(protocol.starts):
            if isinstance(agent, str):
                schedule = simulate(workloads[row], agent, **machine)
                taken += schedule.specification.get("decisions", 0)
            else:
                schedule = play(agent, env, seed=row, start=start)
                taken += env.decisions
            measured = schedule.metrics()
            for name in metrics:
                values[name][row, place] = measured[name]
        decisions.append(taken)
        seconds.append((time.perf_counter() - begun) / taken if taken else float("nan"))
    return Judged(tuple(agents), values, tuple(decisions), tuple(seconds))
