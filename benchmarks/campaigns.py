"""How fast campaigns are: SC'17's grid on real logs, and the overhead of many small simulations."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.workload.sampling import windows
from schedlab_papers import sc17, sequences, thesis3
from schedlab_papers.published_medians import LAST_DIGIT, MedianTable

LOGS = {
    "CEA-Curie-2011-2.1-cln.swf.gz": 93_312,
    "SDSC-BLUE-2000-4.2-cln.swf.gz": 1_152,
    "CTC-SP2-1996-3.1-cln.swf.gz": 338,
    "HPC2N-2002-2.2-cln.swf.gz": 240,
    "synthetic/gen-sched-policies-2017/lublin_256_est.swf.gz": 256,
    "synthetic/gen-sched-policies-2017/lublin_1024_est.swf.gz": 1_024,
}
"""Six workloads and the sizes of their machines: those of Table 4, but HPC2N in the place of ANL Intrepid."""


def sc17_grid(traces: Path) -> Iterator[Result]:
    """Table 4 of SC'17: 6 workloads x 10 windows x 3 conditions x 8 policies, checked against direct simulations."""
    if not all((traces / log).is_file() for log in LOGS):
        print(f"sc17-grid: skipped, {traces} lacks one of {', '.join(LOGS)}")
        return
    policies = list(sequences.POLICIES)[:8]
    schedulers = [
        sequences.scheduler_text(policy, setting, sequences.AS_PUBLISHED)
        for setting in sequences.ALL_SETTINGS
        for policy in policies
    ]
    cut = {"length": "15d", "count": 10, "state": sequences.STATE}
    entries = [
        {
            "trace": str(traces / log),
            "processors": processors,
            "clean": "allocated-processors,no-request",
            "requests": "advisory",
            "windows": cut,
        }
        for log, processors in LOGS.items()
    ]
    campaign = sl.Campaign(name="sc17-grid", workloads=entries, schedulers=schedulers, events="sc17")
    with tempfile.TemporaryDirectory() as directory:
        begin = time.perf_counter()
        run = sl.run_campaign(campaign, directory)
        seconds = time.perf_counter() - begin
        frame = run.results()
    medians = frame.groupby(["workload", "scheduler"]).mean_bounded_slowdown.median()
    log = "SDSC-BLUE-2000-4.2-cln.swf.gz"
    blue = sl.read_swf(traces / log).replace(processors=LOGS[log], requests_enforced=False)
    parts = list(islice(windows(sl.clean(blue, "allocated-processors,no-request")), 10))
    same = []
    for text in schedulers:
        schedules = [sl.simulate(part, text, events="sc17", in_order=sequences.STATE) for part in parts]
        values = [schedule.bounded_slowdown[sequences.STATE :].mean() for schedule in schedules]
        same.append(medians["SDSC-BLUE-2000-4.2-cln", text] == np.median(values))
    yield Result(
        f"SC'17's grid, {len(frame):,} simulations, 2 workers",
        f"{seconds:.1f} s",
        "60 s",
        seconds < 60,
        f"{sum(same)} of 24 medians of SDSC Blue equal direct simulations",
        len(frame) == 1_440 and all(same),
    )


def published_tables(traces: Path) -> Iterator[Result]:
    """Table 4 of SC'17 and Table 3.3 of the thesis, in both variants, with SAF and SQF: against the printed values."""
    if not (traces / next(iter(LOGS))).is_file():
        print(f"published-tables: skipped, {traces} lacks {next(iter(LOGS))}")
        return
    with tempfile.TemporaryDirectory() as directory:
        begin = time.perf_counter()
        parts = [*sc17.reproduce(traces, directory=Path(directory)).tables, *thesis3.chapter3(traces, Path(directory))]
        seconds = time.perf_counter() - begin
    agreements = [part.agreement() for part in parts if isinstance(part, MedianTable)]
    same, compared = (sum(numbers) for numbers in zip(*agreements, strict=True))
    yield Result(
        "SC'17's Table 4 and the thesis' Table 3.3, both variants, 2 workers",
        f"{seconds:.0f} s",
        "120 s",
        seconds < 120,
        f"{same} of {compared} medians are the published ones to {LAST_DIGIT}",
        same == compared,
    )


SMALL = """
import resource, sys, time
import schedlab as sl

if __name__ == "__main__":
    place, repetitions, *schedulers = sys.argv[1:]
    workloads = [{"generate": "lublin", "jobs": 48, "processors": 256, "load": 0.9, "estimates": "exact"}]
    campaign = sl.Campaign(name="small", workloads=workloads, schedulers=schedulers, repetitions=int(repetitions))
    begin = time.perf_counter()
    sl.run_campaign(campaign, place, workers=1)
    print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)
"""


def _run_small(place: Path, schedulers: list[str], repetitions: int) -> tuple[float, float]:
    """Run the campaign in a process of its own; return seconds, and the megabytes of the coordinator at most."""
    command = [sys.executable, "-c", SMALL, str(place), str(repetitions), *schedulers]
    seconds, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(peak)


def small_simulations(_: Path) -> Iterator[Result]:
    """A hundred thousand simulations of 48 jobs: what the campaign adds to each, and the coordinator's memory."""
    schedulers = [f"{policy}{backfill}" for policy in ("fcfs", "spf", "saf", "f1") for backfill in ("", "+easy")]
    peaks = []
    with tempfile.TemporaryDirectory() as directory:
        for repetitions in (1_250, 12_500):
            place = Path(directory) / str(repetitions)
            seconds, peak = _run_small(place, schedulers, repetitions)
            peaks.append(peak)
        run = sl.campaign.RunDirectory.open(place)
        count = int(run.done().sum())
        sample = run.results().iloc[:800]
    # The same simulations and measures without a campaign, once warm.
    tasks = [run.plan.find(name) for name in sample.task]
    sl.simulate(tasks[0].instance.jobs(), tasks[0].scheduler)
    begin = time.perf_counter()
    direct = [sl.simulate(task.instance.jobs(), task.scheduler).metrics()["mean_bounded_slowdown"] for task in tasks]
    each = (time.perf_counter() - begin) / len(sample)
    overhead = (seconds / count - each) * 1e3
    yield Result(
        f"{count:,} simulations of 48 jobs, 1 worker",
        f"{seconds:.0f} s: {overhead:.2f} ms more than the {each * 1e3:.2f} ms of each",
        "1 ms",
        overhead < 1,
        "800 results equal direct simulations",
        bool((sample.mean_bounded_slowdown == direct).all()),
    )
    yield Result(
        "memory of the coordinator",
        f"{peaks[0]:.0f} MB for 10,000, {peaks[1]:.0f} MB for 100,000",
        "flat: 150 MB more",
        peaks[1] - peaks[0] < 150,
        "all results are there",
        count == 100_000,
    )
