"""How well the jobs of a model agree with those of the log: distances, correlations, load, what comes in bursts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.model.fit import gaps_of, observe
from schedlab.model.jobs import Jobs
from schedlab.model.model import WorkloadModel
from schedlab.workload.workload import Workload

HOUR = 3_600

CHANCE = 0.05
"""How often two samples of one distribution are farther apart than what is called chance."""

VARIABLES = {
    "processors": "processors",
    "requested_time": "requested time, s",
    "run_time": "run time, s",
    "accuracy": "run time / requested time",
    "core_hours": "core-hours",
    "gap": "time between arrivals, s",
}
"""What is compared, and how it is called."""

PAIRS = (("processors", "requested_time"), ("processors", "run_time"), ("requested_time", "run_time"))


@dataclass(frozen=True, eq=False)
class VariableCheck:
    """One variable in the log and in the jobs of the model.

    Parameters
    ----------
    original, synthetic
        Its values.
    """

    original: NDArray[np.float64]
    synthetic: NDArray[np.float64]

    @property
    def distance(self) -> float:
        """The Kolmogorov-Smirnov distance: the largest difference between the two cumulative distributions."""
        return ks_distance(self.original, self.synthetic)

    @property
    def chance(self) -> float:
        """A distance that two samples of one distribution as large as these exceed in 5 % of all cases, at most."""
        sizes = 1 / len(self.original) + 1 / len(self.synthetic)
        return sqrt(-log(CHANCE / 2) / 2 * sizes)

    def to_dict(self) -> dict[str, float]:
        """Return the distance, and mean and median of both."""
        return {
            "ks_distance": self.distance,
            "ks_chance": self.chance,
            "mean_original": float(self.original.mean()),
            "mean_synthetic": float(self.synthetic.mean()),
            "median_original": float(np.median(self.original)),
            "median_synthetic": float(np.median(self.synthetic)),
        }


@dataclass(frozen=True, eq=False)
class ModelCheck:
    """Jobs of a model beside those of the log.

    Parameters
    ----------
    model, log
        Their names.
    variables
        What was compared, by the names of `VARIABLES`.
    measures
        Other measures, each with its value in the log and in the jobs of the model: rank correlations, offered load,
        share of jobs that run longer than requested, how uneven the hours are (variance of arrivals per hour over
        their mean), and how often a job repeats the size and the request of the one before.
    same_log
        Whether the model was fitted to this log.
    """

    model: str
    log: str
    variables: Mapping[str, VariableCheck]
    measures: Mapping[str, tuple[float, float]]
    same_log: bool

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers."""
        return {
            "model": self.model,
            "log": self.log,
            "same_log": self.same_log,
            "jobs_original": len(self.variables["run_time"].original),
            "jobs_synthetic": len(self.variables["run_time"].synthetic),
            "variables": {name: one.to_dict() for name, one in self.variables.items()},
            "measures": {
                name: {"original": original, "synthetic": synthetic}
                for name, (original, synthetic) in self.measures.items()
            },
        }

    def __str__(self) -> str:
        lines = [
            f"{len(self.variables['run_time'].synthetic):,} jobs of model {self.model} beside those of {self.log}",
            "",
            f"{'variable':<27}{'KS distance':>12}{'chance':>9}{'median: log':>14}{'model':>10}"
            f"{'mean: log':>13}{'model':>11}",
        ]
        for name, one in self.variables.items():
            values = one.to_dict()
            lines.append(
                f"{VARIABLES[name]:<27}{one.distance:>12.4f}{one.chance:>9.4f}{values['median_original']:>14,.4g}"
                f"{values['median_synthetic']:>10,.4g}{values['mean_original']:>13,.4g}{values['mean_synthetic']:>11,.4g}"
            )
        lines += ["", f"{'measure':<46}{'log':>10}{'model':>10}"]
        lines += [f"{name:<46}{original:>10.3f}{model:>10.3f}" for name, (original, model) in self.measures.items()]
        return "\n".join(lines)


