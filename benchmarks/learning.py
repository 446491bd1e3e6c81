"""How fast policies are learned: trial simulations, and the fit of all forms to their scores."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.kernels import for_python
from schedlab.learn import trial_kernel
from schedlab.learn.collection import tuples_of
from schedlab.learn.trial_twin import measure_plain
from schedlab.learn.trials import measure_draws, problem_of

TRAINING = "synthetic/deep-batch-scheduler/lublin_256.swf.gz"
"""The jobs from which SC'17 drew its tuples, in the directory of traces."""

PUBLISHED = "../sc17/score-distribution.csv.gz"
"""The scores that SC'17 published, seen from there."""

PROCESSORS = 256

REPEATS = 3

draw_order = for_python(trial_kernel.draw_order)

LEADERS = {
    "log10(p)*q + log10(r)": 0.0052776,
    "sqrt(p)*q + log10(r)": 0.0053168,
    "p*q + log10(r)": 0.0054076,
    "p*sqrt(q) + log10(r)": 0.0054818,
}
"""F1 to F4, and the errors that the authors' program has for them."""


def trials(traces: Path) -> Iterator[Result]:
    """Trials per second and core, against the reference; and all published tuples, against published scores."""
    rng = np.random.default_rng(17)
    jobs = sl.learn.usable_jobs(sl.model.lublin(48, PROCESSORS, rng=rng), sl.learn.Trials(), PROCESSORS)
    for sampling in ("independent", "antithetic"):
        settings = sl.learn.Trials(trials=1_000_000, sampling=sampling)
        equal = _equals_the_twin(jobs, settings)
        times = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            scores = sl.learn.score_tuple(jobs, settings, processors=PROCESSORS, seed=1)
            times.append(time.perf_counter() - begin)
        rate = scores.trials / min(times) / 1e6
        yield Result(
            f"trials of 16 + 32 jobs, {sampling}, 1 core",
            f"{rate:.2f} M trials/s, standard errors {scores.relative_error.mean():.3%} of a score",
            "1 M trials/s",
            rate >= 1,
            "orders drawn by the kernel, measured by the reference",
            equal,
        )
    yield from _published_trials(traces)


def _equals_the_twin(jobs: sl.Workload, settings: sl.learn.Trials, draws: int = 4) -> bool:
    """Return whether trials measure what plain Python measures for the same orders."""
    leaders, measures = measure_draws(problem_of(jobs, settings, PROCESSORS), settings, 1, 0, draws)
    order = np.empty(settings.queue, dtype=np.int32)
    for draw in range(draws):
        draw_order(order, np.uint64(1), draw, False)
        for trial, (leader, measure) in enumerate(zip(leaders[draw], measures[draw], strict=True)):
            followers = [job for job in order.tolist() if job != leader]
            led = [int(leader), *(followers if trial < settings.leads else reversed(followers))]
            if not np.isclose(measure_plain(jobs, settings, led, processors=PROCESSORS), measure, rtol=1e-12):
                return False
    return True


def _published_trials(traces: Path) -> Iterator[Result]:
    """Repeat the trials of SC'17, with its shuffle."""
    if not ((traces / TRAINING).is_file() and (traces / PUBLISHED).is_file()):
        print(f"trials of the published tuples: skipped, {traces} lacks {TRAINING} or {PUBLISHED}")
        return
    published = sl.learn.read_scores(traces / PUBLISHED)
    settings = sl.learn.Trials(trials=256_000, sampling="independent", shuffle="biased")
    jobs = sl.learn.usable_jobs(sl.read_swf(traces / TRAINING), settings, PROCESSORS)
    cores = len(os.sched_getaffinity(0))
    begin = time.perf_counter()
    with ThreadPoolExecutor(cores) as executor:
        tuples = tuples_of(published, jobs, settings, seed=1)
        table = sl.learn.collect_scores(
            jobs, tuples, settings, processors=PROCESSORS, provenance={"seed": 1}, executor=executor
        )
    seconds = time.perf_counter() - begin
    deviation = table.score / published.score - 1
    # Both have errors of 1.16 % on average, so 1.64 % are expected.
    yield Result(
        f"256,000 trials of each of {len(tuples)} published tuples, {cores} cores",
        f"{seconds:.0f} s",
        "60 s",
        seconds < 60,
        f"scatter about the published scores {deviation.std():.2%}, mean {deviation.mean():+.3%}",
        bool(deviation.std() < 0.018 and abs(deviation.mean()) < 0.001),
    )


def fit(traces: Path) -> Iterator[Result]:
    """All forms, fitted to the published scores."""
    if not (traces / PUBLISHED).is_file():
        print(f"fit: skipped, {traces} lacks {PUBLISHED}")
        return
    published = sl.learn.read_scores(traces / PUBLISHED)
    begin = time.perf_counter()
    ranking = sl.learn.fit_scores(published)
    seconds = time.perf_counter() - begin
    leaders = {one.form: one.mae for one in ranking.fits[: len(LEADERS)]}
    yield Result(
        f"fit of {len(ranking.fits)} forms to {len(published):,} scores, cross-validated",
        f"{seconds:.2f} s",
        "2 s",
        seconds < 2,
        "F1 to F4 lead, with the authors' errors",
        list(leaders) == list(LEADERS) and np.allclose(list(leaders.values()), list(LEADERS.values()), atol=5e-8),
    )
