"""Half-empty nodes in words: who waits before them, who holds them, and which change to ask what-if for."""

from __future__ import annotations

from collections.abc import Iterator

from schedlab.cluster.cluster import Cluster
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.half_empty import HalfEmpty, Holder
from schedlab.wording import count_of

MATTERS = 0.1
"""The share of all waiting before half-empty nodes from which on an answer says what may help."""

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


def half_empty_sentences(found: HalfEmpty | None, waiting: float, change: str) -> Iterator[str]:
    """Yield who waits before half-empty nodes, who holds these, and what may help; nothing if it is little.

    Parameters
    ----------
    found
        The nodes.
    waiting
        All seconds that jobs wait.
    change
        See `change_to_try`.
    """
    if found is None or found.seconds < MATTERS * waiting:
        return
    whose = f"{found.seconds / waiting:.0%} of all waiting is that of {count_of(found.jobs, 'job')}"
    yield (
        f"{whose} before half-empty nodes: on average {found.free:.0%} of the cores of {found.kind} are free then, but "
        "no node has enough of them for such a job."
    )
    yield _who_holds(found)
    yield _what_may_help(found, change)


def _who_holds(found: HalfEmpty) -> str:
    partly = f"On average {found.partly:,.0f} of these {count_of(found.nodes, 'node')} are then in use in part"
    if not found.holder.user:
        return f"{partly}."
    whose = f"jobs of {found.holder.user}, each with {_amount(found.holder)} of a node"
    return f"{partly}; on {found.holder.share:.0%} of these run {whose}."


def _amount(holder: Holder) -> str:
    memory = f"{holder.memory / 1024:,.0f} GiB" if holder.memory >= 1024 else f"{holder.memory} MiB"
    return count_of(holder.cores, "core") + (f" and {memory}" if holder.memory else "")


def _what_may_help(found: HalfEmpty, change: str) -> str:
    ask = f' Ask: schedlab site what-if SITE --set "{change}".' if change else ""
    if found.mergeable >= MOST:
        return (
            f"What may help: packing. {found.mergeable:.0%} of the nodes in use in part are no more than half in use, "
            f"so that their jobs would do with half as many nodes.{ask}"
        )
    why = ""
    if found.full_of_memory >= MOST:
        why = f", as on {found.full_of_memory:.0%} of these nodes few cores hold more than half the memory"
    less = "smaller requests for memory" if why else "jobs of another size"
    return (
        f"What may help: {less}, or a limit on what is held at once, for which its users pay. Packing jobs closer can "
        f"hardly empty these nodes{why}.{ask}"
    )
