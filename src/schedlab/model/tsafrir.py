"""The model of user run-time estimates of Tsafrir, Etsion and Feitelson: few, round, popular values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.kernels import kernel
from schedlab.workload.workload import Workload

Integers = NDArray[np.int64]

HEAD = 20
"""Number of popular values; together they hold 89 % of the jobs."""

HEAD_SHARE = 89.0

SMALLEST_MAXIMUM = 5701
"""Below it there are not 20 multiples of five minutes to fill the head with."""

COMMON_VALUES = (
    300,
    900,
    600,
    1200,
    1800,
    3600,
    7200,
    10800,
    14400,
    18000,
    21600,
    28800,
    36000,
    43200,
    64800,
)
"""Estimates in seconds that were popular on all four machines studied."""

ROUND_STEPS = (720_000, 360_000, 180_000, 36_000, 18_000, 7200, 3600, 1200, 600, 300)
"""Their multiples, largest first, fill the head: 200, 100, 50, 10, 5, 2, 1 h, 20, 10, 5 min."""

POPULARITY = (
    (3, 1, 1, 1),
    (1, 3, 4, 6),
    (4, 4, 10, 5),
    (17, 2, 14, 3),
    (13, 12, 20, 7),
    (7, 9, 2, 2),
    (8, 8, 3, 18),
    (18, 18, 7, 19),
    (2, 6, 12, 4),
    (6, 7, 6, 11),
    (16, 11, 19, 20),
    (10, 20, 5, 9),
    (5, 16, 18, 10),
    (15, 5, 16, 14),
    (14, 14, 9, 13),
    (19, 13, 17, 16),
    (11, 10, 15, 15),
    (12, 15, 13, 17),
    (9, 17, 8, 8),
    (20, 19, 11, 12),
)
"""Popularity rank of the largest value (first row) and of the others by ascending time, on four machines."""

DISTINCT_BY_JOBS = ((0, 20, 200, 1000, 10_000, 70_000, 250_000), (0, 10, 20, 35, 90, 340, 565))
"""Number of different estimates for given numbers of jobs; linear in between."""


@explained
def tsafrir_estimates(
    workload: Workload,
    *,
    rng: np.random.Generator | int,
    max_estimate: int | None = None,
    user_bins: Mapping[int, int] | None = None,
    distinct: int | None = None,
) -> Workload:
    """Give every job a requested time by the model of Tsafrir, Etsion and Feitelson.

    The model makes a histogram of estimates (`estimate_histogram`) and deals it to the jobs at random, so
    that no job runs longer than it asked for. Accuracy depends on nothing else: not on size, user or time of
    day. Requests that the jobs have, such as those of a log, are replaced.

    Parameters
    ----------
    workload
        The jobs; their run times count, unknown ones as 0.
    rng
        Where the draws come from: a generator, or the seed of a new one.
    max_estimate
        Largest time a user may ask for, in seconds, at least 5,701; the most popular value. By default the
        longest run time, rounded up to hours. A job that runs longer than this asks for all of it, and so do
        the longest jobs of a workload that has more of them than the histogram has large estimates: a small
        one, as a rule.
    user_bins
        Jobs by estimate in seconds, where the site's popular values are known: at most 20, or 19 if
        `max_estimate` is not among them.
    distinct
        How many different estimates there are; by default fitted to the number of jobs.

    Returns
    -------
    Workload
        The same jobs with `requested_time` filled.

    Raises
    ------
    InputError
        If `max_estimate` or `distinct` is too small, if the user bins do not fit, or if too many jobs are
        long for them.

    References
    ----------
    Tsafrir, Etsion and Feitelson, "Modeling user runtime estimates", JSSPP 2005.

    Examples
    --------
    >>> from schedlab.model.lublin_feitelson import lublin
    >>> rng = np.random.default_rng(1)
    >>> jobs = tsafrir_estimates(lublin(1000, 256, rng=rng), rng=rng, max_estimate=162_754)
    >>> bool((jobs.requested_time >= jobs.run_time).all()), int((jobs.requested_time == 162_754).sum())
    (True, 218)
    """
    rng = np.random.default_rng(rng)
    if len(workload) == 0:
        return workload
    if max_estimate is None:
        max_estimate = max(-(-int(workload.run_time.max()) // 3600), 2) * 3600
    values, jobs = estimate_histogram(len(workload), max_estimate, rng=rng, user_bins=user_bins, distinct=distinct)
    run_times = np.clip(workload.run_time, 0, max_estimate)
    estimates = np.repeat(values, jobs)
    if not user_bins:
        estimates = _with_enough_large_ones(estimates, run_times, max_estimate)
    return workload.replace(requested_time=deal_estimates(run_times, estimates, rng=rng))


def estimate_histogram(
    jobs: int,
    max_estimate: int,
    *,
    rng: np.random.Generator | int,
    user_bins: Mapping[int, int] | None = None,
    distinct: int | None = None,
) -> tuple[Integers, Integers]:
    """Make the model's histogram of estimates: a head of 20 popular values, a tail of many rare ones.

    Parameters
    ----------
    jobs
        How many jobs there are.
    max_estimate, rng, user_bins, distinct
        As in `tsafrir_estimates`.

    Returns
    -------
    values, jobs
        Estimates in seconds, ascending, and how many jobs ask for each; the second adds up to `jobs`.

    Examples
    --------
    >>> values, jobs = estimate_histogram(20_000, 162_754, rng=np.random.default_rng(1))
    >>> len(values), int(jobs.sum()), int(values[jobs.argmax()]), int(jobs.max())
    (132, 20000, 162754, 4346)
    """
    rng = np.random.default_rng(rng)
    bins = dict(user_bins or {})
    _check_bins(bins, jobs, max_estimate)
    if distinct is not None and distinct < 1:
        raise InputError(f"a workload needs at least 1 distinct estimate, not {distinct}")
    head = head_values(max_estimate, tuple(bins))
    shares = _head_shares(head, {value: 100.0 * count / jobs for value, count in bins.items()}, rng)
    wanted = distinct_estimates(jobs) if distinct is None else distinct
    tail = _tail_values(head, wanted)
    values = np.array(head + tail, dtype=np.int64)
    percent = np.concatenate((shares, rng.permutation(_tail_shares(len(tail)))))
    counts = np.maximum(1, np.floor(percent * jobs / 100 + 0.5)).astype(np.int64)
    given = np.array([bins.get(value, 0) for value in values.tolist()], dtype=np.int64)
    free = given == 0
    if not free.any():
        raise InputError("the user bins leave no estimate for the other jobs: raise the number of distinct estimates")
    counts[free] = _adding_up_to(counts[free], jobs - int(given.sum()))
    counts[~free] = given[~free]
    used = np.flatnonzero(counts)
    used = used[np.argsort(values[used])]
    return values[used], counts[used]


def deal_estimates(run_times: Integers, estimates: Integers, *, rng: np.random.Generator | int) -> Integers:
    """Deal estimates to jobs at random, so that none is below the run time of its job.

    The jobs draw in descending order of run time, each among all estimates left that are not too small for
    it.

    Parameters
    ----------
    run_times, estimates
        Seconds, shape (n,) both, in any order.
    rng
        Where the draws come from: a generator, or the seed of a new one.

    Returns
    -------
    numpy.ndarray
        The estimate of each job, shape (n,).

    Raises
    ------
    InputError
        If there is no such deal: the k longest jobs need k estimates that are large enough, for every k.

    Examples
    --------
    >>> deal_estimates(np.array([50, 70]), np.array([100, 60]), rng=np.random.default_rng(1)).tolist()
    [60, 100]
    """
    rng = np.random.default_rng(rng)
    longest_first = np.argsort(-run_times, kind="stable")
    needed = run_times[longest_first]
    left = np.sort(estimates)[::-1].copy()
    short = np.flatnonzero(left < needed)
    if short.size:
        place = int(short[0])
        raise InputError(
            f"{place + 1} jobs run {needed[place]} s or longer, but only {place} estimates are so large; "
            "raise the largest estimate or give user bins with more long ones"
        )
    large_enough = len(left) - np.searchsorted(left[::-1], needed, side="left")
    _swap(left, rng.integers(np.arange(len(left)), large_enough))
    dealt = np.empty_like(left)
    dealt[longest_first] = left
    return dealt


def head_values(max_estimate: int, user_values: tuple[int, ...] = ()) -> list[int]:
    """Return the 20 popular estimates in seconds: the largest first, then the others in ascending order.

    User values displace round values, the nearest in time first, then common ones.

    Examples
    --------
    >>> head_values(162_754)[:4], head_values(162_754)[-3:]
    ([162754, 300, 600, 900], [108000, 144000, 162000])
    """
    common = [value for value in COMMON_VALUES if value < max_estimate]
    multiples = (value for step in ROUND_STEPS for value in range(max_estimate // step * step, 0, -step))
    fill = [value for value in dict.fromkeys(multiples) if value not in (max_estimate, *common)]
    del fill[HEAD - 1 - len(common) :]
    wanted = sorted(set(user_values) - {max_estimate})
    newcomers = [value for value in wanted if value not in fill + common]
    fill, common = ([value for value in defaults if value not in wanted] for defaults in (fill, common))
    for newcomer in newcomers:
        displaceable = fill or common
        displaceable.remove(min(displaceable, key=lambda value: abs(value - newcomer)))
    return [max_estimate, *sorted(wanted + fill + common)]


def head_shares() -> NDArray[np.float64]:
    """Return the percentages of jobs that ask for the popular estimates, by popularity; they add up to 89.

    Examples
    --------
    >>> head_shares()[:4].round(2).tolist()
    [21.73, 10.31, 8.71, 7.37]
    """
    others = 14.0491 * np.exp(-0.177531 * np.arange(2, HEAD + 1)) + 0.462513
    return np.concatenate(([HEAD_SHARE - others.sum()], others))


def distinct_estimates(jobs: int) -> int:
    """Return how many different estimates a workload with a given number of jobs has.

    Examples
    --------
    >>> distinct_estimates(20_000)
    132
    """
    return int(np.floor(np.interp(jobs, *DISTINCT_BY_JOBS) + 0.5))


def _check_bins(bins: dict[int, int], jobs: int, max_estimate: int) -> None:
    """Raise InputError unless the model has room for the largest estimate and the user's bins."""
    if max_estimate < SMALLEST_MAXIMUM:
        raise InputError(f"the largest estimate must be {SMALLEST_MAXIMUM} s or more, not {max_estimate} s")
    for value, count in bins.items():
        if not (0 < value <= max_estimate and count > 0):
            raise InputError(
                f"user bin {value}: {count} must give some jobs an estimate between 1 and {max_estimate} s"
            )
    if len(bins.keys() | {max_estimate}) > HEAD:
        raise InputError(f"the model has {HEAD} popular estimates, {max_estimate} s among them; give fewer user bins")
    if sum(bins.values()) > HEAD_SHARE / 100 * jobs:
        raise InputError(
            f"the user bins hold {sum(bins.values())} of {jobs} jobs, "
            f"but popular estimates hold {HEAD_SHARE:g} % at most"
        )


