"""Whether one period of a log decides what a variant does: an event in it rather than the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedlab.durations import DAY
from schedlab.site.effects import blocks_of
from schedlab.site.intervals import FEWEST_BLOCKS
from schedlab.site.sweep import Paired
from schedlab.site.wait_text import signed
from schedlab.wording import count_of

DECISIVE = 0.5
"""Share of a difference that is gone without the jobs of one period: then this period decides."""


@dataclass(frozen=True, slots=True)
class DecisivePeriod:
    """The period of a log without whose jobs a difference of mean waits would be half as large, or turn round.

    Parameters
    ----------
    variant
        Its name.
    begin, end
        In seconds after the first submission.
    jobs
        Submitted in it.
    difference, without
        Seconds by which the mean wait changes, of all jobs and of those outside the period.
    """

    variant: str
    begin: int
    end: int
    jobs: int
    difference: float
    without: float

    def __str__(self) -> str:
        return (
            f"One period of the log decides what {self.variant} does: {self.begin / DAY:.2f} to {self.end / DAY:.2f} "
            f"days after the first submission. Without the {count_of(self.jobs, 'job')} submitted then, the mean wait "
            f"would change by {signed(self.without)} instead of {signed(self.difference)}."
        )


def decisive_period(copies: Sequence[Paired]) -> DecisivePeriod | None:
    """Return the period that decides how a variant compares with the site as it is; None: no single one does.

    Parameters
    ----------
    copies
        Of the same jobs, see `Sweep.pair`; differences are means over them.
    """
    submit = copies[0].base.schedule.workload.submit_time
    change = np.mean([other.schedule.wait_time - base.schedule.wait_time for base, other in copies], axis=0)
    block = blocks_of(submit)
    counts = np.bincount(block).astype(np.float64)
    total, jobs = float(change.sum()), len(change)
    if not total or np.count_nonzero(counts) < FEWEST_BLOCKS:
        return None
    rest = np.where((counts > 0) & (counts < jobs), jobs - counts, np.inf)
    without = (total - np.bincount(block, weights=change)) / rest
    without[~np.isfinite(rest)] = total / jobs
    chosen = int(np.argmin(np.sign(total) * without))
    if np.sign(total) * without[chosen] > DECISIVE * abs(total) / jobs:
        return None
    mine = submit[block == chosen] - submit.min()
    begin, end = int(mine.min()), int(mine.max())
    name, differences = copies[0].other.variant.name, (total / jobs, float(without[chosen]))
    return DecisivePeriod(name, begin, end, int(counts[chosen]), *differences)
