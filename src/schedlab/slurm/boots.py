"""Nodes that slurmctld switches off and wakes: the programs are none, and who is woken registers after its boot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from schedlab.cluster.hostlist import host_list, host_names
from schedlab.cluster.power_saving import PowerSaving
from schedlab.errors import InputError
from schedlab.slurm.clock import SECOND
from schedlab.slurm.configuration import Configuration

if TYPE_CHECKING:
    from schedlab.slurm.laboratory import Laboratory

LOOKS = 5
"""Virtual seconds between two looks into the log for nodes that are woken; no boot may be shorter."""

PATIENCE = 600
"""Virtual seconds, beyond a boot, before slurmctld takes a node for one that fails to boot."""

NOTHING = "/bin/true"
"""Switches nodes off and on: there are none. slurmctld writes into its log which it means."""

_WAKES = re.compile(
    r"^\[([^\]]*)\] POWER: (?:power_save: (?:pid \d+ )?waking|Issued \w+ power action __resumeprog__ on) nodes (\S+)",
    re.MULTILINE,
)
"""As 22.05 to 24.11 say it, and as 26.05 does."""


class Waking(NamedTuple):
    """Nodes that slurmctld wakes, and the instant, in nanoseconds of the laboratory's clock."""

    instant: int
    nodes: tuple[str, ...]


def with_power_saving(configuration: Configuration, saving: PowerSaving) -> Configuration:
    """Return a configuration whose idle nodes are switched off.

    Raises
    ------
    InputError
        If nodes boot faster than the laboratory can see.
    """
    if saving.boot_time <= LOOKS:
        raise InputError(f"nodes of a laboratory need more than {LOOKS} s to boot, not {saving.boot_time}")
    always_on = {"SuspendExcNodes": host_list(list(saving.always_on))} if saving.always_on else {}
    having = configuration.having(
        SuspendTime=saving.suspend_time,
        SuspendTimeout=saving.shutdown_time,
        ResumeTimeout=saving.boot_time + PATIENCE,
        SuspendRate=saving.suspend_rate,
        ResumeRate=saving.resume_rate,
        SuspendProgram=NOTHING,
        ResumeProgram=NOTHING,
        DebugFlags="Power",
        SlurmctldDebug="verbose",
        **always_on,
    )
    return replace(having, boot_time=saving.boot_time)


def wakings(log: str) -> Iterator[Waking]:
    """Yield which nodes slurmctld wakes, as it says in its log.

    Examples
    --------
    >>> line = "[2023-11-14T23:06:40.800] POWER: power_save: pid 3242 waking nodes n[1-2]"
    >>> [(one.instant // 10**9, one.nodes) for one in wakings(line)]
    [(1700003200, ('n1', 'n2'))]
    """
    for when, nodes in _WAKES.findall(log):
        moment = datetime.fromisoformat(when).replace(tzinfo=UTC)
        yield Waking(round(moment.timestamp() * 1000) * (SECOND // 1000), tuple(host_names(nodes)))


class Boots:
    """Follows the log of a laboratory's slurmctld, and has nodes register when they have booted."""

    def __init__(self, laboratory: Laboratory, boot_time: int) -> None:
        self.laboratory, self.boot_time = laboratory, boot_time
        self.log = laboratory.directory / "log" / "slurmctld.log"
        self.read = 0
        laboratory.every(LOOKS, self.look)

    def look(self) -> None:
        """Note what has been woken since the last look."""
        with open(self.log, "rb") as log:
            log.seek(self.read)
            lines, _, rest = log.read().rpartition(b"\n")
            self.read = log.tell() - len(rest)
        for one in wakings(lines.decode(errors="replace")):
            booted = self.laboratory.second(one.instant + self.boot_time * SECOND)
            self.laboratory.at(booted, partial(self._booted, one.nodes))

    def _booted(self, names: tuple[str, ...]) -> None:
        second = self.laboratory.clock.now() // SECOND
        nodes = self.laboratory.nodes
        self.laboratory.nodes = [replace(node, booted=second) if node.name in names else node for node in nodes]
        self.laboratory.register(names)
