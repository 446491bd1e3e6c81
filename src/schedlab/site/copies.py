"""Copies of a simulation that differ by seconds: those of jobs, of slurmctld's loops, and of how long its passes take.

No record has these seconds, and waits depend on them: where a pass comes a second before or after the end of a job,
another job may start, and all later ones are others. What differs between copies is therefore no effect of a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from schedlab.engine.parts.heterogeneous.numbers import owners_of
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.intervals import FEWEST_BLOCKS
from schedlab.slurm.jobs import fractions
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    from schedlab.site.samples import SiteSample
    from schedlab.site.site import Site
    from schedlab.site.sweep import Sweep
    from schedlab.site.variants import Variant

USUAL = 3
"""Copies on which both sides of a comparison are simulated; of two, the spread would be all but unknown."""

MOST_JOBS = 1_000_000
"""Jobs that are simulated at most, over all copies, variants and samples, for which there are `USUAL` copies."""

LONGEST_PASS = 5
"""Seconds that backfill passes take at most in a copy."""

LOOPS = 300
"""Seconds in which all of slurmctld's loops have come round: the longest is that of priorities (PriorityCalcPeriod)."""


def perturbed(jobs: Workload, copy: int) -> Workload:
    """Return jobs at other seconds, as slurmctld's loops might have met them.

    When the first job comes, any second of the interval between two computations of priorities may be over; and a
    submission is seen in its second or in the next, whether its fraction of a second lies before that of slurmctld's
    look or behind it. So the log begins some minutes later, and each job comes up to a second later.

    Parameters
    ----------
    jobs
        In order of submission.
    copy
        Its number, which draws the seconds; 0: the jobs as they are.

    Examples
    --------
    >>> jobs = Workload.from_columns({"submit_time": [0, 9, 9], "run_time": [5] * 3, "requested_processors": [1] * 3})
    >>> perturbed(jobs, 0).submit_time.tolist()
    [0, 9, 9]
    >>> moved = perturbed(jobs, 1).submit_time - shift_of(1)
    >>> bool(0 <= moved[0] <= 1), bool(9 <= moved[1] <= moved[2] <= 10)
    (True, True)
    """
    if not copy:
        return jobs
    rng = np.random.default_rng([copy, 1])
    late = fractions(jobs.submit_time, rng) > rng.uniform()
    owner = owners_of(jobs)  # components of a heterogeneous job come together
    return jobs.replace(submit_time=jobs.submit_time + (late if owner is None else late[owner]) + shift_of(copy))


def shift_of(copy: int) -> int:
    """Return by how many seconds the log of a copy begins later."""
    return int(np.random.default_rng([copy, 2]).integers(LOOPS)) if copy else 0


def at_other_seconds(site: Site, variant: Variant, copy: int) -> tuple[Site, Variant]:
    """Return a site and a variant whose node events come as much later as the jobs of a copy."""
    if not copy:
        return site, variant
    later = shift_of(copy)
    if site.node_events is not None:
        site = replace(site, node_events=site.node_events.shifted(later))
    if variant.node_events is not None:
        variant = replace(variant, node_events=variant.node_events.shifted(later))
    return site, variant


def with_pass_time(scheduler: Scheduler, copy: int) -> Scheduler:
    """Return a scheduler whose backfill passes take as many seconds as its copy has, which come on top of the interval.

    In Slurm a pass takes from fractions of a second to minutes; the simulation has passes that take no time.

    Examples
    --------
    >>> print(with_pass_time(Scheduler.parse("fcfs+slurm(interval=60)"), 2))
    fcfs+slurm(interval=62)
    """
    passes = scheduler.backfill
    if not copy or not isinstance(passes, Slurm):
        return scheduler
    return replace(scheduler, backfill=replace(passes, interval=passes.interval + 1 + (copy - 1) % LONGEST_PASS))


def copies_of(samples: Iterable[SiteSample], number: int) -> list[SiteSample]:
    """Return so many copies of each sample, the first of which has the recorded seconds.

    Raises
    ------
    InputError
        If there is none.
    """
    if number < 1:
        raise InputError(f"{number} copies: give one or more")
    return [replace(one, copy=copy) for copy in range(number) for one in samples]


def in_copies(sweep: Sweep, samples: Sequence[SiteSample], copies: int | None, variants: int) -> list[SiteSample]:
    """Return the copies of samples on which both sides of comparisons are simulated.

    Parameters
    ----------
    sweep, samples
        Of which site, and which jobs.
    copies
        How many of each sample; None: as many as usual.
    variants
        How many are compared with the site as it is.

    Raises
    ------
    InputError
        If there is none.
    """
    if copies is None:
        copies = usual_copies(len(sweep.sample(samples[0])), variants, len(samples))
    return copies_of(samples, copies)


def usual_copies(jobs: int, variants: int, samples: int) -> int:
    """Return how many copies of each sample are simulated where no number is asked for: `USUAL`, or one.

    It is one where samples already show how much chance there is, or more than `MOST_JOBS` would be simulated.

    Parameters
    ----------
    jobs
        Of a sample.
    variants, samples
        How many, without the site as it is.

    Examples
    --------
    >>> usual_copies(20_000, 4, 1), usual_copies(20_000, 100, 1), usual_copies(20_000, 1, 8)
    (3, 1, 1)
    """
    simulated = jobs * (variants + 1) * samples * USUAL
    return 1 if samples >= FEWEST_BLOCKS or simulated > MOST_JOBS else USUAL


def once_text(asked: int | None, samples: Sequence[SiteSample]) -> str:
    """Say that each variant is simulated once as copies would take too long; empty: it is not, or was asked for.

    Parameters
    ----------
    asked
        The copies that were asked for.
    samples
        What is simulated, see `in_copies`.
    """
    if asked is not None or len(samples) >= FEWEST_BLOCKS or any(one.copy for one in samples):
        return ""
    return (
        f"each is simulated on one copy of the log, as {USUAL} would be more than {MOST_JOBS:,} jobs in all; how much "
        f"of a difference is chance of some seconds is then not known (--copies {USUAL} asks for it all the same)"
    )
