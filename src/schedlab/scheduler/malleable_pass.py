"""A pass for malleable jobs: EASY, to whose head runs give way, and which lets them grow into what is idle.

References
----------
Buisson, Sonmez, Mohamed, Lammers and Epema, "Scheduling malleable applications in multicluster systems", CLUSTER 2007:
their policy FPSMA, "favour previously started malleable applications", grows what started first, and shrinks what
started last.
"""

from __future__ import annotations

import numpy as np

from schedlab.scheduler.own_pass import OwnPass, Pass, PassView

NAME = "malleable"


class FavourStarted(Pass):
    """EASY, in which malleable jobs shrink to let the head of the queue start, and grow at the end of a pass.

    A job starts with the largest of its sizes that fits. If the head fits with none, runs shrink until it fits with its
    smallest one, those that started last first, each no further than it takes; none does if that is not enough. The
    head then has a reservation for its smallest size, and others start beside it. At the end runs grow, those that
    started first first, each to the largest size that fits beside the reservation.
    """

    def decide(self, view: PassView) -> None:
        """Start the first jobs of the queue, reserve for the next, backfill, and grow."""
        queue = view.waiting.tolist()
        while queue and (_start(view, queue[0]) or (_make_room(view, queue[0]) and _start(view, queue[0]))):
            queue.pop(0)
        if queue:
            view.reserve(queue[0])
        for job in queue[1:]:
            if view.free == 0:
                break
            _start(view, job)
        for job in _by_start(view):
            if view.free == 0:
                break
            _grow(view, job)


def _start(view: PassView, job: int) -> bool:
    """Start a job with the largest of its sizes that fits; return whether one does. If none does, it has the first."""
    sizes, free = view.sizes(job).tolist(), view.free
    for size in [size for size in reversed(sizes) if size <= free]:
        view.resize(job, size)
        if view.fits(job):
            view.start(job)
            return True
    view.resize(job, sizes[0])
    return False


def _make_room(view: PassView, job: int) -> bool:
    """Let runs shrink until a waiting job fits with its smallest size; return whether it does."""
    needed, held = int(view.sizes(job)[0]) - view.free, view.processors
    sizes = {run: view.sizes(run).tolist() for run in _by_start(view)}
    if needed > sum(int(held[run]) - sizes[run][0] for run in sizes) or not view.allowed(job):
        return False
    for run in reversed(sizes):
        if needed <= 0:
            break
        before = int(held[run])
        enough = [size for size in sizes[run] if before - size >= needed]
        size = enough[-1] if enough else sizes[run][0]
        view.resize(run, size)
        needed -= before - size
    return True


def _grow(view: PassView, run: int) -> None:
    """Let a run grow to the largest of its sizes that fits."""
    held, free = int(view.processors[run]), view.free
    for size in [size for size in reversed(view.sizes(run).tolist()) if held < size <= held + free]:
        if view.can_resize(run, size):
            view.resize(run, size)
            break


def _by_start(view: PassView) -> list[int]:
    """Return the running jobs, those that started first first; of one second, in the order of submission."""
    runs = view.running
    in_order: list[int] = runs[np.lexsort((runs, view.start_time[runs]))].tolist()
    return in_order


def malleable_pass() -> OwnPass:
    """Return the pass, as backfilling."""
    return OwnPass(FavourStarted(), NAME)
