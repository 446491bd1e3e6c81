"""The reference training of an agent: masked policy gradients, clipped as in PPO, with PyTorch.

References
----------
Schulman et al., "Proximal policy optimization algorithms", 2017; Mao et al., ICLR 2019, for the baseline, see
`schedlab.gym.rollouts.advantages`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.gym.episodes import Episodes
from schedlab.gym.rollouts import Rollout, advantages, joined, roll
from schedlab.scheduler.agent_file import AgentFile
from schedlab.scheduler.agent_network import VIEWS, Network
from schedlab.wording import install
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Settings:
    """How an agent is trained.

    Parameters
    ----------
    updates
        How often episodes are played and learned from.
    windows, copies
        Windows of an update, of each log, and how often each is played.
    window, slots, commit, base
        As for `SchedulingEnv`; "fcfs+easy" as the base backfills where jobs are committed.
    load
        How many times as densely as in the log jobs are submitted, at the first and at the last update; in between, it
        goes evenly from one to the other (a curriculum).
    view, hidden
        What the network sees, one of `schedlab.scheduler.agent_network.VIEWS`, and the widths of its hidden layers.
        With `commit`, "job" and (32, 16, 8), it is the network of SC'20, but for numbers of users and programs.
    reward
        The metric to minimise, see `schedlab.gym.sources.METRICS`.
    epochs, batches
        How often the decisions of an update are learned from, in how many parts.
    rate
        Of learning, at the beginning; it falls to a tenth of that.
    clip
        How far from 1 the ratio of probabilities counts.
    entropy
        Weight of the entropy at the beginning; it falls to 0.
    every
        After how many updates the agent is validated.
    """

    updates: int = 60
    windows: int = 4
    copies: int = 12
    window: int = 256
    slots: int = 128
    commit: bool = False
    base: str = "fcfs"
    load: tuple[float, float] = (1.0, 1.0)
    view: str = "context"
    hidden: tuple[int, ...] = (32, 16, 8)
    reward: str = "mean_bounded_slowdown"
    epochs: int = 3
    batches: int = 4
    rate: float = 2e-3
    clip: float = 0.2
    entropy: float = 0.01
    every: int = 3


class Point(NamedTuple):
    """A point of a learning curve.

    `decisions` were taken in training so far, in `seconds`; `training` is the mean metric of the sampled episodes of
    the last update, `validation` that of the validation windows, played without chance; of several logs, their
    geometric means.
    """

    update: int
    decisions: int
    seconds: float
    training: float
    validation: float


class Trained(NamedTuple):
    """The agent that was best in validation, and its learning curve."""

    agent: AgentFile
    curve: tuple[Point, ...]


def train(
    workload: Workload | Sequence[Workload],
    *,
    validation: Workload | Sequence[Workload],
    seed: int,
    settings: Settings = Settings(),
    watch: Callable[[Point], object] = lambda point: None,
) -> Trained:
    """Train an agent that decides which job starts next, or to wait.

    Parameters
    ----------
    workload
        The jobs of the windows that it plays; of several logs, whose machines may differ, each update plays all.
    validation
        Jobs on whose windows the best agent is chosen: neither those of training nor those on which it is judged; of
        each log.
    seed
        Of all that is drawn: windows, actions and first weights.
    settings
        How it is trained.
    watch
        Is told each point of the learning curve.

    Raises
    ------
    InputError
        If PyTorch is not installed, or a workload cannot be played.
    """
    torch = _torch()
    if settings.copies < 2:
        raise InputError(f"copies={settings.copies}: each window must be played at least twice")
    if settings.view not in VIEWS:
        raise InputError(f"view={settings.view!r} is unknown; known are {', '.join(VIEWS)}")
    rng = np.random.default_rng(seed)
    logs = _logs(workload, validation, settings)
    torch.manual_seed(seed)
    layers = _layers(torch, settings)
    optimiser = torch.optim.Adam(layers.parameters(), lr=settings.rate)
    begun, decisions = time.perf_counter(), 0
    best, curve = network_of(layers, settings.view), list[Point]()
    for update in range(settings.updates + 1):
        left = 1 - update / max(settings.updates, 1)
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * (0.1 + 0.9 * left)
        load = left * settings.load[0] + (1 - left) * settings.load[1]
        rollouts = [log.play(network_of(layers, settings.view), load, rng) for log in logs]
        if update % settings.every == 0 or update == settings.updates:
            network = network_of(layers, settings.view)
            played = _geometric_mean(
                [-float(one.reward.sum()) / log.episodes.number for one, log in zip(rollouts, logs, strict=True)]
            )
            validated = _geometric_mean([log.validate(network) for log in logs])
            point = Point(update, decisions, time.perf_counter() - begun, played, validated)
            if not curve or point.validation < min(one.validation for one in curve):
                best = network
            curve.append(point)
            watch(point)
        rollout = joined(rollouts)
        decisions += len(rollout.episode)
        _learn(torch, layers, optimiser, rollout, settings, settings.entropy * left, rng)
    facts = {"workload": ", ".join(log.name for log in logs), "jobs": sum(log.jobs for log in logs)}
    facts |= {"validation": sum(log.held_out for log in logs), "seed": seed, "settings": asdict(settings)}
    facts |= {"curve": [point._asdict() for point in curve], "torch": torch.__version__}
    decision = "commit" if settings.commit else "next"
    return Trained(AgentFile(best, logs[0].longest, settings.slots, facts, decision), tuple(curve))


def _geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise InputError(f"training needs PyTorch: {install('train')}") from None
    return torch


class _Log:
    """A log of which an agent plays windows, and the windows on which it is validated, one behind the other."""

    def __init__(self, workload: Workload, validation: Workload, longest: int, settings: Settings) -> None:
        starts = range(0, len(validation) - settings.window + 1, settings.window)
        if not starts:
            raise InputError(f"validation: {len(validation)} jobs are fewer than a window of {settings.window}")
        told: dict[str, Any] = {"window": settings.window, "slots": settings.slots, "longest": longest}
        told |= {"commit": settings.commit, "base": settings.base, "reward": settings.reward}
        self.name, self.jobs, self.held_out, self.longest = workload.name, len(workload), len(validation), longest
        self.starts, self.windows, self.copies = list(starts), settings.windows, settings.copies
        self.episodes = Episodes(settings.windows * settings.copies, workload, **told)
        self._validated = Episodes(len(self.starts), validation, **told)

    def play(self, network: Network, load: float, rng: np.random.Generator) -> Rollout:
        """Draw windows, and let a network play each of them several times."""
        options = {} if load == 1 else {"load": load}
        for low in range(0, self.windows * self.copies, self.copies):
            drawn = self.episodes.begin(low, rng, options)
            for e in range(low + 1, low + self.copies):
                self.episodes.begin_with(e, drawn)
        return roll(self.episodes, network, rng)

    def validate(self, network: Network) -> float:
        """Return the mean of the metric over the windows of validation."""
        nothing = np.random.default_rng(0)
        for e, start in enumerate(self.starts):
            self._validated.begin_with(e, self._validated.source.draw(nothing, {"start": start}))
        # What accrues before the first decision is told with its reward, and windows without one cost nothing extra.
        return -float(roll(self._validated, network, None).reward.sum()) / len(self.starts)


def _logs(
    workload: Workload | Sequence[Workload], validation: Workload | Sequence[Workload], settings: Settings
) -> list[_Log]:
    workloads, held_out = ([one] if isinstance(one, Workload) else list(one) for one in (workload, validation))
    if not workloads or len(workloads) != len(held_out):
        raise InputError(f"{len(workloads)} training logs but {len(held_out)} validation logs: give one for each")
    longest = max(int(one.requested_time.max()) for one in workloads)
    return [_Log(one, other, longest, settings) for one, other in zip(workloads, held_out, strict=True)]


def _layers(torch: Any, settings: Settings) -> Any:
    """Return the network with its first weights; at first, all actions are nearly as good as each other."""
    widths = (len(VIEWS[settings.view]), *settings.hidden, 1)
    parts: list[Any] = []
    for low, high in itertools.pairwise(widths):
        parts += [torch.nn.Linear(low, high), torch.nn.ReLU()]
    with torch.no_grad():
        parts[-2].weight *= 0.1
        parts[-2].bias.zero_()
    return torch.nn.Sequential(*parts[:-1])


def network_of(layers: torch.nn.Sequential, view: str = "context") -> Network:
    """Return what a network of PyTorch has learned, for NumPy."""
    found = [array.detach().cpu().numpy().copy() for array in layers.parameters()]
    return Network(tuple(np.ascontiguousarray(one.T) for one in found[::2]), tuple(found[1::2]), VIEWS[view])


def _learn(
    torch: Any,
    layers: Any,
    optimiser: Any,
    rollout: Rollout,
    settings: Settings,
    entropy: float,
    rng: np.random.Generator,
) -> None:
    """Make decisions more probable that were better than those of their siblings."""
    gain = torch.from_numpy(advantages(rollout, settings.copies).astype(np.float32))
    open_ones = np.flatnonzero(np.diff(rollout.first) > 1)
    with torch.no_grad():
        before = _log_probabilities(torch, layers, rollout, np.arange(len(rollout.chosen)))[0]
    for _ in range(settings.epochs):
        for part in np.array_split(rng.permutation(open_ones), settings.batches):
            if not len(part):
                continue
            chosen, spread = _log_probabilities(torch, layers, rollout, part)
            ratio = torch.exp(chosen - before[part])
            clipped = torch.clamp(ratio, 1 - settings.clip, 1 + settings.clip)
            loss = -torch.minimum(ratio * gain[part], clipped * gain[part]).mean() - entropy * spread.mean()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(layers.parameters(), 1.0)
            optimiser.step()


def _log_probabilities(torch: Any, layers: Any, rollout: Rollout, which: NDArray[np.int64]) -> tuple[Any, Any]:
    """Return the logarithms of the probabilities of the actions taken in some decisions, and the entropies there."""
    low, count = rollout.first[which], np.diff(rollout.first)[which]
    begins = np.cumsum(count) - count
    rows = np.arange(int(count.sum())) + np.repeat(low - begins, count)
    decision = torch.from_numpy(np.repeat(np.arange(len(which)), count))
    values = layers(torch.from_numpy(rollout.rows[rows])).squeeze(1)
    largest = torch.full((len(which),), -torch.inf).scatter_reduce(0, decision, values.detach(), "amax")
    total = torch.zeros(len(which)).index_add(0, decision, torch.exp(values - largest[decision]))
    logs = values - (largest + torch.log(total))[decision]
    spread = -torch.zeros(len(which)).index_add(0, decision, torch.exp(logs) * logs)
    return logs[torch.from_numpy(rollout.chosen[which] - low + begins)], spread