def _head_shares(head: list[int], bins: dict[int, float], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the percentage of jobs for each value of the head, given the percentages of the user's bins."""
    shares = head_shares()
    fixed: dict[int, int] = {}
    for value, percent in sorted(bins.items(), key=lambda item: -item[1]):
        place = head.index(value)
        open_ranks = set(range(2, HEAD + 1)) - set(fixed.values()) if place else {1}
        fixed[place] = min(open_ranks, key=lambda rank: (abs(shares[rank - 1] - percent), rank))
        shares[fixed[place] - 1] = percent
    others = np.ones(HEAD, dtype=np.bool_)
    others[[rank - 1 for rank in fixed.values()]] = False
    if others.any():
        shares[others] *= (HEAD_SHARE - shares[~others].sum()) / shares[others].sum()
    return shares[[rank - 1 for rank in _popularity_ranks(fixed, rng)]]


def _popularity_ranks(fixed: dict[int, int], rng: np.random.Generator) -> list[int]:
    """Draw a popularity rank for each place of the head, of those that it or one before had on a machine."""
    ranks: list[int] = []
    free = set(range(1, HEAD + 1)) - set(fixed.values())
    for place in range(HEAD):
        due = free - {rank for row in POPULARITY[place + 1 :] for rank in row}
        pool = [rank for row in POPULARITY[: place + 1] for rank in row if rank in free] or sorted(free)
        if place in fixed:
            rank = fixed[place]
        elif place == 0:
            rank = 1
        elif due:
            rank = min(due)
        else:  # the better of two draws favours popular ranks
            rank = min(pool[drawn] for drawn in rng.integers(len(pool), size=2))
        ranks.append(rank)
        free.discard(rank)
    return ranks


def _tail_values(head: list[int], distinct: int) -> list[int]:
    """Return up to distinct - 20 estimates in seconds along the model's time curve, none of the head's."""
    longest, count = head[0], distinct - len(head)
    bend = 1 + 12.1039 * distinct**-0.6026
    values: dict[int, None] = dict.fromkeys(head)
    for place in range(1, count + 1):
        x = place / count
        minutes = int(np.floor(longest * (bend - 1) * x / (bend - x) / 60 + 0.5))
        for offset in (0, 30, -30, 20, -20, 10, -10):
            value = minutes * 60 + offset
            if 0 < value < longest and value not in values:
                values[value] = None
                break
    return list(values)[len(head) :]


def _tail_shares(values: int) -> NDArray[np.float64]:
    """Return the percentages of jobs for the values of the tail, by popularity."""
    shares = np.arange(HEAD + 1, HEAD + 1 + values, dtype=np.float64) ** -2.267
    return np.asarray((100 - HEAD_SHARE) * shares / shares.sum())


def _adding_up_to(counts: Integers, total: int) -> Integers:
    """Change counts to a given sum, the largest first; none is emptied unless all have one left."""
    order = np.argsort(-counts, kind="stable")
    sizes = counts[order]
    missing = total - int(sizes.sum())
    in_proportion = np.ceil(abs(missing) * sizes / sizes.sum()).astype(np.int64)
    if missing >= 0:
        sizes += _spread(missing, in_proportion)
    else:
        sizes -= _spread(-missing, np.minimum(in_proportion, sizes - 1))
        sizes -= _spread(int(sizes.sum()) - total, sizes - 1)
        sizes[::-1] -= _spread(int(sizes.sum()) - total, sizes[::-1])
    changed = np.empty_like(counts)
    changed[order] = sizes
    return changed


def _with_enough_large_ones(estimates: Integers, run_times: Integers, max_estimate: int) -> Integers:
    """Return the estimates with the largest one in place of those that are missing for the long jobs."""
    largest_first, longest_first = np.sort(estimates)[::-1], np.sort(run_times)[::-1]
    return np.where(largest_first < longest_first, max_estimate, largest_first)


def _spread(amount: int, room: Integers) -> Integers:
    """Fill an amount into the rooms, the first ones first."""
    filled: Integers = np.clip(amount - (np.cumsum(room) - room), 0, room)
    return filled


@kernel
def _swap(values: Integers, partner: Integers) -> None:
    """Swap each value, in order, with the one at its partner's place; in place, O(n)."""
    for place in range(len(values)):
        other = partner[place]
        values[place], values[other] = values[other], values[place]
