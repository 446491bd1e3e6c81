"""Why jobs wait at a site, in words: sentences for whoever decides, and tables in text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import join
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY
from schedlab.schedule.columns import in_columns
from schedlab.schedule.summary import duration
from schedlab.site.asked import ANY_NODE, NO_GPU
from schedlab.site.brought_work import offered_sentences
from schedlab.site.carriers import Carrier, WaitShare, stands_out
from schedlab.site.causes import KIND_WORDS, kind_of
from schedlab.site.coverage import error_text, listed
from schedlab.site.fitting import STATES
from schedlab.site.half_empty_text import half_empty_sentences
from schedlab.site.log_end import log_end_clause, log_end_sentences
from schedlab.site.standing import without_waits
from schedlab.site.wait_text import wait_text
from schedlab.wording import count_of, sentence, table

if TYPE_CHECKING:
    from schedlab.site.bottlenecks import NodesInDemand
    from schedlab.site.explaining import SiteExplanation

MOST_ROWS = 8
SHORT_LOG = 14
"""Days below which a log is too short to tell a habit from an event."""

ONE_DAY = 0.4
"""The share of all waiting from which on a single day decides."""

LEAST, TOLD = 0.005, 0.1
"""The shares of waiting of a cause from which on a sentence tells it of all jobs, and of a group."""

CAUSE_WORDS: Final = {
    "cores": "no free cores",
    "parts": "half-empty nodes",
    "memory": "no free memory",
    "GPUs": "no free GPUs",
    "turn": "room, but behind other jobs",
    "after": "the log drains",
}

ONCE: Final = (
    "The twin is simulated once here. site what-if takes the mean of three copies, in which jobs come some seconds "
    "earlier or later: its waits of the site as it is differ from these, those of groups of few jobs by much."
)

REASONS: Final = {
    "parts": "before half-empty nodes",
    "turn": "behind other jobs, with room on nodes that they may use",
    "after": "after the last submission (the log only drains)",
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
    >>> hours_text(0.5), hours_text(1234.5), hours_text(0.001), hours_text(0)
    ('0.5', '1,234', '<0.1', '0')
    """
    if 0 < hours < 0.05:
        return "<0.1"
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
    asked = " ".join(part for part in parts if part)
    if "time limit" not in shared:
        return asked
    limit = _limit(found, carrier.rows)
    return f"{asked} for {limit}" if asked else limit


def _how_many(found: SiteExplanation, carrier: Carrier) -> str:
    """Return how many jobs of a carrier ask for what `asks_for` says: what nearly all share need not be of each."""
    asked = [found.labels[kind].codes[carrier.rows] for kind in ("nodes", "node kind", "GPUs")]
    return "each" if all((codes == codes[0]).all() for codes in asked) else "nearly all"


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
    """Return what is said first: who waits and why, how sure that is, and the waits of all jobs."""
    waits = found.waits
    if not waits.any():
        return [f"{_says(found)}no job waits: {count_of(len(waits), 'job')} started at once."]
    every = (
        f"The mean wait of {count_of(len(waits), 'job')} is {wait_text(float(waits.mean()))}, the median "
        f"{wait_text(float(np.median(waits)))}."
    )
    decides = log_end_clause(found.after_the_log())
    before_parts = found.causes.totals(inside=True).get("parts", 0)
    asked = join(["schedlab", "site", "what-if", found.directory, "--set", found.change]) if found.change else ""
    parts = half_empty_sentences(found.half_empty, before_parts, float(found.twin.wait_time.sum()), asked)
    load = offered_sentences(found.offered, found.twin.workload.submit_time)
    who, *why = _who(found)
    told = [f"{_says(found)}{who}", *why, *([decides] if decides else []), _told_by(found)]
    return [*map(sentence, told), every, *load, *parts]


def other_sentences(found: SiteExplanation) -> list[str]:
    """Return what is said then: how sure the answer is, what jobs wait for, where, and whether that is typical."""
    return [
        *_how_sure(found),
        *_what_for(found),
        *_where(found),
        _at_limits(found),
        *_how_typical(found),
    ]


def _says(found: SiteExplanation) -> str:
    """Say what the first sentence stands on."""
    if found.calibration is None:
        return sentence(f"{without_waits(len(found.waits)).brief} says:").removesuffix(".") + " "
    return "By the record, "


def _told_by(found: SiteExplanation) -> str:
    """Say how good the twin is that tells what jobs wait for."""
    if found.calibration is None:
        return without_waits(len(found.waits)).how_good
    error = found.calibration.errors["all"][0].error
    far = error_text(float(error) if np.isfinite(error) else None)
    return f"what they wait for is told by a twin that is {found.calibration.verdict} (mean wait {far})"


