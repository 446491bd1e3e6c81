"""When nodes and GPUs fail at random, and when they are back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.durations import parse_duration
from schedlab.errors import InputError

Means = tuple[float | str | None, float | str | None]
"""Mean times, seconds or durations: from a return to the next failure, None if there is none, and to the return."""


def drawn_failures(
    cluster: Cluster, means: tuple[Means, Means], shape: float, begin: int, until: int, generator: np.random.Generator
) -> Iterator[tuple[str, int | None, int, int]]:
    """Yield the node that fails, its GPU (None: the whole node), and the seconds of the failure and of the return.

    Parameters
    ----------
    cluster
        The machine.
    means
        Of nodes, and of GPUs.
    shape, begin, until
        As for `NodeEvents.drawn`.
    generator
        Draws.

    Raises
    ------
    InputError
        As `NodeEvents.drawn`.
    """
    (mtbf, mttr), (gpu_mtbf, gpu_mttr) = means
    if mtbf is None and gpu_mtbf is None:
        raise InputError("give mtbf=, gpu_mtbf=, or both: what fails how often")
    _positive(shape=shape)
    if mtbf is not None:
        mean, repair = _positive(mtbf=mtbf, mttr=mttr)
        for name in cluster.nodes:
            for down, up in _failures(mean, repair, shape, begin, until, generator):
                yield name, None, down, up
    if gpu_mtbf is not None:
        mean, repair = _positive(gpu_mtbf=gpu_mtbf, gpu_mttr=gpu_mttr)
        for name, gpu in _gpus_of(cluster):
            for down, up in _failures(mean, repair, shape, begin, until, generator):
                yield name, gpu, down, up


def _positive(**values: float | str | None) -> list[float]:
    """Return numbers, durations in seconds; raise InputError if one is not above 0."""
    found: dict[str, object] = {
        name: parse_duration(value) if isinstance(value, str) else value for name, value in values.items()
    }
    for name, value in found.items():
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise InputError(f"{name}={value!r}: must be greater than 0")
    return [float(value) for value in found.values() if isinstance(value, Real)]


def _failures(
    mtbf: float, mttr: float, shape: float, begin: int, until: int, generator: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """Yield when one node or GPU fails, and when it is back."""
    scale, second = mtbf / math.gamma(1 + 1 / shape), float(begin)  # the mean of the Weibull distribution of scale 1
    while (down := int(second := second + scale * generator.weibull(shape))) < until:
        second = max(second + generator.exponential(mttr), down + 1.0)
        yield down, int(second)


def _gpus_of(cluster: Cluster) -> Iterator[tuple[str, int]]:
    """Yield the GPUs of a cluster: the name of the node, and the number there."""
    for group in cluster.groups:
        for name in group.names:
            for gpu in range(group.gpu_count):
                yield name, gpu
