"""A trial once more, in plain Python for the reader."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.learn.trials import Trials
from schedlab.schedule.metrics import TAU
from schedlab.workload.workload import Workload


def measure_plain(jobs: Workload, settings: Trials, order: Sequence[int], *, processors: int) -> float:
    """Start S by submission and then Q in an order, each strictly; return the mean objective over Q.

    Parameters
    ----------
    jobs, settings, processors
        As for `schedlab.learn.trials.score_tuple`.
    order
        Positions in Q.
    """
    submit = (jobs.submit_time - jobs.submit_time[0]).tolist()
    run, width = jobs.run_time.tolist(), jobs.job_processors.tolist()
    queue = [settings.state + position for position in order]
    running: list[tuple[int, int]] = []  # (end, processors)
    now = 0
    values = []
    for job in [*range(settings.state), *queue]:
        now = max(now, submit[job])
        while processors - sum(q for end, q in running if end > now) < width[job]:
            now = min(end for end, _ in running if end > now)
        running.append((now + run[job], width[job]))
        if job in queue:
            values.append(_objective(settings.objective, now - submit[job], run[job], width[job]))
    return sum(values) / len(values)


def _objective(name: str, wait: int, run: int, width: int) -> float:
    match name:
        case "wait":
            return wait
        case "flow":
            return wait + run
        case "bounded-slowdown":
            return max(1.0, (wait + run) / max(run, TAU))
    return max(1.0, (wait + run) / (width * max(run, TAU)))
