"""Random malleable jobs, and passes that resize them in every way that a view offers."""

from __future__ import annotations

import numpy as np

from schedlab.scheduler import Pass
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

MACHINE = 8


def drawn_jobs(seed, *, linked=False, cancelled=False):
    """Return jobs of which most may have several sizes, in any order of submission; few are killed at a request."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 14))
    own = rng.integers(1, MACHINE + 1, n)
    run = rng.integers(1, 60, n)
    request = np.where(rng.random(n) < 0.3, np.maximum(run - 3, 1), run + rng.integers(0, 40, n))
    owner, size, lasts = [], [], []
    for job in range(n):
        others = rng.permutation(np.setdiff1d(np.arange(1, MACHINE + 3), own[job]))[: rng.integers(0, 5)]
        owner += [job] * len(others)
        size += others.tolist()
        lasts += np.ceil(run[job] * rng.uniform(0.3, 1.2) * own[job] / others).astype(int).tolist()
    sizes = Alternatives.of(owner, processors=size, run_time=lasts, malleable=True, jobs=n)
    jobs = Workload.from_columns(
        {
            "submit_time": rng.integers(0, 120, n),
            "run_time": run,
            "requested_time": request,
            "requested_processors": own,
            "user_id": rng.integers(0, 3, n),
        },
        processors=MACHINE,
        requests_enforced=bool(rng.random() < 0.7),
    ).replace(alternatives=sizes)
    if linked:
        child = np.flatnonzero(rng.random(n) < 0.4)
        jobs = jobs.replace(dependencies=Dependencies.from_pairs(child[1:], child[:-1], jobs=n))
    if cancelled:
        jobs = jobs.replace(resources=Resources.of(n, patience=rng.integers(0, 40, n), tasks=own))
    return jobs


class Restless(Pass):
    """Starts, reserves and resizes by chance, but for a head that nothing keeps from starting."""

    def __init__(self, seed=0):
        self.seed, self.wakes = seed, 20

    def decide(self, view):
        rng = np.random.default_rng([self.seed, view.now])
        for _ in range(2):
            for run in view.running.tolist():
                self.try_size(view, run, rng)
        for job in view.waiting.tolist():
            if rng.random() < 0.5:
                view.resize(job, int(rng.choice(view.sizes(job))))
            if view.fits(job):
                view.start(job)
                self.try_size(view, job, rng)
            elif rng.random() < 0.4:
                view.reserve(job)
                if rng.random() < 0.3:
                    view.resize(job, int(rng.choice(view.sizes(job))))
        for run in view.running.tolist():
            self.try_size(view, run, rng)
        if self.wakes and len(view.waiting):
            self.wakes -= 1
            view.wake_at(view.now + int(rng.integers(1, 9)))

    @staticmethod
    def try_size(view, run, rng):
        size = int(rng.choice(view.sizes(run)))
        if rng.random() < 0.7 and view.can_resize(run, size):
            view.resize(run, size)
