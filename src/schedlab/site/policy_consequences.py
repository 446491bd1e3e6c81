"""What is known of a policy at a site, for who deploys it: the answer of what-if, if it was asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike

from schedlab.scheduler.multifactor import Multifactor
from schedlab.site.copies import USUAL, copies_of
from schedlab.site.own_priority import own_priority
from schedlab.site.ranking import rank_variants
from schedlab.site.samples import THE_LOG
from schedlab.site.site import Site
from schedlab.site.sweep import Sweep
from schedlab.site.variant_task import is_fixed, is_whole
from schedlab.site.variants import Variant


def consequences(
    directory: str | PathLike[str], policy: str, points: int | None = None, partitions: Sequence[str] | None = None
) -> str:
    """Return what `site what-if --policy` has found of a policy at a site, in Markdown; "" if it was not asked.

    Where something else was simulated than is deployed, that comes first.

    Parameters
    ----------
    directory
        Of the site.
    policy, points
        As of a `Variant`.
    partitions
        Whose jobs the policy orders; None: all.

    Raises
    ------
    InputError
        If the directory is not a site with jobs.
    """
    sweep = Sweep(directory, anyway=True)
    for same in _same_simulation(sweep.site, policy, points):
        variant = Variant.of((), policy, points=same)
        if simulated := [one for one in copies_of([THE_LOG], USUAL) if sweep.pair(variant, one) is not None]:
            told = rank_variants(sweep, [variant], simulated).sentences()
            first = _first(sweep.site, policy, points, list(_differences(sweep.site, policy, points, partitions)))
            return "\n".join([first, "", *(f"- {sentence}" for sentence in told)])
    return ""


def _is_factor(site: Site, policy: str, points: int | None) -> bool:
    """Return whether what-if simulates a policy as one factor of a site's own priorities."""
    own = isinstance(site.scheduler.policy, Multifactor)
    return points != 0 and own and is_fixed(policy) and not is_whole(policy)


def _same_simulation(site: Site, policy: str, points: int | None) -> list[int | None]:
    """Return the points of a `Variant` under which the simulation is that of a deployment, or the nearest to it."""
    if _is_factor(site, policy, points):
        usual = own_priority(site).suggested_weight
        return [None, usual] if points in (None, usual) else [points]
    return [0] if _is_factor(site, policy, None) else [None, 0]


def _differences(site: Site, policy: str, points: int | None, partitions: Sequence[str] | None) -> Iterator[str]:
    """Say what is deployed and not simulated."""
    beside = points != 0 and isinstance(site.scheduler.policy, Multifactor)
    if beside and not _is_factor(site, policy, points):
        moves = "its scores change while jobs wait, or depend on runs that have ended"
        why = "it is a whole scheduler" if is_whole(policy) else moves
        yield f"these files make {policy} one factor beside Slurm's own priorities, which is not simulated, as {why}"
    if is_whole(policy):
        yield f"these files deploy the order of {policy}, and not its backfilling"
    if partitions is not None:
        yield f"these files order jobs of partition {' and '.join(partitions)} only"


def _first(site: Site, policy: str, points: int | None, differences: Sequence[str]) -> str:
    if not differences:
        return "What `schedlab site what-if` has found of the policy, deployed in this way:"
    how = "as one factor of" if _is_factor(site, policy, points) else "in place of"
    return (
        f"**Of this way, nothing has been simulated**: {'; '.join(differences)}. `schedlab site what-if` has simulated "
        f"{policy} {how} Slurm's own priorities, for all jobs, which is no forecast of this deployment:"
    )
