"""What the states of nodes mean that Slurm's programs print, in long and short form, with flags and marks."""

from __future__ import annotations

import re
from typing import Literal

from schedlab.errors import InputError
from schedlab.wording import shown

Service = Literal["down", "drain", "power saving", "in service"]

DOWN = ("DOWN", "FAIL", "FAILG", "FAILING", "ERROR", "ERR", "INVAL", "INVALID_REG", "INVALID")
DRAINED = (
    *("DRAIN", "DRAINED", "DRAINING", "DRNG", "MAINT", "MAINTENANCE", "RESV", "RESERVED", "FUTR", "FUTURE"),
    *("BOOT", "REBOOT", "REBOOT_ISSUED", "BLOCK", "BLOCKED", "NO_RESPOND", "NOT_RESPONDING", "UNK", "UNKNOWN"),
)
POWER_SAVING = (
    *("POWER_DOWN", "POWERED_DOWN", "POWERING_DOWN", "POWER_UP", "POWERING_UP", "POW_DN", "POW_UP", "POWER_DRAIN"),
    *("POWER_DOWN_FORCE", "POWER_DOWN_ASAP", "POWER"),
)
IN_SERVICE = (
    *("IDLE", "MIX", "MIXED", "ALLOC", "ALLOCATED", "COMP", "COMPLETING", "PLND", "PLANNED", "CLOUD", "RESUME"),
    *("UNDRAIN", "NPC", "PERFCTRS", "REBOOT_REQUESTED", "REBOOT_CANCELED", "CANC_R", "DYNAMIC_NORM", "DYNAMIC_FUTURE"),
    *("DYNAMIC", "NET", "RES", "EXTERNAL"),
)

MEANINGS: dict[Service, tuple[str, ...]] = {
    "down": DOWN,
    "drain": DRAINED,
    "power saving": POWER_SAVING,
    "in service": IN_SERVICE,
}
"""From the strongest on: a node that is down and off is down."""

WORDS = {word: service for service, words in MEANINGS.items() for word in words}
"""States and flags, of sinfo, scontrol, sacctmgr and their JSON."""

MARKED: dict[Service, str] = {"drain": "*$^", "power saving": "~#%!", "in service": "@-+"}
MARKS = {mark: service for service, marks in MARKED.items() for mark in marks}
"""Marks behind a state: the node does not respond, is in maintenance, reboots; is off, or on its way there or back; is
to reboot, is planned for a job, or completes one."""

_STATE = re.compile(r"([A-Z_]+)([*~#%!$@^+-]*)")


def service_of(state: str) -> Service:
    """Return whether a node in a state is down, drained, off to save power, or in service.

    A node that was switched off to save power is available: a job wakes it. One that is down or drained, too, is not.

    Raises
    ------
    InputError
        If a word of it is unknown.

    Examples
    --------
    >>> [service_of(state) for state in ("DOWN*", "DRNG", "MIXED+DRAIN", "IDLE+CLOUD+POWERED_DOWN", "IDLE~", "MIX@")]
    ['down', 'drain', 'drain', 'power saving', 'power saving', 'in service']
    """
    found: set[Service] = set()
    for part in re.findall(r"[^+\s,]+\+?", state.upper()):
        matched = _STATE.fullmatch(part)
        if matched is None or matched[1] not in WORDS:
            raise InputError(f"the state {shown(state)} is none that nodes of Slurm have: correct it")
        found |= {WORDS[matched[1]], *(MARKS[mark] for mark in matched[2])}
    if not found:
        raise InputError("a line has no state")
    return next(one for one in MEANINGS if one in found)
