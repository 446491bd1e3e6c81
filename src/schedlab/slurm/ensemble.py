"""Several runs of one workload on the real Slurm, and how far a model is from them.

Two runs of a real Slurm differ: its loops meet the jobs at other points. So a model is not held against one run job
by job, but against the ensemble: its mean waits, and its distance per job beside the members' own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.slurm.results import SlurmRun
from schedlab.wording import count_of, table

if TYPE_CHECKING:
    import pandas as pd


@explained
def ensemble_table(runs: Sequence[SlurmRun]) -> str:
    """Return a table of runs: one line each, and a line of their mean."""
    facts = runs[0].facts
    plugins = ", ".join(str(value) for value in facts["plugins"].values())
    head = f"Slurm {facts['slurm']} ({plugins}), {facts['mode']} clock\n\n"
    head += (
        f"{'phase':>8} {'jobs':>7} {'mean wait':>10} {'p50':>8} {'p95':>9} {'max':>9} {'backfilled':>11} {'speed':>8}\n"
    )
    lines = [f"{run.facts['phase']:>7.1f}s {_line(run.schedule)} {run.speed:>7.0f}x" for run in runs]
    if len(runs) > 1:
        waits = np.array([run.schedule.wait_time.mean() for run in runs])
        spread = f"mean wait {waits.mean():.1f} s, between {waits.min():.1f} and {waits.max():.1f}"
        if len({len(run.schedule) for run in runs}) == 1:
            own = own_distances(runs)
            spread += f"; per-job distance of a run to the mean of the others {own.mean():.1f} s"
            spread += f" ({own.min():.1f} to {own.max():.1f})"
        lines.append("\n" + spread)
    return head + "\n".join(lines)


def _line(schedule: Schedule) -> str:
    wait = schedule.wait_time
    quantiles = " ".join(f"{np.quantile(wait, q):>{width}.0f}" for q, width in ((0.5, 8), (0.95, 9), (1.0, 9)))
    return f"{len(schedule):>7} {wait.mean():>9.1f}s {quantiles} {100 * schedule.backfilled.mean():>10.1f}%"


@explained
def starts(runs: Sequence[SlurmRun]) -> NDArray[np.float64]:
    """Return the starts of all runs, shape (runs, jobs), in seconds.

    Raises
    ------
    InputError
        If not all runs started the same jobs.
    """
    if len({len(run.schedule) for run in runs}) != 1:
        raise InputError("the runs did not start the same jobs")
    return np.array([run.schedule.start_time for run in runs], dtype=np.float64)


@explained
def own_distances(runs: Sequence[SlurmRun]) -> NDArray[np.float64]:
    """Return how far each run is from the others: the mean distance of a start from its mean in the others, in s.

    Raises
    ------
    InputError
        If there is only one run, or not all started the same jobs.
    """
    begins = starts(runs)
    if len(begins) < 2:
        raise InputError("one run has no distance to others: give two phases or more")
    return np.asarray(np.abs(begins - _means_of_others(begins)).mean(axis=1))


def _means_of_others(begins: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((begins.sum(axis=0) - begins) / (len(begins) - 1))


@explained
@dataclass(frozen=True, slots=True)
class EnsembleComparison:
    """Schedules of the same jobs, in groups, beside the runs of a laboratory.

    Parameters
    ----------
    reference
        The runs that distances are measured to.
    groups
        Schedules by the name of their group: of a model, of clusters in real time, of another laboratory.

    Raises
    ------
    InputError
        If there are fewer than two runs, or a schedule is not of the same jobs.
    """

    reference: tuple[Schedule, ...]
    groups: Mapping[str, tuple[Schedule, ...]]

    def __post_init__(self) -> None:
        if len(self.reference) < 2:
            raise InputError("one run has no distance to others: give two phases or more")
        sizes = {len(schedule) for group in (self.reference, *self.groups.values()) for schedule in group}
        if len(sizes) != 1:
            raise InputError("the runs did not start the same jobs")

    def to_frame(self) -> pd.DataFrame:
        """Return the measures.

        Returns
        -------
        pandas.DataFrame
            Rows `mean wait`, `50 % wait`, `90 % wait`, `99 % wait` (seconds), `backfilled` (share of jobs) and
            `distance` (seconds: mean over the jobs of the absolute difference of a start from the mean start in the
            reference, in the others of the reference for its own runs); columns by group and `mean`, `lowest`,
            `highest` of the group.
        """
        import pandas as pd

        starts = np.array([schedule.start_time for schedule in self.reference], dtype=np.float64)
        pairs = zip(self.reference, _means_of_others(starts), strict=True)
        found = {"laboratory": [_measures(*pair) for pair in pairs]}
        mean = starts.mean(axis=0)
        found |= {name: [_measures(schedule, mean) for schedule in group] for name, group in self.groups.items()}
        columns = {
            (name, statistic): pd.DataFrame(rows).agg(how)
            for name, rows in found.items()
            for statistic, how in (("mean", "mean"), ("lowest", "min"), ("highest", "max"))
        }
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        frame = self.to_frame()
        groups = ["laboratory", *self.groups]
        rows = []
        for measure, values in zip(frame.index, frame.to_numpy().tolist(), strict=True):
            percent = measure == "backfilled"
            shown = [100 * value if percent else value for value in values]
            triples = zip(shown[::3], shown[1::3], shown[2::3], strict=True)
            cells = [f"{mean:.1f} ({lowest:.1f} to {highest:.1f})" for mean, lowest, highest in triples]
            rows.append([f"{measure}, {'%' if percent else 's'}", *cells])
        sizes = [len(self.reference), *(len(group) for group in self.groups.values())]
        return table(
            ["", *(f"{name}, {count_of(size, 'run')}" for name, size in zip(groups, sizes, strict=True))], rows
        )


def _measures(schedule: Schedule, near: NDArray[np.float64]) -> dict[str, float]:
    wait = schedule.wait_time
    quantiles = {f"{100 * q:.0f} % wait": float(np.quantile(wait, q)) for q in (0.5, 0.9, 0.99)}
    share = float(schedule.backfilled.mean())
    distance = float(np.abs(schedule.start_time - near).mean())
    return {"mean wait": float(wait.mean()), **quantiles, "backfilled": share, "distance": distance}
