"""Gaps that no request of a job fits: the share of one that a speculative run is expected to put to use."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.parts.retries.kernels import Retries
from schedlab.kernels import inlined, inner_kernel
from schedlab.speculate.requests import NO_DISTRIBUTION, DistributionTables


@inner_kernel
def useful_share(retries: Retries, job: int, processors: int, length: int, gap: int) -> float:
    """Return the expected share of a gap that a speculative run would put to use.

    The expected work of a run that succeeds within `length` seconds, given that the job needs more than it is known to
    exceed, over the `gap` processors for that long (Gainaru et al., section 4.3).
    """
    distribution = retries.distribution[job]
    known = retries.known[job]
    if distribution == NO_DISTRIBUTION or length <= known:
        return 0.0
    below, part = _distribution_at(retries.distributions, distribution, float(known))
    _, more = _distribution_at(retries.distributions, distribution, float(length))
    if below >= 1.0:
        return 0.0
    return processors * (more - part) / ((1.0 - below) * gap * length)


@inlined
def is_better(jobs: NDArray[Any], job: int, share: float, best: int, most: float) -> bool:
    """Return whether a job uses a gap better than the best one so far, -1 for none; on ties, the wider one."""
    return share > most or (best >= 0 and share == most and jobs[job].processors > jobs[best].processors)


@inlined
def is_as_good(jobs: NDArray[Any], job: int, share: float, best: int, most: float) -> bool:
    """Return whether a job uses a gap exactly as well as the best one so far."""
    return share == most and jobs[job].processors == jobs[best].processors


@inlined
def _distribution_at(distributions: DistributionTables, distribution: int, second: float) -> tuple[float, float]:
    """Return the probability of at most `second` seconds, and the partial expectation up to there, interpolated."""
    last = distributions.below.shape[1] - 1
    at = (second - distributions.begin[distribution]) / distributions.step[distribution]
    if at <= 0:
        return (distributions.below[distribution, 0], distributions.part[distribution, 0]) if at == 0 else (0.0, 0.0)
    if at >= last:
        return distributions.below[distribution, last], distributions.part[distribution, last]
    k = int(at)
    rest = at - k
    return (
        distributions.below[distribution, k]
        + rest * (distributions.below[distribution, k + 1] - distributions.below[distribution, k]),
        distributions.part[distribution, k]
        + rest * (distributions.part[distribution, k + 1] - distributions.part[distribution, k]),
    )
