"""What becomes of tasks: failures, and how far a campaign is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """A task that has no result, and why.

    Parameters
    ----------
    task
        Its name.
    kind
        "error" (it raised), "timeout" or "died" (its process did).
    reason
        In one line.
    traceback
        Where in the code, if that is known.
    specification
        Of the task.
    host, time
        Where and when (UTC).
    """

    task: str
    kind: str
    reason: str
    traceback: str
    specification: dict[str, Any]
    host: str
    time: str


@dataclass(frozen=True, slots=True)
class Status:
    """How far a campaign is.

    Parameters
    ----------
    planned, done, failed
        Numbers of tasks.
    running
        Processes that are at work, as far as their files say.
    corrupt
        Files that were moved aside.
    """

    planned: int
    done: int
    failed: int
    running: int
    corrupt: int
