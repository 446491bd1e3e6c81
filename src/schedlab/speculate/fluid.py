"""A fluid model: large jobs one after the other on the whole machine, and a stream of small jobs in the gaps.

The model of the analysis of ICPP'19: small jobs arrive at a constant rate as long as there is work, are served by the
whole machine in the gaps between the end of a large job and the end of its request, and need no reservation. Work that
does not fit a gap waits for the next one; what is left after the last large job is done at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.speculate.sequences import RequestSequence, check_share


@dataclass(frozen=True, slots=True)
class FluidSchedule:
    """The result of a simulation.

    Parameters
    ----------
    reserved_end
        float64 seconds, one per large job: the end of its successful request.
    end
        float64 seconds: its actual end.
    makespan
        Seconds until the last large job has ended and no small work is left.
    utilisation
        Share of the machine until then that did useful work: small jobs and successful runs.
    """

    reserved_end: NDArray[np.float64]
    end: NDArray[np.float64]
    makespan: float
    utilisation: float


@explained
def simulate_fluid(
    run_time: ArrayLike, requests: RequestSequence | Iterable[float], zeta: float = 0.0
) -> FluidSchedule:
    """Run large jobs in rounds with fixed reservations: first all with their first request, then the failed ones again.

    Parameters
    ----------
    run_time
        Seconds that each job needs; all are submitted at the beginning.
    requests
        Seconds, ascending, the last one at least the longest run time.
    zeta
        Arriving work of small jobs, per unit of the machine's capacity, in [0, 1).

    Raises
    ------
    InputError
        If zeta lies outside [0, 1), there is no job, or a job does not end within the last request.

    References
    ----------
    Gainaru, Pallez, Sun and Raghavan, "Speculative scheduling for stochastic HPC applications", ICPP 2019, section 3.

    Examples
    --------
    A job of 12 h with requests of 10 h and 20 h: it is done after 22 h, when 11 h of small work wait. In the remaining
    8 h, 4 h more of it are done than arrive, and the rest takes another 14 h.

    >>> done = simulate_fluid([12], [10, 20], zeta=0.5)
    >>> done.end.tolist(), done.reserved_end.tolist(), done.makespan
    ([22.0], [30.0], 44.0)
    """
    check_share(zeta)
    work = np.asarray(run_time, dtype=np.float64)
    lengths = (requests if isinstance(requests, RequestSequence) else RequestSequence.plain(requests)).requests
    if not len(work) or work.max() > lengths[-1]:
        raise InputError(
            f"large jobs need run times of at most the last request, {lengths[-1]:g} s, and at least one job"
        )
    reserved_end, end = np.empty(len(work)), np.empty(len(work))
    now = backlog = 0.0
    waiting = np.arange(len(work))
    for length in lengths:
        for job in waiting:
            busy = min(length, work[job])
            gap = length - busy
            backlog = max(0.0, backlog + zeta * busy - (1 - zeta) * gap)
            if work[job] <= length:
                end[job], reserved_end[job] = now + busy, now + length
            now += length
        waiting = waiting[work[waiting] > length]
    makespan = float(now + backlog / (1 - zeta))
    # All small work that has arrived by then is done.
    return FluidSchedule(reserved_end, end, makespan, float(work.sum()) / makespan + zeta)
