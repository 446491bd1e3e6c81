"""The jobs of a site under other limits on time: what they ask for, and what becomes of those that run longer."""

from __future__ import annotations

import hashlib
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.jobs.overtime import overtime_of
from schedlab.engine.parts.heterogeneous.numbers import owners_of
from schedlab.engine.parts.limits.machine_inputs import longest_requests
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.jobs import replayable, without_unknown_nodes
from schedlab.site.pieces import Pieces, in_pieces
from schedlab.workload.workload import Workload

Requests = Literal["cut", "drop"]
"""Requests above a new limit: cut to it, as users would; or these jobs are left out."""

Long = Literal["killed", "split", "drop"]
"""Jobs that ran longer than a new limit: killed at it, run in pieces, or left out."""

# What becomes of a job in a variant: nothing, its request is cut, it is killed, in pieces, left out.
UNTOUCHED, CUT, KILLED, SPLIT, LEFT_OUT = range(5)

TOO_LONG = "it ran longer than the new limit"


class Machine(NamedTuple):
    """Where jobs run: nodes with what happens to them, and a scheduler."""

    cluster: Cluster
    scheduler: Scheduler
    node_events: NodeEvents | None = None


class Adapted(NamedTuple):
    """The jobs of a site as a variant of it runs them.

    Parameters
    ----------
    jobs
        Those that can run, with their requests there, one row per job.
    rows
        Their rows among all, int64.
    length
        int64 seconds of the pieces in which each runs; 0: it runs in one go.
    fate
        int8, of all jobs: `UNTOUCHED`, `CUT`, `KILLED`, `SPLIT` or `LEFT_OUT`.
    undone
        int64, of all jobs: seconds that they run at the site as it is, but not in the variant.
    left_out
        How many were left out, by reason.
    """

    jobs: Workload
    rows: NDArray[np.int64]
    length: NDArray[np.int64]
    fate: NDArray[np.int8]
    undone: NDArray[np.int64]
    left_out: dict[str, int]

    @property
    def work(self) -> str:
        """A digest of the work that is left, empty if it is all of it."""
        if not self.undone.any() and len(self.rows) == len(self.fate):
            return ""
        return hashlib.sha256(self.rows.tobytes() + self.undone.tobytes()).hexdigest()[:32]

    def pieces(self) -> Pieces:
        """Return the jobs as they are submitted."""
        if not self.length.any():
            return Pieces(self.jobs, np.arange(len(self.jobs)))
        return in_pieces(self.jobs, self.length)

    def same_work(self, jobs: Workload) -> Workload:
        """Return those of all jobs that are not left out, with the requests that they had, and what they run here."""
        return jobs[self.rows].replace(run_time=jobs.run_time[self.rows] - self.undone[self.rows])


def adapted(
    jobs: Workload, here: Machine, there: Machine, requests: Requests = "cut", long: Long = "killed"
) -> Adapted:
    """Return the jobs of a site as they run where limits on time are others.

    Parameters
    ----------
    jobs
        All of them can run at the site as it is.
    here, there
        The site as it is, and as changed.
    requests
        What becomes of requests that no partition, QOS or account admits there.
    long
        What becomes of jobs with such requests that run longer than is admitted, if requests are cut.

    Raises
    ------
    InputError
        If no job remains.
    """
    limit = _limits(jobs, there.cluster) if requests == "cut" else jobs.requested_time
    above = jobs.requested_time > limit
    changed = jobs.replace(requested_time=np.where(above, limit, jobs.requested_time)) if above.any() else jobs
    most, now = _latest(jobs, here), _latest(changed, there)
    beyond = above & (np.minimum(jobs.run_time, most) > now)
    reasons = np.full(len(jobs), "", dtype=object)
    if long == "drop":
        reasons[_with_all_components(jobs, beyond)] = TOO_LONG
    kept = replayable(changed, there.cluster, there.node_events, unwanted=reasons)
    length = _lengths(jobs, beyond, limit) if long == "split" else np.zeros(len(jobs), dtype=np.int64)
    full = np.minimum(jobs.run_time, most)
    undone = np.maximum(full - np.minimum(full, now), 0)
    undone[length > 0] = 0
    fate = np.where(above, CUT, UNTOUCHED).astype(np.int8)
    fate[undone > 0] = KILLED
    fate[length > 0] = SPLIT
    out = np.ones(len(jobs), dtype=np.bool_)
    out[kept.rows] = False
    fate[out], undone[out] = LEFT_OUT, full[out]
    rows = kept.rows.astype(np.int64)
    asked = np.where(length > 0, jobs.requested_time, changed.requested_time)
    return Adapted(kept.jobs.replace(requested_time=asked[rows]), rows, length[rows], fate, undone, kept.left_out)


def _limits(jobs: Workload, cluster: Cluster) -> NDArray[np.int64]:
    """Return the longest request with which each job can run on a cluster; its own, if none helps it."""
    shortest = jobs.replace(requested_time=np.ones(len(jobs), dtype=np.int64))  # no limit closes a partition to it
    longest = longest_requests(without_unknown_nodes(shortest, cluster)[0], cluster)
    return np.where(longest > 1, longest, jobs.requested_time)


def _latest(jobs: Workload, machine: Machine) -> NDArray[np.int64]:
    """Return the run time at which each job is killed."""
    return jobs.requested_time + overtime_of(jobs, machine.scheduler, machine.cluster)


def _with_all_components(jobs: Workload, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the chosen jobs, and the other components of their heterogeneous jobs."""
    owner = owners_of(jobs)
    return chosen if owner is None else np.isin(owner, owner[chosen])


def _lengths(jobs: Workload, beyond: NDArray[np.bool_], limit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the seconds of a piece of the jobs that are beyond their limit, 0 of others; components go in step."""
    owner = owners_of(jobs)
    if owner is None:
        return np.where(beyond, limit, 0)
    shortest = np.full(len(jobs), np.iinfo(np.int64).max)
    np.minimum.at(shortest, owner[beyond], limit[beyond])
    return np.where(_with_all_components(jobs, beyond), shortest[owner], 0)
