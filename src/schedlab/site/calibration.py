"""The past of a site replayed with its own settings, beside what was recorded: errors before any answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY, WEEK
from schedlab.errors import InputError
from schedlab.schedule.groups import SIZE_CLASSES, size_classes
from schedlab.schedule.metrics import mean_queue_length, utilisation
from schedlab.schedule.recorded import recorded
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.window import Window, measured_window
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.jobs import replay
from schedlab.site.site import Site
from schedlab.wording import count_of
from schedlab.workload.resources import Labels, Resources

HOUR = 3600
TWO_WEEKS = 2 * WEEK
QUANTILES = (0.5, 0.9, 0.99)
GOOD, ROUGH = 0.10, 0.25
"""Relative errors up to which a replay is good, and up to which it is rough: ours, to be judged by who decides."""

TRIMMED, TRIMMED_SHARE = 4 * DAY, 0.1
"""Left out of errors at either end of the log, in seconds, and at most as a share of the log."""

FEWEST = 30
"""Jobs of a group that errors are shown for."""

Verdict = Literal["good", "rough", "not good enough"]


@dataclass(frozen=True, slots=True)
class WaitErrors:
    """Recorded waits of some jobs beside those of a model.

    Parameters
    ----------
    group
        Which jobs.
    jobs
        How many.
    recorded, simulated, naive
        Seconds: mean, and the quantiles of `QUANTILES`, of what was recorded, simulated, and guessed naively.
    """

    group: str
    jobs: int
    recorded: tuple[float, ...]
    simulated: tuple[float, ...]
    naive: tuple[float, ...]

    @property
    def error(self) -> float:
        """Relative error of the simulated mean; infinite if no job is recorded to wait and some are simulated to."""
        return _relative(self.simulated[0], self.recorded[0])

    @property
    def naive_error(self) -> float:
        """The same of the naive model."""
        return _relative(self.naive[0], self.recorded[0])


def _relative(model: float, truth: float) -> float:
    if truth:
        return (model - truth) / truth
    return 0.0 if model == truth else float("inf")


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

    @property
    def verdict(self) -> Verdict:
        """Whether the replay is good enough to ask it what would change."""
        total = self.errors["all"][0]
        worst = max(abs(total.error), self.moving or 0.0)
        beaten = abs(total.naive_error) < abs(total.error) and (self.naive_moving or 0) <= (self.moving or 0)
        if worst > ROUGH or (beaten and worst > GOOD):
            return "not good enough"
        return "good" if worst <= GOOD else "rough"

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences."""
        from schedlab.schedule.summary import duration

        total = self.errors["all"][0]
        told = {
            "good": "The replay is good enough to ask it what would change.",
            "rough": "The replay is rough: ask it for large effects only.",
            "not good enough": "The replay is not good enough to answer questions about this site.",
        }
        text = [
            told[self.verdict],
            f"{count_of(total.jobs, 'job')} waited {duration(total.recorded[0])} on average as recorded, "
            f"{duration(total.simulated[0])} in the replay ({_percent(total.error)}); the naive model guesses "
            f"{duration(total.naive[0])} ({_percent(total.naive_error)}).",
        ]
        if self.moving is None:
            text.append("The log is too short for a moving average over two weeks.")
        else:
            text.append(f"The moving average over two weeks is off by {100 * self.moving:.1f}% on average.")
        text.append(
            f"Utilisation: {100 * self.utilisation[0]:.1f}% recorded, {100 * self.utilisation[1]:.1f}% replayed; "
            f"queue: {self.queue[0]:,.1f} and {self.queue[1]:,.1f} jobs on average."
        )
        return text

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
            "caveats": list(self.caveats),
        }

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), *self.caveats])

    def __repr__(self) -> str:
        return f"Calibration({self.site}: {self.verdict})"


def _percent(error: float) -> str:
    return f"{100 * error:+.1f}%" if np.isfinite(error) else "no wait recorded"


