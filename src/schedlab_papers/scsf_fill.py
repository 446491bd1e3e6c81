"""ScSF's Figures 8 to 12: what job pressure and a fill phase do to a workload, without any workflow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from schedlab import Workload, simulate
from schedlab.durations import DAY
from schedlab.generate import Experiment, generate_experiment, scsf_fill_jobs
from schedlab.metrics import Minutes, minutes_of
from schedlab.model import WorkloadModel
from schedlab.statistics import seed_of
from schedlab.workload import Sections
from schedlab_papers.reproduction import TextTable
from schedlab_papers.scsf_setup import SCHEDULER, Setting

HOUR = 3_600
WAIT = 4 * HOUR
HOURS = 24
"""After the begin, in which the start of an experiment is judged."""

LARGE = HOUR
"""Seconds between the four large fill jobs of Figure 10, a quarter of the machine each."""


@dataclass(frozen=True, slots=True)
class Start:
    """How an experiment begins.

    Parameters
    ----------
    figure
        Of the paper.
    what
        Pressure and fill.
    claim
        What the paper says.
    minutes, sections
        What happened.
    """

    figure: str
    what: str
    claim: str
    minutes: Minutes
    sections: Sections

    @property
    def hourly(self) -> list[float]:
        """Utilisation of each of the first hours after the begin."""
        first = self.sections.begin // 60
        return [
            float(self.minutes.reserved[first + 60 * hour : first + 60 * (hour + 1)].mean()) for hour in range(HOURS)
        ]

    @property
    def median_wait(self) -> float:
        """Median of the median waits of all minutes that count, in hours."""
        counted = (self.minutes.begin >= self.sections.start) & (self.minutes.begin <= self.sections.end)
        return float(np.nanmedian(self.minutes.median_wait[counted])) / HOUR


def starts(setting: Setting) -> list[Start]:
    """Simulate three days after a day of preload, in the four ways of Figures 8 to 11."""
    model = WorkloadModel.load(setting.model)
    ways = (
        ("8", "no pressure, no fill", "low utilisation", 0.0, 0, 0),
        ("9", "pressure 1, no fill", "close to one, but no jobs to begin with", 1.0, 0, 0),
        ("10", "pressure 1, large fill jobs", "falling spikes at the beginning", 1.0, WAIT, LARGE),
        ("11", "pressure 1, small fill jobs", "good utilisation, more stable start", 1.0, WAIT, 0),
    )
    found = []
    for figure, what, claim, pressure, wait, separation in ways:
        experiment = Experiment(model, pressure=pressure, fill_wait=wait, preload=DAY, duration=3 * DAY)
        workload = generate_experiment(experiment, rng=np.random.default_rng(seed_of(1, "starts", 0))).workload
        if separation:
            workload = _with_fill(workload, model, experiment.sections, separation)
        minutes = minutes_of(simulate(workload, SCHEDULER), experiment.sections)
        found.append(Start(figure, what, claim, minutes, experiment.sections))
    return found


def _with_fill(workload: Workload, model: WorkloadModel, sections: Sections, separation: int) -> Workload:
    """Return the workload with other fill jobs: fewer and larger ones, by ScSF's rule."""
    node = model.cores_per_node or 1
    fill = scsf_fill_jobs(WAIT, model.processors, node, begin=sections.begin, separation=separation)
    usual = workload[workload.submit_time >= sections.begin]
    columns = {
        name: np.concatenate([values, getattr(usual, name)])
        for name, values in fill.items()
        if name in ("submit_time", "requested_processors", "run_time", "requested_time")
    }
    return Workload.from_columns(columns, name=workload.name, processors=model.processors, header=workload.header)


def starts_table(found: list[Start]) -> TextTable:
    """Return Figures 8 to 12 in numbers."""
    rows = [
        (
            one.figure,
            one.what,
            one.claim,
            round(100 * float(np.mean(one.hourly)), 1),
            round(100 * float(min(one.hourly)), 1),
            round(100 * float(np.abs(np.diff(one.hourly)).max()), 1),
            round(one.median_wait, 2),
        )
        for one in found
    ]
    head = ("figure", "workload", "the paper", "mean use, %", "lowest hour, %", "largest change, %", "median wait, h")
    return TextTable(
        "ScSF, Figures 8 to 12: how an experiment begins",
        head,
        tuple(rows),
        notes=(
            "Use, and its largest change from one hour to the next: of the first 24 hours after the begin.",
            "Median wait: of the jobs of each minute, median of three days; the fill is to induce 4 h (Figure 12b).",
        ),
    )


def save_start_figures(found: list[Start], directory: Path) -> None:
    """Write Figures 8 to 12."""
    from schedlab.plot import median_waits as plot_median_waits
    from schedlab.plot import minutes as plot_minutes
    from schedlab.plot import save as save_figure

    for one in found:
        axes = plot_minutes(one.minutes, one.sections, f"Utilisation: {one.what} (Figure {one.figure})")
        save_figure(axes, directory / f"figure-{one.figure}.png")
    with_fill, without = found[-1], found[1]
    for name, one in (("a", without), ("b", with_fill)):
        save_figure(plot_median_waits({one.what: one.minutes}, one.sections), directory / f"figure-12{name}.png")
