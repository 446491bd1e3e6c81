"""What a policy of a variant stands for at a site: whether its own priorities, and its passes, still count."""

from __future__ import annotations

from typing import Final

from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.coverage import listed
from schedlab.site.variants import POLICY, Variant

WEIGHTS: Final = {
    "age": "age",
    "fairshare": "fair share",
    "qos": "QOS",
    "partition": "partition",
    "size": "size",
    "tres": "TRES",
}
"""What Slurm's weights are of, by the argument of multifactor that each is here."""


EAF_GAINS = (
    "On four logs that had no part in its making, eaf had 0.98 of the mean bounded slowdown of saf and 1.08 of its "
    "mean wait; it gains nothing where few jobs repeat, users are not known, or wide jobs have long requests"
)
"""What is known of expected area first elsewhere, as the page on going beyond SAF has it."""


def weighted(policy: Policy) -> str:
    """Return what the priorities of a site are made of, in words.

    Examples
    --------
    >>> weighted(Scheduler.parse("multifactor(age=1000,fairshare=2000)").policy)
    'age and fair share'
    """
    return listed([words for name, words in WEIGHTS.items() if getattr(policy, name, None)], len(WEIGHTS))


def beside_or_instead(variant: Variant, own: Scheduler, under: Scheduler, *, as_factor: bool) -> str:
    """Say whether a policy counts beside the priorities and passes of a site, or instead of them; empty: of neither.

    Parameters
    ----------
    variant
        With a policy.
    own, under
        The site's scheduler, and that of the variant.
    as_factor
        Whether the policy can be one factor of the site's priorities.
    """
    eaf = variant.policy.strip().lower() == "eaf"
    name = f"{POLICY}={variant.policy}{' (expected area first)' if eaf else ''}"
    known = f". {EAF_GAINS}" if eaf else ""
    if isinstance(under.policy, Multifactor) and under.policy.site:
        return (
            f"{name} counts as one factor of {under.policy.site:,.0f} points beside the site's own priorities "
            f"({weighted(own.policy)}), as schedlab deploy installs it by default. In their place, it is asked for "
            "with --policy-points 0"
        )
    lost = instead(own, under)
    if not lost:
        return ""
    whole = own.backfill != under.backfill
    taken = f"takes the place of the site's own priorities: {lost} under it"
    told = f"{name} replaces the site's passes, too: {lost}" if whole else f"{name} {taken}"
    if whole or as_factor:
        return f"{told}{known}"
    return (
        f"{told}. schedlab deploy installs something else by default: one factor beside them. That is not simulated, "
        "as its scores change while jobs wait or depend on runs that have ended: waits would be others than "
        f"these{known}"
    )


def instead(own: Scheduler, under: Scheduler) -> str:
    """Say what of a site's scheduler no longer counts under a policy; empty: all of it does.

    Examples
    --------
    >>> site = Scheduler.parse("multifactor(age=1000)+slurm(interval=60)")
    >>> instead(site, Scheduler.parse("saf+slurm(interval=60)"))
    'age no longer counts'
    >>> instead(site, Scheduler.parse("saf+easy"))
    "under this scheduler, which Slurm does not have, Slurm's passes with all bf_ parameters, and age no longer count"
    """
    if isinstance(under.policy, Multifactor):
        return ""
    weights = weighted(own.policy) if isinstance(own.policy, Multifactor) else ""
    if isinstance(own.backfill, Slurm) and not isinstance(under.backfill, Slurm):
        lost = f"Slurm's passes with all bf_ parameters{f', and {weights}' if weights else ''}"
        return f"under this scheduler, which Slurm does not have, {lost} no longer count"
    if own.backfill != under.backfill:
        lost = f"the site's parameters of passes{f', and {weights}' if weights else ''}"
        return f"under this scheduler, {lost} no longer count"
    return f"{weights} no longer {'count' if ' and ' in weights else 'counts'}" if weights else ""
