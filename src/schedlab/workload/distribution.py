"""The distribution of a quantity over jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained


@dataclass(frozen=True, slots=True)
class Distribution:
    """Quantiles and mean of a quantity over the jobs for which it is known."""

    count: int
    minimum: float
    quartile_1: float
    median: float
    mean: float
    quartile_3: float
    percentile_95: float
    maximum: float

    @classmethod
    @explained
    def of(cls, values: NDArray[Any]) -> Distribution | None:
        """Return the distribution of some values, or None if there are none."""
        if len(values) == 0:
            return None
        low, first, median, third, high, top = np.quantile(values, [0, 0.25, 0.5, 0.75, 0.95, 1]).tolist()
        return cls(len(values), low, first, median, float(values.mean()), third, high, top)
