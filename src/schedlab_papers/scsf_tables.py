"""What ScSF's paper says beside what its experiments give here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from schedlab.campaign import SubmissionComparison
from schedlab.durations import DAY
from schedlab.text import count_of, duration
from schedlab.types import SubmissionSummary
from schedlab_papers.reproduction import Number, TextTable
from schedlab_papers.scsf_setup import EXPERIMENTS, HOUR, REPETITIONS, Setting

if TYPE_CHECKING:
    import pandas as pd

FIGURE_17 = ("cybershake", "sipht", "montage")
"""The workflows of the paper's Figure 17."""

SIMILAR = 1.25
"""Medians that differ by no more than this factor count as similar; the paper does not say what it calls so."""

Ratio = tuple[str, float]


def matrix_table(frames: dict[int, pd.DataFrame], setting: Setting) -> TextTable:
    """Return how much was simulated, and how long that took."""
    rows: list[tuple[str | Number, ...]] = []
    results = {number: frame[frame["workload"].notna()] for number, frame in frames.items()}
    simulated, seconds = 0, 0.0
    for number, frame in results.items():
        whole = int(EXPERIMENTS[number] * setting.runs / REPETITIONS)
        rows.append((f"set {number}: experiments of the paper", f"{EXPERIMENTS[number]:,}", f"{whole:,}"))
        rows.append((f"set {number}: simulated", f"{EXPERIMENTS[number]:,}", f"{len(frame):,}"))
        simulated += len(frame)
        seconds += float(frame["seconds"].sum())
    days = simulated * setting.days
    every = np.concatenate([frame["seconds"].to_numpy() for frame in results.values()])
    speed = setting.days * DAY / np.maximum(every, 1e-9)
    total = sum(EXPERIMENTS[number] for number in frames)
    rows += [
        ("simulated time that counts", f"{total * 7:,} days", f"{days:,.0f} days"),
        ("processes", "161 virtual machines, 24 hosts", "one core each"),
        ("time of all simulations", "less than two months", f"{duration(seconds)} of one core"),
        ("one experiment, median", "10 to 12 h", duration(float(np.median(every)))),
        ("one experiment, longest", "more than 168 h", duration(float(every.max()))),
        ("simulated time over time, median", "15", f"{np.median(speed):,.0f}"),
        ("simulated time over time, lowest", "below 1", f"{speed.min():,.0f}"),
    ]
    notes = (
        "Experiments without workflows are the same for all modes and workflows, and are simulated once: 6 of "
        "set 1 instead of 108.",
        "Time here: generation and simulation, a scheduling pass every 30 s except those that could start no job.",
        "The jobs are of a stand-in: Edison's own model was never published.",
    )
    return TextTable("ScSF, section 4.5: the matrix", ("what", "paper", "here"), tuple(rows), notes=notes)


def claims_table(found: dict[int, SubmissionComparison]) -> TextTable:
    """Return the paper's claims beside ours; set by set."""
    rows: list[tuple[str | Number, ...]] = []
    for number, submission_modes in found.items():
        rows += [(f"set {number}", *row) for row in _claims(submission_modes)]
    head = ("set", "the paper says", "here", "holds in")
    notes = (
        "Run times: medians of workflows that both submission modes have finished, repetition by repetition, and their "
        "geometric mean; similar is up to a factor of 1.25.",
        "Idle: reserved by pilot jobs and not used, in the part that counts.",
    )
    return TextTable("ScSF, sections 4.5 and 4.6: what the paper says", head, tuple(rows), notes=notes)


def _claims(found: SubmissionComparison) -> Iterator[tuple[str, str, str]]:
    chained = _ratios(found, "chained", "pilot")
    yield (
        "chained workflows run much longer than pilots in all cases",
        _range(chained),
        _holds(chained, lambda ratio: ratio > SIMILAR),
    )
    aware = _ratios(found, "aware", "pilot")
    yield (
        "aware and pilot workflows have similar run times",
        _range(aware),
        _holds(aware, lambda ratio: 1 / SIMILAR <= ratio <= SIMILAR),
    )
    for mode, text in (("pilot", "pilots reserve what they do not use"), ("aware", "aware workflows do not")):
        rows = [row for row in found.summaries if row.submission_mode == mode]
        idle = [(row.experiment, row.reserved - row.useful) for row in rows]
        if idle:
            shown = ", ".join(f"{100 * value:.1f} %" for value in (min(v for _, v in idle), max(v for _, v in idle)))
            wanted: Callable[[float], bool] = (lambda v: v > 0.001) if mode == "pilot" else (lambda v: v <= 0.001)
            yield f"{text}: idle, least and most", shown, _holds(idle, wanted)
    seconds = {(row.experiment, row.submission_mode): row.seconds for row in found.summaries}
    for submission_mode in ("chained", "aware"):
        times = [
            (experiment, value / seconds[experiment, "pilot"])
            for (experiment, name), value in seconds.items()
            if name == submission_mode and (experiment, "pilot") in seconds
        ]
        if times:
            yield (
                f"{submission_mode}: a simulation takes longer than with pilots",
                _range(times),
                _holds(times, lambda ratio: ratio > 1),
            )


