"""Episodes played side by side by a network, and how much better each decision was than those of its siblings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.clock import NOW
from schedlab.gym.episodes import Episodes
from schedlab.scheduler.agent_network import Floats, Network, inputs


class Rollout(NamedTuple):
    """Decisions in the order in which they were taken, of all episodes together.

    Parameters
    ----------
    rows
        float32 of shape (rows, inputs): what the network saw, all possible actions of a decision one below the other.
    first
        int64 of shape (decisions + 1,): where the rows of each decision begin.
    chosen
        int64 of shape (decisions,): the row of the action taken.
    episode, now, reward
        int64, int64 seconds and float64 of shape (decisions,): where, when, and what followed.
    """

    rows: Floats
    first: NDArray[np.int64]
    chosen: NDArray[np.int64]
    episode: NDArray[np.int64]
    now: NDArray[np.int64]
    reward: NDArray[np.float64]


def roll(episodes: Episodes, network: Network, rng: np.random.Generator | None) -> Rollout:
    """Let a network play episodes that have begun to their ends.

    Parameters
    ----------
    episodes
        Whose decision is "next", with or without commitment.
    network
        Who decides.
    rng
        Draws actions, with probabilities as their values say (softmax); None takes the best ones.
    """
    pool, slots = episodes.pool, episodes.rules.slots
    actions = np.zeros(episodes.number, dtype=np.int64)
    taken: list[tuple[NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int64], ...]] = []
    while len(pairs := np.nonzero(pool.mask)) and len(pairs[0]):
        where, slot = pairs
        waits = slot == slots
        rows = inputs(pool.shown[where, np.where(waits, 0, slot)], pool.summary[where], waits, network.names)
        values = network.values(rows)
        if rng is not None:
            values = values + rng.gumbel(size=len(values)).astype(np.float32)
        first = np.flatnonzero(np.diff(where, prepend=-1))
        count = np.diff(first, append=len(where))
        largest = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, first), count))
        best = largest[np.flatnonzero(np.diff(where[largest], prepend=-1))]
        playing, now = where[first], pool.clock[where[first], NOW].copy()
        actions[playing] = slot[best]
        episodes.step(actions)
        taken.append((rows, count, best - first, playing, now, pool.reward[playing].copy()))
    episodes.check()
    rows, count, offset, episode, now, reward = (np.concatenate(column) for column in zip(*taken, strict=True))
    begins = np.concatenate([[0], np.cumsum(count)])
    return Rollout(rows, begins, begins[:-1] + offset, episode, now, reward)


def joined(rollouts: Sequence[Rollout]) -> Rollout:
    """Return the decisions of several rollouts as those of one; episodes are numbered on."""
    rows, decisions, episodes = 0, [], 0
    for one in rollouts:
        decisions.append(one._replace(first=one.first + rows, chosen=one.chosen + rows, episode=one.episode + episodes))
        rows, episodes = rows + len(one.rows), episodes + int(one.episode.max()) + 1
    columns = {name: np.concatenate([getattr(one, name) for one in decisions]) for name in Rollout._fields}
    columns["first"] = np.concatenate([*(one.first[:-1] for one in decisions), [rows]])
    return Rollout(**columns)


def advantages(rollout: Rollout, copies: int) -> NDArray[np.float64]:
    """Return by how much what followed a decision was better than in the other copies of its window, scaled.

    The jobs of a window explain most of what follows, and all copies of it have them in common. So the baseline of a
    decision is what the others got from that second on, in the mean; it does not depend on what was decided, and needs
    no network that estimates it. Windows count alike: differences are divided by their standard deviation.

    Parameters
    ----------
    rollout
        Decisions of episodes of which each `copies` in turn are of the same window.
    copies
        At least 2.

    References
    ----------
    Mao et al., "Variance reduction for reinforcement learning in input-driven environments", ICLR 2019.
    """
    result = np.empty(len(rollout.episode))
    places = [np.flatnonzero(rollout.episode == e) for e in range(int(rollout.episode.max()) + 1)]
    following = [np.append(np.cumsum(rollout.reward[place][::-1])[::-1], 0.0) for place in places]
    for low in range(0, len(places), copies):
        window = range(low, min(low + copies, len(places)))
        for e in window:
            now = rollout.now[places[e]]
            others = [following[o][np.searchsorted(rollout.now[places[o]], now)] for o in window if o != e]
            result[places[e]] = following[e][:-1] - np.mean(others, axis=0)
        members = np.concatenate([places[e] for e in window])
        result[members] /= max(float(result[members].std()), 1e-9)
    return result
