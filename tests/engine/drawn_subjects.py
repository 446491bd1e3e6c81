"""What a random simulation is about: what belongs together is drawn together, so that it binds.

Of things drawn one by one, most lack what they need: a depth per user is nothing where no user has two jobs in the
queue, and the grace time of a QOS where no QOS preempts.
"""

from __future__ import annotations

from typing import NamedTuple

from drawing import Draw

ABOUT_SOMETHING = 0.85
"""The share of cases that are about something; the others have anything."""


class Subject(NamedTuple):
    """What the cases of a subject have, and of which others so many."""

    always: tuple[str, ...]
    some: tuple[str, ...] = ()
    count: int = 1


NARROW = ("nodes", "accounting", "narrow")
SITE = ("nodes", "accounting", "slurm")
CROWDED = ("crowded", "spread", "narrow")
LIMITS = (
    *("grp_tres_run_mins", "max_tres_per_job", "max_tres_per_node", "max_tres_mins_per_job", "max_wall"),
    *("max_submit", "max_jobs", "grp_jobs", "grp_submit_jobs", "grp_tres"),
)
LIMITS_OF_QOS = (
    *("grp_tres_run_mins", "max_tres_per_job", "max_tres_per_node", "max_tres_mins_per_job", "max_wall", "grp_tres"),
    *("min_tres_per_job", "max_jobs_per_user", "max_tres_per_user", "max_submit_per_account", "max_submit_per_user"),
    *("max_tres_run_mins_per_user", "grp_submit_jobs"),
)
GIVING_WAY = ("exempt_time", "grace_time", "preempt_mode", "youngest_first", "reorder")
SUBJECTS = (
    *[Subject((*NARROW, "limits of users"), LIMITS, 2)] * 3,  # three owners of ten limits each
    Subject((*NARROW, "users in partitions"), LIMITS, 2),
    *[Subject((*NARROW, "limits of accounts"), LIMITS, 2)] * 3,
    *[Subject((*NARROW, "limits of qos"), LIMITS_OF_QOS, 2)] * 3,
    Subject(
        (*SITE, "preemption", "by qos", *CROWDED),
        ("exempt_time", "grace_time", "preempt_mode", "youngest_first"),
    ),
    Subject(
        ("nodes", "preemption", *CROWDED),
        ("grace_time", "youngest_first", "reorder", "exempt_time", "preempt_mode"),
    ),
    Subject(("nodes", "accounting", "over_max_nodes", "max_nodes", "partition's qos")),
    Subject(("nodes", "accounting", "over_max_time", "max_time")),
    Subject(("nodes", "accounting", "under_min_nodes")),
    Subject((*NARROW, "over_partition", "partition's qos", "limits of qos")),
    Subject(("nodes", "accounting"), ("allow_accounts", "deny_accounts", "account")),
    Subject((*SITE, "reserves", "interval")),
    Subject(
        ("nodes", "memory", "narrow"), ("memory_per_gpu", "max_memory_per_node", "memory_per_core", "whole_memory")
    ),
    Subject((*SITE, "multifactor", "fairshare", "period"), ("half_life", "usage_factor", "shares", "ends")),
    Subject((*SITE, "multifactor", "fairshare", "tres", "period"), ("billing", "billing_largest"), 2),
    Subject(("slurm", "multifactor", "age", "size", "period", "max_age")),
    Subject(("slurm", "multifactor", "age", "period", "accrue", "dependencies")),
    Subject(("slurm", "multifactor"), ("size", "tres", "favor", "relative", "amounts", "partition", "qos"), 3),
    Subject(("slurm",), ("depth", "queue_depth", "user_depth", "user_partition_depth")),
    Subject(("nodes", "slurm"), ("partition_depth", "partition_queue_depth", "association_depth")),
    Subject(("slurm", "interval"), ("plan_size", "resolution", "window", "reserve", "reserve_age")),
    Subject(("nodes", "slurm", "interval"), ("partition_reserve", "partitions", "origin")),
    Subject(("slurm",), ("starts", "main_starts")),
    Subject(("slurm",), ("limits", "delay")),
    Subject(("slurm", "overtime", "too long")),
    Subject(("nodes", "slurm", "interval", "placement", "whole nodes", "many nodes"), ("busy", "serial")),
    Subject(("slurm", "interval", "arrays", "array_reserve")),
    Subject(("slurm", "interval", "multifactor", "reserve_priority", "age")),
    Subject(("slurm", "interval", "dependencies", "workflows", "one place"), ("wf_depth", "wf_plan")),
    Subject(("slurm", "interval", "dependencies", "workflows", "one place", "wf_count", "depth")),
    Subject(("nodes", "slurm", "heterogeneous"), ("hetjob_prio", "hetjob_immediate")),
    Subject(("nodes", "slurm", "switches", "switch_wait")),
    Subject(("predictions", "many", "spread"), ("mean", "jobs", "shrink", "over", "weight")),
    Subject(("distributions",), ("speculation", "exhausted")),
    Subject(("nodes", "events", "drain")),
)


def drawn_subject(draw: Draw) -> frozenset[str]:
    """Return what a case is about; nothing in some cases."""
    if not draw.chance(ABOUT_SOMETHING):
        return frozenset()
    subject = draw.choice(SUBJECTS)
    return frozenset((*subject.always, *draw.sample(subject.some, min(subject.count, len(subject.some)))))
