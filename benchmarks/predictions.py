"""How fast predictions in the loop are: SC'15's winning triple, its campaign on one log, and on five."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.engine.parts.forecasts.kernels import new_forecast
from schedlab.predict.events import events_of, follow
from schedlab.predict.replay import replay_of
from schedlab.scheduler.predictor_text import predictor_from_text
from schedlab_papers import sc15
from schedlab_papers.sc15_logs import E_LOSS, GRID, Sc15Log
from schedlab_papers.sc15_tables import values_of

KTH, CTC = sc15.LOGS[:2]
"""The logs that are here as the authors of SC'15 had them."""

REPEATS = 9

PREDICTORS = (
    "ave2",
    "similar",
    "groups",
    "groups(user.executable.request.processors)",
    "e-loss",
    "log-nag",
    "log-nag(pairs)",
)


def shortest(jobs: sl.Workload, scheduler: str) -> float:
    """Return the shortest time of several simulations, in seconds."""
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        sl.simulate(jobs, scheduler, events="pyss")
        times.append(time.perf_counter() - begin)
    return min(times)


def e_loss(traces: Path) -> Iterator[Result]:
    """E-loss on KTH-SP2, warm, and what predicting and learning add to a job."""
    if not (traces / KTH.file).is_file():
        print(f"e-loss: skipped, {traces} lacks {KTH.file}")
        return
    jobs = sl.clean(sl.read_swf(traces / KTH.file), rules="sc15")
    schedule = sl.simulate(jobs, E_LOSS, events="pyss")
    found = schedule.metrics()["mean_bounded_slowdown"]
    seconds = shortest(jobs, E_LOSS)
    yield Result(
        "E-loss on KTH-SP2, warm",
        f"{seconds:.3f} s, {len(jobs) / seconds / 1e6:.2f} M jobs/s",
        "0.15 s",
        seconds < 0.15,
        f"mean bounded slowdown {found:.4f}, authors of SC'15: {KTH.exact[E_LOSS]}",
        abs(found - KTH.exact[E_LOSS]) < 0.0005,
    )
    # With one correction per job at most, little but the predictor differs between these two.
    regression, average = (f"fcfs+easy:sjf@{predictor}/requested" for predictor in ("e-loss", "ave2"))
    each = (shortest(jobs, regression) - shortest(jobs, average)) / len(jobs)
    values = {
        text: sl.simulate(jobs, text, events="pyss").metrics()["mean_bounded_slowdown"]
        for text in (regression, average)
    }
    yield Result(
        "predicting and learning, per job",
        f"{each * 1e6:.2f} us more than AVE2",
        "2 us",
        each < 2e-6,
        "both equal the authors'",
        all(abs(value - KTH.exact[text]) < 0.0005 for text, value in values.items()),
    )


def predictors(traces: Path) -> Iterator[Result]:
    """What predicting and learning cost per job: the compiled loop alone, on KTH-SP2."""
    if not (traces / KTH.file).is_file():
        print(f"predictors: skipped, {traces} lacks {KTH.file}")
        return
    jobs = sl.clean(sl.read_swf(traces / KTH.file))
    for text in PREDICTORS:
        schedule = sl.simulate(jobs, f"fcfs+easy@{text}/requested")
        replay = replay_of(jobs, schedule)
        prepared, chosen = replay.prepared, predictor_from_text(text)
        events = events_of(prepared.jobs["submit"], replay.start, prepared.jobs["duration"])
        records, start = prepared.jobs.copy(), replay.start.copy()  # a prediction model's are not read-only
        times = []
        for _ in range(REPEATS):
            columns = prepared.column("user_id"), prepared.attributes(chosen.attributes)
            forecast = new_forecast(chosen, "requested", prepared.request.copy(), *columns)
            begin = time.perf_counter()
            follow(records, start, forecast, events, 0, len(events.kind))
            times.append(time.perf_counter() - begin)
        each = min(times) / len(jobs)
        simulated = schedule.predicted_run_time
        yield Result(
            f"@{text}: predicting and learning, per job",
            f"{each * 1e6:.2f} us",
            "1 us",
            each < 1e-6,
            "predictions of the simulation",
            np.array_equal(forecast.first, simulated if prepared.order is None else simulated[prepared.order]),
        )


def sc15_grid(traces: Path) -> Iterator[Result]:
    """The campaign of 130 triples on KTH-SP2."""
    yield from _campaign(traces, [KTH], "15 s", 15)


def sc15_logs(traces: Path) -> Iterator[Result]:
    """The same on the five logs of the paper that are at hand."""
    yield from _campaign(traces, sc15.LOGS, "10 min", 600)


def _campaign(traces: Path, logs: Sequence[Sc15Log], goal: str, limit: float) -> Iterator[Result]:
    lacking = [log.file for log in logs if not (traces / log.file).is_file()]
    if lacking:
        print(f"sc15: skipped, {traces} lacks {', '.join(lacking)}")
        return
    with tempfile.TemporaryDirectory() as directory:
        begin = time.perf_counter()
        frame = sc15.run(logs, traces, GRID, "pyss", Path(directory))
        seconds = time.perf_counter() - begin
    ours = values_of(frame)
    same = [
        abs(ours[log.name, text] - exact) < 0.0005
        for log in logs
        if log in (KTH, CTC)
        for text, exact in log.exact.items()
    ]
    yield Result(
        f"SC'15's 130 triples on {len(logs)} log{'s' if len(logs) > 1 else ''}",
        f"{seconds:.1f} s, {len(frame)} simulations",
        goal,
        seconds < limit,
        f"{sum(same)} of {len(same)} exact values of the authors",
        len(frame) == len(GRID) * len(logs) and all(same),
    )