@explained
def check_model(model: WorkloadModel, workload: Workload, *, rng: np.random.Generator | int) -> ModelCheck:
    """Compare as many jobs of a model as a log has with those of the log, filtered as the model's was.

    Parameters
    ----------
    model
        The model.
    workload
        A log of the same machine: the one that the model was fitted to, or another part of it.
    rng
        Where the draws come from: a generator, or the seed of a new one.

    Raises
    ------
    InputError
        If the log is of a machine of another size, or too short.

    Examples
    --------
    >>> import schedlab as sl
    >>> rng = np.random.default_rng(1)
    >>> log = sl.model.tsafrir_estimates(sl.model.lublin(500, 256, rng=rng, load=0.7), rng=rng)
    >>> check = check_model(sl.model.fit_model(log), log, rng=rng)
    >>> check.variables["run_time"].distance < check.variables["run_time"].chance
    True
    """
    rng = np.random.default_rng(rng)
    if model.processors != workload.processors:
        here = f"model {model.name} is of a machine of {model.processors:,} processors and {workload.name} of one of "
        if workload.processors is None:
            raise InputError(f"{here}unknown size: give it (processors={model.processors}) if it is the same")
        raise InputError(
            f"{here}{workload.processors:,}: compare a model with a log of its machine, before it is scaled"
        )
    settings = dict(model.provenance.get("settings", {}))
    longest_gap = settings.pop("longest_gap", None)
    seen = observe(workload, **settings)
    arrivals = len(seen.submit_time)
    drawn = model.draw_jobs(rng, arrivals)
    times = np.floor(model.arrival_times(0.0, model.draw_gaps(rng, arrivals - 1))).astype(np.int64)
    gaps = gaps_of(seen.submit_time, None, None)
    drawn_gaps = np.diff(times, prepend=0).astype(np.float64)
    original = _variables(seen.jobs, gaps if longest_gap is None else gaps[gaps <= longest_gap])
    synthetic = _variables(drawn, drawn_gaps)
    measures = {
        f"rank correlation, {VARIABLES[a].split(',')[0]} and {VARIABLES[b].split(',')[0]}": (
            _rank_correlation(original[a], original[b]),
            _rank_correlation(synthetic[a], synthetic[b]),
        )
        for a, b in PAIRS
    }
    work = np.dot(drawn["run_time"].astype(np.float64), drawn["processors"])
    measures["offered load"] = (seen.work / (gaps.sum() * model.processors), work / (times[-1] * model.processors))
    measures["share of jobs above their request"] = (_above(seen.jobs), _above(drawn))
    measures["variance over mean of arrivals per hour"] = (_unevenness(seen.submit_time), _unevenness(times))
    measures["share of jobs like the one before"] = (_repeated(seen.jobs), _repeated(drawn))
    from schedlab.schedule.provenance import input_sha256

    same = model.provenance.get("input_sha256") == input_sha256(workload)
    checks = {name: VariableCheck(original[name], synthetic[name]) for name in VARIABLES}
    return ModelCheck(model.name, workload.name, checks, measures, same)


def ks_distance(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples.

    Examples
    --------
    >>> ks_distance(np.array([1, 2, 3, 4]), np.array([3, 4, 5, 6]))
    0.5
    """
    values = np.concatenate((first, second))
    shares = [np.searchsorted(np.sort(sample), values, side="right") / len(sample) for sample in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def _variables(jobs: Jobs, gaps: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the values of what is compared."""
    processors, requested, run_time = (
        jobs[name].astype(np.float64) for name in ("processors", "requested_time", "run_time")
    )
    return {
        "processors": processors,
        "requested_time": requested,
        "run_time": run_time,
        "accuracy": run_time / requested,
        "core_hours": processors * run_time / HOUR,
        "gap": gaps,
    }


def _rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return Spearman's correlation; NaN if one of the two is constant."""
    from scipy.stats import rankdata

    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def _above(jobs: Jobs) -> float:
    return float(np.mean(jobs["run_time"] > jobs["requested_time"]))


def _unevenness(submit_time: NDArray[np.int64]) -> float:
    """Return variance over mean of the arrivals per hour: 1 if they are independent and equally likely at all times."""
    per_hour = np.bincount((submit_time - submit_time[0]) // HOUR)
    return float(per_hour.var() / per_hour.mean())


def _repeated(jobs: Jobs) -> float:
    """Return the share of jobs with the size and the request of the job before."""
    same = [np.diff(jobs[name]) == 0 for name in ("processors", "requested_time")]
    return float(np.mean(same[0] & same[1]))
