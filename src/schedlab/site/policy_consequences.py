"""What is known of a policy at a site, for who deploys it: the answer of what-if, if it was asked."""

from __future__ import annotations

from os import PathLike

from schedlab.site.copies import USUAL, copies_of
from schedlab.site.ranking import rank_variants
from schedlab.site.samples import THE_LOG
from schedlab.site.sweep import Sweep
from schedlab.site.variants import Variant


def consequences(directory: str | PathLike[str], policy: str, points: int | None = None) -> str:
    """Return what `site what-if --policy` has found of a policy at a site, in Markdown; "" if it was not asked.

    Parameters
    ----------
    directory
        Of the site.
    policy, points
        As of a `Variant`.

    Raises
    ------
    InputError
        If the directory is not a site with jobs.
    """
    sweep, variant = Sweep(directory, anyway=True), Variant.of((), policy, points=points)
    simulated = [one for one in copies_of([THE_LOG], USUAL) if sweep.pair(variant, one) is not None]
    if not simulated:
        return ""
    told = rank_variants(sweep, [variant], simulated).sentences()
    first = "What `schedlab site what-if` has found of the policy, deployed in this way:"
    return "\n".join([first, "", *(f"- {sentence}" for sentence in told)])
