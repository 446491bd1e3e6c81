"""Text as schedlab prints it: plain tables, counts of things, durations in the largest fitting unit."""

from schedlab.schedule.summary import duration
from schedlab.wording import count_of, table

__all__ = ["count_of", "duration", "table"]
