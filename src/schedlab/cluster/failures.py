"""When nodes and GPUs fail at random, and when they are back."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.errors import InputError

Means = tuple[float | None, float | None]
"""Mean seconds between a return and the next failure, None if there is none, and between a failure and the return."""


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
    _check_positive(shape=shape)
    if mtbf is not None:
        mean, repair = _check_positive(mtbf=mtbf, mttr=mttr)
        for name in cluster.nodes:
            for down, up in _failures(mean, repair, shape, begin, until, generator):
                yield name, None, down, up
    if gpu_mtbf is not None:
        mean, repair = _check_positive(gpu_mtbf=gpu_mtbf, gpu_mttr=gpu_mttr)
        for name, gpu in _gpus_of(cluster):
            for down, up in _failures(mean, repair, shape, begin, until, generator):
                yield name, gpu, down, up


def _check_positive(**values: float | None) -> list[float]:
    for name, value in values.items():
        if value is None or not (np.isfinite(value) and value > 0):
            raise InputError(f"{name}={value}: must be greater than 0")
    return [value for value in values.values() if value is not None]


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
