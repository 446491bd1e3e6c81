"""The study of predictions for the order in windows: months that begin with nothing learned, and drift by weeks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from schedlab.statistics import interval_text, paired
from schedlab_papers.order_runs import ACTUAL, AGED, EAF, EASY, PURE, SAF
from schedlab_papers.order_tables import MEASURES, SLOWDOWN, Cells
from schedlab_papers.reproduction import TextTable

if TYPE_CHECKING:
    import pandas as pd

SHOWN = {"EASY": EASY, "F1": "f1+easy", "eaf": EAF, "aged-eaf": AGED, "SAF, actual run times": ACTUAL}


def months_table(frame: pd.DataFrame) -> TextTable:
    """Return schedulers against SAF, paired by window, all logs together; waits below a second count as one."""
    known = frame.assign(**{metric: frame[metric].clip(lower=1) for metric in MEASURES})
    rows: list[Cells] = []
    for name, text in SHOWN.items():
        pairs = [paired(known, metric, text, SAF) for metric in MEASURES]
        first = pairs[0]
        rows.append(
            (
                *(name, first.pairs, first.ratio, interval_text(first.ratio_interval), first.verdict, first.wins),
                *(pair.ratio for pair in pairs[1:]),
            )
        )
    return TextTable(
        "Windows of 30 days against saf+easy, paired by window: geometric means of ratios",
        ("scheduler", "windows", "slowdown", "95 % interval", "verdict", "better in", *list(MEASURES.values())[1:]),
        tuple(rows),
        notes=("each window begins with an empty machine, and predictors know nothing",),
    )


def cold_table(whole: pd.DataFrame, months: pd.DataFrame) -> TextTable:
    """Return by log what expected area first gains if it starts afresh every 30 days, and if it never does."""
    lasting = ratios(whole, EAF).droplevel("window")
    afresh, possible = (ratios(months, text).groupby(level="log", sort=False) for text in (EAF, ACTUAL))
    most = {log: mean(of_log) for log, of_log in possible}
    rows: list[Cells] = [
        (str(log), len(of_log), float(lasting[log]), mean(of_log), most[log]) for log, of_log in afresh
    ]
    return TextTable(
        "Cold start: mean bounded slowdown of eaf to saf+easy",
        ("log", "windows", "whole log", "windows of 30 days", "the same with actual run times"),
        tuple(rows),
    )


def drift_table(weeks: pd.DataFrame) -> TextTable:
    """Return what it is worth to change the policy from week to week, by what earlier weeks have shown."""
    import pandas as pd

    of_logs = {
        str(log): values
        for log, values in _weekly(weeks).groupby(level="log", sort=False)
        if len(values) > 1  # the first week of a log has no earlier one
    }
    strategies = {name: {log: choose(values) for log, values in of_logs.items()} for name, choose in STRATEGIES.items()}
    rows: list[Cells] = []
    for name, by_log in strategies.items():
        values = pd.Series(by_log)
        rows.append((name, float(np.exp(values.mean())), float(np.exp(values.min())), float(np.exp(values.max()))))
    again = float(np.mean([_same_as_before(values) for values in of_logs.values()]))
    often = float(np.mean([_most_frequent(values) for values in of_logs.values()]))
    return TextTable(
        "Drift: weeks against saf+easy, geometric means over the weeks of a log, then over the logs",
        ("policy", "slowdown to SAF", "best log", "worst log"),
        tuple(rows),
        notes=(
            f"among {len(PURE)} policies of requests alone: {', '.join(PURE)}; first weeks are left out",
            f"a week's best policy is the one of the week before in {again:.0%} of the weeks; the policy that is most "
            f"often the best of a log is it in {often:.0%}",
        ),
    )


def ratios(frame: pd.DataFrame, scheduler: str) -> pd.Series[float]:
    """Return the mean bounded slowdown of a scheduler over that of SAF, by log and window."""
    table = frame.pivot_table(index=["log", "window"], columns="scheduler", values=SLOWDOWN, sort=False, dropna=False)
    return (table[scheduler] / table[SAF]).dropna()


def mean(values: pd.Series[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.log(values).mean()))


def _weekly(weeks: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithms of ratios to SAF: a row for each log and week, a column for each scheduler."""
    table = weeks.pivot_table(index=["log", "window"], columns="scheduler", values=SLOWDOWN)
    return table.sort_index(level="window").div(table[SAF], axis=0).apply(np.log).dropna()


def _followed(values: pd.DataFrame, leaders: pd.Series[str]) -> float:
    """Return the mean of the weeks but the first under the policies that were chosen before them."""
    return float(np.mean([values[leader].iloc[week] for week, leader in enumerate(leaders.tolist(), 1)]))


def _last_best(values: pd.DataFrame) -> float:
    return _followed(values, values[list(PURE)].iloc[:-1].idxmin(axis=1).astype(str))


def _best_so_far(values: pd.DataFrame) -> float:
    return _followed(values, values[list(PURE)].cumsum().iloc[:-1].idxmin(axis=1).astype(str))


def _fixed(scheduler: str) -> Callable[[pd.DataFrame], float]:
    return lambda values: float(values[scheduler].iloc[1:].mean())


STRATEGIES: dict[str, Callable[[pd.DataFrame], float]] = {
    "EASY": _fixed(EASY),
    "the best of the week before": _last_best,
    "the best of all weeks before": _best_so_far,
    "the best of the log, known afterwards": lambda values: float(values[list(PURE)].iloc[1:].mean().min()),
    "the best of each week, known afterwards": lambda values: float(values[list(PURE)].iloc[1:].min(axis=1).mean()),
    "eaf, which starts afresh each week": _fixed(EAF),
    "SAF, actual run times": _fixed(ACTUAL),
}
"""How the policy of a week is found; each returns the mean logarithm of the ratio to SAF."""


def _same_as_before(values: pd.DataFrame) -> float:
    """Return in what share of the weeks the best policy is that of the week before."""
    best = values[list(PURE)].idxmin(axis=1).to_numpy()
    return float(np.mean(best[1:] == best[:-1]))


def _most_frequent(values: pd.DataFrame) -> float:
    """Return in what share of the weeks the policy is best that is so most often."""
    return float(values[list(PURE)].idxmin(axis=1).value_counts(normalize=True).iloc[0])
