"""What happens to nodes, as commands for a laboratory: nodes go down, are drained, are maintained, and come back."""

from __future__ import annotations

from dataclasses import replace

from schedlab.cluster.hostlist import host_list
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.slurm.jobs import Command

STATES = {"down": ("state=down", "reason=event"), "drain": ("state=drain", "reason=event"), "up": ("state=resume",)}
"""What `scontrol update` sets, by event."""

CARRIED_OUT = (*STATES, "maintenance")


def carried_out(events: NodeEvents) -> NodeEvents:
    """Return the events that the laboratory can carry out: not those of single GPUs, and no reservations for users."""
    return replace(events, events=tuple(event for event in events if event.event in CARRIED_OUT))


def commands_of(events: NodeEvents, begin: int) -> list[Command]:
    """Return the commands of events.

    Parameters
    ----------
    events
        In the seconds of the workload, see `carried_out`.
    begin
        The second at which the laboratory begins: nodes that are out of service then go out of it at once, and what is
        over by then is left out.

    Examples
    --------
    >>> down, up = NodeEvent(50, "down", ("n1", "n2")), NodeEvent(400, "up", ("n2",))
    >>> [(one.second, *one.words[2:]) for one in commands_of(NodeEvents((down, up)), 60)]
    [(60, 'nodename=n[1-2]', 'state=down', 'reason=event'), (400, 'nodename=n2', 'state=resume')]
    """
    commands: list[Command] = []
    now = dict[str, str]()
    before = [event for event in events if event.event in STATES and event.second <= begin]
    for event in before:
        now |= dict.fromkeys(event.nodes, event.event)
    for state in ("down", "drain"):
        commands += _update(begin, state, [node for node, one in now.items() if one == state])
    for event in events:
        if event.event == "maintenance":
            commands += _maintenance(event, begin)
        elif event.second > begin:
            changed = [node for node in event.nodes if now.get(node, "up") != event.event]
            commands += _update(event.second, event.event, changed)
            now |= dict.fromkeys(event.nodes, event.event)
    return commands


def _update(second: int, state: str, nodes: list[str]) -> list[Command]:
    words = ("scontrol", "update", f"nodename={host_list(nodes)}", *STATES[state])
    return [Command(second, words)] if nodes else []


def _maintenance(event: NodeEvent, begin: int) -> list[Command]:
    """Return the command that creates a maintenance when it is announced; none if it is over before the begin."""
    assert event.end is not None
    if event.end <= begin:
        return []
    second = max(begin, begin if event.announced is None else event.announced)
    start, end = max(event.second - second, 0), event.end - second
    when = (f"starttime=now+{start}" if start else "starttime=now", f"endtime=now+{end}")
    words = ("scontrol", "create", "reservation", *when, "users=root", "flags=maint,ignore_jobs")
    return [Command(second, (*words, f"nodes={host_list(event.nodes)}"))]
