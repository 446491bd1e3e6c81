"""What an answer about a site stands on: how good the twin is, which jobs of which log, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from schedlab.durations import WEEK
from schedlab.schedule.summary import duration
from schedlab.site.changes import changed, parse_change
from schedlab.site.decisive import DecisivePeriod, decisive_period
from schedlab.site.log_end import after_the_log, log_end_clause, log_end_sentences
from schedlab.site.omissions import Omissions, omissions_of
from schedlab.site.standing import Standing
from schedlab.site.sweep import Paired, Sweep
from schedlab.site.time_limits import KILLED, LEFT_OUT
from schedlab.site.unusable import TELLING, Unusable, unusable
from schedlab.site.variant_task import REPLACES
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
    undone
        Share of the work that is done on neither side of the comparison, as its jobs are killed or cannot run.
    after_the_log
        Share of the waiting at the site as it is that comes after the last submission.
    unusable
        The waiting of jobs that cannot use the nodes that the variant adds; None: it adds none.
    replaced
        Whether a policy takes the place of the site's own priorities.
    passes
        Whether the variant changes how often, or how deep, slurmctld looks at the queue.
    """

    standing: Standing
    omissions: Omissions
    recorded: int
    left_out: int
    span: int
    decisive: DecisivePeriod | None = None
    killed: int = 0
    undone: float = 0.0
    after_the_log: float = 0.0
    unusable: Unusable | None = None
    replaced: bool = False
    passes: bool = False

    @property
    def deciding(self) -> list[str]:
        """What decides how far the answer goes, as parts of its first sentence; empty: nothing does."""
        end = log_end_clause(self.after_the_log)
        use = "" if self.unusable is None or self.unusable.share < TELLING else self.unusable.text("the new nodes")
        cost = "what other passes cost slurmctld (its locks, bf_max_time) is not simulated" if self.passes else ""
        instead = "age, fair share, QOS, partition, size and TRES weights no longer count" if self.replaced else ""
        return [one for one in (instead, use, end, cost) if one]

    @property
    def left_out_text(self) -> str:
        """How many jobs are left out or killed, in words."""
        parts = []
        if self.left_out:
            parts.append(f"{self.left_out:,} of {count_of(self.recorded, 'job')} {_are(self.left_out)} left out")
        if self.killed:
            parts.append(f"{count_of(self.killed, 'job')} {_are(self.killed)} killed at the new limit")
        work = f" ({self.undone:.1%} of the work, done on neither side)" if self.undone else ""
        return f"{' and '.join(parts)}{work}" if parts else "no job is left out"

    def sentences(self) -> Iterator[str]:
        """Say how good the twin is, and whether one event decides."""
        yield from self.standing.details()
        if self.span < SHORT:
            yield (
                f"The log covers {duration(self.span)}: one event in it can decide the answer; ask again with a log of "
                "four weeks or more."
            )
        yield from log_end_sentences(self.after_the_log)
        if self.decisive is not None:
            yield str(self.decisive)

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return {
            "jobs": {"recorded": self.recorded, "left_out": self.left_out, "killed": self.killed},
            "span": self.span,
            "after_the_log": self.after_the_log,
            "unusable": None if self.unusable is None else asdict(self.unusable),
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
    before = sum(kept.left_out.values())
    seconds = np.minimum(other.jobs.run_time, other.jobs.requested_time)
    hours = float((seconds * other.jobs.job_processors).sum())
    return Grounds(
        sweep.standing,
        omissions_of(sweep.site, [*kept.notes(), *notes], nodes=sweep.nodes),
        len(other.jobs) + before,
        int(np.count_nonzero(other.fate == LEFT_OUT)) + before,
        int(np.ptp(other.jobs.submit_time)),
        decisive_period(copies or [pair]),
        int(np.count_nonzero(other.fate == KILLED)),
        float((other.undone * other.jobs.job_processors).sum()) / hours if hours else 0.0,
        after_the_log(pair.base.schedule),
        _of_new_nodes(sweep, pair),
        any(REPLACES in note for note in other.notes),
        any(map(_is_of_passes, pair.other.variant.changes)),
    )


def _is_of_passes(text: str) -> bool:
    change = parse_change(text)
    options = [change.option] if change.option else re.split(r"[=,]", change.value)
    return change.key.lower() == "schedulerparameters" and any(one.strip().startswith(PASSES) for one in options)


def _of_new_nodes(sweep: Sweep, pair: Paired) -> Unusable | None:
    """Return the waiting of jobs that cannot use the nodes that a variant adds; None: it adds none."""
    if not sweep.nodes or not pair.other.variant.changes:
        return None
    other = changed(sweep.site, pair.other.variant.changes)
    new = set(other.cluster.nodes).difference(sweep.site.cluster.nodes)
    return unusable(pair.base.schedule, other.cluster, other.scheduler.placement, new) if new else None
