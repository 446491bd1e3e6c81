"""Agents that nobody has trained, for the tests of agents."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from schedlab.scheduler.agent_file import AgentFile
from schedlab.scheduler.agent_network import INPUTS, Network


def random_network(seed: int, width: int = 8) -> Network:
    """Return a network with random weights."""
    rng = np.random.default_rng(seed)
    weights = (rng.normal(size=(len(INPUTS), width)) * 0.4, rng.normal(size=(width, 1)) * 0.4)
    return Network(
        tuple(one.astype(np.float32) for one in weights), (np.zeros(width, np.float32), np.zeros(1, np.float32))
    )


def linear_network(**values: float) -> Network:
    """Return a network whose value is a weighted sum of some inputs; dashes stand for blanks."""
    weights = np.zeros((len(INPUTS), 1), np.float32)
    for name, value in values.items():
        weights[INPUTS.index(name.replace("_", " "))] = value
    return Network((weights,), (np.zeros(1, np.float32),))


def saved(directory: Path, network: Network, name: str = "agent.json", longest: int = 5_000, slots: int = 16) -> str:
    """Write an agent to a file, and return its path."""
    path = directory / name
    AgentFile(network, longest, slots, {"seed": 1}).save(path)
    return str(path)
