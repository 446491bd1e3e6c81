"""When jobs of a site will start, from what Slurm's programs say of it now, and what they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.parts.limits.refusal import in_words
from schedlab.errors import InputError
from schedlab.schedule.summary import duration
from schedlab.site.jobs import completed
from schedlab.site.site import Site
from schedlab.when.asked_names import admitted_qos, check_names
from schedlab.when.forks import Forking
from schedlab.when.site_state import SiteNumbers, SiteState, site_state
from schedlab.when.snapshots import Snapshot
from schedlab.when.start_forecast import StartForecast, forecast_of_state
from schedlab.when.waits_for import WaitsFor, waits_for
from schedlab.workload.event_lines import EventLine, workload_of_events
from schedlab.workload.sbatch import request_of
from schedlab.workload.workload import Workload


@dataclass(frozen=True, eq=False)
class SiteForecast:
    """When jobs of a site start.

    Parameters
    ----------
    site
        The name of the site.
    starts
        Their starts.
    state
        The state that the forks began in.
    waits_for
        What each waits for.
    """

    site: str
    starts: StartForecast
    state: SiteState
    waits_for: tuple[WaitsFor, ...]


@explained
def at_site(
    site: Site,
    snapshot: Snapshot,
    jobs: Sequence[int] | None = None,
    *,
    new: Workload | None = None,
    how: Forking = Forking(),  # noqa: B008
    lasts: NDArray[np.int64] | None = None,
) -> SiteForecast:
    """Forecast when waiting jobs of a site will start, from what Slurm's programs say of it.

    Parameters
    ----------
    site
        The site, with its accounting.
    snapshot
        What was seen of it, see `read_snapshot` and `take_snapshot`.
    jobs
        Numbers of waiting jobs. None: all that can start, of which there may be none, or only `new`, if it is given.
    new
        A job that is not submitted yet, see `asked_job`; or the elements of an array.
    how
        How many forks, and what is drawn for them.
    lasts
        int64 seconds per fork: how long each of the jobs runs that are asked about; None: that is drawn, too.

    Raises
    ------
    InputError
        If a job does not wait, or can never start: the message says why.
    """
    found = site_state(site, snapshot)
    _refuse_others(found, jobs or ())
    if jobs is None and new is None and not len(found.state.waiting):
        nobody = StartForecast(
            found.state.now, found.state.jobs[:0], np.zeros((how.forks, 0), np.int64), 0, how.seed, 0
        )
        return SiteForecast(site.name, nobody, found, ())
    if new is not None:
        new = _at_home(new, site, found)
    starts = forecast_of_state(found.state, found.twin, found.log, how, jobs=jobs, new=new, lasts=lasts)
    return SiteForecast(site.name, starts, found, waits_for(found, starts, site.cluster))


@explained
def asked_job(words: Sequence[str], user: str | None = None) -> Workload:
    """Return a job that is asked about, from options of sbatch.

    Parameters
    ----------
    words
        Such as `["--nodes=4", "--time=6:00:00", "--partition=gpu"]`.
    user
        Whose job it would be.

    Raises
    ------
    InputError
        If an option is not understood.

    Examples
    --------
    >>> job = asked_job(["--nodes=4", "--time=6:00:00"], "ann")
    >>> job.requested_time.tolist(), job.resources.nodes.tolist(), job.header[0]
    ([21600], [4], ' User: 1 ann')
    """
    options = tuple(words)
    line = EventLine(0, -1, user, "new", options, request_of(options))
    return workload_of_events([line], "new")


def _refuse_others(found: SiteState, jobs: Sequence[int]) -> None:
    """Raise if a job does not wait, or never starts."""
    state, there = found.state, found.state.jobs.job_id
    for job in jobs:
        if job in found.never:
            raise InputError(f"job {job}: {found.never[job]}")
        started = state.start_time[there == job]
        if not len(started):
            raise InputError(f"job {job} is not in the queue: it has ended, or is of another cluster")
        if (started >= 0).all():
            ago = duration(state.now - int(started.min()))
            raise InputError(f"job {job} does not wait: it runs since {ago}")


def _at_home(new: Workload, site: Site, found: SiteState) -> Workload:
    """Return a job that is asked about in the numbers of the site, or raise if it can never start there."""
    check_names(new, site)
    jobs = completed(new, site.cluster).jobs
    why = in_words(jobs, site.cluster, never_runs(jobs, site.cluster))[0]
    if why:
        raise InputError(
            f"such a job can never start here: {why}{admitted_qos(site) if 'QOSNotAllowed' in why else ''}"
        )
    numbered = SiteNumbers(site, found.state.jobs.header).given(jobs)
    highest = int(found.state.jobs.job_id.max(initial=0))
    return numbered.replace(job_id=np.full(len(jobs), highest + 1), start_time=found.epoch)
