"""Partitions of a cluster and limits of its users as numbers, for the engine and its reference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.submission_limits.numbers import SubmissionLimitInputs


class CourseInputs(NamedTuple):
    """How a limit changes with time: its number, and from which seconds (int64) on how much may be in use (int64)."""

    number: int
    second: NDArray[np.int64]
    most: NDArray[np.int64]


class LimitInputs(NamedTuple):
    """Where jobs may run, and how much may run at a time.

    Parameters
    ----------
    tier
        int64, one per partition: jobs of a higher tier come first, whatever their priority.
    nodes
        bool, partitions by nodes: which nodes belong to it.
    option_offset
        int64, one per job in order of submission and one more: where the job may run.
    option_partition, option_shape
        int64, one per option, in the order in which they are tried: the partition, and the request there, see
        `NodeInputs`. Partitions that do not admit the job, or not for its requested time, are not options.
    limit
        int64, one per limit: how much of it may be in use.
    timed
        bool: whether it counts amounts times the seconds that jobs are still expected to run.
    stops
        bool: whether it is of resources of accounts and QOS, so that it may stop a pass (`limits=stop` of +slurm).
    reason
        The reason of a job that would exceed it, as `squeue` shows it.
    use_offset
        int64, one per job and one more: where the limits of a job begin in the next two arrays.
    use_limit, use_amount
        int64: which limits, and how much of each it uses.
    submission_limits
        Limits on submitted jobs; None without any.
    reserves
        bool, one per job: whether Slurm's backfill pass reserves for it; None: for all.
    course
        How a limit changes with time; None if none does.
    partitioned
        Whether the machine has partitions; if not, depths per partition count by those that the jobs had.
    """

    tier: NDArray[np.int64]
    nodes: NDArray[np.bool_]
    option_offset: NDArray[np.int64]
    option_partition: NDArray[np.int64]
    option_shape: NDArray[np.int64]
    limit: NDArray[np.int64]
    timed: NDArray[np.bool_]
    stops: NDArray[np.bool_]
    reason: tuple[str, ...]
    use_offset: NDArray[np.int64]
    use_limit: NDArray[np.int64]
    use_amount: NDArray[np.int64]
    submission_limits: SubmissionLimitInputs | None = None
    reserves: NDArray[np.bool_] | None = None
    course: CourseInputs | None = None
    partitioned: bool = True

    def reason_names(self) -> list[str]:
        """Return why jobs may wait, in Slurm's words, in the order of the columns of `LimitState.waited`."""
        submitted = () if self.submission_limits is None else self.submission_limits.reason
        limits = dict.fromkeys((*self.reason, *submitted))
        return ["Dependency", "Resources", "Priority", "ReqNodeNotAvail", "Reservation", *limits]
