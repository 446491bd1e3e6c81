"""What an answer about a site stands on: how good the twin is, which jobs of which log, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedlab.durations import WEEK
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.site.changes import parse_change
from schedlab.site.decisive import DecisivePeriod, decisive_period
from schedlab.site.log_end import after_the_log, log_end_clause, log_end_sentences
from schedlab.site.main_user import MainUser, main_user
from schedlab.site.omissions import Omissions, omissions_of
from schedlab.site.standing import Standing
from schedlab.site.sweep import Paired, Sweep
from schedlab.site.time_limits import KILLED, LEFT_OUT
from schedlab.site.variants import AS_IT_IS, Variant
from schedlab.wording import count_of

PASSES = ("bf_", "sched_", "default_queue_depth", "partition_job_depth", "defer")
"""How options of SchedulerParameters begin that decide how often slurmctld looks at the queue, and how deep."""

SHORT = 2 * WEEK
"""A log below this length is called short, in seconds."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer stands on.

    Parameters
    ----------
    standing
        How good the twin is known to be.
    omissions
        What the answer leaves out.
    recorded, left_out
        Jobs that were recorded, and how many of them the comparison leaves out.
    span
        Seconds between the first and the last submission.
    decisive
        The period of the log that decides about the variant; None: no single one does.
    killed
        Jobs that are killed at a new limit.
    after_the_log
        Share of the waiting at the site as it is that comes after the last submission.
    main_user
        The user who has most of that waiting; None: no one has half of it.
    after_the_begin
        What is replayed, in words, if it begins in the middle of the log; empty: all of it is.
    passes
        Whether the variant changes how often, or how deep, slurmctld looks at the queue.
    cautions
        What makes the variant dangerous, or of little use, in words.
    """

    standing: Standing
    omissions: Omissions
    recorded: int
    left_out: int
    span: int
    decisive: DecisivePeriod | None = None
    killed: int = 0
    after_the_log: float = 0.0
    main_user: MainUser | None = None
    after_the_begin: str = ""
    passes: bool = False
    cautions: tuple[str, ...] = ()

    @property
    def deciding(self) -> list[str]:
        """What decides how far the answer goes, in clauses; empty: nothing does."""
        empty = "is replayed from an empty machine, so that its first jobs wait too little"
        begin = f"{self.after_the_begin} {empty}" if self.after_the_begin else ""
        mostly = (begin, log_end_clause(self.after_the_log), str(self.main_user or ""))
        cost = "what other passes cost slurmctld (its locks, bf_max_time) is not simulated" if self.passes else ""
        return [one for one in (*self.cautions, *mostly, cost) if one]

    @property
    def left_out_text(self) -> str:
        """How many jobs are left out, in words; empty: none is, but some are killed, which is told elsewhere."""
        if self.left_out:
            return f"{self.left_out:,} of {count_of(self.recorded, 'job')} {_are(self.left_out)} left out"
        return "" if self.killed else "no job is left out"

    def sentences(self, *, effect: bool = True) -> Iterator[str]:
        """Say how good the twin is and, where there is an effect, whether one event decides."""
        yield from self.standing.details()
        if effect and self.span < SHORT:
            yield f"The log covers {duration(self.span)}: one event in it can decide the answer."
            yield "Ask again with a log of four weeks or more."
        yield from log_end_sentences(self.after_the_log)
        if self.decisive is not None:
            yield str(self.decisive)

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return {
            "jobs": {"recorded": self.recorded, "left_out": self.left_out, "killed": self.killed},
            "span": self.span,
            "after_the_log": self.after_the_log,
            "main_user": None if self.main_user is None else self.main_user._asdict(),
            "omissions": self.omissions.to_document(),
        }


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def grounds_of(sweep: Sweep, pair: Paired, notes: Sequence[str], copies: Sequence[Paired] = ()) -> Grounds:
    """Return what the comparison of a variant with the site as it is stands on.

    Parameters
    ----------
    sweep
        Of the site.
    pair
        The site as it is and the variant, on the same sample.
    notes
        What else is left out, in sentences.
    copies
        The same on all copies of the sample; empty: there is one.
    """
    kept, other = sweep.site.replayable(), pair.other
    today = _today(sweep, copies or [pair])
    before = sum(kept.left_out.values())
    return Grounds(
        sweep.standing,
        omissions_of(sweep.site, [*kept.notes(), *notes], nodes=sweep.nodes),
        len(other.jobs) + before,
        int(np.count_nonzero(other.fate == LEFT_OUT)) + before,
        int(np.ptp(other.jobs.submit_time)),
        decisive_period(copies or [pair]),
        int(np.count_nonzero(other.fate == KILLED)),
        float(np.mean([*map(after_the_log, today)])),
        main_user(today),
        other.sample.text if other.sample.begin > 0 else "",
        changes_passes(pair.other.variant),
    )


def _today(sweep: Sweep, pairs: Sequence[Paired]) -> list[Schedule]:
    """Return the site as it is on the samples of some pairs, with all its work where a variant leaves some."""
    found = []
    for one in pairs:
        whole = None if one.base_name == AS_IT_IS else sweep.answer(Variant(AS_IT_IS), one.other.sample)
        found.append((whole or one.base).schedule)
    return found


def changes_passes(variant: Variant) -> bool:
    """Return whether a variant changes how often, or how deep, slurmctld looks at the queue."""
    return any(map(_is_of_passes, variant.changes))


def _is_of_passes(text: str) -> bool:
    change = parse_change(text)
    options = [change.option] if change.option else re.split(r"[=,]", change.value)
    return change.key.lower() == "schedulerparameters" and any(one.strip().startswith(PASSES) for one in options)
