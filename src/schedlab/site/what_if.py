"""What would change at a site: its jobs under a changed configuration or another policy, beside its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.campaign.results.comparison import Comparison
from schedlab.errors import InputError
from schedlab.site.affected import Affected, affected, sentences
from schedlab.site.site import Site
from schedlab.site.time_limits import Long, Requests
from schedlab.site.variant_task import same_work_task, variant_task
from schedlab.site.variants import AS_IT_IS, Variant


@dataclass(frozen=True, slots=True)
class WhatIf:
    """An answer.

    Parameters
    ----------
    comparison
        The site as it is, the site as changed, and the changed site under each policy.
    notes
        What was left out, in sentences.
    affected
        Whose jobs ask for less there, are killed, run in pieces or cannot run, group by group; the same for all.
    """

    comparison: Comparison
    notes: tuple[str, ...]
    affected: tuple[Affected, ...] = ()

    def __str__(self) -> str:
        return str(self.comparison)


def what_if(
    site: Site,
    changes: Sequence[str] = (),
    policies: Sequence[str] = (),
    *,
    nodes: bool = True,
    requests: Requests = "cut",
    long: Long = "killed",
) -> WhatIf:
    """Replay the jobs of a site under a changed configuration and other policies.

    All are compared on the same jobs and the same work: what is left out or killed as changed is not done at the site
    as it is either.

    Parameters
    ----------
    site
        With jobs.
    changes
        What to change, all together; see `schedlab.site.changes.parse_change`.
    policies
        Policies in place of the site's priorities, or whole schedulers; one more answer for each.
    nodes
        Whether jobs get nodes; otherwise the cluster is a number of processors.
    requests, long
        What becomes of requests above limits on time that are shorter as changed, and of jobs that run longer; see
        `Variant`.

    Raises
    ------
    InputError
        If there is nothing to change, or a change cannot be made.
    """
    if not changes and not policies:
        raise InputError("nothing to compare: give changes (PARAMETER=VALUE) or policies")
    kept = site.replayable()
    asked = [Variant(", ".join(changes), tuple(changes), requests=requests, long=long)] if changes else []
    asked += [Variant(text, tuple(changes), text, requests=requests, long=long) for text in policies]
    tasks = [variant_task(site, kept.jobs, one) for one in asked]
    base = same_work_task(site, kept.jobs, tasks[0].adapted)
    schedules = {AS_IT_IS: base.simulate(nodes=nodes)[0]}
    for variant, task in zip(asked, tasks, strict=True):
        name = task.scheduler.text if variant.policy else variant.name
        schedules[name] = task.simulate(nodes=nodes)[0]
    fate = tasks[0].adapted.fate, tasks[0].adapted.undone
    found = affected([kept.jobs], site.cluster.processors, [fate])
    notes = [*tasks[0].notes, *kept.notes(), *sentences(found)]
    return WhatIf(Comparison(schedules, {name: one.metrics() for name, one in schedules.items()}), tuple(notes), found)
