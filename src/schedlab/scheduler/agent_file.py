"""Trained agents as JSON files: the weights of a network, its inputs, and how it was trained.

A file holds only numbers and texts; nothing in it is executed when it is read.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from schedlab.atomic import atomic_path
from schedlab.documents import parse_json, read_bytes
from schedlab.errors import InputError
from schedlab.scheduler.agent_network import CONTEXT, JOB_FEATURES, VIEWS, Network

VERSION = 1
"""The version of the file format; files of other versions are refused."""

KIND = "schedlab agent"
DECISIONS = ("next", "commit")
"""What an agent may decide: which job starts next, or, as in SC'20, which job must start before any other."""

LARGEST_FILE = 64 << 20
MOST_SLOTS = 1 << 16


@dataclass(frozen=True, eq=False)
class AgentFile:
    """A trained agent.

    Parameters
    ----------
    network
        The network.
    longest
        Seconds: the requested time that is scaled to 1.
    slots
        Maximum number of waiting jobs that it sees, the first by submission.
    training
        How it was trained: data, seed, settings, learning curve.
    decision
        What it decides, one of `DECISIONS`; only agents that decide "next" can be schedulers.

    Raises
    ------
    InputError
        If the inputs of the network are not those of an agent.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from schedlab.scheduler.agent_network import INPUTS
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "agent.json"
    >>> shortest = np.zeros((len(INPUTS), 1), np.float32)
    >>> shortest[INPUTS.index("request")] = -1
    >>> AgentFile(Network((shortest,), (np.zeros(1, np.float32),)), longest=3600, slots=128).save(path)
    >>> read_agent_file(path).network.weights[0].shape
    (14, 1)
    """

    network: Network
    longest: int
    slots: int
    training: Mapping[str, Any] = field(default_factory=dict)
    decision: str = DECISIONS[0]

    def __post_init__(self) -> None:
        shapes, seen = [layer.shape for layer in self.network.weights], len(self.network.names)
        inner = all(low[1] == high[0] for low, high in itertools.pairwise(shapes))
        biases = [layer.shape for layer in self.network.biases] == [shape[1:] for shape in shapes]
        if not shapes or shapes[0][0] != seen or shapes[-1][1] != 1 or not inner or not biases:
            raise InputError(f"the shapes of the layers do not lead from {seen} inputs to one value")
        if not all(np.isfinite(one).all() for one in (*self.network.weights, *self.network.biases)):
            raise InputError("a weight is not a finite number")
        for name, value, most in (("longest", self.longest, 1 << 60), ("slots", self.slots, MOST_SLOTS)):
            if type(value) is not int or not 1 <= value <= most:
                raise InputError(f"{name}={value!r} is not a whole number from 1 to {most}")

    @property
    def digest(self) -> str:
        """Eight characters that identify the agent by everything that decisions depend on, without the training."""
        return hashlib.sha256(json.dumps(self._played(), sort_keys=True).encode()).hexdigest()[:8]

    def _played(self) -> dict[str, Any]:
        layers = zip(self.network.weights, self.network.biases, strict=True)
        return {
            "decision": self.decision,
            "observation": {"inputs": list(self.network.names), "slots": self.slots, "longest": self.longest},
            "layers": [{"weights": weights.tolist(), "biases": biases.tolist()} for weights, biases in layers],
        }

    def seconds_per_decision(self, jobs: int = 64, times: int = 200) -> float:
        """Return the median time of a decision among `jobs` startable jobs on this machine."""
        rng = np.random.default_rng(0)
        shown = rng.random((jobs, len(JOB_FEATURES)), dtype=np.float32)
        summary, mask = rng.random(CONTEXT, dtype=np.float32), np.ones(jobs + 1, dtype=np.bool_)
        seconds = []
        for _ in range(times):
            begun = time.perf_counter()
            self.network.choose(shown, summary, mask)
            seconds.append(time.perf_counter() - begun)
        return float(np.median(seconds))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file.

        Raises
        ------
        OutputError
            If it cannot be written; no partial file is left.
        """
        document = {"kind": KIND, "version": VERSION, **self._played(), "training": dict(self.training)}
        with atomic_path(path) as temporary:
            temporary.write_text(json.dumps(document, default=str, ensure_ascii=False) + "\n", encoding="utf-8")


def read_agent_file(path: str | PathLike[str]) -> AgentFile:
    """Read an agent from a file.

    Raises
    ------
    InputError
        If the file cannot be read, is not a complete agent, is of another version, or if the agent was trained for
        other decisions or inputs.
    """
    document = _document(path)
    if document.get("kind") != KIND:
        raise InputError(f"{path} is not an agent: write one with schedlab agent train")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise InputError(
            f"{path} is an agent of another version ({document.get('version')!r}; this schedlab reads {VERSION}): "
            "train the agent again"
        )
    seen, layers, training = (document.get(name) for name in ("observation", "layers", "training"))
    if not isinstance(seen, dict) or not isinstance(layers, list) or not isinstance(training, dict):
        raise InputError(f"{path} is damaged: observation, layers or training is missing")
    names = next((view for view in VIEWS.values() if seen.get("inputs") == list(view)), None)
    decision = document.get("decision")
    if decision not in DECISIONS or names is None:
        raise InputError(
            f"{path}: this agent uses another decision or observation than this version of schedlab (decision "
            f"{decision!r}, inputs {_few(seen.get('inputs'))}): train the agent again"
        )
    try:
        arrays = [[np.array(one[name], dtype=np.float32) for one in layers] for name in ("weights", "biases")]
        if any(one.ndim != 2 for one in arrays[0]) or any(one.ndim != 1 for one in arrays[1]):
            raise ValueError
    except (ValueError, TypeError, KeyError, OverflowError):
        raise InputError(f"{path} is damaged: a layer does not consist of rows of numbers") from None
    try:
        network = Network(tuple(arrays[0]), tuple(arrays[1]), names)
        return AgentFile(network, seen["longest"], seen["slots"], training, decision)
    except KeyError as error:
        raise InputError(f"{path} is damaged: its observation lacks {error.args[0]}") from None
    except InputError as error:
        raise InputError(f"{path} is damaged: {error}") from None


def _document(path: str | PathLike[str]) -> dict[str, Any]:
    try:
        document = parse_json(read_bytes(path, "agent", largest=LARGEST_FILE))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not an agent, or damaged: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path} is not an agent: write one with schedlab agent train")
    return document


def _few(names: object) -> str:
    return f"{len(names)} of other names or order" if isinstance(names, list) else repr(names)[:40]
