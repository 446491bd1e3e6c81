"""What is kept of a backtest with a site: scores, the method chosen for each lead, and what recalibrates answers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import TypeAdapter

from schedlab.atomic import atomic_path
from schedlab.documents import checked, read_json
from schedlab.errors import InputError
from schedlab.schedule.summary import duration
from schedlab.when.queue_forest import PastQueues
from schedlab.when.recalibration import LEAD_NAMES, LEADS, WIDTH_NAMES, PastLevels
from schedlab.when.start_forecast import StartForecast
from schedlab.wording import count_of

KEPT = "when.json"
"""The file of a site's directory that has the last backtest."""

FEW = 30
"""Judged jobs below which a class says nothing by itself."""

NEVER_CHECKED = "How often such answers are right has never been checked on this site: schedlab when --backtest does."


class ClassScore(NamedTuple):
    """How forecasts of some jobs were; None where a point has no interval.

    Parameters
    ----------
    jobs
        How many.
    coverage, low, high
        Which share of 80 % intervals held, with a 95 % interval by weeks.
    median_error, pinball
        Seconds, see `Score`.
    """

    jobs: int
    coverage: float | None
    low: float | None
    high: float | None
    median_error: float
    pinball: float


class KeptLevels(NamedTuple):
    """Where past outcomes lay in the forecasts of a method, see `PastLevels`."""

    level: list[float]
    lead: list[int]
    processors: list[int]
    longest: float


class KeptQueues(NamedTuple):
    """What judged jobs saw of the queue with quantiles of their forks, and how long they waited, see `PastQueues`."""

    view: list[list[float]]
    wait: list[int]


@dataclass(frozen=True, slots=True)
class BacktestRecord:
    """What is kept of a backtest of a site.

    Parameters
    ----------
    schedlab, date, site
        The version, the moment in UTC (ISO 8601), and a digest of the site's files.
    forks
        Simulations of each forecast.
    truth
        What the forecasts were judged by.
    all_jobs
        How all judged forecasts were, by the method that was chosen for each.
    plan_error
        Seconds: the median error of a plan with requested times.
    methods
        How those of each method were.
    classes
        By predicted lead and processors, by the chosen methods.
    edges
        Processors that separate the classes.
    chosen
        The method that answers, by the lead that forks predict; "" for any.
    levels
        What recalibrates the answers of each method.
    queues
        What is learned from.
    """

    schedlab: str
    date: str
    site: str
    forks: int
    truth: str
    all_jobs: ClassScore
    plan_error: float
    methods: dict[str, ClassScore]
    classes: dict[str, ClassScore]
    edges: tuple[float, float]
    chosen: dict[str, str]
    levels: dict[str, KeptLevels]
    queues: KeptQueues


_RECORD = TypeAdapter(BacktestRecord)


def kept_levels(past: PastLevels) -> KeptLevels:
    """Return levels as they are kept."""
    return KeptLevels(np.round(past.level, 4).tolist(), past.lead.tolist(), past.processors.tolist(), past.longest)


def past_levels(kept: KeptLevels) -> PastLevels:
    """Return kept levels as they are used."""
    lead, processors = (np.array(one, dtype=np.int64) for one in (kept.lead, kept.processors))
    return PastLevels(np.array(kept.level, dtype=np.float64), lead, processors, kept.longest)


def past_queues(kept: KeptQueues) -> PastQueues:
    """Return kept queues as they are used: all of them are the past."""
    wait = np.array(kept.wait, dtype=np.int64)
    return PastQueues(np.zeros_like(wait), np.array(kept.view, dtype=np.float64), wait)


def keep(record: BacktestRecord, directory: Path) -> None:
    """Keep a record with a site."""
    with atomic_path(directory / KEPT) as temporary:
        temporary.write_text(json.dumps(asdict(record), allow_nan=False) + "\n", encoding="utf-8")


def kept(directory: str | PathLike[str]) -> BacktestRecord | None:
    """Return the record of the last backtest of a site; None: there was none.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = Path(directory) / KEPT
    if not path.is_file():
        return None
    mend = "remove it, and judge the forecasts of the site again"
    found: BacktestRecord = checked(_RECORD, read_json(path, "backtest of a site"), str(path), mend)
    sizes = {len(one.level) for one in found.levels.values()} | {len(found.queues.wait), len(found.queues.view)}
    if len(sizes) != 1 or len({len(view) for view in found.queues.view}) > 1:
        raise InputError(f"{path}: its lists differ in length; {mend}")
    return found


def how_sure(record: BacktestRecord | None, site: str, starts: StartForecast) -> str:
    """Return how often such answers were right, in sentences.

    Parameters
    ----------
    record
        What is kept; None: nothing.
    site
        The digest of the site's files now.
    starts
        The answer of the forks. Of several jobs, all classes count.
    """
    if record is None:
        return NEVER_CHECKED
    name, judged = "", record.all_jobs
    if len(starts) == 1:
        lead = int(np.digitize(np.median(starts.waits[:, 0]), LEADS))
        width = int(np.digitize(starts.jobs.job_processors[0], record.edges))
        key = f"{LEAD_NAMES[lead]}, {WIDTH_NAMES[width]}"
        if (of_class := record.classes.get(key)) is not None and of_class.jobs >= FEW:
            name, judged = f" of its class ({key})", of_class
    changed = "" if record.site == site else "; the site was imported again since"
    return (
        f"On {record.truth}, {judged.coverage or 0:.0%} of such intervals held "
        f"({judged.low or 0:.0%} to {judged.high or 0:.0%} by weeks; 80 % is promised), and the median error was "
        f"{duration(judged.median_error)}: {count_of(judged.jobs, 'job')}{name}, {record.date[:10]}{changed}."
    )
