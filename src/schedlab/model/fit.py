"""Fit a workload model to a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.model.cycles import ArrivalCycle, clock_offset
from schedlab.model.empirical import EmpiricalDistribution
from schedlab.model.filters import FILTERS, apply_filters
from schedlab.model.jobs import IndependentJobs, Jobs, JointJobs, Rules
from schedlab.model.model import WorkloadModel
from schedlab.schedule.provenance import input_sha256
from schedlab.workload.cleaning_report import Step
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.workload import Workload

FEWEST_JOBS = 100
"""Of which a distribution is made; with fewer, its tails are accidents."""

SCSF_LONGEST_GAP = 1_800.0
"""ScSF leaves longer gaps out of its model, seconds: they are maintenance."""

GAP_WIDTH = 1.0
SCSF_REQUEST_WIDTH = 60.0
SCSF_ACCURACY_WIDTH = 0.01
"""Widths of ScSF's bins."""

REQUEST_WIDTH = 1.0
ACCURACY_WIDTH = 0.001
"""Widths of ours: requests are few round values, and half of the jobs of a log may use less than 2 % of theirs."""

Cycle = Literal["none", "day", "week"]
MissingRequests = Literal["drop", "run-time"]

FEW_WITHOUT_REQUEST = 0.1
"""Share of jobs without a requested time up to which they are left out unasked."""


