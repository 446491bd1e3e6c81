"""Forecasts beside the starts that Slurm itself foretells: from the same moments of the same runs on the real Slurm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError, whole_number
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.site.site import Site
from schedlab.slurm.results import SlurmRun
from schedlab.slurm.start_audit import StartEstimates, score_estimates
from schedlab.when.forks import Forking, Twin
from schedlab.when.start_forecast import forecast_of_state
from schedlab.when.state import state_at
from schedlab.wording import count_of, table


class Beside(NamedTuple):
    """What Slurm and forecasts said of the same jobs at the same moments, one entry per job and moment.

    Parameters
    ----------
    slurm
        What `squeue --start` named.
    median, low, high
        float64 seconds of the workload's clock: the quantiles 0.5, 0.1 and 0.9 of the start in the forecast.
    first
        Which entries are the first of their job in their run, soon after its submission.
    moments
        How many moments there were.
    refused
        Why some of them have no forecast, with the second.
    """

    slurm: StartEstimates
    median: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    first: NDArray[np.bool_]
    moments: int
    refused: tuple[str, ...]

    @property
    def forecasts(self) -> StartEstimates:
        """The medians, as if a point had been named, in full seconds."""
        return self.slurm._replace(said=np.rint(self.median).astype(np.int64))

    @property
    def held(self) -> NDArray[np.bool_]:
        """Whether each job started between the quantiles 0.1 and 0.9."""
        started = self.slurm.started
        return np.asarray((np.floor(self.low) <= started) & (started <= np.ceil(self.high)))


@explained
def beside_slurm(
    one: SlurmRun, said: StartEstimates, site: Site, *, every: int = 1, how: Forking | None = None
) -> Beside:
    """Forecast from the moments at which Slurm was asked, and return what both said.

    Of the past, a forecast knows what had been submitted, had started and had ended in this run by then.

    Parameters
    ----------
    one
        A run of the laboratory.
    said
        What Slurm said in it, see `schedlab.slurm.start_audit.estimates_of`.
    site
        The site of the run, imported with the same jobs.
    every
        One moment of so many is taken.
    how
        How forks are made; None: as usual.

    Raises
    ------
    InputError
        If Slurm named no start of a job that started, or no moment could be forecast.
    """
    if whole_number("every", every) < 1:
        raise InputError(f"every={every}: one moment of so many is taken, at least 1")
    log, rows = _as_at_the_site(one, site), one.records["row"].to_numpy()
    row_of = dict(zip(log.workload.job_id.tolist(), rows.tolist(), strict=True))
    twin, how, refused = Twin(site.scheduler, cluster=site.cluster), how or Forking(), list[str]()
    entries, quantiles = list[NDArray[np.intp]](), list[NDArray[np.float64]]()
    moments = np.unique(said.asked[said.judged])[(every - 1) // 2 :: every].tolist()
    for moment in moments:
        asked = np.flatnonzero(said.judged & (said.asked == moment) & (said.started >= moment))
        try:
            found = forecast_of_state(state_at(log, moment), twin, log, how)
        except InputError as error:
            refused.append(f"second {moment}: {error}")
            continue
        place = {row_of[number]: column for column, number in enumerate(found.jobs.job_id.tolist())}
        known = asked[[int(row) in place for row in said.row[asked]]]
        entries.append(known)
        quantiles.append(found.quantiles()[[place[int(row)] for row in said.row[known]]] + moment)
    if not entries:
        raise InputError(refused[0] if refused else "Slurm named no start of a job that started: nothing can be judged")
    chosen, levels = np.concatenate(entries), np.concatenate(quantiles)
    slurm = StartEstimates(*(column[chosen] for column in said))
    return Beside(slurm, levels[:, 1], levels[:, 0], levels[:, 2], said.first[chosen], len(moments), tuple(refused))


def joined_runs(found: Iterable[Beside]) -> Beside:
    """Return the entries of several runs as one."""
    every = list(found)
    slurm = StartEstimates(*(np.concatenate(columns) for columns in zip(*(one.slurm for one in every), strict=True)))
    return Beside(
        slurm,
        median=np.concatenate([one.median for one in every]),
        low=np.concatenate([one.low for one in every]),
        high=np.concatenate([one.high for one in every]),
        first=np.concatenate([one.first for one in every]),
        moments=sum(one.moments for one in every),
        refused=tuple(why for one in every for why in one.refused),
    )


def _as_at_the_site(one: SlurmRun, site: Site) -> Schedule:
    """Return the schedule of a run with the site's jobs: what they ask for is completed as the site's Slurm does."""
    if site.jobs is None:
        raise InputError("the site has no jobs: import it with those of the run")
    rows, jobs = one.records["row"].to_numpy(), one.schedule.workload
    same = int(rows.max()) < len(site.jobs) and np.array_equal(site.jobs[rows].submit_time, jobs.submit_time)
    if not same:
        raise InputError("the site has other jobs than the run: import it with those of the run")
    return replace(one.schedule, workload=site.jobs[rows])


def beside_text(found: Beside) -> str:
    """Return both as text: a sentence, and a table."""
    slurm, ours = score_estimates(found.slurm), score_estimates(found.forecasts)
    sentence = (
        f"At {count_of(found.moments - len(found.refused), 'moment')}, the median error of forecasts was "
        f"{duration(ours.median_error)}, where that of squeue --start was {duration(slurm.median_error)}; "
        f"{ours.within_10_min:.0%} were right within 10 min, where {slurm.within_10_min:.0%} of Slurm's were. "
        f"Of the 80 % intervals, {found.held.mean():.0%} held."
    )
    if found.refused:
        sentence += f" {count_of(len(found.refused), 'moment')} could not be forecast, the first: {found.refused[0]}."
    return f"{sentence}\n\n{_table(found)}"


def _table(found: Beside) -> str:
    rows = []
    for name, which in (("all", np.ones(len(found.first), dtype=np.bool_)), ("first of a job", found.first)):
        if not which.any():
            continue
        for who, said in (("squeue --start", found.slurm), ("forecast", found.forecasts)):
            one = score_estimates(said, which)
            held = f"{found.held[which].mean():.0%}" if who == "forecast" else "-"
            close = (f"{one.within_10_min:.0%}", f"{one.within_factor_2:.0%}", held)
            rows.append([name, who, f"{one.estimates:,}", duration(one.median_error), *close])
    return table(["asked", "by", "answers", "median error", "within 10 min", "within x2", "80 % held"], rows)
