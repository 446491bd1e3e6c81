"""What each limit of an account, a user or a QOS means, worked out with pandas from a schedule alone.

Limits are those of one processor resource, cpu, as they stand in Slurm's manual (sacctmgr); none is looked up in the
project's own table of limits, of which these are the independent check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from laws import association_of, most_at_once, pieces_of, places_of, runs_of

SUBMISSION = ("SubmitJobs", "MaxSubmit")
"""In the reasons of jobs whose submission is refused until a limit allows it."""


def runs_with_owners(schedule, accounting):
    """Return all runs: job, begin, end, request, cores, nodes, user, account and QOS."""
    places = places_of(schedule).groupby("run")["cores"].agg(cores="sum", nodes="count")
    found = runs_of(schedule).join(places, on="run").fillna({"cores": 0, "nodes": 1})
    return found.assign(one=1).join(association_of(schedule.workload, accounting), on="job")


def submitted(schedule, accounting):
    """Return from when to when each job counted as submitted: from when it was accepted until its last end."""
    refused = np.zeros(len(schedule), dtype=np.int64)
    for reason, seconds in (schedule.waited_for or {}).items():
        if any(word in reason for word in SUBMISSION):
            refused += seconds
    last = runs_of(schedule).groupby("job")["end"].max()
    jobs = pd.DataFrame({"begin": schedule.workload.submit_time + refused, "end": last, "one": 1})
    return jobs.join(association_of(schedule.workload, accounting))


def at_once(amount: str) -> Callable[[pd.DataFrame, int], bool]:
    """Return the law that no more of an amount is held at a time."""
    return lambda held, most: bool((most_at_once(held.assign(all=0), "all", amount) <= most).all())


def minutes_to_go(held, most):
    """Whenever a run begins, what all have to go until their requests is within the limit; full minutes count."""
    for second in held["begin"].unique():
        now = held[(held["begin"] <= second) & (held["end"] > second)]
        if (now["cores"] * (now["begin"] + now["request"] - second)).sum() // 60 > most:
            return False
    return True


class Law(NamedTuple):
    """A law, and of whose jobs: all under the limit together ("") or those of each user or account."""

    holds: Callable[[pd.DataFrame, int], bool]
    of_each: str = ""
    of_submissions: bool = False


LAWS = {
    "grp_jobs": Law(at_once("one")),
    "max_jobs_per_account": Law(at_once("one"), "account"),
    "max_jobs_per_user": Law(at_once("one"), "user"),
    "max_jobs": Law(at_once("one"), "user"),
    "grp_submit_jobs": Law(at_once("one"), "", True),
    "max_submit_per_account": Law(at_once("one"), "account", True),
    "max_submit_per_user": Law(at_once("one"), "user", True),
    "max_submit": Law(at_once("one"), "user", True),
    "grp_tres": Law(at_once("cores")),
    "max_tres_per_account": Law(at_once("cores"), "account"),
    "max_tres_per_user": Law(at_once("cores"), "user"),
    "grp_tres_run_mins": Law(minutes_to_go),
    "max_tres_run_mins_per_account": Law(minutes_to_go, "account"),
    "max_tres_run_mins_per_user": Law(minutes_to_go, "user"),
    "max_wall": Law(lambda held, most: bool((held["request"] <= most).all())),
    "max_tres_per_job": Law(lambda held, most: bool((held["cores"] <= most).all())),
    "max_tres_per_node": Law(lambda held, most: bool((held["cores"] // held["nodes"] <= most).all())),
    "max_tres_mins_per_job": Law(lambda held, most: bool((held["cores"] * held["request"] // 60 <= most).all())),
    "min_tres_per_job": Law(lambda held, most: bool((held["cores"] >= most).all())),
}


def is_kept(schedule, accounting, name: str, most: int, owner: dict[str, str]) -> bool:
    """Return whether a schedule keeps a limit that its owner has: a QOS, an account or a user in an account."""
    law = LAWS[name]
    if law.of_submissions:
        held = submitted(schedule, accounting)
    else:
        runs = runs_with_owners(schedule, accounting)
        pieces = pieces_of(schedule).drop(columns="job")
        held = pieces.merge(runs.drop(columns=["begin", "end"]), on="run") if schedule.pauses is not None else runs
    for column, who in owner.items():
        held = held[held[column] == who]
    groups = [held] if not law.of_each else [mine for _, mine in held.groupby(law.of_each)]
    return all(law.holds(mine, most) for mine in groups)
