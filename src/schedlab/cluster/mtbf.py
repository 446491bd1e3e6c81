"""The mean time between failures, estimated from what happened to nodes, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedlab.arguments import explained
from schedlab.durations import duration_text
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.cluster.cluster import Cluster
    from schedlab.cluster.node_events import NodeEvents


@dataclass(frozen=True, slots=True)
class Mtbf:
    """An estimate of the mean time between the failures of a node.

    Parameters
    ----------
    failures
        How often a node went down.
    in_service
        Seconds in which nodes were up, of all nodes together.
    seconds, low, high
        The estimate, and the ends of its 95 % interval.
    """

    failures: int
    in_service: float
    seconds: float
    low: float
    high: float

    def __str__(self) -> str:
        mean, low, high = (duration_text(60 * max(1, round(one / 60))) for one in (self.seconds, self.low, self.high))
        return (
            f"{count_of(self.failures, 'failure')} in {self.in_service / 86_400:,.0f} node days in service: an MTBF of "
            f"{mean} per node (95 % interval {low} to {high}, if nodes fail at random)"
        )


@explained
def mtbf_of(events: NodeEvents, cluster: Cluster, *, begin: int = 0, until: int | None = None) -> Mtbf:
    """Estimate the mean time between the failures of a node from a log of node events.

    It is the time in service over the number of failures, as for an exponential distribution; the interval is that of
    Epstein and Sobel, from chi-square quantiles. Nodes that are drained are in service until they go down.

    Parameters
    ----------
    events
        What happened to the nodes.
    cluster
        All nodes, those that never failed included.
    begin, until
        The seconds between which it was recorded; by default from 0 to the last event.

    Raises
    ------
    InputError
        If no node failed in between.

    References
    ----------
    Epstein and Sobel, "Life testing", JASA 48(263), 1953.

    Examples
    --------
    Two nodes, of which one is down from second 100 to second 150: one failure in 350 node seconds.

    >>> import schedlab as sl
    >>> event, group = sl.cluster.NodeEvent, sl.cluster.NodeGroup.of("n[1-2]", cores=1)
    >>> events = sl.cluster.NodeEvents((event(100, "down", ("n1",)), event(150, "up", ("n1",))))
    >>> found = mtbf_of(events, sl.Cluster.of_nodes([group]), until=200)
    >>> found.failures, found.seconds, round(found.low), round(found.high)
    (1, 350.0, 63, 13824)
    """
    last = max((event.second for event in events), default=begin) if until is None else until
    if last <= begin:
        raise InputError(f"from second {begin} to second {last} there is no time in which nodes could fail")
    events.numbers(cluster.nodes)
    since: dict[str, int] = {}
    failures, out = 0, 0
    for event in events:
        for name in event.nodes if event.event in ("down", "up") else ():
            second = min(max(event.second, begin), last)
            if event.event == "down" and name not in since:
                since[name] = second
                failures += begin <= event.second < last
            elif event.event == "up" and name in since:
                out += second - since.pop(name)
    out += sum(last - second for second in since.values())
    if not failures:
        raise InputError(f"no node went down from second {begin} to second {last}: nothing says how often nodes fail")
    from scipy.stats import chi2

    served = float(len(cluster.nodes) * (last - begin) - out)
    low = 2 * served / float(chi2.ppf(0.975, 2 * failures + 2))
    high = 2 * served / float(chi2.ppf(0.025, 2 * failures))
    return Mtbf(failures, served, served / failures, low, high)
