"""Scheduling passes of one's own, in Python: `sl.Scheduler("saf", Mine())`, or "saf+mine:Mine(k=3)" as a text."""

from schedlab.scheduler.own_pass import Ended, OwnPass, Pass, PassView

__all__ = [
    "Ended",
    "OwnPass",
    "Pass",
    "PassView",
]
