"""The grid of a campaign as data for its page: every run with its cell, its metrics, and how to see it again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schedlab.campaign.results.statistics import INSTANCE, LARGER_IS_BETTER

if TYPE_CHECKING:
    import pandas as pd

MOST_RUNS = 50_000
"""Beyond, a page would weigh more than a mail may: it keeps its figures and tables of means."""

PREFERRED = (
    "mean_bounded_slowdown",
    "mean_wait",
    "median_wait",
    "p95_wait",
    "max_wait",
    "mean_turnaround",
    "utilisation",
    "mean_queue_length",
    "backfilled_share",
    "fairness",
    "makespan",
)
"""The metrics that a page offers, as far as the results have them."""


def grid(
    frame: pd.DataFrame, metric: str, schedulers: Sequence[str], baseline: str, *, run: str, running: bool
) -> dict[str, Any] | None:
    """Return all runs of a campaign, cell by cell; None if there are too many or the results are of no campaign.

    Parameters
    ----------
    frame
        The results frame.
    metric
        The metric that decides, shown first.
    schedulers
        In the order of the columns.
    baseline
        The scheduler that cells are compared with.
    run
        Path of the run directory, for the command that shows a run.
    running
        Whether the page will be written again.
    """
    if "task" not in frame or len(frame) > MOST_RUNS:
        return None
    offered = [name for name in dict.fromkeys((metric, *PREFERRED)) if name in frame]
    places: dict[str, int] = {}
    column = {scheduler: number for number, scheduler in enumerate(schedulers)}
    rows = []
    for row in frame[[*INSTANCE, "scheduler", "task", *offered, *(["jobs"] if "jobs" in frame else [])]].to_dict(
        "records"
    ):
        load = row["load"]
        place = str(row["workload"]) + ("" if load is None or math.isnan(load) else f", load {load:g}")
        rows.append(
            {
                "place": places.setdefault(place, len(places)),
                "scheduler": column[row["scheduler"]],
                "instance": f"repetition {row['repetition']}"
                + (f", window {row['window']}" if row["window"] >= 0 else ""),
                "task": row["task"],
                "jobs": _finite(row.get("jobs")),
                "values": [_finite(row[name]) for name in offered],
            }
        )
    return {
        "metric": metric,
        "metrics": offered,
        "places": list(places),
        "schedulers": list(schedulers),
        "baseline": baseline,
        "largerIsBetter": sorted(LARGER_IS_BETTER),
        "run": run,
        "running": running,
        "rows": rows,
    }


def _finite(value: Any) -> float | None:
    """Return a number that JSON has, rounded to what a page shows."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
