"""Nodes that a change adds: an error where no job could use them, with the change that makes them of use."""

from __future__ import annotations

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list, host_names
from schedlab.errors import InputError
from schedlab.site.changes import MORE_NODES, Change
from schedlab.site.scheduling import in_partitions, on_no_switch
from schedlab.site.site import Site
from schedlab.wording import count_of


def check_new_nodes(site: Site, other: Site) -> None:
    """Refuse new nodes that no job could use: no partition has them, or they are on no switch.

    Parameters
    ----------
    site, other
        As it is, and as changed.

    Raises
    ------
    InputError
        With what to change as well.
    """
    if site.machine is None or other.machine is None:
        return
    before, used = set(site.machine.nodes), in_partitions(other.machine)
    new = [name for name in other.machine.nodes if name not in before and name not in used]
    if not new:
        return
    hints = []
    if other.scheduler.placement == "switches" and on_no_switch(other.machine).issuperset(new):
        leaf = next(group.switch for group in reversed(other.machine.groups) if group.switch)
        there = host_list(name for group in other.machine.groups if group.switch == leaf for name in group.names)
        hints.append(
            "topology.conf connects them to no switch, and under topology/tree Slurm gives such nodes to no job: "
            f"connect them, such as with SwitchName={leaf} Nodes={there},{host_list(new)}"
        )
    if not _lines_name(other, new):
        default = next((one for one in other.machine.partitions if one.default), other.machine.partitions[0])
        there = _nodes_of(other, default.name) or host_list(default.nodes)
        hints.append(
            "no partition has them: put them into one, such as with "
            f"PartitionName={default.name} Nodes={there},{host_list(new)}"
        )
    count = count_of(len(new), "new node")
    like = Change(MORE_NODES, _line_of_most(site.machine), str(len(new))).text
    raise InputError(
        f"no job can use the {count} {host_list(new)}: {'; and '.join(hints)}, in the same question; or ask for "
        f'"{like}" instead, which does all of that'
    )


def _line_of_most(machine: Cluster) -> str:
    """Return the nodes of which a machine has most."""
    return max(machine.groups, key=lambda one: len(one.names)).hosts


def _lines_name(site: Site, nodes: list[str]) -> bool:
    """Return whether the lines of partitions name all of some nodes, be they in service or not."""
    named: set[str] = set()
    for line in site.ledger.find("Nodes"):
        if line.place == "PartitionName":
            named.update(nodes if line.value.upper() == "ALL" else host_names(line.value))
    return named.issuperset(nodes)


def _nodes_of(site: Site, partition: str) -> str:
    """Return the nodes of a partition as its line names them."""
    lines = {line.where for line in site.ledger.find("PartitionName") if line.value.lower() == partition.lower()}
    return next((line.value for line in site.ledger.find("Nodes") if line.where in lines), "")
