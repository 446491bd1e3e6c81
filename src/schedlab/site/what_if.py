"""What would change at a site: its jobs under a changed configuration or another policy, beside its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from schedlab.campaign.results.comparison import Comparison
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.scheduler_text import as_policy
from schedlab.site.changes import changed, parse_change
from schedlab.site.jobs import replay, replayable
from schedlab.site.site import Site
from schedlab.site.variants import AS_IT_IS
from schedlab.wording import count_of


@dataclass(frozen=True, slots=True)
class WhatIf:
    """An answer.

    Parameters
    ----------
    comparison
        The site as it is, the site as changed, and the changed site under each policy.
    notes
        What was left out, in sentences.
    """

    comparison: Comparison
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.comparison)


def what_if(site: Site, changes: Sequence[str] = (), policies: Sequence[str] = (), *, nodes: bool = True) -> WhatIf:
    """Replay the jobs of a site under a changed configuration and other policies.

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

    Raises
    ------
    InputError
        If there is nothing to change, or a change cannot be made.
    """
    if not changes and not policies:
        raise InputError("nothing to compare: give changes (PARAMETER=VALUE) or policies")
    other = changed(site, changes) if changes else site
    kept = site.replayable()
    there = replayable(kept.jobs, other.cluster, other.node_events)
    notes = [*without_effect(other, changes), *kept.notes(), *(f"as changed, {note}" for note in there.notes())]
    jobs = there.jobs
    runs: dict[str, tuple[Scheduler, Site]] = {AS_IT_IS: (site.scheduler, site)}
    if changes:
        runs[", ".join(changes)] = other.scheduler, other
    for text in policies:
        scheduler = Scheduler.parse(text)
        if "+" not in text:
            scheduler = replace_policy(other.scheduler, text)
        runs[scheduler.text] = scheduler, other
    schedules = {
        name: replay(jobs, scheduler, one.cluster, nodes=nodes, node_events=one.node_events)
        for name, (scheduler, one) in runs.items()
    }
    if len(jobs) < len(kept.jobs):
        notes.append(f"compared on the {count_of(len(jobs), 'job')} that can run in both")
    return WhatIf(Comparison(schedules, {name: one.metrics() for name, one in schedules.items()}), tuple(notes))


def without_effect(other: Site, changes: Sequence[str]) -> Iterator[str]:
    """Say which changes are of parameters that are not simulated."""
    for text in changes:
        for name in parse_change(text).names:
            lines = other.ledger.find(name)
            if lines and all(line.status in ("ignored", "unknown") for line in lines):
                yield f"{name} is not simulated ({lines[-1].reason}): its change shows no effect"


def replace_policy(scheduler: Scheduler, policy: str) -> Scheduler:
    """Return a scheduler with another order of the queue.

    Examples
    --------
    >>> print(replace_policy(Scheduler.parse("multifactor(age=5)+slurm(interval=60)"), "saf"))
    saf+slurm(interval=60)
    >>> print(replace_policy(Scheduler.parse("fcfs+slurm,placement=switches"), "saf"))
    saf+slurm,placement=switches
    """
    return replace(scheduler, policy=as_policy(policy))
