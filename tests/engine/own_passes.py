"""Passes in Python for random comparisons: each uses all that a view offers, and starts every job in the end."""

from __future__ import annotations

from collections import Counter

from schedlab.scheduler import Pass

WAKES = 5
"""How often a pass asks to be woken: without an end, it would keep jobs waiting that can never start."""


class Reserving(Pass):
    """EASY with several reservations."""

    def __init__(self, most=1):
        self.most = most

    def decide(self, view):
        reserved = 0
        for job in view.waiting:
            if view.fits(job):
                view.start(job)
            elif reserved < self.most and view.allowed(job):
                view.reserve(job)
                reserved += 1


class Everything(Pass):
    """Users whose jobs have run for long wait while others of theirs run; some reservations are cancelled again."""

    def __init__(self, most, quota):
        self.most, self.quota, self.wakes = most, quota, WAKES
        self.used = Counter()

    def decide(self, view):
        for job, run_time in zip(*view.ended(), strict=True):
            self.used[int(view.user[job])] += int(run_time)
        running = Counter(view.user[view.running].tolist())
        reserved, most = 0, self.most + int(view.free_nodes.sum() + view.free_gpus.sum()) % 2
        for job in view.waiting:
            user = int(view.user[job])
            if running[user] and self.used[user] > self.quota * view.request[job]:
                continue
            begins = view.earliest(job)
            if begins == view.now and view.fits(job):
                view.start(job)
                running[user] += 1
            elif begins is not None and reserved < most and begins < view.now + 3 * view.predicted[job]:
                assert view.reserve(job) == begins
                reserved += 1
                if (job + view.now) % 3 == 0:
                    view.cancel(job)
        if self.wakes and reserved:
            self.wakes -= 1
            view.wake_at(view.now + 1 + int(view.processors[view.waiting[0]]))
