"""The simulator of SC'17 as its authors describe it in code, in plain Python; `OURS` turns their peculiarities off.

It keeps all jobs in one list. The first `started` of them have started; the scheduler reorders those of the next ones
in its window that have arrived, then tries to start the first.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from schedlab.workload.workload import Workload

STATE = 16
SAME_MOMENT = 1e-5  # seconds within which their kernel handles two events as one


@dataclass(frozen=True)
class Rules:
    """Where the authors' simulator and ours part."""

    window: int
    start_delay: float
    burst_sorted: bool  # of jobs that arrive together when nobody waits, start the best and not the first
    exchange_sort: bool  # sort by exchanges, which shuffle ties (SPT only)
    all_releases: bool  # count all releases of the reservation's second as free beside the head; overdue ones are now


THEIRS = Rules(window=32, start_delay=0.002610247, burst_sorted=False, exchange_sort=True, all_releases=False)
OURS = Rules(window=1_000_000, start_delay=0.0, burst_sorted=True, exchange_sort=False, all_releases=True)


class Simulator:
    """One sequence under one fixed order, with or without backfilling; `estimate` is what the scheduler assumes."""

    def __init__(self, jobs: Workload, estimate: np.ndarray, keys: np.ndarray, rules: Rules, *, easy: bool) -> None:
        self.submit, self.run = jobs.submit_time.tolist(), jobs.run_time.tolist()
        self.width, self.estimate, self.keys = jobs.job_processors.tolist(), estimate.tolist(), keys.tolist()
        self.rules, self.easy = rules, easy
        self.free = jobs.processors
        self.order = list(range(len(jobs)))
        self.started, self.now = 0, 0.0
        self.start: dict[int, float] = {}
        self.running: list[int] = []
        self.ends: list[tuple[float, int]] = []

    def average_bounded_slowdown(self) -> float:
        """Simulate; return the mean over all jobs but the first 16."""
        while self.started < len(self.order):
            self.step()
        waits = {job: self.start[job] - self.submit[job] for job in self.order[STATE:]}
        return float(np.mean([max(1, (wait + self.run[job]) / max(self.run[job], 10)) for job, wait in waits.items()]))

    def step(self) -> None:
        """Sort, then start the first job or wait."""
        if self.started >= STATE:
            self.sort()
        job = self.order[self.started]
        if self.submit[job] > self.now:
            self.wait_until(self.submit[job])
            if self.rules.burst_sorted:
                return
        if self.width[job] > self.free:
            following = bisect_right(self.submit, self.now)
            self.wait_until(min([*self.submit[following : following + 1], self.ends[0][0]]))
            return
        self.wait_until(self.now + self.rules.start_delay)
        self.start[job] = self.now
        self.free -= self.width[job]
        self.running.append(job)
        heapq.heappush(self.ends, (self.now + self.run[job], job))
        self.started += 1

    def wait_until(self, moment: float) -> None:
        """Let time pass; jobs complete."""
        self.now = moment
        while self.ends and self.ends[0][0] <= moment + (SAME_MOMENT if self.rules.start_delay else 0):
            _, job = heapq.heappop(self.ends)
            self.running.remove(job)
            self.free += self.width[job]

    def sort(self) -> None:
        """Reorder the visible jobs; move one that may be backfilled to the front."""
        visible = []
        for job in self.order[self.started : self.started + self.rules.window]:
            if self.submit[job] > self.now:
                break
            visible.append(job)
        if len(visible) < 2:
            return
        if self.rules.exchange_sort:
            for a in range(len(visible)):
                for b in range(len(visible)):
                    if self.keys[visible[a]] < self.keys[visible[b]]:
                        visible[a], visible[b] = visible[b], visible[a]
        else:
            visible.sort(key=lambda job: (self.keys[job], job))
        if self.easy and self.width[visible[0]] > self.free:
            self.backfill(visible)
        self.order[self.started : self.started + len(visible)] = visible

    def remaining(self, job: int) -> int:
        """Return after how many whole seconds a job is expected to end; it may be overdue."""
        seconds = int(self.estimate[job] - np.float32(int(self.now) - self.start[job]))
        return max(seconds, 0) if self.rules.all_releases else seconds

    def backfill(self, visible: list[int]) -> None:
        """Move the first job that does not delay the head's reservation before it."""
        releases = [(self.remaining(job), self.width[job]) for job in self.running]
        releases.sort(key=lambda release: release[0])  # of equal ones, the job that started first
        available, last = self.free, 0
        for length, width in releases:
            if available >= self.width[visible[0]] and not (self.rules.all_releases and length == last):
                break
            available, last = available + width, length
        extra = available - self.width[visible[0]]
        for job in visible[1:]:
            if self.width[job] <= self.free and (self.estimate[job] <= last or self.width[job] <= extra):
                visible.remove(job)
                visible.insert(0, job)
                return
