"""The options of Slurm's passes that limit how much they look at, start or reserve."""

from __future__ import annotations

ALL = 10**15
"""As an option: no limit."""

DEPTHS = ("user_depth", "partition_depth", "association_depth", "user_partition_depth")
"""Limits on the jobs of one group that a backfill pass looks at."""

QUEUE_DEPTHS = ("partition_queue_depth",)
"""The same of a main pass."""

RESERVE_DEPTHS = ("partition_reserve", "array_reserve")
"""Limits on the jobs of one group for which a backfill pass reserves."""

GROUP_DEPTHS = (*DEPTHS, *QUEUE_DEPTHS, *RESERVE_DEPTHS)

PARTITION_DEPTHS = ("partition_depth", "user_partition_depth", *QUEUE_DEPTHS, "partition_reserve")
"""Those that count by partitions."""

STARTS = ("starts", "main_starts")
"""Limits on the jobs that a pass starts."""

LIMITS = ("depth", "window", "reserve", "queue_depth", "overtime", *STARTS, "plan_size", "wf_depth", *GROUP_DEPTHS)
"""Options that may be `ALL`. The others are periods and sizes up to `LONGEST`."""

COUNTS = ("depth", "resolution", "queue_depth", *STARTS, "wf_depth", *DEPTHS, *QUEUE_DEPTHS, "partition_reserve")
"""Options of Slurm's passes that must be at least 1."""
