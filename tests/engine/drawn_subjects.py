"""What a random simulation is about: what belongs together is drawn together, so that it binds.

Of things drawn one by one, most lack what they need: a depth per user is nothing where no user has two jobs in the
queue, and the grace time of a QOS where no QOS preempts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from drawing import Draw
from drawn_schedulers import BESIDE_SLURM

ABOUT_SOMETHING = 0.95
"""The share of cases that are about something; the others have anything."""


AT_A_TIME = 4
"""Subjects of a case: what they have in common is not tried by cases about each of them."""

CLASHES: tuple[tuple[set[str], set[str]], ...] = (
    ({"nodes"}, {"processors"}),
    ({"often"}, {"seldom"}),
    ({"slurm"}, BESIDE_SLURM),
    ({"equal"}, {"multifactor", "predictions"}),
    ({"multifactor"}, {"predictions"}),
    ({"heterogeneous"}, {"workflows", "arrays", "moldable"}),
    ({"order of events", "speculation"}, {"moldable"}),
    ({"order of events"}, {"speculation", "fixed", "overtime"}),
)
"""What no case has both of, or where one would hide the other."""


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
    *("max_tres_per_account", "max_jobs_per_account", "max_tres_run_mins_per_account"),
    *("max_tres_run_mins_per_user", "grp_jobs", "grp_submit_jobs"),
)
QUEUE = ("slurm", "queue", "often")
FAIR = (*QUEUE[1:], "multifactor", "fairshare", "period")
IN_ONE_PLACE = ("dependencies", "workflows", "one place", "equal", "interval")
PREDICTED = ("predictions", "many", "spread", "queue")
GIVING_WAY = ("exempt_time", "grace_time", "preempt_mode", "youngest_first")
SUBJECTS = (
    *[Subject((*NARROW, "limits of users"), LIMITS, 2)] * 2,  # three owners of ten limits each
    Subject((*NARROW, "users in partitions"), LIMITS, 2),
    *[Subject((*NARROW, "limits of accounts"), LIMITS, 2)] * 2,
    *[Subject((*NARROW, "limits of qos"), LIMITS_OF_QOS, 8)] * 5,
    Subject((*SITE, "preemption", "by qos", *CROWDED), GIVING_WAY, 2),
    *[Subject(("nodes", "preemption", *CROWDED), GIVING_WAY, 2)] * 3,
    *[Subject(("nodes", "preemption", *CROWDED, "reorder", "many", "seldom"))] * 12,
    *[Subject(("nodes", "accounting", "over_max_nodes", "max_nodes", "partition's qos"))] * 2,
    *[Subject(("nodes", "accounting", "over_max_time", "max_time"))] * 2,
    Subject(("nodes", "accounting", "under_min_nodes")),
    *[Subject((*NARROW, "over_partition", "partition's qos", "limits of qos"))] * 2,
    *[Subject(("nodes", "accounting", "account"), ("allow_accounts", "deny_accounts"))] * 3,
    Subject((*SITE, *QUEUE, "reserves")),
    Subject(("nodes", "memory", "narrow"), ("max_memory_per_node", "memory_per_core", "whole_memory")),
    *[Subject(("nodes", "memory", "narrow", "gpus", "memory_per_gpu"))] * 2,
    Subject((*SITE, *FAIR, "half_life"), ("usage_factor",)),
    Subject((*SITE, *FAIR), ("shares", "ends")),
    *[Subject((*SITE, *FAIR, "tres", "billing"), ("billing_largest",))] * 4,
    Subject((*QUEUE, "multifactor", "age", "period", "max_age", "size", "favor")),
    *[Subject((*QUEUE, "multifactor", "age", "period", "accrue", "dependencies"))] * 3,
    Subject((*QUEUE, "multifactor", "size", "relative", "favor")),
    Subject((*QUEUE, "multifactor", "tres", "amounts", "nodes")),
    Subject((*SITE, *QUEUE, "multifactor"), ("partition", "qos"), 2),
    Subject((*QUEUE, "depth")),
    Subject((*QUEUE, "user_depth")),
    *[Subject((*QUEUE[:2], "seldom", "queue_depth"))] * 2,
    *[Subject((*QUEUE[:2], "seldom", "main_starts"))] * 2,
    *[Subject((*SITE, *QUEUE), ("partition_depth", "user_partition_depth", "association_depth"), 2)] * 4,
    *[Subject((*SITE, *QUEUE[:2], "seldom", "partition_queue_depth"))] * 2,
    *[Subject((*QUEUE, option)) for option in ("plan_size", "plan_size", "resolution", "resolution", "window")],
    *[Subject((*QUEUE, "reserve"))] * 3,
    Subject((*QUEUE, "reserve_age")),
    *[Subject(("nodes", *QUEUE, "partition_reserve"))] * 4,
    *[Subject(("nodes", *QUEUE, "partitions"))] * 5,
    Subject(("nodes", *QUEUE, "origin")),
    *[Subject((*QUEUE, "starts"))] * 3,
    *[Subject((*SITE, *QUEUE, "limits", "limits of accounts", "grp_tres", "grp_tres_run_mins"))] * 2,
    Subject((*QUEUE, "delay")),
    Subject((*QUEUE, "tick")),
    *[Subject(("slurm", "nodes", "preemption", *CROWDED, "ties", "version", "equal"))] * 3,
    Subject(("slurm", "queue", "version")),
    *[Subject(("processors", "slurm", "queue", "overtime", "too long"))] * 2,
    *[Subject(("processors", *QUEUE, "whole nodes"))] * 9,
    *[Subject(("nodes", *QUEUE, "placement", "whole nodes", "many nodes"), ("busy", "serial"))] * 5,
    *[Subject((*QUEUE, "arrays", "array_reserve"))] * 3,
    Subject((*QUEUE, "multifactor", "reserve_priority", "age", "max_age")),
    *[Subject((*QUEUE, *IN_ONE_PLACE, "wf_depth"))] * 3,
    *[Subject((*QUEUE, *IN_ONE_PLACE, "wf_plan"))] * 5,
    *[Subject((*QUEUE, *IN_ONE_PLACE, "wf_count", "depth"))] * 4,
    *[
        Subject(("nodes", *QUEUE, "heterogeneous", "multifactor", "size", option))
        for option in ("hetjob_prio", "hetjob_immediate") * 3
    ],
    *[Subject(("nodes", "slurm", "queue", "switches", "few switches", "placement", "switch_wait"))] * 2,
    *[Subject(("nodes", "slurm", "queue", "switches", "few switches", "placement"))] * 2,
    Subject(("starvation", "queue")),
    Subject((*PREDICTED, "over")),
    *[Subject((*PREDICTED, "mean", "jobs"))] * 2,
    Subject((*PREDICTED, "shrink")),
    *[Subject(("distributions", "speculation", "queue"), ("exhausted",))] * 3,
    Subject(("nodes", "gpus", "queue")),
    *[Subject(("nodes", "places"), ("exclude", "nodelist"))] * 2,
    *[Subject(("moldable", "queue"))] * 2,
    *[Subject(("nodes", "events"), ("drain", "maintenance", "reservation"))] * 5,
    *[Subject(("nodes", "events", "gpus", "failing gpus"))] * 2,
    *[Subject(("processors", "order of events"))] * 8,
    *[Subject(("processors", "distributions", "speculation", "queue"), ("exhausted",))] * 3,
    *[Subject(("queue", "fixed"))] * 2,
)


def drawn_subject(draw: Draw) -> frozenset[str]:
    """Return what a case is about; nothing in some cases."""
    if not draw.chance(ABOUT_SOMETHING):
        return frozenset()
    words: set[str] = set()
    for _ in range(AT_A_TIME):
        subject = draw.choice([one for one in SUBJECTS if not _clash(words, one.always)])
        words |= {*subject.always, *draw.sample(subject.some, min(subject.count, len(subject.some)))}
    return frozenset(words)


def _clash(words: set[str], others: Collection[str]) -> bool:
    """Return whether a case cannot be about both."""
    return any(
        not (one.isdisjoint(words) or other.isdisjoint(others)) for pair in CLASHES for one, other in (pair, pair[::-1])
    )
