"""What bounds the effect of a variant of a site, or makes it dangerous, as far as that can be counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.site.changes import changed
from schedlab.site.pass_depths import reach_texts, window_text
from schedlab.site.policy_text import instead
from schedlab.site.sweep import Paired, Sweep
from schedlab.site.unusable import TELLING, Unusable, unusable
from schedlab.site.variant_task import under_policy
from schedlab.site.variants import Variant


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
    """

    reach: tuple[str, ...] = ()
    window: str = ""
    unusable: Unusable | None = None
    instead: str = ""

    @property
    def no_use(self) -> tuple[str, ...]:
        """Which part of the waiting the new nodes cannot shorten, if that is much, in a few words."""
        if self.unusable is None or self.unusable.share < TELLING:
            return ()
        return (f"{self.unusable.share:.0%} of all waiting cannot use these nodes",)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What makes it dangerous, or of little use, in words."""
        use = self.unusable.text("the new nodes") if self.unusable is not None and self.no_use else ""
        return tuple(filter(None, (self.instead, self.window, use)))


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
    lost = instead(other.scheduler, under_policy(other, variant)) if variant.policy else ""
    if not variant.changes:
        return EffectBounds(instead=lost)
    schedules = [base.schedule for base, _ in pairs]
    passes = (site.scheduler.backfill, other.scheduler.backfill)
    use = None
    if sweep.nodes and (new := set(other.cluster.nodes).difference(site.cluster.nodes)):
        use = unusable(schedules[0], other.cluster, other.scheduler.placement, new)
    return EffectBounds(tuple(reach_texts(*passes, schedules)), window_text(*passes, schedules[0].workload), use, lost)
