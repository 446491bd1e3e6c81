"""On which of several clusters a job would have its result first, each asked about by its own queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.schedule.columns import in_columns
from schedlab.schedule.summary import duration
from schedlab.site.site import Site
from schedlab.when.advice import ALLOWED, RESULTS, results, run_times_of, waits_and_results
from schedlab.when.forks import Forking
from schedlab.when.site_forecast import asked_job, at_site
from schedlab.when.snapshots import Snapshot, SnapshotFiles
from schedlab.wording import table


@dataclass(frozen=True, slots=True)
class SiteOption:
    """One cluster for a job.

    Parameters
    ----------
    site
        Its name.
    waits
        int64 seconds per fork: how long the job waits there; empty if it can never start.
    result
        float64 seconds per fork: until its result, infinite where it is killed at its limit.
    killed
        The chance of that.
    refused
        Why it can never start there; "": it can.
    """

    site: str
    waits: NDArray[np.int64]
    result: NDArray[np.float64]
    killed: float
    refused: str = ""

    @property
    def median(self) -> float:
        """Seconds: the median time to the result, infinite where it never comes."""
        return float(np.median(self.result)) if len(self.result) else float("inf")


@explained
def which_site(
    sites: Sequence[tuple[Site, Snapshot]],
    job: Sequence[str],
    *,
    user: str | None = None,
    how: Forking = Forking(),  # noqa: B008
) -> tuple[SiteOption, ...]:
    """Return on which of several clusters a job has its result first; those where it never starts come last.

    Parameters
    ----------
    sites
        Each cluster, and what was seen of it, see `read_snapshot`. How long the job may run is what its user's past
        runs have used of such a request on the first of them where it can start.
    job
        Options of sbatch with a time, such as `["--ntasks=16", "--time=2:00:00"]`.
    user
        Whose job it is.
    how
        How many forks, and what is drawn for them.

    Raises
    ------
    InputError
        If it can start on none, or two have the same name.

    Notes
    -----
    The same fork has the same run time on all clusters: how much faster one is than another, is not known.
    """
    names = [site.name for site, _ in sites]
    if len(set(names)) < len(names):
        raise InputError(f"two of the clusters have one name ({', '.join(names)}): import one with another ClusterName")
    found: list[SiteOption] = []
    lasts: NDArray[np.int64] | None = None
    for site, snapshot in sites:
        try:
            answer = at_site(site, snapshot, new=asked_job(job, user), how=how)
        except InputError as error:
            found.append(SiteOption(site.name, np.zeros(0, dtype=np.int64), np.zeros(0), 0.0, str(error)))
            continue
        if lasts is None:
            lasts = run_times_of(answer, how)
        waits, limit = answer.starts.waits[:, 0], int(answer.starts.jobs.requested_time[0])
        result = results(waits, lasts, limit)
        found.append(SiteOption(site.name, waits, result, float((lasts > limit).mean())))
    if lasts is None:
        told = "; ".join(f"{one.site}: {one.refused}" for one in found)
        raise InputError(f"the job can start on none of the clusters: {told}")
    return tuple(sorted(found, key=lambda one: (bool(one.refused), one.killed > ALLOWED, one.median)))


def which_site_text(options: Sequence[SiteOption], asked: str) -> str:
    """Return the advice as text: a sentence, and a table of the clusters.

    Parameters
    ----------
    options
        As `which_site` returns them.
    asked
        The name of the cluster that was asked about first.
    """
    best, own = options[0], next(one for one in options if one.site == asked)
    if best.killed > ALLOWED:
        first = "On every cluster it is killed at its limit too often: ask for more time."
    elif best is own:
        first = f"Stay on {best.site}: its result is there in {duration(best.median)} (median)."
    else:
        first = f"On {best.site}, its result is there in {duration(best.median)} (median)"
        sooner = own.median - best.median
        first += f", {duration(sooner)} sooner than on {own.site}." if np.isfinite(sooner) and sooner > 0 else "."
    rows = [_row(one) for one in options]
    header = ["cluster", "wait 50%", "result 10%", "result 50%", "result 90%", "killed"]
    same = "The job is taken to run as long everywhere: how fast each cluster is, schedlab does not know."
    refused = [f"{one.site}: {one.refused}." for one in options if one.refused]
    return "\n".join([f"{first} {same}", "", table(header, in_columns(rows, together=RESULTS)), *refused])


def _row(one: SiteOption) -> list[str | float]:
    if one.refused:
        return [one.site, "never", "-", "-", "-", "-"]
    return [one.site, *waits_and_results(one.waits, one.result), f"{one.killed:.0%}"]


@explained
def state_in(directory: str | PathLike[str]) -> SnapshotFiles:
    """Return the files of a directory with what Slurm's programs printed: squeue, sinfo, sprio, sshare, reservations.

    The suffix of each is free.

    Raises
    ------
    InputError
        If it has no squeue, or two files of one name.
    """
    names = {"squeue": "squeue", "sinfo": "nodes", "sprio": "sprio", "sshare": "sshare", "reservations": "reservations"}
    given: dict[str, Path] = {}
    for path in sorted(Path(directory).iterdir()) if Path(directory).is_dir() else ():
        name = names.get(path.name.partition(".")[0])
        if name is not None and name in given:
            raise InputError(f"{path} and {given[name].name} tell the same: keep one of them")
        if name is not None:
            given[name] = path
    if "squeue" not in given:
        raise InputError(f"{directory} has no squeue (what squeue --all --json printed there, in squeue.json)")
    return SnapshotFiles(**given)
