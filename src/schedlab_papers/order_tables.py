"""The tables of the study of predictions for the order of the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from schedlab import Workload
from schedlab.metrics import SIZE_CLASSES, USER_CLASSES, bounded_slowdown
from schedlab.statistics import Paired, interval_text, paired
from schedlab.workload import offered_load
from schedlab_papers.order_logs import OrderLog
from schedlab_papers.order_runs import ACTUAL, AGED, EAF, EASY, SAF
from schedlab_papers.reproduction import TextTable

if TYPE_CHECKING:
    import pandas as pd

CHOSEN = "chosen on the other logs"
"""What stands for a scheduler where each log has its own."""

SLOWDOWN = "mean_bounded_slowdown"

MEASURES = {
    SLOWDOWN: "slowdown",
    "mean_per_processor_bounded_slowdown": "per processor",
    "mean_wait": "mean wait",
    "p99_wait": "99 % wait",
    "max_wait": "longest wait",
}
"""The metrics that are shown, and what their columns are called."""

HOUR = 3_600

COPIED = (EASY, SAF, EAF, AGED)
"""What is simulated on copies of the logs."""

NAMES = ("eaf", "aged-eaf")
"""Whose gains are compared with chance."""

Cells = tuple[str | float | None, ...]

CLASSES = (*SIZE_CLASSES, *USER_CLASSES)


def logs_table(logs: Sequence[OrderLog], jobs_of: Callable[[OrderLog], Workload]) -> TextTable:
    """Return what the logs are, how often users repeat themselves in them, and how their jobs have really waited."""
    rows: list[Cells] = []
    for log in logs:
        jobs = jobs_of(log)
        users = len(np.unique(jobs.user_id)) if (jobs.user_id >= 0).any() else None
        size = (len(jobs), jobs.processors, log.counted or "processors", users, offered_load(jobs))
        rows.append((log.name, *size, *map(float, repeats(jobs)), *_recorded(jobs)))
    return TextTable(
        "Logs",
        (
            *("log", "jobs", "machine", "counted in", "users", "load", "repeats request", "and processors"),
            *("recorded slowdown", "recorded wait, h", "longest, h"),
        ),
        tuple(rows),
        notes=(
            "repeats: share of the jobs whose user has submitted one with the same request (and processors) before",
            "recorded: as the log has it, by schedulers, priorities and failures of that time; no simulation",
        ),
    )


def _recorded(jobs: Workload) -> tuple[float | None, float | None, float | None]:
    """Return the recorded mean bounded slowdown, and the mean and longest wait in hours; None if the log has none."""
    known = jobs.wait_time >= 0
    if not known.any() or not jobs.wait_time.any():
        return None, None, None
    wait = jobs.wait_time[known]
    slowdown = bounded_slowdown(wait, np.maximum(jobs.run_time[known], 0))
    return float(slowdown.mean()), float(wait.mean() / HOUR), float(wait.max() / HOUR)


def repeats(jobs: Workload) -> tuple[float, float]:
    """Return the share of the jobs that have the request of an earlier job of the user, and also its processors.

    Examples
    --------
    >>> repeats(Workload.from_columns(dict(submit_time=[0, 1, 2, 3], run_time=[9] * 4, requested_time=[10] * 4,
    ...                                    requested_processors=[1, 2, 2, 2], user_id=[1, 1, 1, 2]), processors=4))
    (0.5, 0.25)
    """
    columns = (jobs.user_id, jobs.requested_time, jobs.job_processors)
    known = [len(np.unique(np.stack(columns[:depth]), axis=1).T) for depth in (2, 3)]
    return 1 - known[0] / len(jobs), 1 - known[1] / len(jobs)


def of_logs(frame: pd.DataFrame, choice: Mapping[str, str]) -> pd.DataFrame:
    """Return the metrics of each log and scheduler, geometric means over the copies, the chosen scheduler among them.

    A wait below a second counts as a second.
    """
    import pandas as pd

    chosen = frame[frame["scheduler"] == frame["log"].map(choice)].assign(scheduler=CHOSEN)
    both = pd.concat([frame, chosen])
    metrics = [*MEASURES, *(f"{measure}_{name}" for measure in (SLOWDOWN, "mean_wait") for name in CLASSES)]
    logarithms = both[metrics].clip(lower=1).apply(np.log)
    groups = logarithms.groupby([both["log"], both["scheduler"]], sort=False)
    means = groups.mean().apply(np.exp).reset_index()
    return means.assign(workload=means["log"], load=1.0, repetition=0, window=0)


def summary_table(frame: pd.DataFrame, baselines: Mapping[str, str], choice: Mapping[str, str]) -> TextTable:
    """Return each scheduler against SAF: geometric means over the logs, and the worst log."""
    means = of_logs(frame, choice)
    rows = [_against(means, name, text) for name, text in (*baselines.items(), (CHOSEN, CHOSEN)) if text != SAF]
    return TextTable(
        "Against saf+easy: geometric means of ratios over the logs",
        ("scheduler", *MEASURES.values(), "95 % interval of the slowdown", "best log", "worst log"),
        tuple(rows),
        notes=("intervals: BCa bootstrap over the logs, paired; they are about other machines of this kind",),
    )


def families_table(frame: pd.DataFrame, candidates: Sequence[str]) -> TextTable:
    """Return all candidates against SAF, the best first; the best of many is better than it will be."""
    means = of_logs(frame, {})
    easy = _ratios(means, EAF)
    rows: list[Cells] = []
    for text in candidates:
        name, slowdown, *rest = _against(means, text, text)
        simulated = _ratios(means, text).dropna().index
        rows.append((name, len(simulated), slowdown, _mean(easy[simulated]), *rest))
    measures = list(MEASURES.values())
    return TextTable(
        "All candidates against saf+easy, on the logs on which they were simulated",
        ("scheduler", "logs", measures[0], "eaf there", *measures[1:], "95 % interval", "best log", "worst log"),
        tuple(sorted(rows, key=lambda row: float(row[2] or 0))),
    )


def _against(means: pd.DataFrame, name: str, text: str) -> Cells:
    pairs = [paired(means, metric, text, SAF) for metric in MEASURES]
    of_log = _ratios(means, text)
    return name, *(pair.ratio for pair in pairs), interval_text(pairs[0].ratio_interval), of_log.min(), of_log.max()


def _ratios(means: pd.DataFrame, scheduler: str, metric: str = SLOWDOWN) -> pd.Series[float]:
    """Return a metric of a scheduler over that of SAF, by log."""
    table = means.pivot_table(index="log", columns="scheduler", values=metric, sort=False)
    return table[scheduler] / table[SAF]


def ratios_of(frame: pd.DataFrame, choice: Mapping[str, str], names: Mapping[str, str]) -> pd.DataFrame:
    """Return the mean bounded slowdowns against SAF, a row for each log and a column for each name of a scheduler."""
    import pandas as pd

    means = of_logs(frame, choice)
    return pd.DataFrame({label: _ratios(means, text) for label, text in names.items()}).loc[list(choice)]


def number_of(table: pd.DataFrame, row: str, column: str) -> float:
    """Return a cell of a table of numbers."""
    return float(table[column][row])


def held_out_table(frame: pd.DataFrame, choice: Mapping[str, str]) -> TextTable:
    """Return for each log what expected area first, and what is chosen on the other logs, are worth."""
    means = of_logs(frame, choice).pivot_table(index="log", columns="scheduler", values=SLOWDOWN)
    rows: list[Cells] = []
    for log, text in choice.items():
        easy, saf, eaf, chosen, actual = (number_of(means, log, name) for name in (EASY, SAF, EAF, CHOSEN, ACTUAL))
        gained = (saf - eaf) / (saf - actual) if actual < saf else None
        rows.append(
            (log, easy, saf, eaf, eaf / saf, actual, gained, text.removesuffix("+easy@requested"), chosen / saf)
        )
    return TextTable(
        "Mean bounded slowdown by log, with what is chosen on the other logs",
        (
            *("log", "EASY", "SAF", "eaf", "to SAF", "SAF, actual run times", "eaf, of the possible gain"),
            *(CHOSEN, "to SAF"),
        ),
        tuple(rows),
    )


def waits_table(frame: pd.DataFrame) -> TextTable:
    """Return waits by log, in hours."""
    names = {"EASY": EASY, "SAF": SAF, "eaf": EAF}
    columns = [(metric, label) for metric in ("mean_wait", "p99_wait", "max_wait") for label in names]
    means = of_logs(frame, {})
    tables = {metric: means.pivot_table(index="log", columns="scheduler", values=metric) / HOUR for metric in MEASURES}
    rows: list[Cells] = [
        (log, *(number_of(tables[metric], log, names[label]) for metric, label in columns))
        for log in map(str, frame["log"].unique())
    ]
    return TextTable(
        "Waits by log, in hours",
        ("log", *(f"{MEASURES[metric]}, {label}" for metric, label in columns)),
        tuple(rows),
        decimals=1,
    )


def classes_table(frame: pd.DataFrame, choice: Mapping[str, str]) -> TextTable:
    """Return who gains and who pays: classes of jobs and users, against SAF."""
    means = of_logs(frame, choice)
    rows: list[Cells] = []
    for name in CLASSES:
        of_class: list[Paired] = [
            paired(means, f"{measure}_{name}", text, SAF)
            for text in (EAF, CHOSEN, EASY, ACTUAL)
            for measure in (SLOWDOWN, "mean_wait")
        ]
        rows.append((name.replace("_", " "), *(pair.ratio for pair in of_class)))
    labels = [
        f"{label}, {measure}" for label in ("eaf", "chosen", "EASY", "actual") for measure in ("slowdown", "wait")
    ]
    return TextTable("Against saf+easy by class of jobs and users", ("class", *labels), tuple(rows))


def copies_table(frame: pd.DataFrame, copies: pd.DataFrame) -> TextTable:
    """Return how much chance there is in each log: the range over its copies."""
    rows: list[Cells] = []
    for log, values in _by_copy(frame, copies).items():
        spread = [float(values[name].max() / values[name].min()) for name in COPIED]
        ratios = [values[text] / values[SAF] for text in (EAF, AGED)]
        rows.append((log, *spread, *(value(ratio) for ratio in ratios for value in (min, _mean, max))))
    ranges = [f"{name} to SAF, {what}" for name in NAMES for what in ("smallest", "geometric mean", "largest")]
    return TextTable(
        "Chance: the same log with submissions moved by up to a minute",
        ("log", "EASY, largest to smallest", "SAF", *NAMES, *ranges),
        tuple(rows),
    )


def _by_copy(frame: pd.DataFrame, copies: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return for each log the mean bounded slowdowns of schedulers on its copies, the log itself among them."""
    import pandas as pd

    both = pd.concat([frame[frame["scheduler"].isin(COPIED)], copies])
    return {
        str(log): both[both["log"] == log].pivot_table(index="copy", columns="scheduler", values=SLOWDOWN)
        for log in frame["log"].unique()
    }


