"""A workload model: what fits into one file and is all that a generator needs of a site."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.documents import read_json
from schedlab.errors import InputError
from schedlab.model.cycles import ArrivalCycle
from schedlab.model.empirical import EmpiricalDistribution
from schedlab.model.jobs import IndependentJobs, Jobs, JointJobs, NodeScale, Rules, jobs_from_dict
from schedlab.wording import shown

VERSION = 1
"""Of what a file holds; files of other versions are refused."""

_COUNTS = ("jobs_in_log", "jobs_modelled", "jobs_without_request", "gaps_left_out", "seconds_left_out")
_SCALED = ("from_processors", "to_processors", "load_factor_of_rounding")
"""Numbers of a provenance: of a log, and of a change of scale."""

_SETTINGS = {
    "filters": list,
    "missing_requests": str | None,
    "longest_gap": int | float | None,
    "cores_per_node": int | None,
}
"""What a provenance says of how the model was fitted."""


@dataclass(frozen=True)
class JobLimits:
    """Jobs that a site would not accept: a generator rejects them, and their arrival is used up.

    Parameters
    ----------
    processors
        More are rejected.
    run_time
        Longer jobs are rejected, in seconds.
    work
        More core-seconds are rejected, if the job also has more than `wide` processors or runs longer than `long`.
    wide, long
        See `work`.
    """

    processors: int
    run_time: int
    work: float
    wide: int
    long: int

    def rejects(self, processors: NDArray[np.int64], run_time: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of some jobs whether they are rejected."""
        work = processors.astype(np.float64) * run_time
        heavy = ((processors > self.wide) | (run_time > self.long)) & (work > self.work)
        return np.asarray((processors > self.processors) | (run_time > self.run_time) | heavy)


