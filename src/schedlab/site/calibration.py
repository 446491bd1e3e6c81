"""The past of a site replayed with its own settings, beside what was recorded: errors before any answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.atomic import writable_target
from schedlab.durations import DAY
from schedlab.errors import InputError
from schedlab.schedule.metrics import mean_queue_length, utilisation
from schedlab.schedule.recorded import recorded
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.window import Window, measured_window
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.coverage import Coverage, coverage
from schedlab.site.jobs import replay
from schedlab.site.omissions import unrecorded
from schedlab.site.site import Site, fingerprint, read
from schedlab.site.standing import (
    CALIBRATIONS,
    FEW,
    GOOD,
    ROUGH,
    TOLERANCES,
    UNPROVEN,
    CalibrationRecord,
    Verdict,
    keep_record,
)
from schedlab.site.wait_errors import FEWEST, WaitErrors, errors_by_group, moving_error, naive_waits
from schedlab.site.wait_text import wait_text, waits_texts
from schedlab.wording import count_of

TRIMMED, TRIMMED_SHARE = 4 * DAY, 0.1
"""Left out of errors at either end of the log, in seconds, and at most as a share of the log."""


@dataclass(frozen=True, slots=True, repr=False)
class Calibration:
    """A site's past as recorded and as replayed.

    Parameters
    ----------
    site
        Its name.
    scheduler
        Under which its jobs were replayed.
    recorded, simulated
        The same jobs.
    naive
        Seconds: the waits that the naive model guesses.
    errors
        By kind of group ("all", "partition", "QOS", "account", "size"), the largest groups first.
    moving, naive_moving
        Mean absolute error, relative to the recorded one, of the mean wait of jobs submitted within two weeks, over
        windows that begin at every full hour; None: the log is shorter.
    utilisation, queue
        Recorded and simulated: share of the machine, and mean length of the queue.
    left_out
        Jobs that were not replayed, by reason.
    caveats
        What is known to be missing, in sentences.
    coverage
        Which partitions and users the verdict is about.
    """

    site: str
    scheduler: str
    recorded: Schedule
    simulated: Schedule
    naive: NDArray[np.float64]
    errors: Mapping[str, tuple[WaitErrors, ...]]
    moving: float | None
    naive_moving: float | None
    utilisation: tuple[float, float]
    queue: tuple[float, float]
    left_out: Mapping[str, int]
    caveats: tuple[str, ...]
    coverage: Coverage

    @property
    def verdict(self) -> Verdict:
        """Whether the replay is good enough to ask it what would change."""
        total = self.errors["all"][0]
        worst = max(abs(total.error), self.moving or 0.0)
        beaten = self._nearer_mean and (self.naive_moving or 0) <= (self.moving or 0)
        if worst > ROUGH or (beaten and worst > GOOD):
            return "not good enough"
        if total.jobs < FEWEST or not max(total.recorded[0], total.simulated[0]):
            return "unproven"
        return "good" if worst <= GOOD else "rough"

    @property
    def _nearer_mean(self) -> bool:
        """Whether the naive model guesses the mean wait of all jobs better than the replay."""
        total = self.errors["all"][0]
        return abs(total.naive_error) < abs(total.error)

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences."""
        total = self.errors["all"][0]
        few = f", as far as {count_of(total.jobs, 'job')} can show that" if total.jobs < FEW else ""
        past, replay = waits_texts(total.recorded[0], total.simulated[0])
        told = {
            "good": f"The replay is good enough to ask it what would change{few}.",
            "rough": f"The replay is rough: ask it for large effects only{few}.",
            "unproven": f"The replay cannot be judged. {UNPROVEN}",
            "not good enough": "The replay is not good enough to answer questions about this site.",
        }
        text = [
            told[self.verdict],
            f"{count_of(total.jobs, 'job')} waited {past} on average as recorded, "
            f"{replay} in the replay ({_percent(total.error)}); the naive model guesses "
            f"{wait_text(total.naive[0])} ({_percent(total.naive_error)}).",
        ]
        if self.moving is None:
            text.append("The log is too short for a moving average over two weeks.")
        else:
            text.append(self._of_two_weeks(self.moving))
        text.append(
            f"Utilisation: {100 * self.utilisation[0]:.1f}% recorded, {100 * self.utilisation[1]:.1f}% replayed; "
            f"queue: {self.queue[0]:,.1f} and {self.queue[1]:,.1f} jobs on average."
        )
        return [*text, *self.coverage.sentences(TOLERANCES[self.verdict])]

    def _of_two_weeks(self, moving: float) -> str:
        """Say how far the moving averages are from the recorded one, and why that counts more than the mean of all."""
        naive = "" if self.naive_moving is None else f", that of the naive model by {100 * self.naive_moving:.1f}%"
        told = f"The moving average over two weeks is off by {100 * moving:.1f}% on average{naive}."
        if self._nearer_mean and self.naive_moving is not None and self.naive_moving > moving:
            told += (
                " So the replay follows the record more closely than such guesses do, which are right about the mean "
                "of all jobs because they repeat what was recorded."
            )
        return told

    def to_document(self) -> dict[str, Any]:
        """Return verdict and errors as numbers and texts, for JSON."""
        return {
            "site": self.site,
            "scheduler": self.scheduler,
            "verdict": self.verdict,
            "moving_average_error": self.moving,
            "naive_moving_average_error": self.naive_moving,
            "utilisation": dict(zip(("recorded", "simulated"), self.utilisation, strict=True)),
            "queue_length": dict(zip(("recorded", "simulated"), self.queue, strict=True)),
            "errors": {kind: [asdict(one) for one in found] for kind, found in self.errors.items()},
            "left_out": dict(self.left_out),
            "coverage": asdict(self.coverage),
            "caveats": list(self.caveats),
        }

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), *self.caveats])

    def __repr__(self) -> str:
        return f"Calibration({self.site}: {self.verdict})"


