"""How good start forecasts of a site are: a backtest on a replay of its accounting, kept with the site."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import TypeAdapter

from schedlab.atomic import atomic_path
from schedlab.documents import checked, read_json
from schedlab.engine.simulation import simulate
from schedlab.schedule.summary import duration
from schedlab.site.site import fingerprint, read
from schedlab.when.backtests import FORKED, PLAN, Backtest, backtest
from schedlab.when.forks import Twin
from schedlab.when.recalibration import LEAD_NAMES, LEADS, WIDTH_NAMES
from schedlab.when.start_forecast import StartForecast
from schedlab.wording import count_of

KEPT = "when.json"
"""The file of a site's directory that has the last backtest."""

FEW = 30
"""ClassScore jobs below which a class says nothing by itself."""


class ClassScore(NamedTuple):
    """How forecasts of some jobs were: how many, which share of 80 % intervals held, 95 % by weeks, median error."""

    jobs: int
    coverage: float
    low: float
    high: float
    median_error: float


@dataclass(frozen=True, slots=True)
class BacktestRecord:
    """What is kept of a backtest of a site.

    Parameters
    ----------
    schedlab, date, site
        The version, the moment in UTC (ISO 8601), and a digest of the site's files.
    forks
        Simulations of each forecast.
    all_jobs
        How all judged forecasts were.
    plan_error
        Seconds: the median error of a plan with requested times.
    classes
        By predicted lead and processors.
    edges
        Processors that separate the classes.
    """

    schedlab: str
    date: str
    site: str
    forks: int
    all_jobs: ClassScore
    plan_error: float
    classes: dict[str, ClassScore]
    edges: tuple[float, float]


_RECORD = TypeAdapter(BacktestRecord)


def backtest_site(
    directory: str | PathLike[str],
    *,
    jobs: int = 600,
    forks: int = 60,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Backtest:
    """Judge start forecasts on a replay of a site's accounting under its own scheduler, and keep the scores with it.

    Parameters
    ----------
    directory
        Of the site.
    jobs, forks, seed, progress
        As for `backtest`.

    Raises
    ------
    InputError
        If it is not a site with accounting, or too few jobs had to wait.
    """
    site = read(directory)
    found = site.replayable()
    twin = Twin(site.settings.scheduler, cluster=site.cluster)
    log = simulate(found.jobs, site.scheduler, cluster=site.cluster)
    judged = backtest(log, twin, jobs=jobs, forks=forks, seed=seed, progress=progress)
    keep(record_of(judged, fingerprint(directory), forks), Path(directory))
    return judged


def record_of(judged: Backtest, site: str, forks: int) -> BacktestRecord:
    """Return what is kept of a backtest."""
    from schedlab import __version__

    def of(score: object) -> ClassScore:
        names = ("jobs", "coverage", "coverage_low", "coverage_high", "median_error")
        return ClassScore(*(getattr(score, name) for name in names))

    edges = np.quantile(judged.outcomes.processors[~judged.judged], [1 / 3, 2 / 3])
    classes = {f"{lead}, {width}": of(one) for (lead, width), one in judged.scores_by_class(FORKED).items()}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    every, plan = of(judged.score(FORKED)), judged.score(PLAN).median_error
    return BacktestRecord(__version__, now, site, forks, every, plan, classes, (float(edges[0]), float(edges[1])))


def keep(record: BacktestRecord, directory: Path) -> None:
    """Keep a record with a site."""
    told = asdict(record) | {"all_jobs": tuple(record.all_jobs)}
    told["classes"] = {name: tuple(one) for name, one in record.classes.items()}
    with atomic_path(directory / KEPT) as temporary:
        temporary.write_text(json.dumps(told, indent=1, allow_nan=False) + "\n", encoding="utf-8")


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
    found: BacktestRecord = checked(
        _RECORD,
        read_json(path, "backtest of a site"),
        str(path),
        "remove it, and judge the forecasts of the site again",
    )
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
        The answer. Of several jobs, all classes count.
    """
    if record is None:
        return "How often such answers are right has never been checked on this site: schedlab when --backtest does."
    name, judged = "", record.all_jobs
    if len(starts) == 1:
        lead = int(np.digitize(np.median(starts.waits[:, 0]), LEADS))
        width = int(np.digitize(starts.jobs.job_processors[0], record.edges))
        key = f"{LEAD_NAMES[lead]}, {WIDTH_NAMES[width]}"
        if (of_class := record.classes.get(key)) is not None and of_class.jobs >= FEW:
            name, judged = f" of its class ({key})", of_class
    changed = "" if record.site == site else "; the site was imported again since"
    return (
        f"On a replay of the site's accounting by its own rules, {judged.coverage:.0%} of such intervals held "
        f"({judged.low:.0%} to {judged.high:.0%} by weeks; 80 % is promised), and the median error was "
        f"{duration(judged.median_error)}: {count_of(judged.jobs, 'job')}{name}, {record.date[:10]}{changed}."
    )
