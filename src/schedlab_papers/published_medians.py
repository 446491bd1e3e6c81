"""Tables of medians over sequences: what was published above what we get, in two variants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign import local_workers
from schedlab.statistics import METRIC
from schedlab.text import table
from schedlab.types import Progress
from schedlab_papers.reproduction import plain_name
from schedlab_papers.sequences import (
    ALL_SETTINGS,
    AS_DESCRIBED,
    AS_PUBLISHED,
    POLICIES,
    SequenceLog,
    Setting,
    Study,
    Variant,
    run_study,
)

if TYPE_CHECKING:
    import pandas as pd

LAST_DIGIT = 0.01
"""Some of the published values are rounded and some cut off."""

ROUNDING = 1e-9
"""Of the difference of two numbers that are LAST_DIGIT apart."""

BY_HAND = (
    "As published, two of the sequences that are cut are left out, as the authors did by hand; as described, as many "
    "are taken as they come."
)
TRIMMED = (
    "The authors dropped the largest one or two values of some policies before they took the median, which the paper "
    'does not say; so does the line "as published", but not "untrimmed".'
)

AD_HOC = ("FCFS", "WFP", "UNI", "SPT")
LEARNED = ("F4", "F3", "F2", "F1")

Medians = Mapping[str, float]
"""By policy."""

Values = NDArray[np.float64]
"""Of the sequences, ascending."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A line of a published table and what we get.

    Parameters
    ----------
    log, setting
        What was simulated.
    published
        As printed.
    as_published, as_described
        What we get by the rules of the authors' simulator and by their text.
    untrimmed
        As published, but with the values that the authors dropped before they took the median.
    notes
        What else there is to say.
    """

    log: str
    setting: Setting
    published: Medians
    as_published: Medians = field(default_factory=dict)
    untrimmed: Medians = field(default_factory=dict)
    as_described: Medians = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def lines(self) -> Iterator[tuple[str, Medians]]:
        """Yield the lines of the table that have numbers, each with its name."""
        yield "published", self.published
        named = (
            ("as published", self.as_published),
            ("untrimmed", self.untrimmed),
            ("as described", self.as_described),
        )
        yield from ((name, values) for name, values in named if values)

    def differences(self) -> dict[str, float]:
        """Return as published minus published, by policy."""
        both = self.published.keys() & self.as_published.keys()
        return {name: self.as_published[name] - self.published[name] for name in POLICIES if name in both}


@dataclass(frozen=True, slots=True)
class MedianTable:
    """A published table beside ours.

    Parameters
    ----------
    title
        What the numbers are.
    experiments
        Its lines.
    names
        What the study calls policies, where that is not as in `POLICIES`.
    """

    title: str
    experiments: tuple[Experiment, ...]
    names: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and numbers."""
        rows = [
            {
                "experiment": f"{one.log}, {one.setting}",
                "scheduler": self.names.get(policy, policy),
                "published": one.published.get(policy),
                "as_published": one.as_published.get(policy),
                "untrimmed": one.untrimmed.get(policy),
                "as_described": one.as_described.get(policy),
                "difference": one.differences().get(policy),
                "notes": list(one.notes),
            }
            for one in self.experiments
            for policy in POLICIES
        ]
        return {"title": self.title, "rows": rows, "summary": self.summary()}

    def __str__(self) -> str:
        notes = list(dict.fromkeys(note for one in self.experiments for note in one.notes))
        header = ["experiment", *(self.names.get(policy, policy) for policy in POLICIES), "notes"]
        rows = []
        for one in self.experiments:
            marks = " ".join(str(notes.index(note) + 1) for note in one.notes)
            rows.append([f"{one.log}, {one.setting}", *("" for _ in POLICIES), marks])
            for name, values in one.lines():
                rows.append([f"  {name}", *(_shown(values.get(policy)) for policy in POLICIES), ""])
        lines = [self.title, "", table(header, rows), ""]
        lines += [f"{number}  {note}" for number, note in enumerate(notes, start=1)]
        return "\n".join([*lines, *(["", self.summary()] if self.summary() else [])]).rstrip()

    def summary(self) -> str:
        """Return in one paragraph how well the published values are met, and what the variants change."""
        return " ".join([*self._exactness(), *self._changes()])

    def agreement(self) -> tuple[int, int]:
        """Return how many medians are the published ones to the last digit, and how many can be compared."""
        differences = self._differences()
        return sum(difference <= LAST_DIGIT + ROUNDING for difference in differences), len(differences)

    def _differences(self) -> list[float]:
        return [abs(value) for one in self.experiments for value in one.differences().values()]

    def _exactness(self) -> Iterator[str]:
        same, compared = self.agreement()
        if compared:
            yield (
                f"As published, {same} of {compared} medians are those of the authors to {LAST_DIGIT}; the largest "
                f"difference is {max(self._differences()):.2g}."
            )

    def _changes(self) -> Iterator[str]:
        both = [one for one in self.experiments if one.as_published and one.as_described]
        if not both:
            return
        gains = {
            self.names.get(policy, policy): _geometric_mean(
                [one.as_published[policy] / one.as_described[policy] for one in both]
            )
            for policy in POLICIES
        }
        yield (
            "Ratio of medians as published, with a window, to those of the whole queue, as described "
            f"(geometric means of {len(both)} experiments): "
            + ", ".join(f"{policy} {gain:.1f}" for policy, gain in gains.items())
            + "."
        )
        leads = [
            _geometric_mean([_best(values, AD_HOC) / _best(values, LEARNED) for values in variant])
            for variant in ([one.as_published for one in both], [one.as_described for one in both])
        ]
        saf = [
            sum(values["SAF"] < _best(values, LEARNED) for values in variant)
            for variant in ([one.as_published for one in both], [one.as_described for one in both])
        ]
        yield (
            f"The best of F1 to F4 is ahead of the best of the four others by a factor of {leads[0]:.1f} as published "
            f"and {leads[1]:.1f} as described; plain SAF, which the study does not have, is ahead of the best of F1 to "
            f"F4 in {saf[0]} and {saf[1]} of the experiments."
        )