def _how_sure(found: SiteExplanation) -> Iterator[str]:
    if found.calibration is None:
        yield "All waits here are those of the twin."
        yield from without_waits(len(found.waits)).details()
        yield ONCE
        return
    yield "Who waits is told from the record; what they wait for is told by the twin."
    yield from found.calibration.sentences()
    first = found.carriers[0]
    if found.waits.any() and first.told_apart:
        twin = found.share(first, found.twin.wait_time)
        name, others = whose(found, first), wait_text(twin.mean_without)
        yield f"In the twin, the jobs of {name} wait {wait_text(twin.mean)} on average, all others {others}."
    yield ONCE


def _who(found: SiteExplanation) -> list[str]:
    """Say whose jobs carry the waiting; then how many they are, what they ask for and bring, and what they wait for."""
    first = found.carriers[0]
    if not first.told_apart:
        return ["no group of jobs waits longer than the others"]
    share, asks = found.share(first), asks_for(found, first)
    part, jobs = (
        f"{share.share_of_waiting:.0%} of all waiting",
        f"{count_of(share.jobs, 'job')} of {whose(found, first)}",
    )
    whole = [f"{part} is that of {jobs}"]
    if not stands_out(share):
        whole = ["no group of jobs stands out", f"the most telling one has {part}: {jobs}"]
    asking = f", {_how_many(found, first)} asking for {asks}" if asks else ""
    return [
        *whole,
        f"these are {share.share_of_jobs:.0%} of all jobs{asking}",
        str(found.brought),
        f"they wait {wait_text(share.mean)} on average, {_because(found, first)}",
        f"all other jobs wait {wait_text(share.mean_without)} on average",
    ]


def _what_for(found: SiteExplanation) -> Iterator[str]:
    totals = found.causes.totals()
    if not totals:
        return
    whole = sum(totals.values())
    kinds = {kind: sum(one for cause, one in totals.items() if kind_of(cause) == kind) / whole for kind in KIND_WORDS}
    told = [f"{kinds[kind]:.0%} {words}" for kind, words in KIND_WORDS.items() if kinds[kind] >= LEAST]
    yield f"Of all waiting, {listed(told, len(told))}."
    shares = [(share, because(one)) for one, share in found.shares_of_causes().items() if share >= LEAST]
    (first, reason), *others = shares
    passes = [f"{first:.0%} of it passes {reason}", *(f"{share:.0%} {why}" for share, why in others)]
    yield f"{listed(passes, len(passes))}."
    words = found.twin.waited_for or {}
    behind, total = (sum(int(words[one].sum()) for one in some if one in words) for some in (["Priority"], words))
    if behind > 0.5 * total:
        yield (
            f"squeue would show the reason Priority for {behind / total:.1%} of it: only the first job that waits "
            "for a partition gets Resources there."
        )
    elsewhere = float(found.causes.elsewhere.sum()) / whole
    if elsewhere >= 0.05:
        yield (
            f"During {elsewhere:.0%} of all waiting, there was room on nodes that the job may not use (its partition, "
            "constraint or node list)."
        )


def _where(found: SiteExplanation) -> Iterator[str]:
    total = sum(one.job_hours for one in found.kinds)
    if not total:
        return
    first, until = found.kinds[0], "until the last submission" if found.causes.totals(inside=True) else "in the twin"
    yield (
        f"The bottleneck is {first.name}: jobs that ask for these nodes have {first.job_hours / total:.0%} of all "
        f"waiting without room {until}. Jobs wait for them in {hours_text(first.waited_for)} hours. Then "
        f"{first.busy:.0%} of their cores are in use on average, and in {hours_text(first.full)} of these hours most "
        "of the waiting jobs have no room."
    )


def _at_limits(found: SiteExplanation) -> str:
    if not found.limits:
        return "No limit of an account or a QOS kept a job waiting."
    first = found.limits[0]
    named = f" ({first.limit})" if first.limit else ""
    return (
        f"The limit that costs most is {first.reason}{named}: it holds {count_of(first.jobs, 'job')} of "
        f"{count_of(first.users, 'user')} for {hours_text(first.hours)} hours together."
    )


