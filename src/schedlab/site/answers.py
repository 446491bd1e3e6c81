"""The answers of variants of a site: the schedule of each, what became of every job, and the files that keep them."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.atomic import atomic_path
from schedlab.documents import parse_json
from schedlab.energy.measures import OF_ENERGY
from schedlab.errors import InputError
from schedlab.schedule.checkpoints import writes_checkpoints
from schedlab.schedule.metrics import metric_names
from schedlab.schedule.reasons import seconds_refused
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.stretches import by_stretch
from schedlab.schedule.timeline import Steps, cores_held, count_present
from schedlab.schedule.window import measured_window
from schedlab.site.samples import SiteSample
from schedlab.site.variant_task import VariantTask
from schedlab.site.variants import Variant
from schedlab.wording import did_you_mean, shown
from schedlab.workload.workload import Workload

FORMAT = 6
"""Of the stored answers: since 2, both sides of a comparison have the same jobs; since 3, samples have copies; since 4,
they have the cores that runs hold; since 5, utilisation counts these; since 6, they have refused submissions."""

_OF_KEPT = ("row", "submit", "queued", "start", "end", "backfilled", "killed", "refused")
_OF_ALL = ("fate", "undone")
_OF_RUNS = ("runs", "pauses")
_IF_THERE = (*_OF_RUNS, "cores", "watts", "watts_since")


@dataclass(frozen=True, slots=True)
class VariantAnswer:
    """A variant on a sample of jobs.

    Parameters
    ----------
    variant, sample
        What was run.
    schedule
        Of the jobs that it can run: one row for each, also for one that ran in pieces, whose wait is that of all of
        them.
    rows
        Their rows in the sample.
    metrics
        Of the schedule.
    notes
        What was left out, or has no effect, in sentences.
    jobs
        All jobs of the sample.
    fate
        int8, of all jobs of the sample: what became of each, as `schedlab.site.time_limits` numbers it.
    undone
        int64, of all jobs of the sample: seconds that they run at the site as it is, but not here.
    work
        A digest of the work that was done; empty: all of it.
    held_cores
        int64, of each row of `schedule.held`: the cores that the run holds, all those of a node that it has alone.
        None: nodes were not simulated.
    refused
        int64, of each job of the schedule: how many seconds it waits outside the queue, as sbatch refuses it.
    watts
        What the site draws over time; None: there was no power model.
    """

    variant: Variant
    sample: SiteSample
    schedule: Schedule
    rows: NDArray[np.int64]
    metrics: Mapping[str, float]
    notes: tuple[str, ...]
    jobs: Workload
    fate: NDArray[np.int8]
    undone: NDArray[np.int64]
    refused: NDArray[np.int64]
    work: str = ""
    held_cores: NDArray[np.int64] | None = None
    watts: Steps | None = None

    @property
    def busy_cores(self) -> Steps:
        """How many cores jobs hold over time; without nodes, how many processors they asked for."""
        held = self.schedule.held
        return count_present(held.start, held.end, held.processors if self.held_cores is None else self.held_cores)

    @property
    def in_use(self) -> Steps:
        """The share of the machine that jobs hold over time, 0 to 1, as `busy_cores`."""
        busy = self.busy_cores
        return Steps(busy.times, busy.values / self.schedule.processors)

    @property
    def cores(self) -> NDArray[np.int64]:
        """Cores that each job of the sample holds in its last run, as `held_cores`; of one that has none, asked for."""
        cores = self.jobs.job_processors.astype(np.int64)
        if self.held_cores is not None:
            runs = by_stretch(self.schedule).runs
            rows = self.rows if runs is None else self.rows[runs["job"]]
            cores[rows] = np.where(self.held_cores > 0, self.held_cores, cores[rows])
        return cores

    def metric(self, name: str) -> float:
        """Return a metric by its name.

        Raises
        ------
        InputError
            If there is none.
        """
        if name not in self.metrics:
            near = did_you_mean(name, self.metrics)
            raise InputError(f"unknown metric {shown(name)}{near}; the reference of metrics names all")
        return float(self.metrics[name])


def usual_metric(power: str | PathLike[str] | None) -> str:
    """Return what variants are ranked by where nothing is said: the mean wait or, on nodes of a power model, energy."""
    return "mean_wait" if power is None else "energy_kwh"


def check_metric(name: str, power: str | PathLike[str] | None = None) -> None:
    """Refuse a metric that no schedule has, before anything is simulated; with a power model, energy is one.

    Raises
    ------
    InputError
        With the one that was meant.
    """
    if name not in (known := [*metric_names(), *(() if power is None else OF_ENERGY)]):
        raise InputError(f"unknown metric {shown(name)}{did_you_mean(name, known)}; the reference of metrics names all")


def write_answer(path: str | PathLike[str], task: VariantTask, *, nodes: bool) -> None:
    """Simulate what a variant asks for, and write the answer."""
    schedule, metrics, watts = task.simulate(nodes=nodes)
    cores = None if schedule.placement is None else cores_held(by_stretch(schedule))
    if cores is not None and not writes_checkpoints(schedule):
        metrics["utilisation"] = _utilisation(schedule, cores)
    told = {
        "metrics": metrics,
        "notes": task.notes,
        "processors": schedule.processors,
        "work": task.adapted.work,
    }
    columns = {
        "row": task.rows,
        "submit": schedule.workload.submit_time,
        "queued": schedule.queued_since,
        "start": schedule.start_time,
        "end": schedule.end_time,
        "backfilled": schedule.backfilled,
        "killed": schedule.killed,
        "refused": seconds_refused(schedule),
        "fate": task.adapted.fate,
        "undone": task.adapted.undone,
    }
    arrays: dict[str, Any] = {"told": np.array(json.dumps(told))}
    arrays |= {name: np.asarray(column) for name, column in columns.items()}
    arrays |= {name: found for name in _OF_RUNS if (found := getattr(schedule, name)) is not None}
    if cores is not None:
        arrays["cores"] = cores
    if watts is not None:
        arrays |= {"watts_since": watts.times, "watts": watts.values}
    _write(path, arrays)


def _utilisation(schedule: Schedule, cores: NDArray[np.int64]) -> float:
    """Return the share of the machine that runs hold which are done: of a node that a job has alone, all cores."""
    held = schedule.held
    busy = (held.end - held.start)[held.done] * cores[held.done].astype(np.float64)
    return float(busy.sum()) / (schedule.processors * measured_window(schedule).length)


def write_same(path: str | PathLike[str], task: VariantTask, simulated: str | PathLike[str]) -> None:
    """Write the answer of a variant that is simulated as another one, whose answer is there: with notes of its own."""
    told, columns = _read(Path(simulated), (*_OF_KEPT, *_OF_ALL))
    _write(path, {"told": np.array(json.dumps({**told, "notes": task.notes})), **columns})


def _write(path: str | PathLike[str], arrays: Mapping[str, Any]) -> None:
    with atomic_path(path) as temporary:
        np.savez_compressed(temporary, **arrays)


def read_answer(path: str | PathLike[str], variant: Variant, sample: SiteSample, jobs: Workload) -> VariantAnswer:
    """Read an answer; `jobs` are those of the sample.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    told, columns = _read(Path(path), (*_OF_KEPT, *_OF_ALL))
    kept = jobs[columns["row"]].replace(submit_time=columns["submit"])
    schedule = Schedule(
        kept,
        columns["start"],
        columns["end"],
        backfilled=columns["backfilled"],
        killed=columns["killed"],
        predicted_run_time=kept.requested_time,
        corrections=np.zeros(len(kept), dtype=np.int64),
        scheduler=variant.name,
        processors=told["processors"],
        eligible_time=columns["queued"],
        runs=columns.get("runs"),
        pauses=columns.get("pauses"),
    )
    return VariantAnswer(
        variant,
        sample,
        schedule,
        columns["row"],
        told["metrics"],
        tuple(told["notes"]),
        jobs,
        columns["fate"],
        columns["undone"],
        columns["refused"],
        told["work"],
        columns.get("cores"),
        Steps(columns["watts_since"], columns["watts"]) if "watts" in columns else None,
    )


def work_of(path: str | PathLike[str]) -> str:
    """Return the digest of the work that was done in an answer.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    return str(_read(Path(path), ())[0]["work"])


def _read(path: Path, names: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        with np.load(path, allow_pickle=False) as found:
            columns = {name: found[name] for name in (*names, *(one for one in _IF_THERE if one in found and names))}
            return parse_json(str(found["told"])), columns
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path}: the stored answer is damaged ({error}): remove the file and run again") from None