def reproduce_study(
    study: Study,
    logs: Sequence[SequenceLog],
    traces: Path,
    variants: Iterable[Variant],
    *,
    names: Mapping[str, str] = MappingProxyType({}),
    directory: Path,
    plots: Path | None = None,
    progress: Progress | None = None,
) -> MedianTable:
    """Repeat a study on those of some logs that are there.

    Parameters
    ----------
    study, logs
        What is repeated, and on which workloads.
    traces
        Directory with the logs.
    variants
        Those of `schedlab_papers.sequences.VARIANTS` that are simulated.
    names
        What the study calls policies, where that is not as in `POLICIES`.
    directory
        Where run directories are made. What is in them is not simulated again.
    plots
        Directory for boxplots of each workload.
    progress
        Called now and then, as for `run_campaign`.
    """
    present = [log for log in logs if log.file and (traces / log.file).is_file()]
    results = {}
    with local_workers() as workers:  # that have everything compiled and loaded from the second campaign on
        for variant in variants if present else ():
            results[variant.name] = run_study(study, present, traces, variant, directory, workers, progress)
    experiments: list[Experiment] = []
    for log in logs:
        if log in present:
            experiments += experiments_of(log, results)
        else:
            notes = log.notes or (f"trace not found: {log.file}",)
            experiments += [Experiment(log.name, one, published_of(log, one), notes=notes) for one in ALL_SETTINGS]
    if plots is not None:
        save_boxes(study, present, results, names, plots)
    return MedianTable(study.title, tuple(experiments), names)


def save_boxes(
    study: Study,
    logs: Iterable[SequenceLog],
    results: Mapping[str, pd.DataFrame],
    names: Mapping[str, str],
    directory: Path,
) -> list[Path]:
    """Write the boxplots of each workload, a panel per setting and variant, as PNG, and return the files."""
    from schedlab.plot import save as save_figure
    from schedlab.plot import sequences as plot_sequences

    files = []
    for log in logs:
        panels = {
            f"{setting}, {variant.replace('-', ' ')}": {
                names.get(policy, policy): values for policy, values in samples_of(frame, log, setting).items()
            }
            for setting in ALL_SETTINGS
            for variant, frame in results.items()
        }
        figure = plot_sequences(panels, log.name, columns=len(results))
        files.append(save_figure(figure, directory / f"{study.name}-{plain_name(log.name)}.png"))
    return files


def experiments_of(log: SequenceLog, results: Mapping[str, pd.DataFrame]) -> Iterator[Experiment]:
    """Yield the experiments with a workload.

    Parameters
    ----------
    log
        The workload.
    results
        By the name of the variant, what `run_study` gives.
    """
    for setting in ALL_SETTINGS:
        samples = {name: samples_of(frame, log, setting) for name, frame in results.items()}
        seen, whole = samples.get(AS_PUBLISHED.name, {}), samples.get(AS_DESCRIBED.name, {})
        dropped = log.trimmed.get(setting, {})
        yield Experiment(
            log.name,
            setting,
            published_of(log, setting),
            {policy: _median(values, dropped.get(policy, 0)) for policy, values in seen.items()},
            {policy: _median(values) for policy, values in seen.items()} if dropped else {},
            {policy: _median(values) for policy, values in whole.items()},
            (*log.notes, *((BY_HAND,) if log.skip else ()), *((TRIMMED,) if dropped else ())),
        )


def published_of(log: SequenceLog, setting: Setting) -> dict[str, float]:
    """Return what is printed for a setting, by policy."""
    return dict(zip(POLICIES, log.published[setting], strict=False))


def samples_of(frame: pd.DataFrame, log: SequenceLog, setting: Setting) -> dict[str, Values]:
    """Return the values of all sequences in ascending order, by policy."""
    part = frame[(frame["workload"] == log.name) & (frame["setting"] == setting)]
    return {policy: np.sort(part.loc[part["policy"] == policy, METRIC].to_numpy()) for policy in POLICIES}


def _median(values: Values, dropped: int = 0) -> float:
    """Return the median without some of the largest values."""
    return float(np.median(values[: len(values) - dropped]))


def _best(values: Medians, policies: Sequence[str]) -> float:
    return min(values[policy] for policy in policies)


def _geometric_mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:.2f}"