@explained
@dataclass(frozen=True, eq=False)
class WorkloadModel:
    """What arrives at a machine: gaps between arrivals, and the jobs.

    Make one with `fit_model`, or read one with `WorkloadModel.load`.

    Parameters
    ----------
    name
        What it is a model of.
    processors
        Size of the machine.
    gaps
        Distribution of the time between arrivals in seconds; with a cycle, on its clock.
    jobs
        What the jobs are.
    cores_per_node
        Where jobs have whole nodes: how large one is. None: jobs have processors.
    rules
        "corrected", or "scsf": the rules of the program ScSF.
    cycle
        How busy the hours of a day or week are, or None.
    longest_gap
        Longer gaps are drawn as this many seconds, or None.
    limits
        Jobs that are rejected, or None.
    provenance
        Where it comes from: log, fingerprint, filters with counts, versions, changes.

    Examples
    --------
    >>> from schedlab.model.edison import EDISON_TOY
    >>> jobs = EDISON_TOY.draw_jobs(np.random.default_rng(1), 1000)
    >>> sorted(jobs), int(jobs["processors"].max())
    (['processors', 'requested_time', 'run_time', 'user_id'], 240)
    >>> EDISON_TOY.draw_gaps(np.random.default_rng(1), 1000).max().item()
    25.0
    """

    name: str
    processors: int
    gaps: EmpiricalDistribution
    jobs: IndependentJobs | JointJobs
    cores_per_node: int | None = None
    rules: Rules = "corrected"
    cycle: ArrivalCycle | None = None
    longest_gap: float | None = None
    limits: JobLimits | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        node = 1 if self.cores_per_node is None else self.cores_per_node
        if not 1 <= node <= self.processors:
            raise InputError(
                f"model {self.name}: a machine needs at least 1 processor, and a node from 1 to all of them"
            )
        if self.jobs.widest > self.processors:
            raise InputError(
                f"model {self.name}: the machine has {self.processors:,} processors, a job {self.jobs.widest:,.0f}"
            )
        if self.rules not in ("corrected", "scsf"):
            raise InputError(f"model {self.name}: unknown rules {self.rules!r}; they are corrected or scsf")
        if self.gaps.low[0] < 0 or not self.gaps.high[-1] > 0:
            raise InputError(f"model {self.name}: gaps between arrivals must be 0 s or more, and not all 0 s")
        if self.longest_gap is not None and not self.longest_gap > 0:
            raise InputError(f"model {self.name}: the longest gap must be above 0 s, not {self.longest_gap}")

    @property
    def joint(self) -> bool:
        """Whether processors, requested time and run time are drawn together."""
        return isinstance(self.jobs, JointJobs)

    @property
    def mean_gap(self) -> float:
        """Expected seconds between arrivals, by the cut at `longest_gap` only nearly so."""
        longest = np.inf if self.longest_gap is None else self.longest_gap
        return self.gaps.mapped(lambda edges: np.minimum(edges, longest)).mean

    @property
    def offered_load(self) -> float:
        """Expected work that arrives per unit of what the machine can do, before any limits."""
        return self.jobs.mean_work() / (self.mean_gap * self.processors)

    def facts(self) -> dict[str, Any]:
        """Return what can be said of the model in a few numbers."""
        users = self.jobs.rows[:, 3].max() >= 0 if isinstance(self.jobs, JointJobs) else self.jobs.users is not None
        return {
            "joint": self.joint,
            "users": bool(users),
            "mean_gap": self.mean_gap,
            "mean_work": self.jobs.mean_work(),
            "offered_load": self.offered_load,
        }

    def draw_jobs(self, rng: np.random.Generator, n: int) -> Jobs:
        """Return `n` jobs.

        Returns
        -------
        dict of int64 arrays
            `processors`, `requested_time` and `run_time` in seconds, `user_id` (-1 where the model has no users).
        """
        return self.jobs.draw(rng, n)

    def draw_gaps(self, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        """Return `n` times between arrivals in seconds; see `arrival_times` for models with a cycle."""
        gaps = self.gaps.draw(rng, n)
        return gaps if self.longest_gap is None else np.minimum(gaps, self.longest_gap)

    def arrival_times(self, begin: float, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return when jobs arrive that follow each other by some gaps, the first one by a gap after `begin`.

        With a cycle, a gap is shorter in busy hours; seconds are then counted from a Monday's midnight.
        """
        if self.cycle is None:
            return begin + np.cumsum(gaps)
        return self.cycle.second(self.cycle.elapsed(begin) + np.cumsum(gaps))

    def arrival_intensity(self, second: ArrayLike) -> NDArray[np.float64]:
        """Return how many jobs arrive at some seconds of the clock, relative to the mean; 1 without a cycle."""
        return np.ones(np.shape(second)) if self.cycle is None else self.cycle.at(second)

    def rejects(self, processors: NDArray[np.int64], run_time: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of some jobs whether the site would not accept them."""
        if self.limits is None:
            return np.zeros(np.shape(processors), dtype=np.bool_)
        return self.limits.rejects(processors, run_time)

    def scaled_to(self, processors: int, cores_per_node: int | None = None) -> WorkloadModel:
        """Return a stand-in for a machine of another size.

        Jobs keep their share of the machine: their processors are multiplied by the ratio of the sizes and rounded to
        the nearest whole node, at least one. Times, requests, users, gaps and cycles stay. So the offered load
        stays too, except for the rounding; `provenance["scaled"]` says by how much. Limits are dropped: they
        are of the old machine.

        Parameters
        ----------
        processors
            Size of the other machine.
        cores_per_node
            Of the other machine, where jobs have whole nodes.

        Raises
        ------
        InputError
            If the machine has no processor, or is not made of whole nodes.
        """
        if processors < 1 or (cores_per_node is not None and (cores_per_node < 1 or processors % cores_per_node)):
            nodes = "" if cores_per_node is None else f" in nodes of {cores_per_node}"
            raise InputError(
                f"a machine of {processors} processors{nodes} is impossible: give a multiple of the node size"
            )
        jobs = self.jobs.scaled(NodeScale(processors / self.processors, processors, cores_per_node or 1))
        scaled = replace(self, processors=processors, cores_per_node=cores_per_node, jobs=jobs, limits=None)
        note = {
            "from_processors": self.processors,
            "to_processors": processors,
            "cores_per_node": cores_per_node,
            "load_factor_of_rounding": scaled.offered_load / self.offered_load,
        }
        return replace(scaled, provenance={**self.provenance, "scaled": [*self.provenance.get("scaled", []), note]})

    def to_dict(self) -> dict[str, Any]:
        """Return what the file holds."""
        return {
            "schedlab_workload_model": VERSION,
            "name": self.name,
            "processors": self.processors,
            "cores_per_node": self.cores_per_node,
            "rules": self.rules,
            "provenance": dict(self.provenance),
            "limits": None if self.limits is None else asdict(self.limits),
            "longest_gap": self.longest_gap,
            "cycle": None if self.cycle is None else list(self.cycle.intensity),
            "gaps": self.gaps.to_dict(),
            "jobs": self.jobs.to_dict(),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON.

        Raises
        ------
        OutputError
            If the file cannot be written; nothing half-written is left.
        """
        text = json.dumps(self.to_dict(), ensure_ascii=False)
        with atomic_path(path) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")

    @classmethod
    @explained
    def load(cls, path: str | PathLike[str]) -> WorkloadModel:
        """Read a model that was saved.

        Raises
        ------
        InputError
            If the file cannot be read, is not a workload model, a damaged one, or one of another version.
        """
        document = read_json(path, "workload model")
        version = document.get("schedlab_workload_model") if isinstance(document, dict) else None
        if version is None:
            raise InputError(f"{path} is not a workload model: write one with WorkloadModel.save or schedlab model fit")
        if version != VERSION:
            raise InputError(
                f"{path} is a workload model of version {shown(version)}; this schedlab reads {VERSION}: fit it again"
            )
        try:
            return _from_document(document)
        except (InputError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            raise InputError(f"{path} is a damaged workload model: {reason}; fit it again") from None


def _from_document(document: Mapping[str, Any]) -> WorkloadModel:
    """Return the model of a file; whatever is wrong raises an error for `load` to tell."""
    limits, cycle, longest = document["limits"], document["cycle"], document["longest_gap"]
    return WorkloadModel(
        name=str(document["name"]),
        processors=int(document["processors"]),
        gaps=EmpiricalDistribution.from_dict(document["gaps"]),
        jobs=jobs_from_dict(document["jobs"], document["rules"]),
        cores_per_node=None if document["cores_per_node"] is None else int(document["cores_per_node"]),
        rules=document["rules"],
        cycle=None if cycle is None else ArrivalCycle(tuple(cycle)),
        longest_gap=None if longest is None else float(longest),
        limits=None if limits is None else _limits(limits),
        provenance=_told(document["provenance"]),
    )


def _limits(limits: Mapping[str, Any]) -> JobLimits:
    processors, run_time, wide, long = (int(limits[name]) for name in ("processors", "run_time", "wide", "long"))
    return JobLimits(processors, run_time, float(limits["work"]), wide, long)


def _told(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return a provenance, once sure that it can be shown and that a log can be filtered as it says."""
    numbers = [provenance.get(name, 0) for name in _COUNTS]
    numbers += [step["dropped"] for step in provenance.get("filtered", [])]
    numbers += [change[name] for change in provenance.get("scaled", []) for name in _SCALED]
    if strange := [number for number in numbers if not isinstance(number, int | float)]:
        raise ValueError(f"its provenance has {strange[0]!r} where a number belongs")
    for name, value in provenance.get("settings", {}).items():
        if name not in _SETTINGS or not isinstance(value, _SETTINGS[name]):
            raise ValueError(f"its provenance has the setting {name} = {value!r}")
    return dict(provenance)
