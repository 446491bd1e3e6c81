"""Idle nodes that are switched off: which changes of slurm.conf ask for it, and what such a site is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

from schedlab.cluster.slurm_power import slurm_power_saving
from schedlab.durations import duration_text
from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.site.changes import Change
    from schedlab.site.site import Site

OF_POWER = (
    *("suspendtime", "suspendtimeout", "suspendexcnodes", "suspendexcparts", "suspendrate"),
    *("resumetimeout", "resumerate"),
)
"""Parameters of slurm.conf that say when nodes are switched off, in lower case: a change of one simulates all."""

PROGRAMS = ("SuspendProgram", "ResumeProgram")
"""Without them, Slurm switches no node off."""


def is_of_power(change: Change) -> bool:
    """Return whether a change says when nodes are switched off."""
    return change.key.lower() in OF_POWER


def switching_off(site: Site, directory: str | PathLike[str], changes: Iterable[Change]) -> Site:
    """Return a site whose nodes are switched off as the slurm.conf in a directory says.

    Without programs that do so, Slurm switches no node off; a change of when they are takes such programs for granted.
    """
    if site.machine is None or not site.machine.groups:
        raise InputError("nodes that are switched off need nodes: the site has none")
    saving = slurm_power_saving(directory, site.machine)
    if not any(map(is_of_power, changes)) and not all(site.ledger.find(name) for name in PROGRAMS):
        saving = None
    return replace(site, machine=replace(site.machine, power_saving=saving))


def boot_notes(site: Site) -> list[str]:
    """Say where the time comes from that nodes need to boot, if they are switched off; else nothing."""
    saving = None if site.machine is None else site.machine.power_saving
    if saving is None:
        return []
    told = "ResumeTimeout" if site.ledger.find("ResumeTimeout") else "the default of ResumeTimeout"
    return [
        f"a boot takes {duration_text(saving.boot_time)} ({told}, for which Slurm waits at most: set it to what your "
        "nodes need)"
    ]
