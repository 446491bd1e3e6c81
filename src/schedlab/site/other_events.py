"""A site whose nodes have other events than they had: failures, maintenance or reservations that variants ask about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from schedlab.cluster.node_events import NodeEvents
from schedlab.cluster.preemption import REQUEUE_DELAY
from schedlab.errors import InputError, located
from schedlab.site.changes import changed
from schedlab.site.site import Site
from schedlab.site.variants import Variant
from schedlab.wording import count_of
from schedlab.workload.workload import Workload


def with_events(site: Site, variant: Variant) -> Site:
    """Return a site, changed as a variant says, with the node events of that variant.

    What becomes of jobs on nodes that go down is what the site's JobRequeue says.

    Raises
    ------
    InputError
        If an event names a node that the site does not have, or a reservation overlaps one of the site's own.
    """
    own = site.node_events
    if variant.node_events is None:
        return site if variant.own_events or own is None else replace(site, node_events=None)
    with located("the other node events"):
        variant.node_events.numbers(site.cluster.nodes)
        kept = own.events if own is not None and variant.own_events else ()
        interrupted = own.interrupted if own is not None else "lost" if _never_requeues(site) else "requeue"
        found = NodeEvents((*kept, *variant.node_events), interrupted, REQUEUE_DELAY)
    return replace(site, node_events=found)


def _never_requeues(site: Site) -> bool:
    return any(line.value == "0" for line in site.ledger.find("JobRequeue"))


def check_events(site: Site, variants: Iterable[Variant], *, nodes: bool) -> None:
    """Refuse node events that cannot happen at a site, before anything is simulated.

    Raises
    ------
    InputError
        As for `with_events`; and if there are no nodes, no events, or none of the site's own that could be left out.
    """
    asked = dict.fromkeys(
        replace(one, name=one.text, policy="", load=1.0)
        for one in variants
        if one.node_events is not None or not one.own_events
    )
    if asked and not nodes:
        raise InputError("node events happen to nodes: ask without --processors-only (nodes=True)")
    sites = {changes: changed(site, changes) if changes else site for changes in {one.changes for one in asked}}
    for one in asked:
        if one.node_events is not None and not len(one.node_events):
            raise InputError("the other node events are none: give one at least")
        if site.node_events is None and not one.own_events:
            raise InputError(f"site {site.name} has no node events of its own that could be left out")
        with_events(sites[one.changes], one)


def under_events(variants: Sequence[Variant], events: NodeEvents | None, *, own: bool = True) -> list[Variant]:
    """Return variants with other node events; without variants, the site as it is with them.

    Examples
    --------
    >>> from schedlab.cluster.node_events import NodeEvent
    >>> events = NodeEvents((NodeEvent(100, "drain", ("n1",)),))
    >>> [one.name for one in under_events([Variant("quick")], events)], under_events([], events)[0].name
    (['quick, drain of n1 from second 100'], 'drain of n1 from second 100')
    """
    if events is None and own:
        return list(variants)
    alone = Variant("asked", node_events=events, own_events=own)
    if not variants:
        return [replace(alone, name=alone.text)]
    return [replace(one, name=f"{one.name}, {alone.text}", node_events=events, own_events=own) for one in variants]


def outside(variant: Variant, jobs: Workload) -> list[str]:
    """Return how many events of a variant lie before the first or after the last submission, as sentences."""
    if variant.node_events is None:
        return []
    first, last = int(jobs.submit_time.min()), int(jobs.submit_time.max())
    early = sum((one.second if one.end is None else one.end) <= first for one in variant.node_events)
    late = sum(one.second > last for one in variant.node_events)
    total = count_of(len(variant.node_events), "node event")
    return [
        f"{number:,} of {total} {'lies' if number == 1 else 'lie'} {where} submission (second {second:,} of the jobs)"
        for number, where, second in ((early, "before the first", first), (late, "after the last", last))
        if number
    ]
