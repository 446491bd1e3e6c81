"""All limits on jobs as numbers: of arrays, of accounts, users and QOS, and licences, in this order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limit_kinds import SUBMITTED, TO_GO, LimitKind
from schedlab.cluster.membership import Membership
from schedlab.cluster.nodes import Partition
from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.parts.limits.associations import Under, exceeded_alone, limits_of, longest_alone
from schedlab.engine.parts.limits.on_all_jobs import Held, beyond_licenses, held_arrays, held_licenses
from schedlab.engine.parts.submission_limits.numbers import SubmissionLimitInputs, batches
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload


class Uses(NamedTuple):
    """The fields of `LimitInputs` that are about limits."""

    limit: NDArray[np.int64]
    timed: NDArray[np.bool_]
    stops: NDArray[np.bool_]
    reason: tuple[str, ...]
    use_offset: NDArray[np.int64]
    use_limit: NDArray[np.int64]
    use_amount: NDArray[np.int64]


class Alone(NamedTuple):
    """Limits on single jobs: the reason of the first that a job exceeds, and the longest request that they allow."""

    exceeded: Labels
    longest: NDArray[np.int64]


class _Use(NamedTuple):
    """Some jobs under a limit; `key` identifies it, and `place` is its position in the order of a job's limits.

    Licences and arrays are of no `kind` that accounts and QOS have.
    """

    key: Hashable
    kind: LimitKind | None
    most: int
    reason: str
    rows: NDArray[np.intp]
    amounts: NDArray[np.int64]
    place: int

    @property
    def is_of_submitted(self) -> bool:
        """Whether it counts jobs that run or wait."""
        return self.kind is not None and self.kind.amount == SUBMITTED

    @property
    def timed(self) -> bool:
        """Whether amounts count for every second that jobs are expected to run."""
        return self.kind is not None and self.kind.amount == TO_GO

    @property
    def stops(self) -> bool:
        """Whether Slurm tests it only when it has chosen nodes: those of resources, but not licences."""
        return self.kind is not None and self.kind.is_of_resources


def limits_on(
    workload: Workload,
    cluster: Cluster,
    who: Membership,
    partitions: tuple[Partition, ...],
    of_first: NDArray[np.int64],
    amounts: dict[str, NDArray[np.int64]],
) -> tuple[Uses, SubmissionLimitInputs | None, Alone]:
    """Return limits and which jobs use how much of them, those on submitted jobs, and those that hold for one alone.

    Which submissions exceed the second ones by themselves is not looked at: of alternatives, one counts.

    Parameters
    ----------
    workload, cluster, who
        The jobs, the cluster, and the users and accounts of the jobs.
    partitions, of_first
        The partitions, and the first of each job.
    amounts
        How much of each resource each job uses.
    """
    arrays, licenses = held_arrays(workload), held_licenses(workload, cluster)
    uses = list(_of_held(arrays, "array", -1))
    alone, submitted = Labels.none(len(workload)), list[_Use]()
    longest = np.full(len(workload), UNLIMITED, dtype=np.int64)
    if cluster.accounting is not None:
        qos = Labels.of([partition.qos for partition in partitions])
        cases, case = limits_of(cluster.accounting, who, Labels(np.append(qos.codes, -1)[of_first], qos.names))
        alone = exceeded_alone(cases, case, amounts, workload.requested_time)
        longest = longest_alone(cases, case, amounts)
        of_accounts = list(_of_accounts(cases, case, amounts))
        submitted = [use for use in of_accounts if use.is_of_submitted]
        uses += [use for use in of_accounts if not use.is_of_submitted]
    uses += _of_held(licenses, "license", max((use.place for use in uses), default=0) + 1)
    submitted = _that_may_bind(submitted)
    submission_limits = _submission_limits(workload, submitted) if submitted else None
    alone = first_of(alone, beyond_licenses(workload, licenses))
    return _numbered(len(workload), uses), submission_limits, Alone(alone, longest)


def _that_may_bind(uses: list[_Use]) -> list[_Use]:
    """Return the uses of limits that all jobs together exceed."""
    total: dict[Hashable, int] = {}
    for use in uses:
        total[use.key] = total.get(use.key, 0) + int(use.amounts.sum())
    return [use for use in uses if total[use.key] > use.most]


def _submission_limits(workload: Workload, submitted: list[_Use]) -> SubmissionLimitInputs:
    """Return limits on submitted jobs; tasks that share the place of their workflow in the queue are not submitted."""
    numbers = _numbered(len(workload), submitted)
    made = SubmissionLimitInputs(
        numbers.limit, numbers.reason, numbers.use_offset, numbers.use_limit, numbers.use_amount, batches(workload)
    )
    if workload.workflows is None:
        return made
    return made._replace(use_amount=np.where(workload.workflows.aware[made.job], 0, made.use_amount))


def _of_held(held: Iterable[Held], kind: str, place: int) -> Iterator[_Use]:
    for number, one in enumerate(held):
        yield _Use((kind, number), None, one.most, one.reason, one.rows, one.amounts, place)


def _of_accounts(
    cases: Iterable[Under], case: NDArray[np.int64], amounts: dict[str, NDArray[np.int64]]
) -> Iterator[_Use]:
    for number, under in enumerate(cases):
        rows = np.flatnonzero(case == number)
        for place, one in enumerate(under.shared):
            if one.resource in amounts:
                used = amounts[one.resource][rows]
                yield _Use(one, one.kind, one.most, one.reason, rows[used > 0], used[used > 0], place)


def _numbered(jobs: int, uses: list[_Use]) -> Uses:
    """Return limits with numbers, and what each job uses of them in the order in which they are checked."""
    limits = {use.key: use for use in reversed(uses)}
    numbers = {key: number for number, key in enumerate(dict.fromkeys(use.key for use in uses))}
    job = np.concatenate([np.zeros(0, dtype=np.intp), *(use.rows for use in uses)])
    amount = np.concatenate([np.zeros(0, dtype=np.int64), *(use.amounts for use in uses)])
    lengths = [len(use.rows) for use in uses]
    limit = np.repeat(np.array([numbers[use.key] for use in uses], dtype=np.int64), lengths)
    place = np.repeat(np.array([use.place for use in uses], dtype=np.int64), lengths)
    sorted_by_job = np.lexsort((place, job))
    return Uses(
        limit=np.array([limits[key].most for key in numbers], dtype=np.int64),
        timed=np.array([limits[key].timed for key in numbers], dtype=np.bool_),
        stops=np.array([limits[key].stops for key in numbers], dtype=np.bool_),
        reason=tuple(limits[key].reason for key in numbers),
        use_offset=offsets_of(np.bincount(job, minlength=jobs)),
        use_limit=limit[sorted_by_job],
        use_amount=amount[sorted_by_job],
    )


def first_of(reasons: Labels, others: Labels) -> Labels:
    """Return the first reasons, and the others where there is none."""
    joined = reasons.join(others)
    mine, theirs = joined.codes[: len(reasons)], joined.codes[len(reasons) :]
    return Labels(np.where(mine >= 0, mine, theirs), joined.names)


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of concatenated lists of these lengths, including the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
