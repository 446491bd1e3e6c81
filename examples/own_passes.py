"""Four scheduling passes in Python beside EASY: python examples/own_passes.py [--ratio] [LOG.swf.gz]"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

import schedlab as sl


class Reservations(sl.scheduling.Pass):
    """EASY in which the first `most` jobs that do not fit have reservations; one is EASY itself."""

    def __init__(self, most: int = 1) -> None:
        self.most = most

    def decide(self, view: sl.scheduling.PassView) -> None:
        reserved = 0
        for job in view.waiting:
            if view.fits(job):
                view.start(job)
            elif reserved < self.most and view.allowed(job):
                view.reserve(job)
                reserved += 1


class Lookahead(sl.scheduling.Pass):
    """LOS (Shmueli and Feitelson, JSSPP 2003): of the jobs that may overtake the head, those that fill most processors.

    A job that is still running when the head is to begin takes of the processors that the head leaves free then.
    """

    def __init__(self, depth: int = 50) -> None:
        self.depth = depth

    def decide(self, view: sl.scheduling.PassView) -> None:
        waiting = [job for job in view.waiting if view.allowed(job)]
        while waiting and view.fits(waiting[0]):
            view.start(waiting.pop(0))
        if not waiting or view.free == 0:
            return
        head, others = waiting[0], np.array(waiting[1:], dtype=int)
        others = others[view.processors[others] <= view.free][: self.depth]
        begins, running = view.reserve(head), view.running
        if begins is None:
            return
        over = view.start_time[running] + view.predicted[running] <= begins
        extra = view.free + view.processors[running][over].sum() - view.processors[head]
        late = view.now + view.predicted[others] > begins
        for place in best_set(view.processors[others], late, view.free, int(extra)):
            if view.fits(others[place]):  # on nodes, free processors are not all that counts
                view.start(others[place])


def best_set(width: np.ndarray, late: np.ndarray, free: int, extra: int) -> Iterator[int]:
    """Yield which jobs together hold most of `free` processors, and if late, at most `extra` of them."""
    held, taken = np.zeros((free + 1, extra + 1), dtype=int), []
    for wide, after in zip(width, np.where(late, width, 0), strict=True):
        more = held.copy()
        if after <= extra:
            more[wide:, after:] = np.maximum(held[wide:, after:], held[: free + 1 - wide, : extra + 1 - after] + wide)
        taken.append(more > held)
        held = more
    for place in reversed(range(len(taken))):
        if taken[place][free, extra]:
            yield place
            free, extra = free - width[place], extra - (width[place] if late[place] else 0)


class Quota(sl.scheduling.Pass):
    """EASY in which users who have used more than a share of the machine, lately, stand behind all others."""

    def __init__(self, share: float = 0.2, half_life: float = 86400.0) -> None:
        self.share, self.half_life = share, half_life
        self._used, self._second = np.zeros(1), 0

    def decide(self, view: sl.scheduling.PassView) -> None:
        user = view.user + 1  # 0 is unknown
        if len(self._used) <= user.max():
            self._used = np.resize(self._used, user.max() + 1) * 0.0
        self._used *= 0.5 ** ((view.now - self._second) / self.half_life)
        self._second = view.now
        jobs, run_time = view.ended()
        np.add.at(self._used, user[jobs], view.processors[jobs] * run_time)
        most = self.share * view.size * self.half_life / np.log(2)  # what such a share, always held, comes to
        blocked = False
        for job in view.waiting[np.argsort(self._used[user[view.waiting]] > most, kind="stable")]:
            if view.fits(job):
                view.start(job)
            elif not blocked and view.allowed(job):
                view.reserve(job)
                blocked = True


class PowerCap(sl.scheduling.Pass):
    """EASY that starts nothing above a share of the machine between two hours of each day."""

    def __init__(self, share: float = 0.8, begin: int = 8, end: int = 20) -> None:
        self.share, self.begin, self.end = share, begin, end

    def decide(self, view: sl.scheduling.PassView) -> None:
        day, second = divmod(view.now, 86400)
        capped = self.begin * 3600 <= second < self.end * 3600
        left = (self.share if capped else 1.0) * view.size - (view.size - view.free)
        blocked = False
        for job in view.waiting:
            if view.fits(job):
                if view.processors[job] <= left:  # else it waits for the cap alone: a reservation would be for now
                    view.start(job)
                    left -= view.processors[job]
            elif not blocked and view.allowed(job):
                view.reserve(job)
                blocked = True
        if capped:
            view.wake_at(day * 86400 + self.end * 3600)


class Compiled(Reservations):
    """The first of them, compiled."""

    compiled = True


def ratio(jobs: sl.Workload) -> str:
    """Return the CPU time of EASY as a compiled pass, in that of the built-in one; both start the same jobs."""
    seconds, starts = [], []
    for backfill in ("easy", Compiled(1)):
        scheduler = sl.Scheduler("fcfs", backfill)
        sl.simulate(jobs[:100], scheduler)  # this compiles
        times = []
        for _ in range(5):
            begun = time.process_time()
            schedule = sl.simulate(jobs, scheduler)
            times.append(time.process_time() - begun)
        seconds.append(min(times))
        starts.append(schedule.start_time)
    assert (starts[0] == starts[1]).all()
    return (
        f"{seconds[1] / seconds[0]:.1f} times EASY: {seconds[1]:.4f} s, EASY {seconds[0]:.4f} s, with the same starts"
    )


def main() -> None:
    """Compare the passes with EASY on a log, or on generated jobs."""
    rng = np.random.default_rng(4)
    logs = [argument for argument in sys.argv[1:] if argument.endswith((".swf", ".swf.gz"))]
    if logs:
        jobs = sl.clean(sl.read_swf(logs[0]))
    else:
        jobs = sl.clean(sl.model.tsafrir_estimates(sl.model.lublin(1000, 100, rng=rng, load=0.9), rng=rng))
    if "--ratio" in sys.argv:
        print(ratio(jobs))
        return
    passes = [Reservations(1), Reservations(4), Lookahead(), Quota(), PowerCap()]
    print(sl.compare(jobs, schedulers=["fcfs+easy", *(sl.Scheduler("fcfs", one) for one in passes)]))


if __name__ == "__main__":
    main()
