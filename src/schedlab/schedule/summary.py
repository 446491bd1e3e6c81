"""A schedule in ten lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from schedlab.arguments import explained
from schedlab.scheduler.slurm_rules import naming_version
from schedlab.scheduler.slurm_versions import NEWEST
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

MOST_REASONS = 5
"""Reasons of waiting that are shown."""

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))

SMALL = 0.1
"""What is less of its unit has two digits behind the point in a column."""

LEAST_OF_UNIT, MOST_OF_UNIT = 0.01, 1_000
"""Durations of a column that are less or more of its unit have their own, in which they can be read."""


@explained
def duration(seconds: float) -> str:
    """Return a number of seconds in the largest unit of which it has two.

    Examples
    --------
    >>> duration(90), duration(7200), duration(1_000_000), duration(123_456_789)
    ('90 s', '2 h', '11.6 d', '1,429 d')
    """
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{seconds:.3g} s"


def durations(seconds: Sequence[float], like: Sequence[float] | None = None) -> list[str]:
    """Return the durations of a column of a table in one unit, so that they can be compared at a glance.

    Parameters
    ----------
    seconds
        The durations.
    like
        Those that decide the unit, by default the same: it is the largest of which their median, without those of no
        time, has two.

    Examples
    --------
    >>> durations([7_200, 90_000, 600_000]), durations([5_400, 0, 9_000, 10]), durations([])
    (['2 h', '25 h', '167 h'], ['90 min', '0 min', '150 min', '0.167 min'], [])

    What is small beside them has two digits behind the point.

    >>> durations([340, 7_200, 90_000])
    ['0.09 h', '2 h', '25 h']
    >>> durations([864_000, 900_000, 60]), durations([120, 240, 86_400_000])
    (['10 d', '10.4 d', '60 s'], ['2 min', '4 min', '1,000 d'])
    """
    usual = median([one for one in (seconds if like is None else like) if one > 0] or [0.0])
    size, unit = next(((size, unit) for size, unit in _UNITS if usual >= 2 * size), (1, "s"))
    within = [one == 0 or LEAST_OF_UNIT <= one / size < MOST_OF_UNIT for one in seconds]
    texts = zip(seconds, within, strict=True)
    return [f"{in_column(one / size)} {unit}" if shown else duration(one) for one, shown in texts]


def in_column(value: float) -> str:
    """Return a number beside others of its unit: with three digits, and at most two behind its point if it is small.

    Examples
    --------
    >>> in_column(0.0946), in_column(0.123), in_column(12.34), in_column(0)
    ('0.09', '0.123', '12.3', '0')
    """
    return f"{value:.2f}" if 0 < abs(value) < SMALL else three_digits(value)


def three_digits(value: float) -> str:
    """Return a number with three digits, or all those before its point.

    Examples
    --------
    >>> three_digits(2.345), three_digits(999.7), three_digits(12_345.6)
    ('2.35', '1,000', '12,346')
    """
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def followed(schedule: Schedule) -> str:
    """Return the scheduler of a schedule, with the version of Slurm whose rules it follows."""
    return naming_version(schedule.scheduler, NEWEST)


def summary(schedule: Schedule, metrics: Mapping[str, float] | None = None) -> str:
    """Return what a person wants to know first; the metrics, if they are given, may leave out a warm-up."""
    title = f"{schedule.workload.name} under {followed(schedule)}"
    if not len(schedule):
        return f"{title}: no jobs"
    m = schedule.metrics() if metrics is None else metrics
    rate = f"{m['throughput']:,.1f} a day"
    fairness = "unknown: the jobs name fewer than two users"
    if "fairness" in m:
        fairness = f"{m['fairness']:.3f} between users (Jain's index, 1 is even)"

    def statistics(name: str, form: str = "") -> str:
        values = [m[f"{statistic}_{name}"] for statistic in ("mean", "median", "p95", "max")]
        texts = [format(value, form) if form else duration(value) for value in values]
        return "mean {:<8}  median {:<8}  p95 {:<8}  max {}".format(*texts)

    lines, useful = [], ""
    if schedule.alternative is not None:
        lines.append(
            f"  other sizes       {count_of(int((schedule.alternative > 0).sum()), 'job')}{_dropped(schedule)}"
        )
    if "resized_jobs" in m:
        often = f", each {m['mean_resizes']:,.1f} times in the mean" if "mean_resizes" in m else ""
        lines.append(f"  resized           {count_of(int(m['resized_jobs']), 'job')}{often}{_dropped(schedule)}")
    if "failed_runs" in m:
        useful = " by runs that were done"
        lines += _failures(m)
    if m.get("suspended_jobs"):
        mean = duration(m["mean_suspended_time"] * m["jobs"] / m["suspended_jobs"])
        lines.append(f"  suspended         {count_of(int(m['suspended_jobs']), 'job')}, each for {mean} in the mean")
    if m.get("cancelled_jobs"):
        jobs, waited = count_of(int(m["cancelled_jobs"]), "job"), duration(m["mean_wait_until_cancelled"])
        lines.append(
            f"  cancelled         {jobs} ({m['cancelled_share']:.1%}) while they waited, after {waited} in the mean; "
            "of the lines above, only queue counts them"
        )
    if "mean_workflow_wait" in m:
        lines += [
            f"  workflows         {m['workflows']:,.0f}; without what idles in pilot jobs, "
            f"{m['useful_utilisation']:.1%} in use",
            f"  workflow wait     mean {duration(m['mean_workflow_wait'])}, run time "
            f"{duration(m['mean_workflow_run_time'])}, stretch {m['mean_workflow_stretch']:.3f}",
        ]
    if schedule.waited_for:
        seconds = {reason: int(column.sum()) for reason, column in schedule.waited_for.items()}
        most = sorted(seconds, key=lambda reason: -seconds[reason])[:MOST_REASONS]
        shares = ", ".join(f"{reason} {seconds[reason] / sum(seconds.values()):.1%}" for reason in most)
        lines.append(f"  waited for        {shares}")
    if "mean_switches" in m:
        lines.append(f"  switches          mean {m['mean_switches']:.2f} of jobs on several nodes")
    if "availability" in m:
        useful += f", {m['availability']:.1%} in service"
    return "\n".join(
        [
            title,
            f"  jobs              {m['jobs']:,.0f} in {duration(m['makespan'])}, {rate}",
            f"  machine           {schedule.processors:,} processors, {m['utilisation']:.1%} in use{useful}",
            f"  wait              {statistics('wait')}",
            f"  turnaround        {statistics('turnaround')}",
            f"  bounded slowdown  {statistics('bounded_slowdown', ',.2f')}",
            f"  per processor     {statistics('per_processor_bounded_slowdown', ',.2f')}",
            f"  queue             mean {m['mean_queue_length']:,.1f}, max {m['max_queue_length']:,.0f} jobs",
            f"  backfilled        {m['backfilled_share']:.1%} of the jobs, {m['killed_jobs']:,.0f} killed",
            f"  fairness          {fairness}",
            *lines,
        ]
    )


def _dropped(schedule: Schedule) -> str:
    """Say how many sizes of jobs the machine is too small for."""
    dropped = schedule.specification.get("dropped_alternatives", 0)
    verb = "does" if dropped == 1 else "do"
    return f"; {count_of(dropped, 'alternative')} of the jobs {verb} not fit the machine" if dropped else ""


def _failures(m: Mapping[str, float]) -> list[str]:
    """Return lines about runs that failed, what checkpoints have saved of them, and why."""
    given_up = f"; {m['given_up_jobs']:,.0f} abandoned jobs" if m["given_up_jobs"] else ""
    lines = [f"  failed runs       {m['failed_runs']:,.0f}, {m['lost_share']:.1%} of the machine{given_up}"]
    if "checkpoint_share" in m:
        took, kept = m["checkpoint_share"], m["saved_share"]
        each = duration(m["mean_checkpoint_time"])
        lines.append(
            f"  checkpoints       {took:.1%} of the machine, {each} per job; {kept:.1%} of it saved from being lost"
        )
    for name, words, cause in (
        ("preempted_runs", "preempted runs", "preemption"),
        ("node_failed_runs", "failed with nodes", "node_failures"),
    ):
        if m.get(name):
            lost = duration(m[f"mean_time_lost_to_{cause}"])
            lines.append(f"  {words:<17} {count_of(int(m[name]), 'run')}, {lost} lost per job")
    return lines
