"""Times that Slurm's programs print, as seconds of a workload."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schedlab.errors import InputError
from schedlab.wording import shown


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise InputError(f"unknown time zone {shown(name)}: name one such as Europe/Stockholm or UTC") from None


def second_of(name: str, text: str, epoch: int, zone: ZoneInfo) -> int:
    """Return a time such as 2026-01-05T09:00:00 as a second of a workload; `name` is what errors call it.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{name} is {shown(text)}, not a time such as 2026-01-05T09:00:00") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()) - epoch
