"""How fast, and is it right: every figure comes with a check of the answer in the same run.

    python benchmarks/run.py [--traces DIR] [--only NAME ...] [--json FILE]

Prints one line per benchmark: the figure, the goal, the check; then what is slower than in earlier runs on this machine
(`history.py`). Ends with 1 if a check fails; a missed goal is only printed, because machines differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import campaigns
import environments
import experiments
import generation
import history
import laboratory
import learning
import many
import nodes
import numpy as np
import planning
import predictions
import reports
import slurm
import speculation
import stepping
from result import Result

import schedlab as sl

PROJECT = Path(__file__).resolve().parent.parent


def best(action: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def saturated(jobs: int, load: float = 1.2) -> sl.Workload:
    """Return a Lublin-Feitelson workload for 256 processors with Tsafrir estimates; load above 1 piles up a queue."""
    rng = np.random.default_rng(2026)
    return sl.model.tsafrir_estimates(sl.model.lublin(jobs, 256, rng=rng, load=load), rng=rng)


def fits_the_machine(schedule: sl.Schedule) -> bool:
    """Check from the starts and ends alone that the machine was never overfull and that all work was done."""
    width = schedule.workload.job_processors
    times = np.concatenate([schedule.end_time, schedule.start_time])
    change = np.concatenate([-width, width])
    order = np.argsort(times, kind="stable")  # ends first: they come first in the array
    work = np.minimum(schedule.workload.run_time, schedule.workload.requested_time)
    return bool(
        np.cumsum(change[order]).max() <= schedule.processors
        and (schedule.start_time >= schedule.workload.submit_time).all()
        and (schedule.run_time == work).all()
    )


def kth(traces: Path) -> Iterator[Result]:
    """EASY and conservative on KTH-SP2, against the values of SC'15 and the reference."""
    log = traces / "variants/predictsim/KTH-SP2/swf_unfiltered/log.swf.gz"
    if not log.is_file():
        print(f"kth: skipped, there is no {log}")
        return
    jobs = sl.clean(sl.read_swf(log), rules="sc15")
    published = sl.simulate(jobs, "fcfs+easy", events="pyss").metrics()["mean_bounded_slowdown"]
    seconds = best(lambda: sl.simulate(jobs, "fcfs+easy"), 40)
    rate = len(jobs) / seconds / 1e6
    yield Result(
        "EASY on KTH-SP2, warm",
        f"{seconds * 1e3:.2f} ms, {rate:.2f} M jobs/s",
        "6 M jobs/s",
        rate >= 6,
        f"mean bounded slowdown {published:.4f}, authors of SC'15: 92.5765",
        abs(published - 92.5765) < 5e-5,
    )
    run(["simulate", str(log)])
    expected = sl.simulate(sl.clean(sl.read_swf(log)), "fcfs+easy").metrics()["mean_wait"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(run(["simulate", str(log), "--json"]))["metrics"]["mean_wait"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    yield Result(
        "schedlab simulate on KTH-SP2, whole process",
        f"{seconds:.2f} s of processor time",
        "0.8 s",
        seconds <= 0.8,
        "the same mean wait from Python",
        found == expected,
    )
    few = jobs[:3000]
    begin = time.perf_counter()
    plain = sl.simulate_plain(few, "fcfs+easy")
    slow = time.perf_counter() - begin
    fast = best(lambda: sl.simulate(few, "fcfs+easy"), 20)
    equal = bool((plain.start_time == sl.simulate(few, "fcfs+easy").start_time).all())
    yield Result(
        "the same, first 3,000 jobs",
        f"{slow / fast:,.0f} times the reference",
        "-",
        True,
        "equals the reference",
        equal,
    )
    sl.simulate(few, "fcfs+conservative")
    seconds = best(lambda: sl.simulate(jobs, "fcfs+conservative"), 3)
    equal = bool(
        (
            sl.simulate_plain(few[:500], "fcfs+conservative").start_time
            == sl.simulate(few[:500], "fcfs+conservative").start_time
        ).all()
    )
    yield Result(
        "conservative on KTH-SP2", f"{seconds * 1e3:.0f} ms", "1 s", seconds < 1, "500 jobs equal the reference", equal
    )


def curie(traces: Path) -> Iterator[Result]:
    """Reading the largest log at hand."""
    log = traces / "CEA-Curie-2011-2.1-cln.swf.gz"
    if not log.is_file():
        print(f"curie: skipped, there is no {log}")
        return
    jobs = sl.read_swf(log)
    seconds = best(lambda: sl.read_swf(log), 3)
    yield Result(
        "read CEA-Curie, gz",
        f"{seconds:.2f} s",
        "1 s",
        seconds < 1,
        f"{len(jobs):,} jobs of 312,826",
        len(jobs) == 312_826,
    )


def million(_: Path) -> Iterator[Result]:
    """A million jobs with tens of thousands waiting, and what a job costs beside ten thousand."""
    jobs = saturated(1_000_000)
    few = jobs[:10_000]
    for scheduler, goal in (("fcfs+easy", 0.6), ("saf+easy", 0.7)):
        cheap = best(lambda: sl.simulate(few, scheduler), 5) / len(few)  # noqa: B023
        begin = time.perf_counter()
        schedule = sl.simulate(jobs, scheduler)
        seconds = time.perf_counter() - begin
        queue = schedule.metrics()["mean_queue_length"]
        equal = bool(
            (sl.simulate_plain(few[:2000], scheduler).start_time == sl.simulate(few[:2000], scheduler).start_time).all()
        )
        growth = seconds / len(jobs) / cheap
        yield Result(
            f"{scheduler}, 1 M jobs, {queue:,.0f} waiting",
            f"{seconds:.2f} s, a job costs {growth:.1f} times that of 10 k",
            f"{goal} s, 10 times",
            seconds <= goal and growth < 10,
            "fits the machine; 2,000 jobs equal the reference",
            equal and fits_the_machine(schedule),
        )


def memory(_: Path) -> Iterator[Result]:
    """Ten million jobs at load 0.8 in a process of their own."""
    lines = subprocess.run(
        [sys.executable, __file__, "--ten-million"], capture_output=True, text=True, check=True
    ).stdout.split()
    seconds, gigabytes, fits = float(lines[0]), float(lines[1]), lines[2] == "True"
    yield Result(
        "fcfs+easy, 10 M jobs at load 0.8",
        f"{seconds:.1f} s, peak {gigabytes:.2f} GB",
        "2 GB",
        gigabytes < 2,
        "fits the machine",
        fits,
    )


def ten_million() -> None:
    """Simulate ten million jobs; print seconds, the peak memory so far in GB, and whether the schedule is sound."""
    rng = np.random.default_rng(10)
    jobs = sl.model.lublin(10_000_000, 256, rng=rng, load=0.8)
    jobs = jobs.replace(requested_time=jobs.run_time * 2)
    begin = time.perf_counter()
    schedule = sl.simulate(jobs, "fcfs+easy")
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(seconds, peak, fits_the_machine(schedule))


def whole_process(_: Path) -> Iterator[Result]:
    """`schedlab simulate` on a file of a million jobs: start, read, simulate, measure, print."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "million.swf"
        jobs = saturated(1_000_000, load=0.8)
        sl.write_swf(jobs, trace)
        command = ["simulate", str(trace), "--scheduler", "fcfs+easy", "--json"]
        run(command)
        begin = time.perf_counter()
        printed = run(command)
        seconds = time.perf_counter() - begin
        expected = sl.simulate(jobs, "fcfs+easy").metrics()["mean_bounded_slowdown"]
        found = json.loads(printed)["metrics"]["mean_bounded_slowdown"]
    yield Result(
        "schedlab simulate, SWF of 1 M jobs, whole process",
        f"{seconds:.2f} s",
        "5 s",
        seconds < 5,
        "the same metrics from Python",
        found == expected,
    )


FIRST = (
    "saf+easy",
    "fcfs+conservative",
    "multifactor(age=1000)+slurm",
    "fcfs+easy@ave2",
    "fcfs+easy@e-loss",
    "saf@similar+easy@requested",
    "saf+easy on nodes",
    "fcfs+conservative on nodes",
    "multifactor(age=1000)+slurm on nodes",
)
"""One scheduler of each kind that is compiled separately, and a cluster of nodes."""

FIRST_PROGRAM = """
import sys
import numpy as np
import schedlab as sl
rng = np.random.default_rng(1)
jobs = sl.model.tsafrir_estimates(sl.model.lublin(500, 256, rng=rng, load=0.9), rng=rng)
scheduler, _, nodes = sys.argv[1].partition(" on ")
cluster = sl.Cluster.of_nodes([sl.cluster.NodeGroup.of("n[1-16]", cores=16)]) if nodes else None
print(sl.simulate(jobs, scheduler, cluster=cluster).start_time.sum())
"""


def start_up(_: Path) -> Iterator[Result]:
    """The first call after installation for kinds of schedulers, the next process, and --help."""
    run(["--help"])  # compiles modules that were changed
    for scheduler in FIRST:
        with tempfile.TemporaryDirectory() as cache:
            times, answers = [], set()
            for _ in range(2):
                begin = time.perf_counter()
                answers.add(run_python(FIRST_PROGRAM, scheduler, SCHEDLAB_CACHE=cache))
                times.append(time.perf_counter() - begin)
        yield Result(
            f"first simulation after installation, {scheduler}",
            f"{times[0]:.1f} s; the next process {times[1]:.1f} s",
            "10 s",
            times[0] < 10,
            "both give the same",
            len(answers) == 1,
        )
    run(["--help"])
    seconds = best(lambda: run(["--help"]), 5)
    yield Result(
        "schedlab --help", f"{seconds:.2f} s", "0.3 s", seconds < 0.3, "names compare", "compare" in run(["--help"])
    )


def run(arguments: list[str]) -> str:
    """Run the command line in a process of its own and return what it prints."""
    return _printed([str(Path(sys.executable).with_name("schedlab")), *arguments])


def run_python(program: str, *arguments: str, **environment: str) -> str:
    """Run a program in a process of its own and return what it prints."""
    return _printed([sys.executable, "-c", program, *arguments], **environment)


def _printed(command: list[str], **environment: str) -> str:
    """Run a command that may keep compiled modules, as those of an installed package are kept."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=kept | environment).stdout


BENCHMARKS = {
    "kth": kth,
    "curie": curie,
    "million": million,
    "planning": planning.planning,
    "predicting": planning.predicting,
    "memory": memory,
    "whole-process": whole_process,
    "start-up": start_up,
    "sc17-grid": campaigns.sc17_grid,
    "published-tables": campaigns.published_tables,
    "small-simulations": campaigns.small_simulations,
    "many": many.many,
    "stepping": stepping.stepping,
    "environments": environments.environments,
    "e-loss": predictions.e_loss,
    "predictors": predictions.predictors,
    "sc15-grid": predictions.sc15_grid,
    "sc15-logs": predictions.sc15_logs,
    "trials": learning.trials,
    "fit": learning.fit,
    "sequences": speculation.sequences,
    "icpp19": speculation.scenario_1,
    "mixed": speculation.mixed,
    "nodes": nodes.nodes,
    "slurm": slurm.slurm,
    "laboratory": laboratory.laboratory,
    "generation": generation.experiments,
    "experiments": experiments.experiments,
    "reports": reports.reports,
}


def machine() -> str:
    """Return the hardware in a line."""
    model = platform.processor() or platform.machine()
    for line in (
        Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else ()
    ):
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def revision() -> str:
    """Return what is checked out, or the version where there is no repository."""
    command = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or sl.__version__


def main() -> int:
    """Run the benchmarks asked for and print their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("SCHEDLAB_TRACES", str(PROJECT.parent / "shared" / "traces"))
    parser.add_argument("--traces", type=Path, default=Path(default), help="directory of real logs")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS))
    parser.add_argument("--json", type=Path, help="also write the results to a file")
    parser.add_argument(
        "--long", action="store_true", help="also what takes minutes: a year of a site, 1,000 jobs on the real Slurm"
    )
    parser.add_argument("--ten-million", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ten_million:
        ten_million()
        return 0
    print(machine())
    sl.simulate(saturated(1000), "fcfs+easy")  # compile
    results = []
    chosen = [BENCHMARKS[name] for name in options.only] + [nodes.long_nodes, laboratory.long_laboratory] * options.long
    for benchmark in chosen:
        for result in benchmark(options.traces):
            results.append(result)
            goal = f"goal {result.goal}{'' if result.met else ' MISSED'}"
            check = f"{result.check}: {'right' if result.right else 'WRONG'}"
            print(f"{result.name:55}  {result.figure:55}  {goal:22}  {check}", flush=True)
    for sentence in history.slower(history.read(history.HISTORY), results, machine()):
        print(f"SLOWER {sentence}")
    history.add(history.HISTORY, results, machine(), revision())
    if options.json:
        document = {"machine": machine(), "results": [asdict(result) for result in results]}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0 if all(result.right for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
