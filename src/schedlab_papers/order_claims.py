"""Claims of others on the logs of the study: CCGRID'19 on replacing EASY's queue, and RLBackfilling on predictions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab import Workload, simulate
from schedlab.files import file_sha256
from schedlab_papers.order_runs import EASY, SAF, Runs
from schedlab_papers.order_tables import SLOWDOWN, Cells
from schedlab_papers.reproduction import TextTable
from schedlab_papers.sc20_logs import LOGS as WINDOWED
from schedlab_papers.sc20_logs import STARTS, WINDOW, Sc20Log

if TYPE_CHECKING:
    import pandas as pd

POLICIES = {"SPF": "spf+easy", "SQF": "sqf+easy", "SAF": SAF}

CLAIMED = {
    SLOWDOWN: "slowdown",
    "mean_per_processor_bounded_slowdown": "per processor",
    "mean_wait": "wait",
    "mean_wait_wide": "wait of wide jobs",
    "max_wait": "longest wait",
}


def replacing_table(frame: pd.DataFrame) -> TextTable:
    """Return by log what other orders than first come, first served do to EASY."""
    results = frame.set_index(["log", "scheduler"])
    tables = {metric: results[metric].unstack() for metric in CLAIMED}
    backfilled = results["backfilled_share"].unstack()
    rows: list[Cells] = []
    worse: list[str] = []
    for log in map(str, frame["log"].unique()):
        of_log = {name: tables[SLOWDOWN][text][log] / tables[SLOWDOWN][EASY][log] for name, text in POLICIES.items()}
        saf = [_ratio(tables[metric], log) for metric in CLAIMED]
        worse += [f"{log} (SAF {of_log['SAF']:.2f})"] if of_log["SAF"] > 1 else []
        shares = (float(backfilled[EASY][log]), float(backfilled[SAF][log]))
        rows.append((log, float(of_log["SPF"]), float(of_log["SQF"]), *saf, *shares))
    labels = [f"SAF, {label}" for label in CLAIMED.values()]
    return TextTable(
        "CCGRID'19, 'one can only gain by replacing EASY backfilling': ratios to EASY",
        ("log", "SPF, slowdown", "SQF, slowdown", *labels, "backfilled, EASY", "backfilled, SAF"),
        tuple(rows),
        notes=(f"logs on which SAF has a larger mean bounded slowdown than EASY: {', '.join(worse) or 'none'}",),
    )


def _ratio(table: pd.DataFrame, log: str) -> float | None:
    """Return SAF over EASY; None if one of them is 0 or unknown."""
    saf, easy = float(table[SAF][log]), float(table[EASY][log])
    return saf / easy if saf > 0 and easy > 0 else None


ESTIMATES = {
    "requests": "requested",
    "actual run times": "actual",
    "E-loss": "e-loss",
    "groups": "groups",
    "similar": "similar",
    "ave2": "ave2",
}

BASES = {"FCFS": "fcfs", "SJF": "spf", "WFP3": "wfp3", "F1": "f1"}

NOISES = (0.05, 0.2, 0.4, 1.0)
"""By how much estimates exceed run times at most, as shares of these."""

LEARNED = ("SDSC-SP2", "HPC2N")
"""The logs of SC'20 that have users and requests."""


def backfilling_table(study: Runs) -> TextTable | None:
    """Return mean bounded slowdowns on SC'20's windows by what EASY assumes of run times; None without its logs.

    The order of the queue always takes requests, as in RLBackfilling (PMBS 2023).
    """
    rows: list[Cells] = []
    for log in WINDOWED:
        file = study.traces / log.file
        if log.name in LEARNED and file.is_file():
            facts = [file_sha256(file), ESTIMATES, BASES, NOISES]
            found = study.kept(f"backfilling-{log.name}", facts, partial(_backfilled, log, study.traces))
            values = found.astype(object).where(found.notna(), None)
            rows += [(log.name, *row) for row in values.itertuples(index=False)]
    if not rows:
        return None
    return TextTable(
        "Is better prediction better backfilling? Mean bounded slowdowns on SC'20's ten windows of 1,024 jobs",
        ("log", "EASY assumes", *BASES),
        tuple(rows),
        notes=(
            "policies order the queue by requests; predictors start afresh in each window and corrected if exceeded",
        ),
    )


def _backfilled(log: Sc20Log, traces: Path) -> pd.DataFrame:
    """Return a line for each assumption, and a column for each policy."""
    import pandas as pd

    jobs, _ = log.read(traces)
    sequences = [jobs[start : start + WINDOW] for start in STARTS]
    rows: list[dict[str, str | float]] = [
        {"assumed": name} | {base: _mean(sequences, _text(text, assumed)) for base, text in BASES.items()}
        for name, assumed in ESTIMATES.items()
    ]
    for noise in NOISES:
        noisy = [_with_estimates(one, noise) for one in sequences]
        rows.append({"assumed": f"actual, up to {noise:.0%} more", "FCFS": _mean(noisy, _text("fcfs", "requested"))})
    return pd.DataFrame(rows)


def _text(base: str, assumed: str) -> str:
    """Return a policy by requests whose backfilling assumes something else."""
    if assumed == "requested":
        return f"{base}+easy"
    return f"{base}@requested+easy@{assumed}"


def _mean(sequences: list[Workload], text: str) -> float:
    return float(np.mean([simulate(jobs, text).bounded_slowdown.mean() for jobs in sequences]))


def _with_estimates(jobs: Workload, noise: float) -> Workload:
    """Return jobs that request their run times and up to that share more."""
    more: NDArray[np.float64] = np.random.default_rng(3).uniform(1, 1 + noise, len(jobs))
    return jobs.replace(requested_time=np.ceil(np.maximum(jobs.run_time, 1) * more).astype(np.int64))
