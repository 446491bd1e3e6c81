"""What would change at a site: its jobs under a changed configuration or another policy, beside its own."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from tempfile import mkdtemp
from typing import Any

from schedlab.arguments import explained
from schedlab.cluster.node_events import NodeEvents
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.slurm_rules import check_version
from schedlab.site.answers import check_metric, usual_metric
from schedlab.site.copies import in_copies
from schedlab.site.other_events import under_events
from schedlab.site.ranking import VariantRanking, rank_variants
from schedlab.site.samples import THE_LOG, SiteSample
from schedlab.site.site import Site
from schedlab.site.sweep import Sweep
from schedlab.site.time_limits import Long, Requests
from schedlab.site.variants import AS_IT_IS, Variant


@dataclass(frozen=True, slots=True)
class WhatIf:
    """An answer: it says first how good the twin is, what would change, how sure that is, who pays, what is left out.

    Parameters
    ----------
    sweep
        Where the simulations are.
    ranking
        The variants, the best first.
    """

    sweep: Sweep
    ranking: VariantRanking

    @property
    def schedules(self) -> dict[str, Schedule]:
        """On the first sample: of the site as it is, and of each variant by its name."""
        sample = self.ranking.samples[0]
        answers = [self.sweep.answer(one, sample) for one in (Variant(AS_IT_IS), *self.ranking.variants)]
        return {one.variant.name: one.schedule for one in answers if one is not None}

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences."""
        return self.ranking.sentences()

    def to_document(self) -> dict[str, Any]:
        """Return the answer as numbers and texts, for JSON."""
        return self.ranking.to_document()

    def __str__(self) -> str:
        return str(self.ranking)


def asked(changes: Sequence[str], policies: Sequence[str], **shortened: Any) -> list[Variant]:
    """Return the variants that changes, all together, and policies with them make; `shortened` as for `Variant.of`.

    Examples
    --------
    >>> [one.name for one in asked(["SchedulerParameters.bf_interval=30"], ["saf"])]
    ['bf_interval=30', 'bf_interval=30, policy=saf']
    """
    found = [Variant.of(changes, **shortened)] if changes else []
    return [*found, *(Variant.of(changes, text, **shortened) for text in policies)]


def under_checkpoints(variants: Sequence[Variant], rules: str) -> list[Variant]:
    """Return variants whose jobs write checkpoints; without variants, the site as it is with them.

    Examples
    --------
    >>> [one.name for one in under_checkpoints([], "every(1h,cost=2m)")]
    ['checkpoints=every(1h,cost=2m)']
    """
    if not rules:
        return list(variants)
    name = f"checkpoints={rules}"
    if not variants:
        return [Variant(name, checkpoints=rules)]
    return [replace(one, name=f"{one.name}, {name}", checkpoints=rules) for one in variants]


@explained
def what_if(
    site: Site | str | PathLike[str],
    changes: Sequence[str] = (),
    policies: Sequence[str] = (),
    *,
    variants: Sequence[Variant] = (),
    samples: Sequence[SiteSample] = (THE_LOG,),
    copies: int | None = None,
    metric: str = "",
    nodes: bool = True,
    requests: Requests = "cut",
    long: Long = "killed",
    node_events: NodeEvents | None = None,
    own_events: bool = True,
    anyway: bool = False,
    slurm: str = "",
    power: str | PathLike[str] | None = None,
    checkpoints: str = "",
    workers: int | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> WhatIf:
    """Replay the jobs of a site under a changed configuration and other policies, and compare with the site as it is.

    Parameters
    ----------
    site
        The directory of a site with jobs, which keeps the simulations; or such a site, with no calibration known.
    changes
        What to change, all together; see `schedlab.site.changes.parse_change`.
    policies
        Policies in place of the site's priorities, or whole schedulers; one more variant for each, with the changes.
    variants
        Further variants.
    samples
        The jobs that they are replayed on.
    copies
        Copies of each sample whose jobs come some seconds earlier or later, on which both sides are simulated; None: as
        many as `schedlab.site.copies.usual_copies` says.
    metric
        The ranking metric; empty: the mean wait, and with a power model the energy.
    nodes
        Whether jobs get nodes; otherwise the cluster is a number of processors.
    requests, long
        Of the changes and policies: what becomes of requests above limits on time that they shorten, and of jobs that
        run longer; see `Variant`.
    node_events
        Further events of nodes, in all variants, in the seconds of the jobs; without variants, it is the only
        change.
    own_events
        Whether the site's own node events happen in the variants, too.
    anyway
        Whether a twin answers that its last calibration found not good enough.
    slurm
        The version of Slurm whose rules both sides follow, such as "26.05"; empty: that of the site.
    power
        The file of a power model, see `schedlab.energy.read_power`: the answer then begins with energy.
    checkpoints
        Rules by which jobs write checkpoints in all variants, see `schedlab.workload.with_checkpoints`; without
        variants, it is the only change.
    workers, progress
        As for `Sweep.run`.

    Raises
    ------
    InputError
        If there is nothing to change, a change cannot be made, or the twin is not good enough; or there is no copy, or
        no such metric.
    """
    metric = metric or usual_metric(power)
    check_metric(metric, power)
    found = under_checkpoints([*asked(changes, policies, requests=requests, long=long), *variants], checkpoints)
    wanted = under_events(found, node_events, own=own_events)
    if not wanted:
        raise InputError("nothing to compare: give changes (PARAMETER=VALUE), policies, variants or node events")
    directory = site.save(mkdtemp(prefix="schedlab-")) if isinstance(site, Site) else site
    rules = check_version(slurm, "slurm=") if slurm else ""
    sweep = Sweep(directory, nodes=nodes, anyway=anyway, slurm=rules, power=power)
    if isinstance(site, Site):
        weakref.finalize(sweep, shutil.rmtree, directory, ignore_errors=True)
    simulated = in_copies(sweep, samples, copies, len(wanted))
    sweep.run(wanted, simulated, workers=workers, progress=progress)
    return WhatIf(sweep, rank_variants(sweep, wanted, simulated, metric))
