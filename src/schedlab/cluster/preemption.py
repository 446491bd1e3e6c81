"""Which jobs may take the place of others that run, and what becomes of those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from schedlab.errors import InputError
from schedlab.wording import shown

Basis = Literal["partition", "qos"]
Mode = Literal["off", "cancel", "requeue", "suspend"]

BASES: tuple[str, ...] = get_args(Basis)
MODES: tuple[str, ...] = get_args(Mode)

REQUEUE_DELAY = 121
"""Seconds after which Slurm lets a job begin again that it has submitted again: two minutes and one second."""


@dataclass(frozen=True, slots=True)
class Preemption:
    """Jobs that are more important take the place of others that run.

    Parameters
    ----------
    by
        "partition": jobs of a partition take the place of those of partitions of a lower tier (Slurm's
        preempt/partition_prio). "qos": jobs of a QOS take the place of those whose QOS it names (preempt/qos).
    mode
        What becomes of those: "requeue": they are submitted again, as they were, and all their work is lost. "cancel":
        they have ended. "suspend": they stand still, keep their memory, and go on where they were once their cores are
        free again; by partition only. "off": nothing. Partitions, or QOS, may say otherwise for their jobs.
    exempt_time
        Seconds that a run is left alone, unless it would be suspended.
    requeue_delay
        Seconds, at least 1, before a job may begin again.
    youngest_first
        Whether the runs that began last give way first, whatever their partition or QOS.
    reorder
        How often the order of those that give way is improved, so that fewer have to (preempt_reorder_count).

    Raises
    ------
    InputError
        If one of these is not what it can be.

    Examples
    --------
    >>> Preemption("qos", mode="cancel", exempt_time=600).requeue_delay
    121
    """

    by: Basis
    mode: Mode = "requeue"
    exempt_time: int = 0
    requeue_delay: int = REQUEUE_DELAY
    youngest_first: bool = False
    reorder: int = 1

    def __post_init__(self) -> None:
        if self.by not in BASES:
            raise InputError(f"preemption by {shown(str(self.by))}: must be by {' or by '.join(BASES)}")
        check_mode("preemption", self.mode)
        if self.by == "qos":
            refuse_suspension("preemption by QOS", self.mode)
        for name, least in (("exempt_time", 0), ("requeue_delay", 1), ("reorder", 0)):
            if getattr(self, name) < least:
                raise InputError(f"preemption: {name} must be {least} or more, not {getattr(self, name)}")


def check_mode(what: str, mode: str) -> None:
    """Raise InputError if a mode is none that there is."""
    if mode not in MODES:
        raise InputError(f"{what}: unknown mode {shown(mode)}; known are {', '.join(MODES)}")


def refuse_suspension(what: str, mode: str) -> None:
    """Raise InputError if jobs would be suspended where only partitions can say that."""
    if mode == "suspend":
        raise InputError(f"{what}: jobs can be suspended by partition only; use mode cancel or requeue")
