"""What bounds the effect of a variant of a site, or makes it dangerous, as far as that can be counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from schedlab.site.changes import changed, parse_change
from schedlab.site.coverage import listed
from schedlab.site.longer_limits import longer_limit_text
from schedlab.site.no_effect import options_lost
from schedlab.site.pass_depths import reach_texts, window_text
from schedlab.site.policy_text import instead
from schedlab.site.site import Site
from schedlab.site.sweep import Paired, Sweep
from schedlab.site.time_limits import SPLIT
from schedlab.site.unusable import TELLING, Unusable, unusable
from schedlab.site.variant_task import under_policy
from schedlab.site.variants import Variant
from schedlab.site.wait_text import wait_text
from schedlab.wording import count_of


@dataclass(frozen=True, slots=True)
class EffectBounds:
    """What bounds the effect of a variant.

    Parameters
    ----------
    reach
        How often the numbers of jobs are reached that it changes, in words.
    window
        That it lets backfilling plan less far ahead than jobs may run, in words; empty: it does not.
    unusable
        The waiting of jobs that cannot use the nodes that it adds; None: it adds none.
    instead
        What no longer counts under its policy, in words; empty: it has none, or all of the site's scheduler counts.
    pieces
        How long jobs that run in pieces wait, and how long the others, in words; empty: none does.
    lost
        Which options no longer hold, as it gives a whole list anew, in words; empty: it gives none.
    """

    reach: tuple[str, ...] = ()
    window: str = ""
    unusable: Unusable | None = None
    instead: str = ""
    pieces: str = ""
    lost: str = ""

    @property
    def no_use(self) -> tuple[str, ...]:
        """Which part of the waiting the new nodes cannot shorten, if that is much, in a few words."""
        if self.unusable is None or self.unusable.share < TELLING:
            return ()
        return (f"{self.unusable.share:.0%} of all waiting is that of jobs that cannot run on its new nodes",)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What makes it dangerous, or of little use, in words."""
        use = self.unusable.text("the new nodes") if self.unusable is not None and self.no_use else ""
        return tuple(filter(None, (self.pieces, self.instead, self.lost, self.window, use)))


def effect_bounds(sweep: Sweep, variant: Variant, pairs: Sequence[Paired]) -> EffectBounds:
    """Return what bounds the effect of a variant.

    Parameters
    ----------
    sweep, variant
        Where it was run, and which.
    pairs
        The site as it is and the variant, on each copy of each sample.
    """
    site = sweep.site
    other = changed(site, variant.changes) if variant.changes else site
    beside = instead(other.scheduler, under_policy(other, variant)) if variant.policy else ""
    if not variant.changes:
        return EffectBounds(instead=beside)
    pieces = _of_pieces(pairs)
    schedules = [base.schedule for base, _ in pairs]
    passes = (site.scheduler.backfill, other.scheduler.backfill)
    use = None
    if sweep.nodes and (new := set(other.cluster.nodes).difference(site.cluster.nodes)):
        use = unusable(schedules, other.cluster, other.scheduler.placement, new)
    longer = longer_limit_text(site.cluster, other.cluster, schedules[0].workload)
    reach = (*reach_texts(*passes, schedules), *([longer] if longer else []))
    window, lost = window_text(*passes, schedules[0].workload), "; ".join(_lists_given_anew(variant, site))
    return EffectBounds(reach, window, use, beside, pieces, lost)


def _lists_given_anew(variant: Variant, site: Site) -> Iterator[str]:
    """Say which options no longer hold where a whole list is given anew, which is seldom meant."""
    for text in variant.changes:
        change = parse_change(text)
        if gone := options_lost(change, site):
            hold = "holds" if len(gone) == 1 else "hold"
            yield f"{listed(gone)} no longer {hold}: {change.key}= is all of it ({change.key}.OPTION= is not)"


def _of_pieces(pairs: Sequence[Paired]) -> str:
    """Say how long jobs wait that run in pieces, for all of these, and how long the others do, as means over pairs."""
    means = []
    for base, other in pairs:
        split = other.fate[other.rows] == SPLIT
        if not split.any() or split.all():
            return ""
        waits = (base.schedule.wait_time, other.schedule.wait_time)
        means.append([float(wait[rows].mean()) for rows in (split, ~split) for wait in waits])
    if not means:
        return ""
    before, after, others_before, others_after = np.mean(means, axis=0).tolist()
    jobs = count_of(int((pairs[0].other.fate == SPLIT).sum()), "job")
    return (
        f"the {jobs} in pieces wait {wait_text(after)} for all of these, {wait_text(before)} as it is; all others "
        f"{wait_text(others_after)}, {wait_text(others_before)} as it is"
    )
