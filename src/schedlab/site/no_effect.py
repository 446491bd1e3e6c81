"""Which changes of a site change nothing in its twin, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedlab.errors import InputError
from schedlab.site.changes import Change, changed, parse_change
from schedlab.site.more_nodes import expanded
from schedlab.site.other_events import with_events
from schedlab.site.parameters import LISTS
from schedlab.site.site import Site
from schedlab.site.variants import Variant

NOTHING, NOT_SEEN = " changes nothing in the twin: ", ": what its change would do cannot be told"
"""How the sentences about changes without effect go on or end: nothing depends on them, or no twin can show it."""

OF_CLUSTERS = frozenset({"maxtime", "maxnodes", "minnodes", "nodes", "prioritytier"})
"""Options of partitions that a simulated cluster has."""


def why_unchanged(changes: Sequence[str], notes: Sequence[str]) -> tuple[str, bool]:
    """Return why changes change nothing, from the sentences of `without_effect`, and whether they are not simulated.

    There is no reason if one of them could have an effect.

    Examples
    --------
    >>> why_unchanged(["OverTimeLimit=0"], ["OverTimeLimit=0 changes nothing in the twin: the site has it already"])
    ('the site has it already', False)
    >>> why_unchanged(["KillWait=60"], [f"KillWait is not simulated (in the run times){NOT_SEEN}"])
    ('KillWait is not simulated (in the run times)', True)
    """
    unseen = {note.partition(" ")[0]: note.removesuffix(NOT_SEEN) for note in notes if note.endswith(NOT_SEEN)}
    idle = {what: reason for what, nothing, reason in (note.partition(NOTHING) for note in notes) if nothing}
    parsed = [parse_change(text) for text in changes]
    if not parsed or not all(one.text in idle or unseen.keys() >= set(one.names) for one in parsed):
        return "", False
    return ("; ".join(unseen.values()), True) if unseen else ("; ".join(dict.fromkeys(idle.values())), False)


def without_effect(site: Site, other: Site, changes: Sequence[str]) -> Iterator[str]:
    """Say which changes are without effect in the twin, and which had another one than they seem to have.

    Parameters
    ----------
    site, other
        As it is, and as changed.
    changes
        What was changed, all together.

    Yields
    ------
    str
        A sentence for each.
    """
    found = expanded(site, changes)
    idle = _same(site, other)
    for change in found:
        if (gone := options_lost(change, site)) and not idle:
            yield f"{change.text} replaces all of {change.key}: {', '.join(gone)} no longer holds; " + _keeping(change)
        ignored = list(_ignored(change, site, other))
        yield from ignored
        if not ignored and (idle or (len(found) > 1 and _is_idle(site, other, found, change))):
            yield f"{change.text}{NOTHING}{_why(change, site, other)}"
        if change.key.lower() == "partitionname" and not idle and _is_new(change, site):
            yield f"partition {change.value} is new: no recorded job asks for it"


def changes_nothing(site: Site, variant: Variant) -> bool:
    """Return whether what a variant simulates is what the site as it is does, so that nothing has to be simulated.

    One that cannot be made does not: who simulates it tells why.
    """
    if variant.policy or variant.slurm or variant.load != 1 or variant.checkpoints or variant.cap:
        return False
    try:
        other = with_events(changed(site, variant.changes, nodes_off=variant.nodes_off), variant)
    except InputError:
        return False
    return (site.cluster, site.scheduler, site.node_events) == (other.cluster, other.scheduler, other.node_events)


def _same(one: Site, two: Site) -> bool:
    """Return whether two sites are simulated alike; their jobs are the same ones, completed by the machine."""
    return (
        one.machine == two.machine
        and one.settings.scheduler == two.settings.scheduler
        and one.settings.limits == two.settings.limits
        and one.node_events == two.node_events
    )


def _is_idle(site: Site, other: Site, changes: Sequence[Change], change: Change) -> bool:
    """Return whether all comes out as it does without one of several changes."""
    rest = [one for one in changes if one is not change]
    try:
        return _same(changed(site, rest), other)
    except InputError:
        return False  # the others need it


def _ignored(change: Change, site: Site, other: Site) -> Iterator[str]:
    """Say of each option that is set, or taken out, that it is not simulated, if it is not."""
    for name in change.names:
        lines = [line for line in other.ledger.find(name) or site.ledger.find(name) if not line.idle]
        if lines and all(line.status in ("ignored", "unknown") for line in lines):
            yield f"{name} is not simulated ({lines[-1].reason}){NOT_SEEN}"


def _why(change: Change, site: Site, other: Site) -> str:
    if change.key.lower() in ("qos", "account", "user") and not other.settings.limits:
        return "the site does not enforce limits of accounts and QOS (AccountingStorageEnforce)"
    lines = [line for name in change.names for line in other.ledger.find(name)]
    if lines and all(line.idle for line in lines):
        return lines[-1].reason.replace("has no effect", "it has no effect", 1)
    given = {(change.option or change.key).lower(): change.value.strip()}
    given |= {name.lower(): value for name, value in change.options}
    now = {line.name.lower(): line.value.lower() for name in given for line in site.ledger.find(name)}
    if not change.options and all(now.get(name) == value.lower() for name, value in given.items()):
        return "the site has it already"
    if change.key.lower() == "partitionname" and all(name.lower() in OF_CLUSTERS for name, _ in change.options):
        return "the site has it already"  # with another value, it would be another cluster
    return "the site is the same with it, because it has it already or nothing depends on it"


def options_lost(change: Change, site: Site) -> list[str]:
    """Return the options of a list that a change takes out by giving the whole list anew."""
    if change.option or not change.value or change.key.lower() not in map(str.lower, LISTS):
        return []
    kept = {word.partition("=")[0].strip().lower() for word in change.value.split(",")}
    there = (
        line.name for line in site.ledger.lines if line.place.lower() == change.key.lower() and "/" not in line.name
    )
    return [name for name in dict.fromkeys(there) if name.lower() not in kept]


def _keeping(change: Change) -> str:
    words = " and ".join(f"{change.key}.{word.strip()}" for word in change.value.split(",") if word.strip())
    return f"write {words} to keep the others"


def _is_new(change: Change, site: Site) -> bool:
    names = (line.value.lower() for line in site.ledger.find("PartitionName"))
    return change.value.lower() not in names and change.value.upper() != "DEFAULT"
