"""A pass in Python, asked in plain Python: what it sees and does, by lists and profiles."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.reference.clock import Clock
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.news import News
from schedlab.engine.reference.nodes import Node, Piece
from schedlab.engine.reference.plan_pass import expect_longer
from schedlab.engine.reference.profile import NEVER, Profile
from schedlab.errors import InputError
from schedlab.scheduler.own_pass import Ended, OwnPass, PassView, copied_decider, decided, known_column
from schedlab.workload.resources import WHOLE


class AskedPass:
    """What asks a pass in Python, and when."""

    def __init__(self, clock: Clock, own: OwnPass) -> None:
        self.clock = clock
        self.decide = copied_decider(own)
        self.view = PlainView(clock)

    def moments(self) -> list[int]:
        """Return when it is to be asked without an event."""
        return [] if self.view.wake is None else [self.view.wake]

    def schedule(self, news: News) -> None:
        """Start the jobs of the warm-up, and ask what else to start."""
        clock, view = self.clock, self.view
        comes_back = {*clock.waiting, *(job for _, job in clock.preemption.held)}
        view.over += [job.number for job in news.ended if job not in comes_back]
        happened = news.events or news.turned or news.corrected or news.computed or news.awake
        if not happened and (view.wake is None or view.wake > clock.now):
            return
        view.wake = None
        resizes = bool(clock.malleable.lengths)
        if not clock.waiting and not resizes:  # nobody asks when runs are expected to end
            return
        while clock.in_order and (ready := [job for job in clock.visible() if job.ready]):
            place = clock.place(clock.view(), ready[0]) if clock.admitted(ready[0]) else None
            if place is None:
                return
            clock.begin(ready[0], place)
        expect_longer(clock)
        listed = [] if clock.in_order else [job for job in clock.sorted(clock.visible()) if job.ready]
        if listed or (resizes and clock.running and not clock.in_order):
            view.now, view.waiting = clock.now, np.array([job.number for job in listed], dtype=np.int64)
            view.reserved = {}
            decided(self.decide, view)


class PlainView(PassView):
    """The view; `reserved` are the reservations of the pass, `over` the jobs that have ended and were not told yet."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.size = clock.prepared.processors
        self.wake: int | None = None
        self.reserved: dict[Job, tuple[int, list[Piece]]] = {}
        self.over: list[int] = []

    def plan(self) -> Profile:
        """Return what runs and reservations leave free."""
        profile = Profile(self.now, self.clock.machine.empty)
        for job in self.clock.seen():
            profile.take(self.now, job.expected_end, job.pieces)
        self.clock.close(profile)
        for job, (begin, pieces) in self.reserved.items():
            profile.take(begin, begin + job.estimate, pieces)
        return profile

    def slot(self, job: int) -> tuple[int, list[Piece]]:
        """Return where a job could start beside the plan, or has its reservation."""
        one = self.clock.jobs[job]
        return self.reserved.get(one) or self.plan().earliest(one, one.estimate, self.now)

    def of_jobs(self, name: str) -> NDArray[np.int64]:
        """Return an attribute of all jobs."""
        return np.array([getattr(job, name) for job in self.clock.jobs])

    @property
    def free(self) -> int:
        return self.clock.free()

    def per_group(self, count: Callable[[Node], int]) -> NDArray[np.int64]:
        """Return the sum over the nodes of each group that are open to all, and that no job has to itself."""
        inputs = self.clock.prepared.nodes
        if inputs is None:
            return np.zeros(0, dtype=np.int64)
        sums = np.zeros(int(inputs.group.max()) + 1, dtype=np.int64)
        for node in getattr(self.clock.view(), "nodes", ()):
            if not node.alone and not node.reserved:
                sums[inputs.group[node.number]] += count(node)
        return sums

    @property
    def free_nodes(self) -> NDArray[np.int64]:
        return self.per_group(lambda node: node.jobs == 0)

    @property
    def free_gpus(self) -> NDArray[np.int64]:
        return self.per_group(lambda node: sum(free == WHOLE for free in node.gpus.values()))

    @property
    def running(self) -> NDArray[np.int64]:
        runs = sorted(self.clock.seen(), key=lambda job: job.expected_end)
        return np.array([job.number for job in runs], dtype=np.int64)

    @property
    def submit(self) -> NDArray[np.int64]:
        return self.of_jobs("submit")

    @property
    def processors(self) -> NDArray[np.int64]:
        return self.of_jobs("processors")

    @property
    def request(self) -> NDArray[np.int64]:
        return self.of_jobs("request")

    @property
    def predicted(self) -> NDArray[np.int64]:
        return self.of_jobs("estimate")

    @property
    def user(self) -> NDArray[np.int64]:
        return self.of_jobs("user")

    @property
    def start_time(self) -> NDArray[np.int64]:
        return self.of_jobs("start")

    def column(self, name: str) -> NDArray[Any]:
        return self.clock.prepared.column(known_column(name))

    def ended(self) -> Ended:
        jobs, self.over = sorted(self.over), []
        ran = [job.over - job.start for job in (self.clock.jobs[number] for number in jobs)]
        return Ended(np.array(jobs, dtype=np.int64), np.array(ran, dtype=np.int64))

    def allowed(self, job: int) -> bool:
        return self.clock.admitted(self.clock.jobs[job])

    def fits(self, job: int) -> bool:
        return self.clock.admitted(self.clock.jobs[job]) and self.slot(job)[0] == self.now

    def earliest(self, job: int) -> int | None:
        begins = self.slot(job)[0]
        return None if begins == NEVER else begins

    def reserve(self, job: int) -> int | None:
        begins = self.earliest(job)
        if begins is not None:
            self.reserved[self.clock.jobs[job]] = self.slot(job)
        return begins

    def cancel(self, job: int) -> None:
        self.reserved.pop(self.clock.jobs[job], None)

    def start(self, job: int) -> None:
        one = self.clock.jobs[job]
        self.cancel(job)
        if not self.fits(job):
            raise InputError(f"job {job} does not fit")
        ahead = takewhile(lambda other: other is not one, self.clock.sorted(self.clock.visible()))
        self.clock.begin(one, self.slot(job)[1], backfilled=any(self.clock.admitted(other) for other in ahead))

    def sizes(self, job: int) -> NDArray[np.int64]:
        return np.array(self.clock.malleable.sizes(self.clock.jobs[job]), dtype=np.int64)

    def can_resize(self, job: int, processors: int) -> bool:
        one, malleable = self.clock.jobs[job], self.clock.malleable
        if processors not in malleable.sizes(one):
            return False
        if one in self.clock.waiting or processors == one.processors:
            return True
        left, held = malleable.left(one, processors, self.now), one.pieces
        one.pieces, asked, one.processors = [], one.processors, processors
        begins, _ = self.plan().earliest(one, left.expected, self.now)
        one.pieces, one.processors = held, asked
        return begins == self.now

    def resize(self, job: int, processors: int) -> None:
        one = self.clock.jobs[job]
        if not self.can_resize(job, processors):
            raise InputError(f"job {job} cannot have {processors} processors")
        if processors == one.processors:
            return
        if one in self.clock.waiting:
            self.cancel(job)
            self.clock.malleable.choose(one, processors)
        else:
            self.clock.malleable.change(one, processors, self.clock)

    def wake_at(self, second: int) -> None:
        self.wake = min(second, second if self.wake is None else self.wake)
