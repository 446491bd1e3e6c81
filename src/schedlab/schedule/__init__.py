"""What came out of a simulation."""

from schedlab.schedule.exports import read_schedule
from schedlab.schedule.schedule import Schedule

__all__ = ["Schedule", "read_schedule"]
