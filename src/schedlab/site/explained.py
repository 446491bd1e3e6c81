"""Why jobs wait at a site, in words: sentences for whoever decides, and tables in text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY
from schedlab.schedule.summary import duration
from schedlab.site.asked import ANY_NODE, NO_GPU
from schedlab.site.carriers import Carrier, WaitShare, stands_out
from schedlab.site.causes import KIND_WORDS, OTHER, kind_of
from schedlab.site.fitting import STATES
from schedlab.site.log_end import log_end_sentences
from schedlab.wording import count_of, table

if TYPE_CHECKING:
    from schedlab.site.bottlenecks import NodesInDemand
    from schedlab.site.explaining import SiteExplanation

MOST_ROWS = 8
SHORT_LOG = 14
"""Days below which a log is too short to tell a habit from an event."""

ONE_DAY = 0.4
"""The share of all waiting from which on a single day decides."""

CAUSE_WORDS: Final = {
    "cores": "no free cores or whole nodes",
    "memory": "no free memory",
    "GPUs": "no free GPUs",
    "turn": "room, but behind other jobs",
}

KINDS: Final = {
    "user": "user",
    "account": "account",
    "partition": "partition",
    "QOS": "QOS",
    "nodes": "number of nodes",
    "node kind": "kind of nodes",
    "GPUs": "GPUs",
    "time limit": "time limit",
}
"""By what the tables of groups are made, and what they call it."""


def cause_text(cause: str) -> str:
    """Return a cause of waiting in words; limits keep Slurm's own.

    Examples
    --------
    >>> cause_text("memory"), cause_text("QOSMaxJobsPerUserLimit")
    ('no free memory', 'QOSMaxJobsPerUserLimit')
    """
    return CAUSE_WORDS.get(cause, cause)


def hours_text(hours: float) -> str:
    """Return a number of hours, below ten with a decimal.

    Examples
    --------
    >>> hours_text(0.5), hours_text(1234.5)
    ('0.5', '1,234')
    """
    return f"{hours:,.1f}" if 0 < hours < 10 else f"{hours:,.0f}"


def whose(found: SiteExplanation, carrier: Carrier) -> str:
    """Return whose jobs those of a carrier are; partition and QOS only if these tell them apart."""
    if not carrier.told_apart:
        return "all others"
    shared = {**carrier.told_apart, **carrier.shared}
    who = next((kind for kind in ("user", "account") if kind in shared), None)
    name = "" if who is None else shared["user"] if who == "user" else f"account {shared['account']}"
    where = [f"{kind} {shared[kind]}" for kind in ("partition", "QOS") if kind in carrier.told_apart]
    users = len(np.unique(found.twin.workload.user_id[carrier.rows]))
    return ", ".join([name or count_of(users, "user"), *where])


def asks_for(found: SiteExplanation, carrier: Carrier) -> str:
    """Return what nearly all jobs of a carrier ask for: "" if they have nothing in common."""
    if not carrier.told_apart:
        return ""
    shared = {**carrier.told_apart, **carrier.shared}
    gpus = shared.get("GPUs", NO_GPU)
    parts = [shared.get("nodes", ""), _of_kind(shared), f"with {gpus}" if gpus != NO_GPU else ""]
    parts.append(f"for {_limit(found, carrier.rows)}" if "time limit" in shared else "")
    return " ".join(part for part in parts if part)


def _of_kind(shared: dict[str, str]) -> str:
    kind = shared.get("node kind", ANY_NODE)
    return "" if kind.startswith(ANY_NODE) else f"of {kind}" if "nodes" in shared else f"nodes of {kind}"


def _limit(found: SiteExplanation, rows: NDArray[np.intp]) -> str:
    """Return the time that some jobs ask for: the one of nearly all, or from which to which."""
    limits, counts = np.unique(found.twin.workload.requested_time[rows], return_counts=True)
    if counts.max() >= 0.95 * len(rows):
        return duration(float(limits[counts.argmax()]))
    low, high = np.quantile(found.twin.workload.requested_time[rows], [0.05, 0.95])
    return f"{duration(float(low))} to {duration(float(high))}"


def first_sentences(found: SiteExplanation) -> list[str]:
    """Return what is said first: how sure the answer is, and who waits."""
    return [*_how_sure(found), *_who(found)]


def other_sentences(found: SiteExplanation) -> list[str]:
    """Return what is said then: what jobs wait for, where, and whether that is typical."""
    return [
        *(() if found.calibration is None else found.calibration.sentences()[2:]),
        *_what_for(found),
        *_where(found),
        _at_limits(found),
        *_how_typical(found),
    ]


def _how_sure(found: SiteExplanation) -> Iterator[str]:
    if found.calibration is None:
        yield (
            "The log has no recorded waits, so the twin cannot be checked against this site: all waits here are those "
            "of the twin."
        )
        return
    yield from found.calibration.sentences()[:2]
    yield "Who waits is told from the record; what they wait for is told by the twin."


def _who(found: SiteExplanation) -> Iterator[str]:
    waits = found.waits
    every = (
        f"the mean wait of {count_of(len(waits), 'job')} is {duration(float(waits.mean()))}, the median "
        f"{duration(float(np.median(waits)))}"
    )
    if not waits.any():
        yield f"No job waits: {count_of(len(waits), 'job')} started at once."
        return
    first = found.carriers[0]
    share = found.share(first)
    every = f"{every[0].upper()}{every[1:]}"
    if not first.told_apart:
        yield f"{every}: no group of jobs waits longer than the others."
        return
    asks = asks_for(found, first)
    part = f"{share.share_of_waiting:.0%} of all waiting"
    part = f"{part} is" if stands_out(share) else f"No group of jobs stands out; the most telling one has {part}:"
    yield (
        f"{part} that of {count_of(share.jobs, 'job')} ({share.share_of_jobs:.0%} of all) of {whose(found, first)}"
        f"{f', each for {asks}' if asks else ''}: they wait {duration(share.mean)} on average, "
        f"{_because(found, first)}; all others wait {duration(share.mean_without)} beside them. {every}."
    )
    twin = found.share(first, found.twin.wait_time)
    if found.recorded is not None:
        yield f"In the twin they wait {duration(twin.mean)}, all others {duration(twin.mean_without)}."


def _what_for(found: SiteExplanation) -> Iterator[str]:
    shares = found.shares_of_causes()
    if not shares:
        return
    kinds = {kind: sum(part for cause, part in shares.items() if kind_of(cause) == kind) for kind in KIND_WORDS}
    short = [f"{state} {shares[state]:.0%}" for state in STATES[1:] if shares.get(state, 0) >= 0.005]
    told = [f"{kinds[kind]:.0%} {KIND_WORDS[kind]}" for kind in KIND_WORDS if kind != OTHER or kinds[kind] >= 0.005]
    told[0] += f" (short of {', '.join(short)})" if short else ""
    yield f"Of all waiting, {', '.join(told[:-1])} and {told[-1]}."
    words = found.twin.waited_for or {}
    behind, total = (sum(int(words[one].sum()) for one in some if one in words) for some in (["Priority"], words))
    if behind > 0.5 * total:
        yield (
            f"(squeue would give the reason Priority for {behind / total:.1%} of it: only the first job that waits for "
            "a partition has Resources there.)"
        )
    elsewhere = float(found.causes.elsewhere.sum()) / sum(found.causes.totals().values())
    if elsewhere >= 0.05:
        yield (
            f"For {elsewhere:.0%} of all waiting, nodes that the job may not use, by its partition, constraint or node "
            "list, had room."
        )


def _where(found: SiteExplanation) -> Iterator[str]:
    total = sum(one.job_hours for one in found.kinds)
    if not total:
        return
    first = found.kinds[0]
    yield (
        f"The bottleneck is {first.name}: {first.job_hours / total:.0%} of the hours without room were waited for it. "
        f"While jobs wait for it, {first.busy:.0%} of its cores are in use, and for {hours_text(first.full)} of "
        f"these {hours_text(first.waited_for)} hours, most of the jobs that wait for it have no room."
    )


def _at_limits(found: SiteExplanation) -> str:
    if not found.limits:
        return "No limit of an account or a QOS kept a job waiting."
    first = found.limits[0]
    named = f" ({first.limit})" if first.limit else ""
    return (
        f"The limit that costs most is {first.reason}{named}: {hours_text(first.hours)} hours of "
        f"{count_of(first.jobs, 'job')} of {count_of(first.users, 'user')}."
    )


def _how_typical(found: SiteExplanation) -> Iterator[str]:
    submit = found.twin.workload.submit_time
    days = float(submit.max() - submit.min()) / DAY
    day, share = found.busiest_day()
    if found.waits.any() and days > 1 and share >= ONE_DAY:
        yield (
            f"{share:.0%} of all waiting is of jobs submitted on day {day} of {np.ceil(days):,.0f}: one event decides, "
            "and need not come again."
        )
    elif days < SHORT_LOG:
        yield f"The log has {days:,.1f} days: it cannot tell a habit from an event."
    yield from log_end_sentences(found.after_the_log())


def explained_text(found: SiteExplanation) -> str:
    """Return the answer as sentences and tables in text."""
    parts = [
        "\n".join([*first_sentences(found), "", *other_sentences(found)]),
        "who carries the mean wait\n\n" + _carriers(found),
    ]
    parts += [
        f"by {words}\n\n{_groups(found, kind)}" for kind, words in KINDS.items() if len(found.labels[kind].names) > 1
    ]
    parts += ["what they wait for\n\n" + _causes(found), "nodes that jobs ask for\n\n" + _nodes(found.kinds)]
    parts.append("groups of nodes\n\n" + _nodes(found.groups))
    if found.limits:
        parts.append("limits\n\n" + _limits(found))
    return "\n\n".join(part for part in parts if part)


def _carriers(found: SiteExplanation) -> str:
    recorded = found.recorded is not None
    head = ["", "jobs", "share of waiting", "mean wait", *(["in the twin"] if recorded else [])]
    head += ["median wait", "mean of others", "mostly for", "each asks for"]
    rows = []
    for one in found.carriers:
        share = found.share(one)
        row = [share.group, f"{share.jobs:,}", f"{share.share_of_waiting:.1%}", duration(share.mean)]
        row += [duration(float(found.twin.wait_time[one.rows].mean()))] if recorded else []
        without = "-" if np.isnan(share.mean_without) else duration(share.mean_without)
        rows.append([*row, duration(share.median), without, mostly_for(found, one), asks_for(found, one)])
    return table(head, rows)


def mostly_for(found: SiteExplanation, carrier: Carrier) -> str:
    """Return what the jobs of a carrier wait for most, and its share."""
    shares = found.shares_of_causes(carrier.rows)
    if not shares:
        return "-"
    cause, share = next(iter(shares.items()))
    return f"{cause_text(cause)} ({share:.0%})"


def _because(found: SiteExplanation, carrier: Carrier) -> str:
    """Return what the jobs of a carrier wait for most, as part of a sentence."""
    cause, share = next(iter(found.shares_of_causes(carrier.rows).items()), ("", 0.0))
    if not cause:
        return "but not in the twin"
    part = f"for {share:.0%} of it" if found.recorded is None else f"in the twin for {share:.0%} of the time"
    if cause in STATES:
        return f"{part} as no node that they may use has enough free {cause}"
    if cause == "turn":
        return f"{part} behind other jobs, with room on nodes that they may use"
    return f"{part} by the reason {cause}"


def _groups(found: SiteExplanation, kind: str) -> str:
    every = found.shares(kind)
    rows = [_row(one) for one in every[:MOST_ROWS]]
    more = len(every) - MOST_ROWS
    text = table([KINDS[kind], "jobs", "of jobs", "of waiting", "mean wait", "median wait", "of others"], rows)
    return text + (f"\n{more:,} more" if more > 0 else "")


def _row(one: WaitShare) -> list[str]:
    without = "-" if np.isnan(one.mean_without) else duration(one.mean_without)
    shares = [f"{one.share_of_jobs:.1%}", f"{one.share_of_waiting:.1%}"]
    return [one.group, f"{one.jobs:,}", *shares, duration(one.mean), duration(one.median), without]


def _causes(found: SiteExplanation) -> str:
    rows = [
        [cause_text(cause), kind_of(cause), hours_text(found.causes.totals()[cause] / 3600), f"{share:.1%}"]
        for cause, share in found.shares_of_causes().items()
    ]
    return table(["cause", "kind", "hours", "share"], rows)


def _nodes(some: Iterable[NodesInDemand]) -> str:
    rows = []
    for one in some:
        gpus = "-" if np.isnan(one.gpus) else f"{one.gpus:.0%}"
        hours = [hours_text(value) for value in (one.waited_for, one.full, one.job_hours)]
        busy = "-" if np.isnan(one.busy) else f"{one.busy:.0%}"
        rows.append([one.name, f"{one.nodes:,}", f"{one.cores:.0%}", gpus, busy, *hours])
    head = [
        "",
        "nodes",
        "cores used",
        "GPUs used",
        "cores, waited for",
        "hours waited for",
        "hours full",
        "job hours without room",
    ]
    return table(head, rows[:MOST_ROWS])


def _limits(found: SiteExplanation) -> str:
    rows = [[one.reason, one.limit, f"{one.jobs:,}", f"{one.users:,}", hours_text(one.hours)] for one in found.limits]
    return table(["reason", "limit", "jobs", "users", "hours"], rows[:MOST_ROWS])
