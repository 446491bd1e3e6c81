"""Why a job started when it did: what stood before it, what was free, whom it overtook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.display import as_html
from schedlab.errors import InputError, whole_number
from schedlab.imports import named_classes
from schedlab.schedule.summary import duration
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.predictor import Actual, Requested
from schedlab.scheduler.scheduler import Scheduler
from schedlab.wording import count_of
from schedlab.workload.job import Job

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

Rows = NDArray[np.intp]

SHOWN = 5


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """What a schedule tells about the wait of a job; jobs are named by their numbers.

    Parameters
    ----------
    job_id, processors, submit_time, start_time
        The job; seconds on the workload's clock. `submit_time` is when it could first have started.
    machine
        Processors of the machine.
    free_at_submission, free_at_start
        Processors that no job held just before these seconds' scheduling passes.
    waiting_at_submission
        Jobs that waited then.
    ahead
        Those of them that the order of the queue put before it; None if that order cannot be known from the schedule.
    ended_at_start
        Jobs that ended in the second in which it started.
    fitting
        Seconds of its wait in which as many processors as it needs were free.
    overtaken_by
        Jobs that could start later than it and started earlier.
    overtook
        Jobs that waited already when it was submitted and started later.
    backfilled
        Whether it started ahead of the head of the queue.
    head
        The head of the queue at its start, if there was one and the order is known.
    reservation
        If it was backfilled: when the head was expected to start, and the processors expected to be free beside it.
    score
        What the policy ordered it by at its submission, the smallest first; None if that is not known.
    policy
        The policy's formula, or its name.
    on_nodes
        Whether the machine is one of nodes, so that free processors are not all that counts.
    waited_for
        Why it waited, as `squeue` calls it, and for how many seconds each, the longest first; empty if that is not
        known.
    cancelled
        Whether it was cancelled while it waited; `start_time` is when, then.
    """

    job_id: int
    processors: int
    submit_time: int
    start_time: int
    machine: int
    free_at_submission: int
    free_at_start: int
    waiting_at_submission: tuple[int, ...]
    ahead: tuple[int, ...] | None
    ended_at_start: tuple[int, ...]
    fitting: int
    overtaken_by: tuple[int, ...]
    overtook: tuple[int, ...]
    backfilled: bool
    head: int | None
    reservation: tuple[int, int] | None
    score: float | None
    policy: str
    on_nodes: bool
    waited_for: tuple[tuple[str, int], ...] = ()
    cancelled: bool = False

    @property
    def wait_time(self) -> int:
        """Seconds that it waited."""
        return self.start_time - self.submit_time

    def __str__(self) -> str:
        scored = "" if self.score is None else f", score {self.score + 0.0:.6g}"
        lines = [
            f"job {self.job_id}: {count_of(self.processors, 'processor')} of {self.machine:,}, waited "
            f"{duration(self.wait_time)}; order: {self.policy}{scored}",
            f"second {self.submit_time:,}, submitted: {count_of(self.free_at_submission, 'processor')} free, "
            f"{count_of(len(self.waiting_at_submission), 'job')} waiting{self._ahead()}",
        ]
        if self.wait_time:
            lines.append(f"while it waited: {self._meanwhile()}")
        if self.waited_for:
            told = ", ".join(f"{reason} for {duration(seconds)}" for reason, seconds in self.waited_for)
            lines.append(f"reasons, as squeue gives them: {told}")
        if self.cancelled:
            lines.append(f"second {self.start_time:,}, cancelled: it had not started, and its patience was over")
            return "\n".join(lines)
        ended = f"{_named(self.ended_at_start)} ended; " if self.ended_at_start else ""
        lines.append(
            f"second {self.start_time:,}, started: {ended}{count_of(self.free_at_start, 'processor')} free{self._how()}"
        )
        if self.on_nodes:
            lines.append("(processors alone are looked at; on nodes, memory, GPUs and where cores are free count too)")
        return "\n".join(lines)

    __repr__ = __str__
    _repr_html_ = as_html

    def _ahead(self) -> str:
        if self.ahead is None or not self.waiting_at_submission:
            return ""
        return f", {len(self.ahead):,} of them before it in the order{_list(self.ahead)}"

    def _meanwhile(self) -> str:
        told = [f"at least {count_of(self.processors, 'processor')} free for {duration(self.fitting)} of it"]
        if self.overtaken_by:
            told.append(f"{count_of(len(self.overtaken_by), 'later job')} started before it{_list(self.overtaken_by)}")
        return "; ".join(told)

    def _how(self) -> str:
        if not self.backfilled:
            earlier = f"; {count_of(len(self.overtook), 'earlier job')} went on waiting" if self.overtook else ""
            return f"; it was next in the queue{earlier}"
        head = "the head of the queue" if self.head is None else f"job {self.head}, the head of the queue"
        text = f"; it was backfilled ahead of {head}"
        if self.reservation is not None:
            start, extra = self.reservation
            text += f", expected to start at second {start:,} with {count_of(extra, 'processor')} to spare"
        return text


def explain(schedule: Schedule, job_id: int | Job) -> Explanation:
    """Return what a schedule tells about the wait of a job.

    It is computed from the schedule alone, not from a trace of the scheduler's decisions: scores are those of formulas
    of what is known at submission, and reservations those of EASY backfilling by the run times assumed at submission.

    Parameters
    ----------
    schedule
        The schedule.
    job_id
        The job's number in the workload, or the job.

    Raises
    ------
    InputError
        If there is no such job, or more than one.
    """
    wanted = whole_number("job_id", job_id.job_id if isinstance(job_id, Job) else job_id)
    rows = np.flatnonzero(schedule.workload.job_id == wanted)
    if not len(rows):
        raise InputError(f"{schedule.workload.name}: no job has the number {wanted}")
    if len(rows) > 1:
        raise InputError(
            f"{schedule.workload.name}: {len(rows):,} jobs have the number {wanted}: simulate them with numbers of "
            "their own, jobs.replace(job_id=range(len(jobs)))"
        )
    return _Look(schedule).at(int(rows[0]))


class _Look:
    """A schedule, and the order of its queue."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.since = np.asarray(schedule.queued_since)
        self.width = np.asarray(schedule.workload.job_processors)
        self.began_with = self.width.copy()
        if (sizes := schedule.sizes) is not None:
            first = sizes[np.unique(sizes["job"], return_index=True)[1]]  # they stand in the order of time
            self.began_with[first["job"]] = first["processors"]
        scheduler = None
        if not named_classes(schedule.scheduler):
            try:
                scheduler = Scheduler.parse(schedule.scheduler)
            except InputError:
                scheduler = None  # started by hand, or by a function
        self.scheduler = scheduler
        self.assumed = None if scheduler is None else self._assumed(scheduler)

    def at(self, row: int) -> Explanation:
        schedule, since = self.schedule, self.since
        submit, start = int(since[row]), int(schedule.start_time[row])
        others = np.arange(len(since)) != row
        ran = schedule.ran
        waited = others & (since <= submit) & (schedule.start_time >= submit)
        waited &= (since < submit) | (schedule.start_time > submit)
        still = others & (since <= start) & (schedule.start_time > start)
        head, reservation = self._head(row, np.flatnonzero(still), start)
        score = self._scores(np.array([row]), submit)
        backfilled = bool(schedule.backfilled[row])
        return Explanation(
            job_id=int(schedule.workload.job_id[row]),
            processors=int(self.began_with[row]),
            submit_time=submit,
            start_time=start,
            machine=schedule.processors,
            free_at_submission=self._free(submit),
            free_at_start=self._free(start),
            waiting_at_submission=self._named(np.flatnonzero(waited)),
            ahead=self._ahead(row, np.flatnonzero(waited), submit),
            ended_at_start=self._named(np.flatnonzero(others & ran & (schedule.end_time == start))),
            fitting=self._fitting(submit, start, int(self.began_with[row])),
            overtaken_by=self._named(np.flatnonzero(ran & (since > submit) & (schedule.start_time < start))),
            overtook=self._named(np.flatnonzero((since < submit) & (schedule.start_time > start))),
            backfilled=backfilled,
            head=head,
            reservation=reservation if backfilled else None,
            score=None if score is None else float(score[0]),
            policy=self._policy(),
            on_nodes=schedule.placement is not None,
            waited_for=self._waited_for(row),
            cancelled=not ran[row],
        )

    def _waited_for(self, row: int) -> tuple[tuple[str, int], ...]:
        """Return the reasons of a job with their seconds, the longest first."""
        told = {reason: int(seconds[row]) for reason, seconds in (self.schedule.waited_for or {}).items()}
        return tuple(sorted(((one, told[one]) for one in told if told[one]), key=lambda each: -each[1]))

    def _named(self, rows: Rows) -> tuple[int, ...]:
        return tuple(self.schedule.workload.job_id[rows].tolist())

    def _policy(self) -> str:
        if self.scheduler is None:
            return self.schedule.scheduler
        policy = self.scheduler.policy
        return f"{policy.text} ({policy.formula})" if type(policy).__module__ == Policy.__module__ else policy.text

    def _free(self, second: int) -> int:
        """Return the processors that are free before anything starts in a second."""
        held = self.schedule.held
        inside = (held.start < second) & (held.end > second)
        if (sizes := self.schedule.sizes) is not None:  # what goes on with another size in this second runs already
            inside |= (held.start == second) & (self.schedule.start_time[sizes["job"]] < second)
        return self.schedule.processors - int(held.processors[inside].sum())

    def _fitting(self, begin: int, end: int, needed: int) -> int:
        """Return for how many seconds of a period at least a number of processors was free."""
        held = self.schedule.held
        times = np.unique(np.concatenate([[begin], held.start, held.end, [end]]))
        times = times[(times >= begin) & (times <= end)]
        taken, given = np.argsort(held.start, kind="stable"), np.argsort(held.end, kind="stable")
        used = np.concatenate([[0], np.cumsum(held.processors[taken])])
        used = used[np.searchsorted(held.start[taken], times[:-1], side="right")]
        back = np.concatenate([[0], np.cumsum(held.processors[given])])
        back = back[np.searchsorted(held.end[given], times[:-1], side="right")]
        return int(np.diff(times)[self.schedule.processors - used + back >= needed].sum())

    def _assumed(self, scheduler: Scheduler) -> NDArray[np.int64] | None:
        """Return the run times that the order assumed, if the schedule tells."""
        jobs = self.schedule.workload
        if isinstance(scheduler.ranking, Requested):
            return np.maximum(jobs.requested_time, 1)
        if isinstance(scheduler.ranking, Actual):
            return np.asarray(jobs.run_time)
        return None if scheduler.order_runtimes is not None else np.asarray(self.schedule.predicted_run_time)

    def _scores(self, rows: Rows, second: int) -> NDArray[np.float64] | None:
        """Return what some jobs are ordered by at a second, if that can be computed from the schedule."""
        program = None if self.scheduler is None else self.scheduler.policy.program
        if self.scheduler is None or self.assumed is None or program is None or program.uses_statistics:
            return None
        jobs = self.schedule.workload
        origin = int(jobs.submit_time.min())
        submitted = self.since[rows]
        p, q, requested = self.assumed[rows], self.width[rows], np.maximum(jobs.requested_time[rows], 1)
        return self.scheduler.policy.scores(p, q, submitted - origin, second - submitted, requested)

    def _in_order(self, rows: Rows, second: int) -> Rows | None:
        """Return jobs in the order of the queue: starving ones first, then by score, equal ones by submission."""
        scores = self._scores(rows, second)
        if scores is None or self.scheduler is None:
            return None
        limit = self.scheduler.starvation
        starving = np.zeros(len(rows), dtype=bool) if limit is None else second - self.since[rows] > limit
        keys = (rows, self.since[rows], np.where(starving, 0.0, scores), ~starving)
        return rows[np.lexsort(keys)]

    def _ahead(self, row: int, waiting: Rows, second: int) -> tuple[int, ...] | None:
        ordered = self._in_order(np.append(waiting, row), second)
        return None if ordered is None else self._named(ordered[: int(np.flatnonzero(ordered == row)[0])])

    def _head(self, row: int, waiting: Rows, second: int) -> tuple[int | None, tuple[int, int] | None]:
        """Return the head of the queue, and when and beside how many free processors it was expected to start."""
        ordered = self._in_order(waiting, second) if len(waiting) else None
        if ordered is None:
            return None, None
        schedule, head = self.schedule, int(ordered[0])
        if schedule.sizes is not None:  # when runs were expected to end has changed with their sizes
            return int(schedule.workload.job_id[head]), None
        running = (schedule.start_time <= second) & (schedule.end_time > second)
        running[row] = False
        running &= (schedule.start_time < second) | ~schedule.backfilled
        ends = np.maximum(schedule.start_time + schedule.predicted_run_time, second)[running]
        order = np.argsort(ends, kind="stable")
        free = schedule.processors - int(self.width[running].sum()) + np.cumsum(self.width[running][order])
        fits = np.flatnonzero(free >= self.width[head])
        if not len(fits):
            return int(schedule.workload.job_id[head]), None
        begin = int(ends[order][fits[0]])
        extra = int(free[np.searchsorted(ends[order], begin, side="right") - 1] - self.width[head])
        return int(schedule.workload.job_id[head]), (begin, extra)


def _list(numbers: tuple[int, ...]) -> str:
    if not numbers:
        return ""
    return f" ({', '.join(map(str, numbers[:SHOWN]))}{', ...' if len(numbers) > SHOWN else ''})"


def _named(numbers: tuple[int, ...]) -> str:
    if len(numbers) == 1:
        return f"job {numbers[0]}"
    return f"{len(numbers):,} jobs{_list(numbers)}"