@dataclass(frozen=True)
class Observations:
    """What a log says, once filtered, of the variables of a model.

    Parameters
    ----------
    jobs
        Columns of the jobs whose request is known or has been replaced; users are -1 where unknown.
    submit_time
        int64 seconds of all filtered jobs, ascending.
    steps
        What the filters dropped.
    without_request
        Filtered jobs without a requested time.
    work
        Core-seconds of all filtered jobs.
    """

    jobs: Jobs
    submit_time: NDArray[np.int64]
    steps: tuple[Step, ...]
    without_request: int
    work: float

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Run time over requested time."""
        return self.jobs["run_time"] / self.jobs["requested_time"]


def observe(
    workload: Workload,
    *,
    filters: Sequence[str] = FILTERS,
    missing_requests: MissingRequests | None = None,
    cores_per_node: int | None = None,
) -> Observations:
    """Return what a log says of the variables of a model; parameters as for `fit_model`.

    Raises
    ------
    InputError
        If too few jobs are left, or if many have no requested time and it is not said what becomes of them.
    """
    kept, steps = apply_filters(workload, ["missing", *filters])
    known = kept.requested_time > 0
    unknown = int(np.count_nonzero(~known))
    if missing_requests is None and len(kept) >= FEWEST_JOBS and unknown > FEW_WITHOUT_REQUEST * len(kept):
        raise InputError(
            f"{workload.name}: {unknown:,} of {len(kept):,} jobs have no requested time, so nothing is known of their "
            "accuracy; use the run time as the request, or drop them with their work "
            '(missing_requests="run-time" or "drop")'
        )
    usable = kept if missing_requests == "run-time" else kept[known]
    if len(usable) < FEWEST_JOBS:
        raise InputError(
            f"{workload.name}: {len(usable)} of {len(workload)} jobs are usable, too few for a model, which needs at "
            f"least {FEWEST_JOBS}: use a longer log"
        )
    node = cores_per_node or 1
    jobs = {
        "processors": -(-usable.job_processors // node) * node,
        "requested_time": np.where(usable.requested_time > 0, usable.requested_time, usable.run_time),
        "run_time": usable.run_time,
        "user_id": usable.user_id,
    }
    work = float(np.dot(kept.run_time.astype(np.float64), kept.job_processors))
    return Observations(jobs, kept.submit_time, tuple(steps), unknown, work)


@explained
def fit_model(
    workload: Workload,
    *,
    rules: Rules = "corrected",
    joint: bool | None = None,
    users: bool = False,
    cycle: Cycle = "none",
    filters: Sequence[str] = FILTERS,
    missing_requests: MissingRequests | None = None,
    longest_gap: float | None = None,
    cores_per_node: int | None = None,
    source: Mapping[str, Any] | None = None,
) -> WorkloadModel:
    """Fit a workload model to a log.

    Parameters
    ----------
    workload
        The log.
    rules
        "corrected", or "scsf" for the bins and draws of ScSF's program.
    joint
        Whether processors, requested time, run time (and user) are drawn together, as whole jobs of the log. By
        default they are, but not under ScSF's rules.
    users
        Whether jobs have users.
    cycle
        Whether arrivals follow the hours of the "day" or of the "week".
    filters
        What is left out: see `apply_filters`; jobs with "missing" data always are.
    missing_requests
        What becomes of jobs without a requested time: "drop" leaves them out, "run-time" takes the run time for the
        request. By default they are left out if they are at most a tenth of the jobs, else it has to be said: those
        that ask for a time may be quite unlike the others. Arrivals count in all cases.
    longest_gap
        Longer times between arrivals are left out, in seconds, as the machine was down. By default none is, under
        ScSF's rules those above 1,800 s.
    cores_per_node
        If given, jobs have whole nodes, and their processors are rounded up to these. By default what the workload
        says.
    source
        More to say in the model's provenance.

    Raises
    ------
    InputError
        If the machine's size is unknown, or the log does not hold enough for a model.

    References
    ----------
    Rodrigo et al., "ScSF: a scheduling simulation framework", JSSPP 2017, section 3.1.

    Examples
    --------
    >>> import schedlab as sl
    >>> rng = np.random.default_rng(1)
    >>> log = sl.model.tsafrir_estimates(sl.model.lublin(500, 256, rng=rng, load=0.7), rng=rng)
    >>> model = fit_model(log)
    >>> jobs = model.draw_jobs(rng, 1000)
    >>> bool((jobs["run_time"] <= jobs["requested_time"]).all())
    True
    """
    if rules not in ("corrected", "scsf"):
        raise InputError(f"unknown rules {rules!r} for a model; they are corrected or scsf")
    if workload.processors is None:
        raise InputError(f"{workload.name}: the size of the machine is unknown: give it (processors=)")
    node = workload.cores_per_node if cores_per_node is None else cores_per_node
    if node is not None and (node < 1 or workload.processors % node):
        raise InputError(
            f"{workload.name}: {workload.processors:,} processors are not a whole number of nodes of {node}"
        )
    seen = observe(workload, filters=filters, missing_requests=missing_requests, cores_per_node=node)
    joint = rules == "corrected" if joint is None else joint
    if users and (seen.jobs["user_id"] == UNKNOWN).all():
        raise InputError(f"{workload.name}: no job has a user: fit the model without users")
    if longest_gap is not None and not longest_gap > 0:
        raise InputError(f"the longest gap between arrivals to keep must be above 0 s, not {longest_gap:g} s")
    if longest_gap is None and rules == "scsf":
        longest_gap = SCSF_LONGEST_GAP
    arrivals = None if cycle == "none" else ArrivalCycle.of(seen.submit_time, cycle, workload.start_time)
    gaps = gaps_of(seen.submit_time, arrivals, workload.start_time)
    kept_gaps = gaps if longest_gap is None else gaps[gaps <= longest_gap]
    if not kept_gaps.size or not kept_gaps.any():
        raise InputError(f"{workload.name}: the log has no gaps between arrivals to model: use a longer log")
    settings = {
        "filters": [name for name in FILTERS if name in ("missing", *filters)],
        "missing_requests": missing_requests,
        "longest_gap": longest_gap,
        "cores_per_node": node,
    }
    return WorkloadModel(
        name=workload.name,
        processors=workload.processors,
        gaps=_gap_distribution(kept_gaps, rules),
        jobs=_jobs(seen, rules, joint, users, node or 1),
        cores_per_node=node,
        rules=rules,
        cycle=arrivals,
        provenance={**(source or {}), **_provenance(workload, seen, gaps, kept_gaps), "settings": settings},
    )


def _provenance(
    workload: Workload, seen: Observations, gaps: NDArray[np.float64], kept_gaps: NDArray[np.float64]
) -> dict[str, Any]:
    """Return which log a model is of, and what of it was left out."""
    return {
        "log": workload.name,
        "input_sha256": input_sha256(workload),
        "schedlab": version("schedlab"),
        "jobs_in_log": len(workload),
        "jobs_modelled": len(seen.jobs["run_time"]),
        "filtered": [{"rule": step.rule, "meaning": step.meaning, "dropped": step.dropped} for step in seen.steps],
        "jobs_without_request": seen.without_request,
        "gaps_modelled": len(kept_gaps),
        "gaps_left_out": len(gaps) - len(kept_gaps),
        "seconds_left_out": int(gaps.sum() - kept_gaps.sum()),
    }


def gaps_of(submit_time: NDArray[np.int64], cycle: ArrivalCycle | None, start_time: int | None) -> NDArray[np.float64]:
    """Return the times between submissions, ascending; with a cycle, on the clock that runs as fast as jobs arrive.

    Examples
    --------
    >>> gaps_of(np.array([160, 220, 340, 340, 527]), None, None).tolist()
    [60.0, 120.0, 0.0, 187.0]
    """
    if cycle is None:
        return np.diff(submit_time).astype(np.float64)
    # Large times have few digits left for fractions: a hundredth of a second is enough.
    return np.round(np.diff(cycle.elapsed(submit_time + clock_offset(start_time))), 2)


def _gap_distribution(gaps: NDArray[np.float64], rules: Rules) -> EmpiricalDistribution:
    if rules == "scsf":
        return EmpiricalDistribution.in_bins(gaps, width=GAP_WIDTH, in_bin="scsf")
    return EmpiricalDistribution.as_observed(gaps, width=GAP_WIDTH)


def _jobs(seen: Observations, rules: Rules, joint: bool, users: bool, node: int) -> IndependentJobs | JointJobs:
    """Return the distribution of the jobs."""
    jobs = seen.jobs
    if joint:
        return JointJobs.of(jobs if users else {**jobs, "user_id": np.full_like(jobs["user_id"], UNKNOWN)})
    user = EmpiricalDistribution.in_bins(jobs["user_id"], width=1, in_bin="low") if users else None
    if rules == "scsf":
        return IndependentJobs(
            EmpiricalDistribution.in_bins(jobs["processors"], width=node, in_bin="low"),
            EmpiricalDistribution.in_bins(jobs["requested_time"], width=SCSF_REQUEST_WIDTH, in_bin="uniform"),
            EmpiricalDistribution.in_bins(seen.accuracy, width=SCSF_ACCURACY_WIDTH, in_bin="uniform"),
            user,
            rules,
        )
    return IndependentJobs(
        EmpiricalDistribution.as_observed(jobs["processors"], width=1),
        EmpiricalDistribution.as_observed(jobs["requested_time"], width=REQUEST_WIDTH),
        EmpiricalDistribution.as_observed(seen.accuracy, width=ACCURACY_WIDTH),
        user,
        rules,
    )
