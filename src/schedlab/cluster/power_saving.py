"""When idle nodes are switched off, and how long it takes until they are back."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.errors import InputError, whole_number

LONGEST = 1 << 40
"""Seconds of anything: more is a mistake."""

MOST = 1 << 20
"""Nodes a minute: more is a mistake."""


@dataclass(frozen=True, slots=True)
class PowerSaving:
    """Idle nodes are switched off, and booted again for the jobs that get them, which wait for that.

    Parameters
    ----------
    suspend_time
        Seconds for which a node has to be idle before it is switched off (Slurm's SuspendTime).
    boot_time
        Seconds that it takes to boot. Slurm's ResumeTimeout is how long it waits for that at most.
    shutdown_time
        Seconds that it takes to switch a node off, before which it cannot boot (at most SuspendTimeout).
    always_on
        Names of nodes that are never switched off (SuspendExcNodes).
    suspend_rate, resume_rate
        How many nodes are switched off, and booted, in a minute at most (SuspendRate, ResumeRate); 0: as many as
        there are.

    Raises
    ------
    InputError
        If one of these is not what it can be.

    Examples
    --------
    >>> PowerSaving(600, 180).always_on
    ()
    """

    suspend_time: int
    boot_time: int
    shutdown_time: int = 0
    always_on: tuple[str, ...] = ()
    suspend_rate: int = 0
    resume_rate: int = 0

    def __post_init__(self) -> None:
        for name in ("suspend_time", "boot_time", "shutdown_time"):
            value = getattr(self, name)
            if not 0 <= whole_number(f"power_saving: {name}", value) <= LONGEST:
                raise InputError(f"power_saving: {name} must be a number of seconds of 0 or more, not {value}")
        for name in ("suspend_rate", "resume_rate"):
            value = getattr(self, name)
            if not 0 <= whole_number(f"power_saving: {name}", value) <= MOST:
                raise InputError(f"power_saving: {name} must be a number of nodes a minute of 0 or more, not {value}")
