"""Node events in words."""

from __future__ import annotations

from collections import Counter

from schedlab.cluster.hostlist import host_list
from schedlab.cluster.node_events import NodeEvents
from schedlab.wording import count_of

LONGEST_LIST = 40
"""Characters of a host list in a sentence; of more nodes, their number is given."""


def events_text(events: NodeEvents) -> str:
    """Return node events in words: the only one in full, or how many there are of each kind.

    Examples
    --------
    >>> from schedlab.cluster.node_events import NodeEvent
    >>> events_text(NodeEvents((NodeEvent(100, "maintenance", ("n1", "n2"), 400),)))
    'maintenance of n[1-2] from second 100 to 400'
    >>> events_text(NodeEvents((NodeEvent(100, "down", ("n1",)), NodeEvent(400, "up", ("n1",)))))
    '2 node events (1 down, 1 up) of n1'
    """
    names = tuple(dict.fromkeys(name for one in events for name in one.nodes))
    nodes = host_list(names)
    if len(nodes) > LONGEST_LIST:
        nodes = count_of(len(names), "node")
    if len(events) == 1:
        (one,) = events
        until = "" if one.end is None else f" to {one.end}"
        return f"{one.event} of {nodes} from second {one.second}{until}"
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in Counter(one.event for one in events).items())
    return f"{count_of(len(events), 'node event')} ({kinds}) of {nodes}"