def _mean(ratios: pd.Series[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.log(ratios).mean()))


def goal_table(frame: pd.DataFrame, copies: pd.DataFrame, choice: Mapping[str, str]) -> TextTable:
    """Return what was wanted of a policy that is better than SAF, and what expected area first, and a choice, give."""
    means = of_logs(frame, choice)
    copied = _by_copy(frame, copies)
    found = [_found(means, copied, text) for text in (EAF, AGED)]
    of_choice = _mean(_ratios(means, CHOSEN))
    rows: list[Cells] = [
        (measure, *(cell for of_text in found for cell in of_text[measure])) for measure in (*found[0],)
    ]
    return TextTable(
        "What was wanted, and what eaf and aged-eaf give",
        ("measure, and what it is to be at most", *(cell for name in NAMES for cell in (name, "reached"))),
        tuple(rows),
        notes=(
            "noise floor of a log: the largest mean bounded slowdown of SAF on its copies over the smallest",
            f"chosen on the other logs, the mean bounded slowdown is {of_choice:.2f} of SAF's in geometric mean",
        ),
    )


def _found(means: pd.DataFrame, copied: Mapping[str, pd.DataFrame], text: str) -> dict[str, tuple[float, str]]:
    """Return for each measure of the goal what a scheduler gives, and whether that reaches it."""
    of_copies = {log: _mean(values[text] / values[SAF]) for log, values in copied.items()}
    floors = {log: float(values[SAF].max() / values[SAF].min()) for log, values in copied.items()}
    worse = [log for log, ratio in of_copies.items() if ratio > floors[log]]
    longest = _ratios(means, text, "max_wait")
    longer = longest[longest > 1]
    slow, over_copies, mean_longest = _mean(_ratios(means, text)), _mean_of(of_copies), _mean(longest)
    return {
        "mean bounded slowdown to SAF, geometric mean: 0.85": (slow, _yes(slow <= 0.85)),
        "the same over all copies: 0.85": (over_copies, _yes(over_copies <= 0.85)),
        "logs worse by more than their noise floor: 0": (len(worse), _yes(not worse) + _listed(worse)),
        "longest wait to SAF, geometric mean: 1": (mean_longest, _yes(mean_longest <= 1)),
        "logs with a longer longest wait: 0": (len(longer), _yes(not len(longer)) + _listed(longer.index)),
        "largest ratio of longest waits: 1": (float(longest.max()), _yes(longest.max() <= 1)),
    }


def _mean_of(ratios: Mapping[str, float]) -> float:
    return float(np.exp(np.mean(np.log(list(ratios.values())))))


def _yes(reached: bool) -> str:
    return "yes" if reached else "no"


def _listed(names: Iterable[str]) -> str:
    text = ", ".join(names)
    return f": {text}" if text else ""
