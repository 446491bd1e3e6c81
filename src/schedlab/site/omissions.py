"""What an answer about a site leaves out: what is approximated or ignored, what no record tells, and which jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from schedlab.site.ledger import Ledger
from schedlab.site.site import Site
from schedlab.wording import count_of


@dataclass(frozen=True, slots=True)
class Omissions:
    """What an answer leaves out, in sentences.

    Parameters
    ----------
    approximated
        Options of the site that decide about scheduling and are simulated nearly as Slurm does it.
    ignored
        Such options that are not simulated.
    unrecorded
        What no record tells about the past of the site.
    left_out
        Jobs that are not in the answer, and changes that have no effect.
    versions
        Of an upgrade of Slurm, how the versions are known to differ without its being simulated.
    """

    approximated: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()

    def parts(self) -> Mapping[str, tuple[str, ...]]:
        """Return the sentences by heading, without empty parts."""
        found = {
            "Jobs and changes left out": self.left_out,
            "Differences between the versions that are not simulated": self.versions,
            "Options that are not simulated": self.ignored,
            "Options that are approximated": self.approximated,
            "Not in the records": self.unrecorded,
        }
        return {heading: told for heading, told in found.items() if told}

    def to_document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        parts = ("\n  ".join([f"{heading}:", *told]) for heading, told in self.parts().items())
        return "\n".join(parts)


def omissions_of(site: Site, left_out: Sequence[str], *, nodes: bool) -> Omissions:
    """Return what answers about a site leave out.

    Parameters
    ----------
    site
        Its ledger says what is not simulated as Slurm does it.
    left_out
        Jobs and changes that are left out, in sentences.
    nodes
        Whether jobs get nodes.
    """
    ignored = [*_deciding(site.ledger, "unknown"), *_deciding(site.ledger, "ignored")]
    if not nodes:
        ignored.insert(0, "Nodes, memory, GPUs and partitions: the cluster is a number of processors.")
    approximated = tuple(_deciding(site.ledger, "approximated"))
    return Omissions(approximated, tuple(ignored), tuple(unrecorded(site, nodes=nodes)), tuple(left_out))


def _deciding(ledger: Ledger, status: str) -> Iterator[str]:
    """Yield the options of a status that decide about scheduling, each with its first line and the reason."""
    lines = {(line.name, line.reason): line for line in reversed(ledger.deciding().of(status))}
    for (name, reason), line in reversed(lines.items()):
        yield f"{name} ({line.where}): {reason}"


def unrecorded(site: Site, *, nodes: bool) -> Iterator[str]:
    """Say what of the past the replay does not have, as the records do not have it."""
    if site.inferred:
        yield (
            "Nodes, partitions and limits are inferred from what jobs held, not configured, and the site's priorities "
            "are unknown: where the replay differs from the record, the machine or the order of the queue may be wrong."
        )
    events = site.node_events
    if events is None:
        yield (
            "Reservations, holds, nodes that were down and jobs that waited for others are not in the records: the "
            "replay has none of them. (site import reads what Slurm recorded of nodes, --node-events, or guesses from "
            "jobs when nodes were down, --infer-downtimes.)"
        )
    elif nodes:
        kinds = Counter(one.event for one in events if one.event != "up")
        told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        yield f"The replay has what was told of the nodes ({told}), but no holds and no jobs that waited for others."
    else:
        yield "What happened to the nodes was not simulated either."
    asked = None if site.jobs is None or site.jobs.resources is None else site.jobs.resources.reservation
    if asked is not None and (events is None or not events.reservations):
        counts = asked.counts()
        if counts:
            names = ", ".join(list(counts)[:5]) + (" and others" if len(counts) > 5 else "")
            yield (
                f"{count_of(sum(counts.values()), 'job')} ran in reservations ({names}) of which no node event tells: "
                "the replay has them among all others, on any nodes."
            )
