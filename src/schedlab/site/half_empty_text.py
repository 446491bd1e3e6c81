"""Half-empty nodes in words: who waits before them, who holds them, and which change to ask what-if for."""

from __future__ import annotations

from collections.abc import Iterator

from schedlab.cluster.cluster import Cluster
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.half_empty import HalfEmpty, Holder
from schedlab.wording import count_of

MATTERS = 0.1
"""The share of all waiting before half-empty nodes from which on an answer says what may help."""

NEARLY = 0.95
"""The share of the waiting before half-empty nodes that is nearly all of it."""

MOST = 0.5
"""The share of the nodes in use in part for which something is said of them."""

_PACK_SERIAL = "SchedulerParameters.pack_serial_at_end=yes"


def change_to_try(found: HalfEmpty, cluster: Cluster, scheduler: Scheduler) -> str:
    """Return a change of the configuration that may leave more nodes empty, as `site what-if --set` takes it; "": none.

    Where nodes are little used, jobs can be packed: onto nodes that are in use rather than the least loaded ones or,
    those of one core, at one end. Where they are not, only who holds them can hold less of them.
    """
    if found.mergeable >= MOST:
        spread = next((one.name for one in cluster.partitions if one.least_loaded), None)
        if spread is not None:
            return f"PartitionName={spread} LLN=NO"
        unpacked = getattr(scheduler.backfill, "serial", "") == "rule"
        return _PACK_SERIAL if found.serial >= MOST and unpacked else ""
    holder, known = found.holder, cluster.accounting.qos if cluster.accounting is not None else ()
    if holder.share < MOST or not any(one.name == holder.qos for one in known):
        return ""
    return f"QOS={holder.qos} MaxTRESPerUser=cpu={_rounded(holder.at_once / 2)}"


def _rounded(cores: float) -> int:
    """Return a number of cores with two digits, at least 1."""
    return max(int(float(f"{cores:.2g}")), 1)


def half_empty_sentences(found: HalfEmpty | None, every: float, waiting: float, ask: str) -> Iterator[str]:
    """Yield who waits before half-empty nodes, who holds these, and what may help; nothing if it is little.

    Parameters
    ----------
    found
        The nodes.
    every, waiting
        Seconds that jobs wait before half-empty nodes of any kind until the last submission, and all that they wait.
    ask
        The command that asks for a change, see `change_to_try`; empty: none is known.
    """
    if found is None or every < MATTERS * waiting:
        return
    mine = "nearly all of it" if found.seconds >= NEARLY * every else f"{found.seconds / every:.0%} of it"
    yield (
        f"{every / waiting:.0%} of all waiting passes before half-empty nodes, {mine} that of "
        f"{count_of(found.jobs, 'job')} before {found.kind}. While they wait so, {found.free:.0%} of the cores of "
        "these nodes are free on average, but no node has enough of them for such a job."
    )
    yield _who_holds(found)
    yield _what_may_help(found, ask)


def _who_holds(found: HalfEmpty) -> str:
    partly = f"On average {found.partly:,.0f} of these {count_of(found.nodes, 'node')} are then in use in part"
    if not found.holder.user:
        return f"{partly}."
    whose = f"jobs of {found.holder.user}, each with {_amount(found.holder)} of a node"
    return f"{partly}. On {found.holder.share:.0%} of these run {whose}."


def _amount(holder: Holder) -> str:
    memory = f"{holder.memory / 1024:,.0f} GiB" if holder.memory >= 1024 else f"{holder.memory} MiB"
    return count_of(holder.cores, "core") + (f" and {memory}" if holder.memory else "")


def _what_may_help(found: HalfEmpty, ask: str) -> str:
    told = f" {_ask(found, ask)}" if ask else ""
    if found.mergeable >= MOST:
        return (
            f"What may help: packing. {found.mergeable:.0%} of the nodes in use in part are at most half in use: their "
            f"jobs would do with half as many nodes.{told}"
        )
    memory, why = found.full_of_memory >= MOST, ""
    if memory:
        why = f": on {found.full_of_memory:.0%} of them, few cores hold more than half the memory"
    less = "smaller requests for memory" if memory else "jobs of another size"
    held = f"what {found.holder.user} holds" if found.holder.user else "what is held"
    return (
        f"What may help: {less}, or a limit on {held} at once. Packing jobs closer can hardly empty these "
        f"nodes{why}.{told}"
    )


def _ask(found: HalfEmpty, ask: str) -> str:
    """Say that a change has not been tried, how its number was chosen, and how to ask for it."""
    chosen = ""
    if "MaxTRESPerUser" in ask:
        half, whole = f"{_rounded(found.holder.at_once / 2):,}", f"{found.holder.at_once:,.0f}"
        chosen = f", at {half} cores ({found.holder.user} holds {whole} on average then)"
    return f"That is not tried here. What-if tells whether it helps{chosen}, and who pays: {ask}."
