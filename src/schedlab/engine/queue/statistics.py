"""The statistics of a job's run time that orders may use, as a row of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import inner_kernel
from schedlab.scheduler.formula import LEAST

# Columns of a table of statistics; the others are quantiles.
MEAN, GEOMETRIC_MEAN, WEIGHT, INDEX, FIRST_QUANTILE = range(5)


@inner_kernel
def expect_number(statistics: NDArray[np.float64], seconds: int) -> None:
    """Fill a row of statistics for a run time that is exactly `seconds`."""
    bounded = max(seconds, LEAST)
    for place in range(statistics.shape[0]):
        statistics[place] = seconds
    statistics[WEIGHT] = 1 / bounded
    statistics[INDEX] = seconds * bounded
