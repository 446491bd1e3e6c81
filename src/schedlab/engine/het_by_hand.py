"""Components of heterogeneous jobs that are started by hand or by an agent: who starts one starts the whole job."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.het_pass import AT_ONCE, fit_together, fits_apart
from schedlab.engine.hetjobs import HetJobs, mark_chosen, unmark
from schedlab.engine.site_state import open_partitions
from schedlab.engine.state import FREE, State, begin, within_limits
from schedlab.kernels import bare_kernel, inner_kernel


@bare_kernel
def fit_as_wholes(jobs: NDArray[Any], state: State, rows: NDArray[np.int64], found: NDArray[np.bool_]) -> None:
    """Clear the marks of the jobs that do not fit now, within all limits, with the components that wait with them."""
    hets: Any = state.hets
    open_partitions(state.site)
    for i in range(len(rows)):
        if found[i]:
            found[i] = within_limits(jobs, state, rows[i]) and fit_together(
                hets, jobs, state, rows[i], AT_ONCE, state.clock[FREE]
            )


@inner_kernel
def begin_together(hets: HetJobs | None, jobs: NDArray[Any], state: State, job: int) -> None:
    """Begin a component and those that wait with it, which fit together; they have still to leave the queue."""
    if hets is not None:
        open_partitions(state.site)
        for part in range(hets.first[job], hets.end[job]):
            if hets.waits[part]:
                fits_apart(jobs, state, part, AT_ONCE)  # this chooses its nodes
                begin(jobs, state, part)
                mark_chosen(hets, state.nodes)
        unmark(hets, state.nodes)