def _how_typical(found: SiteExplanation) -> Iterator[str]:
    submit = found.twin.workload.submit_time
    days = float(submit.max() - submit.min()) / DAY
    day, share = found.busiest_day()
    if found.waits.any() and days > 1 and share >= ONE_DAY:
        yield (
            f"{share:.0%} of all waiting is that of jobs submitted on day {day:,} of {np.ceil(days):,.0f}, "
            f"{day - 1:,} to {day:,} days after the first one. One event decides, and need not come again."
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
    parts += [
        "what they wait for\n\n" + _causes(found),
        "nodes that jobs ask for, until the last submission\n\n" + _nodes(found.kinds),
    ]
    parts.append("groups of nodes, until the last submission\n\n" + _nodes(found.groups))
    if found.limits:
        parts.append("limits\n\n" + _limits(found))
    return "\n\n".join(part for part in parts if part)


def _carriers(found: SiteExplanation) -> str:
    recorded = found.recorded is not None
    head = ["jobs of", "jobs", "share of waiting", "mean wait", *(["in the twin"] if recorded else [])]
    head += ["median wait", "mean of others", "wait mostly for", "nearly all ask for"]
    rows: list[list[str | float]] = []
    for one in found.carriers:
        share = found.share(one)
        row: list[str | float] = [share.group, f"{share.jobs:,}", f"{share.share_of_waiting:.1%}", share.mean]
        row += [float(found.twin.wait_time[one.rows].mean())] if recorded else []
        rows.append([*row, share.median, share.mean_without, mostly_for(found, one), asks_for(found, one)])
    return table(head, in_columns(rows, together=(3, 4) if recorded else ()))


def mostly_for(found: SiteExplanation, carrier: Carrier) -> str:
    """Return what the jobs of a carrier wait for most, and its share."""
    shares = found.shares_of_causes(carrier.rows)
    if not shares:
        return "-"
    cause, share = next(iter(shares.items()))
    return f"{cause_text(cause)} ({share:.0%})"


def _because(found: SiteExplanation, carrier: Carrier) -> str:
    """Return what the jobs of a carrier wait for most, as part of a sentence."""
    told = [(cause, share) for cause, share in found.shares_of_causes(carrier.rows).items() if share >= TOLD]
    if not told:
        return "but not in the twin"
    where = "" if found.recorded is None else " in the twin"
    return ", ".join(
        f"{share:.0%}{'' if place else f' of it{where}'} {because(cause)}" for place, (cause, share) in enumerate(told)
    )


def because(cause: str) -> str:
    """Return a cause as a reason.

    Examples
    --------
    >>> because("parts"), because("memory"), because("QOSMaxJobsPerUserLimit")
    ('before half-empty nodes', 'for lack of free memory', 'for the reason QOSMaxJobsPerUserLimit')
    """
    return REASONS.get(cause, f"for lack of free {cause}" if cause in STATES else f"for the reason {cause}")


def _groups(found: SiteExplanation, kind: str) -> str:
    every = found.shares(kind)
    rows = [_row(one) for one in every[:MOST_ROWS]]
    more = len(every) - MOST_ROWS
    head = [KINDS[kind], "jobs", "share of jobs", "share of waiting", "mean wait", "median wait", "mean of others"]
    return table(head, in_columns(rows)) + (f"\n{more:,} more" if more > 0 else "")


def _row(one: WaitShare) -> list[str | float]:
    shares = [f"{one.share_of_jobs:.1%}", f"{one.share_of_waiting:.1%}"]
    return [one.group, f"{one.jobs:,}", *shares, one.mean, one.median, one.mean_without]


def _causes(found: SiteExplanation) -> str:
    inside = found.causes.totals(inside=True)
    whole = sum(found.causes.totals().values())
    rows = []
    for cause, seconds in found.causes.totals().items():
        hours = [hours_text(one / 3600) for one in (seconds, inside.get(cause, 0))]
        shares = [f"{one / whole:.1%}" for one in (seconds, inside.get(cause, 0))]
        rows.append([cause_text(cause), kind_of(cause), hours[0], shares[0], hours[1], shares[1]])
    until = "until the last submission"
    head = ["cause", "kind", "job-hours of waiting", "share of waiting", f"hours {until}", f"share {until}"]
    return table(head, rows)


def _nodes(some: Iterable[NodesInDemand]) -> str:
    rows = []
    for one in some:
        gpus = "-" if np.isnan(one.gpus) else f"{one.gpus:.0%}"
        hours = [hours_text(value) for value in (one.waited_for, one.full, one.job_hours)]
        busy = "-" if np.isnan(one.busy) else f"{one.busy:.0%}"
        rows.append([one.name, f"{one.nodes:,}", f"{one.cores:.0%}", gpus, busy, *hours])
    head = [
        "kind of nodes",
        "nodes",
        "cores in use",
        "GPUs in use",
        "cores while jobs wait",
        "hours with waiting jobs",
        "hours full",
        "job-hours without room",
    ]
    return table(head, rows[:MOST_ROWS])


def _limits(found: SiteExplanation) -> str:
    rows = [[one.reason, one.limit, f"{one.jobs:,}", f"{one.users:,}", hours_text(one.hours)] for one in found.limits]
    return table(["reason", "limit", "jobs", "users", "job-hours held"], rows[:MOST_ROWS])
