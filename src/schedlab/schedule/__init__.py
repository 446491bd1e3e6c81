"""What came out of a simulation."""

from schedlab.schedule.schedule import Schedule

__all__ = ["Schedule"]
