"""How good start forecasts of a site are: a backtest on its accounting, kept with it for its later answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.recorded import recorded
from schedlab.site.site import Site, fingerprint, read
from schedlab.when.backtest_record import BacktestRecord, ClassScore, KeptQueues, keep, kept_levels
from schedlab.when.backtests import Backtest, backtest
from schedlab.when.forks import Twin
from schedlab.when.methods import CHOSEN, FORKED, METHODS, PLAN, chosen_method
from schedlab.when.queue_forest import finite
from schedlab.when.recalibration import LEAD_NAMES, PastLevels
from schedlab.when.scores import Score

RECORDED, REPLAYED = "the recorded starts", "a replay of the site's accounting by its own rules"

ALWAYS = 1 << 60
"""A second behind all that is known."""


def backtest_site(
    directory: str | PathLike[str],
    *,
    jobs: int = 600,
    forks: int = 60,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Backtest:
    """Judge start forecasts on a site's accounting, and keep with the site what is learned of it.

    The starts are those that were recorded. Where there are none, or where running jobs do not fit together without
    the nodes that accounting does not tell, they are those of a replay under the site's own scheduler.

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
    judged, truth = _judged(site, Drawn(jobs, forks, seed, progress))
    keep(record_of(judged, fingerprint(directory), forks, truth), Path(directory))
    return judged


class Drawn(NamedTuple):
    """What is drawn for a backtest, see `backtest`."""

    jobs: int
    forks: int
    seed: int
    progress: Callable[[int, int], None] | None = None


def _judged(site: Site, drawn: Drawn) -> tuple[Backtest, str]:
    """Return forecasts of the recorded starts or, where these cannot be forecast, of a replay; and which it was."""
    jobs, twin = site.replayable().jobs, Twin(site.settings.scheduler, cluster=site.cluster)
    if bool((jobs.wait_time >= 0).all()):
        try:
            return backtest(recorded(jobs), twin, **drawn._asdict()), RECORDED
        except InputError:  # no job waited, or running jobs do not fit without the nodes that accounting lacks
            pass
    log = simulate(jobs, site.scheduler, cluster=site.cluster)
    return backtest(log, twin, **drawn._asdict()), REPLAYED


def record_of(judged: Backtest, site: str, forks: int, truth: str) -> BacktestRecord:
    """Return what is kept of a backtest."""
    from schedlab import __version__

    outcomes = judged.outcomes
    edges = np.quantile(outcomes.processors[~judged.judged], [1 / 3, 2 / 3])
    leads = {"": None} | {name: lead for lead, name in enumerate(LEAD_NAMES)}
    return BacktestRecord(
        schedlab=__version__,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        site=site,
        forks=forks,
        truth=truth,
        all_jobs=_kept(judged.score(CHOSEN)),
        plan_error=judged.score(PLAN).median_error,
        methods={name: _kept(judged.score(name)) for name in (PLAN, FORKED, *METHODS)},
        classes={f"{lead}, {width}": _kept(one) for (lead, width), one in judged.scores_by_class(CHOSEN).items()},
        edges=(float(edges[0]), float(edges[1])),
        chosen={name: chosen_method(judged.recalibrated, outcomes, ALWAYS, lead) for name, lead in leads.items()},
        levels={name: kept_levels(PastLevels.of(one, ALWAYS)) for name, one in judged.samples.items()},
        queues=KeptQueues(np.round(finite(judged.past.view), 4).tolist(), judged.past.wait.tolist()),
    )


def _kept(score: Score) -> ClassScore:
    held = (score.coverage, score.coverage_low, score.coverage_high)
    coverage, low, high = (None if np.isnan(one) else one for one in held)
    return ClassScore(score.jobs, coverage, low, high, score.median_error, score.pinball)
