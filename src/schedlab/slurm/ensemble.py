"""Several runs of one workload on the real Slurm, and how far a model is from them.

Two runs of a real Slurm differ: its loops meet the jobs at other points. So a model is not held against one run job
by job, but against the ensemble: its mean waits, and its distance per job beside the members' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.slurm.results import SlurmRun

if TYPE_CHECKING:
    import pandas as pd


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


def own_distances(runs: Sequence[SlurmRun]) -> NDArray[np.float64]:
    """Return, for each run, the mean absolute difference of its starts from the mean start in the others, in "
    "seconds."""
    table = starts(runs)
    if len(table) < 2:
        raise InputError("one run has no distance to others: give at least two phases")
    others = (table.sum(axis=0) - table) / (len(table) - 1)
    return np.asarray(np.abs(table - others).mean(axis=1))


def compare_with_model(runs: Sequence[SlurmRun], model: Schedule) -> pd.DataFrame:
    """Return what a model and the ensemble have in common: waits, share backfilled, distance per job.

    Parameters
    ----------
    runs
        At least two phases.
    model
        A schedule of the same jobs.

    Returns
    -------
    pandas.DataFrame
        Rows `mean wait`, quantiles, `backfilled`, `distance per job`; columns `ensemble` (mean), `lowest`, `highest`,
        `model`.
    """
    import pandas as pd

    def measures(schedule: Schedule) -> list[float]:
        wait = schedule.wait_time
        return [float(wait.mean()), *map(float, np.quantile(wait, (0.5, 0.9, 0.99))), float(schedule.backfilled.mean())]

    own = own_distances(runs)
    table = np.array([[*measures(run.schedule), distance] for run, distance in zip(runs, own, strict=True)])
    mean = starts(runs).mean(axis=0)
    ours = [*measures(model), float(np.abs(model.start_time - mean).mean())]
    names = ["mean wait", "median wait", "90 % wait", "99 % wait", "backfilled", "distance per job"]
    columns = {"ensemble": table.mean(axis=0), "lowest": table.min(axis=0), "highest": table.max(axis=0), "model": ours}
    return pd.DataFrame(columns, index=pd.Index(names))