def _percent(error: float) -> str:
    return f"{100 * error:+.1f}%" if np.isfinite(error) else "no wait recorded"


@explained
def calibrate(
    site: Site | str | PathLike[str], scheduler: str | Scheduler | None = None, *, nodes: bool = True
) -> Calibration:
    """Replay the past of a site, and compare the waits with those that were recorded.

    Parameters
    ----------
    site
        With jobs whose waits are known; or its directory, which then keeps the verdict for later answers.
    scheduler
        None: the site's own.
    nodes
        Whether jobs get nodes; otherwise the cluster is a number of processors.

    Returns
    -------
    Calibration
        Errors leave out jobs submitted within four days (at most a tenth of the log) of its start and end: the queue at
        the begin is not known in full, and at the end not all jobs have ended.

    Raises
    ------
    InputError
        If no waits are known, no job can be replayed, or the engine cannot do what the scheduler says.

    References
    ----------
    Wilkinson et al., "A fast simulator to enable HPC scheduling strategy comparisons", ISC 2023 workshops: the moving
    average over two weeks, here with windows that begin at full hours, as in their program FastSim.
    """
    if isinstance(site, Site):
        return _calibration(site, scheduler, nodes=nodes)
    directory, digest = Path(site), fingerprint(site)
    writable_target(directory / CALIBRATIONS)  # rather now than after minutes
    found = _calibration(read(directory), scheduler, nodes=nodes)
    keep_record(_record(found, digest, "" if scheduler is None else found.scheduler, nodes=nodes), directory)
    return found


def _calibration(site: Site, scheduler: str | Scheduler | None, *, nodes: bool) -> Calibration:
    kept = site.replayable()
    jobs = kept.jobs
    known = jobs.wait_time >= 0
    left_out = dict(kept.left_out)
    if not known.any():
        raise InputError(
            f"site {site.name} cannot be calibrated: none of its {count_of(len(jobs), 'job')} has a recorded wait to "
            "compare with; import accounting (sacct) of jobs that ran (what-if answers nevertheless, and says so)"
        )
    if not known.all():
        left_out["recorded wait unknown"] = int((~known).sum())
        jobs = jobs[known]
    jobs = jobs.sorted_by_submit()
    chosen = site.scheduler if scheduler is None else scheduler
    simulated = replay(jobs, chosen, site.cluster, nodes=nodes, node_events=site.node_events)
    past = replace(recorded(jobs), processors=site.cluster.processors)
    naive = naive_waits(past)
    trim = min(TRIMMED, TRIMMED_SHARE * float(jobs.submit_time[-1] - jobs.submit_time[0]))
    rows = _judged(jobs.submit_time, trim)
    trim = trim if len(rows) < len(jobs) else 0.0  # where that would leave no job, all count
    errors = {kind: tuple(found) for kind, found in errors_by_group(past, simulated, naive, rows)}
    return Calibration(
        site.name,
        simulated.scheduler,
        past,
        simulated,
        naive,
        errors,
        moving_error(jobs.submit_time[rows], past.wait_time[rows], simulated.wait_time[rows]),
        moving_error(jobs.submit_time[rows], past.wait_time[rows], naive[rows]),
        _both(utilisation, past, simulated, trim),
        _both(mean_queue_length, past, simulated, trim),
        left_out,
        tuple(_caveats(site, nodes=nodes)),
        coverage(jobs, rows, errors["partition"], site.cluster, simulated.wait_time),
    )


def _record(found: Calibration, digest: str, scheduler: str, *, nodes: bool) -> CalibrationRecord:
    from schedlab import __version__

    total = found.errors["all"][0]
    return CalibrationRecord(
        __version__,
        datetime.now(UTC).isoformat(timespec="seconds"),
        digest,
        scheduler,
        nodes,
        found.verdict,
        total.error if np.isfinite(total.error) else None,
        total.naive_error if np.isfinite(total.naive_error) else None,
        found.moving,
        found.coverage,
    )


def _judged(submit: NDArray[np.int64], trim: float) -> NDArray[np.intp]:
    inside = (submit >= submit[0] + trim) & (submit <= submit[-1] - trim)
    return np.flatnonzero(inside) if inside.any() else np.arange(len(submit))


def _both(
    metric: Callable[[Schedule, Window], float], past: Schedule, simulated: Schedule, trim: float
) -> tuple[float, float]:
    """Return a metric of both, over the time of the record: of two times, their ends would differ, not the machine."""
    cut = max(trim, 0.0) if trim >= 1 else 0.0
    window = measured_window(past, warm_up=cut, cool_down=cut)
    first, second = (float(metric(one, window)) for one in (past, simulated))
    return first, second


def _caveats(site: Site, *, nodes: bool) -> Iterator[str]:
    if not nodes:
        yield "Nodes, memory, GPUs and partitions were not simulated: the cluster is a number of processors."
    deciding = [line for line in site.ledger.of("ignored", "unknown") if line.decides]
    names = list(dict.fromkeys(line.name for line in deciding))
    if names:
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        yield f"Options of the site that decide about scheduling and are not simulated: {shown}."
    yield from unrecorded(site, nodes=nodes)