def calibrate(site: Site, scheduler: str | Scheduler | None = None, *, nodes: bool = True) -> Calibration:
    """Replay the past of a site, and compare the waits with those that were recorded.

    Parameters
    ----------
    site
        With jobs whose waits are known.
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
    kept = site.replayable()
    jobs = kept.jobs
    known = jobs.wait_time >= 0
    left_out = dict(kept.left_out)
    if not known.any():
        raise InputError(
            f"site {site.name}: no job has a recorded wait to compare with: import accounting (sacct) of jobs that ran"
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
    errors = {kind: tuple(found) for kind, found in _groups(past, simulated, naive, rows)}
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
    )


def _judged(submit: NDArray[np.int64], trim: float) -> NDArray[np.intp]:
    inside = (submit >= submit[0] + trim) & (submit <= submit[-1] - trim)
    return np.flatnonzero(inside) if inside.any() else np.arange(len(submit))


def _both(
    metric: Callable[[Schedule, Window], float], past: Schedule, simulated: Schedule, trim: float
) -> tuple[float, float]:
    cut = max(trim, 0.0) if trim >= 1 else 0.0
    first, second = (float(metric(one, measured_window(one, warm_up=cut, cool_down=cut))) for one in (past, simulated))
    return first, second


def _caveats(site: Site, *, nodes: bool) -> Iterator[str]:
    if site.inferred:
        yield (
            "Nodes, partitions and limits are inferred from what jobs held, not configured, and the site's priorities "
            "are unknown: where the replay differs from the record, the machine or the order of the queue may be wrong."
        )
    if not nodes:
        yield "Nodes, memory, GPUs and partitions were not simulated: the cluster is a number of processors."
    deciding = [line for line in site.ledger.of("ignored", "unknown") if line.decides]
    names = list(dict.fromkeys(line.name for line in deciding))
    if names:
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        yield f"Options of the site that decide about scheduling and are not simulated: {shown}."
    yield from _unrecorded(site, nodes=nodes)


def _unrecorded(site: Site, *, nodes: bool) -> Iterator[str]:
    """Say what of the past the replay does not have, as the records do not have it."""
    events = site.node_events
    if events is None:
        yield (
            "Reservations, holds, nodes that were down and jobs that waited for others are not in the records: the "
            "replay has none of them. (site import reads what Slurm recorded of nodes, --node-events, or infers from "
            "jobs which were down, --infer-downtimes.)"
        )
    elif nodes:
        kinds = Counter(one.event for one in events if one.event != "up")
        told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        yield f"The replay has what was told of the nodes ({told}), but no holds and no jobs that waited for others."
    else:
        yield "What happened to the nodes was not simulated either."
    asked = None if site.jobs is None or site.jobs.resources is None else site.jobs.resources.reservation
    if asked is not None and (events is None or not events.reservations):
        counts = asked.counts()
        if counts:
            names = ", ".join(list(counts)[:5]) + (" and others" if len(counts) > 5 else "")
            yield (
                f"{count_of(sum(counts.values()), 'job')} ran in reservations ({names}) of which no node event tells: "
                "the replay has them among all others, on any nodes."
            )


def naive_waits(past: Schedule) -> NDArray[np.float64]:
    """Return what a naive model guesses: the mean wait of the jobs of the same partition that started within the week
    before; of those before that, if there are none, and 0 for the first.

    Examples
    --------
    >>> from schedlab.workload.workload import Workload
    >>> log = Workload.from_columns(dict(submit_time=[0, 10, 200], wait_time=[100, 50, 0], run_time=[9, 9, 9],
    ...                                  requested_processors=[1, 1, 1]))
    >>> naive_waits(recorded(log)).tolist()
    [0.0, 0.0, 75.0]
    """
    jobs = past.workload
    guess = np.zeros(len(jobs))
    for partition in np.unique(jobs.partition_id):
        rows = np.flatnonzero(jobs.partition_id == partition)
        order = rows[np.argsort(past.start_time[rows], kind="stable")]
        starts = past.start_time[order]
        sums = np.concatenate([[0.0], np.cumsum(past.wait_time[order])])
        end = np.searchsorted(starts, jobs.submit_time[rows], side="left")
        begin = np.searchsorted(starts, jobs.submit_time[rows] - WEEK, side="left")
        begin = np.where(begin == end, 0, begin)
        guess[rows] = (sums[end] - sums[begin]) / np.maximum(end - begin, 1)
    return guess


def moving_error(
    submit: NDArray[np.int64], truth: NDArray[np.int64], model: NDArray[np.int64] | NDArray[np.float64]
) -> float | None:
    """Return the mean relative error of the mean wait of jobs submitted within two weeks, over windows from every hour.

    Windows without submissions, or without waits, do not count. None: there is no window.

    Examples
    --------
    >>> submit = np.arange(0, 20 * 86400, 3600)
    >>> moving_error(submit, np.full(len(submit), 100), np.full(len(submit), 107))
    0.07
    """
    hour = submit // HOUR
    first = int(hour.min(initial=0)) if len(hour) else 0
    hours = int(hour.max(initial=0)) - first + 1 if len(hour) else 0
    width = TWO_WEEKS // HOUR
    if hours < width:
        return None
    sums = [
        np.concatenate([[0.0], np.cumsum(np.bincount(hour - first, weights=values, minlength=hours))])
        for values in (np.ones(len(hour)), truth, model)
    ]
    counts, recorded_sum, model_sum = (total[width:] - total[:-width] for total in sums)
    there = (counts > 0) & (recorded_sum > 0)
    if not there.any():
        return None
    return round(float(np.mean(np.abs(model_sum[there] - recorded_sum[there]) / recorded_sum[there])), 12)


def _groups(
    past: Schedule, simulated: Schedule, naive: NDArray[np.float64], rows: NDArray[np.intp]
) -> Iterator[tuple[str, list[WaitErrors]]]:
    jobs = past.workload
    asked = jobs.resources or Resources.of(len(jobs))
    sizes = Labels(size_classes(jobs.job_processors, past.processors).astype(np.int64), SIZE_CLASSES)
    everybody = Labels(np.zeros(len(jobs), dtype=np.int64), ("all jobs",))
    kinds = {"all": everybody, "partition": asked.partition, "QOS": asked.qos, "account": asked.account, "size": sizes}
    for kind, labels in kinds.items():
        found = []
        for name, _ in labels.select(rows).counts().items():
            mine = rows[labels.codes[rows] == labels.names.index(name)]
            if len(mine) >= FEWEST or kind == "all":
                waits = (past.wait_time[mine], simulated.wait_time[mine], naive[mine])
                found.append(WaitErrors(name, len(mine), *map(_measures, waits)))
        yield kind, found


def _measures(waits: NDArray[np.int64] | NDArray[np.float64]) -> tuple[float, ...]:
    return float(waits.mean()), *(float(value) for value in np.quantile(waits, QUANTILES))