def figure_17_table(found: SubmissionComparison) -> TextTable:
    """Return Figure 17 in numbers: medians of run times by share, and how much shorter than chained."""
    rows: list[tuple[str | Number, ...]] = []
    for name in FIGURE_17:
        experiments = dict.fromkeys(row.experiment for row in found.summaries if row.experiment.startswith(f"{name}/"))
        for experiment in experiments:
            mine = {row.submission_mode: row for row in found.summaries if row.experiment == experiment}
            hours = [_hours(mine.get(submission_mode)) for submission_mode in ("pilot", "aware", "chained")]
            gains = [_gain(found, experiment, submission_mode) for submission_mode in ("pilot", "aware")]
            rows.append((experiment, *hours, *gains, _unfinished(list(mine.values()))))
    head = (
        "workflow/share",
        "pilot, h",
        "aware, h",
        "chained, h",
        "chained / pilot",
        "chained / aware",
        "unfinished, %",
    )
    notes = (
        "Median run times of the finished workflows; ratios on those that both have finished.",
        "Unfinished at the cutoff: pilot, aware, chained.",
        "The paper shows curves and bars, and no numbers.",
    )
    return TextTable("ScSF, Figure 17: median run time of workflows", head, tuple(rows), notes=notes)


def presence_table(found: SubmissionComparison, title: str) -> TextTable:
    """Return turnarounds of all workflows of a set, by presence and submission_mode."""
    rows: list[tuple[str | Number, ...]] = []
    for experiment in dict.fromkeys(row.experiment for row in found.summaries if row.submitted):
        mine = {row.submission_mode: row for row in found.summaries if row.experiment == experiment}
        there = [mine.get(submission_mode) for submission_mode in ("pilot", "aware", "chained")]
        turnarounds = [None if row is None else _number(row.turnaround / HOUR) for row in there]
        idle = None if there[0] is None else round(100 * (there[0].reserved - there[0].useful), 1)
        gains = [_gain(found, experiment, submission_mode) for submission_mode in ("pilot", "aware")]
        rows.append((experiment, *turnarounds, *gains, idle, _unfinished(list(mine.values()))))
    head = ("workflow/presence", "pilot, h", "aware, h", "chained, h", "chained / pilot", "chained / aware")
    return TextTable(
        title,
        (*head, "idle in pilots, %", "unfinished, %"),
        tuple(rows),
        notes=(
            "Hours: median turnaround of the finished workflows. Ratios: of run times, on those both have finished.",
        ),
    )


def _ratios(found: SubmissionComparison, submission_mode: str, baseline: str) -> list[Ratio]:
    """Return the ratios of run times of all experiments in which workflows can be compared."""
    rows = [row for row in found.differences if row.measure == "run_time"]
    pairs = [row for row in rows if (row.submission_mode, row.baseline) == (submission_mode, baseline)]
    return [(row.experiment, row.pair.ratio) for row in pairs if row.pair is not None and row.pair.ratio]


def _range(values: Sequence[Ratio]) -> str:
    if not values:
        return "nothing to compare"
    lowest, highest = min(values, key=lambda pair: pair[1]), max(values, key=lambda pair: pair[1])
    median = float(np.median([value for _, value in values]))
    return f"{lowest[1]:.2f} ({lowest[0]}) to {highest[1]:.2f} ({highest[0]}), median {median:.2f}"


def _holds(values: Sequence[Ratio], condition: Callable[[float], bool]) -> str:
    return f"{sum(condition(value) for _, value in values)} of {count_of(len(values), 'experiment')}"


def _gain(found: SubmissionComparison, experiment: str, submission_mode: str) -> float | None:
    """Return how many times longer chained workflows run."""
    for other, baseline, power in (("chained", submission_mode, 1), (submission_mode, "chained", -1)):
        for row in found.of(experiment, "run_time", other, baseline):
            if row.pair is not None and row.pair.ratio:
                return round(float(row.pair.ratio**power), 2)
    return None


def _hours(row: SubmissionSummary | None) -> float | None:
    return None if row is None else _number(row.run_time / HOUR)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 2)


def _unfinished(rows: Sequence[SubmissionSummary]) -> str:
    by_submission_mode = {row.submission_mode: row for row in rows}
    shares = [by_submission_mode.get(submission_mode) for submission_mode in ("pilot", "aware", "chained")]
    return " ".join(
        "-" if row is None or not row.submitted else f"{row.unfinished / row.submitted:.0%}" for row in shares
    )
