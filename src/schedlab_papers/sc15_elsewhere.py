"""The question that SC'15 leaves open: which of its triples is best on logs that it has not seen?

Other logs, cleaned by default and in the default order of events, are cut into windows of five weeks. In the first week
of each the machine fills and predictors begin to learn; it is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab import Campaign, run_campaign
from schedlab.statistics import METRIC, Paired, SchedulerRanking, interval_text, paired, ranking
from schedlab.text import table
from schedlab.types import Progress
from schedlab_papers.reproduction import Part
from schedlab_papers.sc15_logs import BACKFILLINGS, BASICS, CHOICES, E_LOSS, EASY, EASY_PLUS_PLUS, GRID

if TYPE_CHECKING:
    import pandas as pd

OTHER_LOGS: dict[str, tuple[str, int | None]] = {
    "HPC2N": ("HPC2N-2002-2.2-cln.swf.gz", None),
    "Ross": ("Sandia-Ross-2001-1.1-cln.swf.gz", None),
    "Atlas": ("LLNL-Atlas-2006-2.1-cln.swf.gz", None),
    "Thunder": ("LLNL-Thunder-2007-1.1-cln.swf.gz", None),
    "RICC": ("RICC-2010-2.swf.gz", None),
    "wagap": ("modern/wagap-2013.swf.gz", 2_176),
    "Theta": ("modern/theta_2023.swf.gz", None),
}
"""Full logs with requested times that are not in the paper, by file and, where the file does not say it, processors."""

WINDOW, WARM_UP = "5w", "1w"

BEST = 5
"""Number of the best triples shown beside the named ones."""


def elsewhere(traces: Path, directory: Path, progress: Progress | None = None) -> list[Part]:
    """Run the 130 triples on those other logs that are there, and return what is best.

    Parameters
    ----------
    traces
        Directory with the logs.
    directory
        Where the run directory is made.
    progress
        As for `run_campaign`.
    """
    present = [name for name, (file, _) in OTHER_LOGS.items() if (traces / file).is_file()]
    if not present:
        return []
    frame = run_elsewhere(traces, present, GRID, directory, progress)
    return [best_everywhere(frame), held_out(frame)] if len(present) > 1 else [best_everywhere(frame)]


def run_elsewhere(
    traces: Path, logs: Sequence[str], schedulers: Sequence[str], directory: Path, progress: Progress | None = None
) -> pd.DataFrame:
    """Return the results of schedulers on windows of other logs."""
    entries = [
        {
            "trace": str(traces.absolute() / OTHER_LOGS[name][0]),
            "name": name,
            "processors": OTHER_LOGS[name][1],
            "windows": {"length": WINDOW, "count": "all"},
        }
        for name in logs
    ]
    campaign = Campaign(
        name="sc15-elsewhere",
        description="The heuristic triples of SC'15 on logs that it has not seen.",
        workloads=entries,  # type: ignore[arg-type]
        schedulers=schedulers,  # type: ignore[arg-type]
        metrics={"warm_up": WARM_UP},  # type: ignore[arg-type]
    )
    return run_campaign(campaign, directory / campaign.name, progress=progress).results()


def best_everywhere(frame: pd.DataFrame) -> SchedulerRanking:
    """Return the ranking of the basic and the named triples and of the best others, over all windows."""
    ratios = log_ratios(frame).groupby(level="scheduler").mean()
    best = ratios[ratios.index.isin(CHOICES)].nsmallest(BEST).index
    shown = frame[frame["scheduler"].isin({*BASICS, EASY_PLUS_PLUS, E_LOSS, *best})]
    found = ranking(shown, EASY)
    return replace(found, rows=tuple(found.of()))


def log_ratios(frame: pd.DataFrame) -> pd.Series[float]:
    """Return ln of the mean bounded slowdown over that of EASY, by workload, window and scheduler."""
    logs = np.log(frame.set_index(["workload", "window", "scheduler"])[METRIC])
    baseline = logs.xs(EASY, level="scheduler")
    ratios: pd.Series[float] = logs - baseline.reindex(logs.index.droplevel("scheduler")).to_numpy()
    return ratios


@dataclass(frozen=True, slots=True)
class HeldOut:
    """For each log, what is chosen on the others is worth on it, against EASY.

    Parameters
    ----------
    rows
        Log, what is judged, the triple, and its comparison with EASY over the windows of the log.
    """

    rows: tuple[tuple[str, str, str, Paired], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the ratios and their intervals."""
        return {
            "title": self.title,
            "rows": [
                {"log": log, "what": what, "scheduler": text, "windows": pair.pairs, "ratio": pair.ratio}
                | {"interval": pair.ratio_interval}
                for log, what, text, pair in self.rows
            ],
        }

    @property
    def title(self) -> str:
        """What it shows."""
        return "On each log the triple with the best mean ratio to EASY on the others: geometric mean ratio to EASY"

    def __str__(self) -> str:
        header = ["log", "judged", "triple", "windows", "ratio", "95 % interval", "verdict"]
        cells = [
            [
                *(log, what, text, f"{pair.pairs}", "-" if pair.ratio is None else f"{pair.ratio:.3f}"),
                *(interval_text(pair.ratio_interval), pair.verdict),
            ]
            for log, what, text, pair in self.rows
        ]
        return f"{self.title}\n\n{table(header, cells)}"


def held_out(frame: pd.DataFrame) -> HeldOut:
    """Judge on each log the triple that is best on the others, beside the named ones and the best in hindsight."""
    ratios = log_ratios(frame).groupby(level=["workload", "scheduler"]).mean().unstack("workload")
    ratios = ratios[ratios.index.isin(CHOICES)]
    rows = []
    for log in ratios.columns:
        judged = {
            "chosen on the others": ratios.drop(columns=log).mean(axis=1).idxmin(),
            "EASY-SJBF": BACKFILLINGS[1],
            "EASY++": EASY_PLUS_PLUS,
            "E-loss": E_LOSS,
            "best in hindsight": ratios[log].idxmin(),
        }
        part = frame[frame["workload"] == log]
        rows += [(str(log), what, str(text), paired(part, METRIC, str(text), EASY)) for what, text in judged.items()]
    return HeldOut(tuple(rows))
