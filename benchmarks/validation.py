"""The model of Slurm and the fast clock, held against the real thing.

    python benchmarks/validation.py [--phases 10] [clock] [thousand] [on-nodes] [deployed] [micro] [week]

These are tables of docs/reference/laboratory-validation.md. Together they take about two hours of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from laboratory import SITES, TRACES

import schedlab as sl
from schedlab.schedule.schedule import Schedule
from schedlab.slurm.installation import find_slurm
from schedlab.slurm.jobs import Command, JobList, read_events
from schedlab.slurm.releases import name_of
from schedlab.slurm.results import SlurmRun
from schedlab.slurm.translation import translate
from schedlab.wording import table

RECORDED = Path(__file__).resolve().parent.parent / "conformance" / "real-slurm.csv"
"""Fourteen clusters in real time; conformance/README.md says how they were set up."""

WEEK = TRACES / "modern" / "workload_week.events.gz"
"""UB CCR's week of 19,579 jobs."""

VERSION = name_of(find_slurm().version)
"""Which Slurm runs, and whose rules the models follow: the installed one, or that of `SCHEDLAB_SLURM`."""

SUBMITTED, STOPPED = 17 * 3600, 18 * 3600
"""Of the week: the jobs that come before the first second, and the second in which all is stopped."""

WAYS = ("lua", "site-factor", "priority-loop", "rest")

FCFS, DEEP = f"fcfs+slurm(version={VERSION})", "depth=1000,queue_depth=1000"
CONFIGURATIONS = {
    "cores": f"fcfs+slurm({DEEP},shared=256,version={VERSION})",
    "depth": f"fcfs+slurm(depth=5,shared=256,version={VERSION})",
    "small": f"multifactor(size=1000000,favor=small)+slurm({DEEP},shared=256,version={VERSION})",
    "nodes": f"fcfs+slurm({DEEP},node=8,version={VERSION})",
    "nodes-depth": f"fcfs+slurm(depth=10,node=8,version={VERSION})",
    "nodes-small": f"multifactor(size=1000000000,favor=small,relative=yes)+slurm({DEEP},node=8,version={VERSION})",
}
"""Of the recorded clusters, by the names of their runs without the number."""


def recorded() -> dict[str, list[Schedule]]:
    """Return what the recorded clusters did, by configuration, from the full minute before the first submission on."""
    found: dict[str, list[Schedule]] = {name: [] for name in CONFIGURATIONS}
    for run, jobs in pd.read_csv(RECORDED).groupby("run"):
        name, times = str(run).rpartition("-")[0], ["submit", "start", "end"]
        jobs[times] -= jobs["submit"].min() // 60 * 60
        found[name].append(_as_schedule(jobs, CONFIGURATIONS[name]))
    return found


def _as_schedule(jobs: pd.DataFrame, scheduler: str) -> Schedule:
    columns = {name: jobs[name].to_numpy() for name in ("processors", "requested_time", "run_time")}
    workload = sl.Workload.from_columns(
        {"submit_time": jobs["submit"].to_numpy(), "requested_processors": columns.pop("processors")} | columns,
        processors=256,
        name="recorded",
    )
    zeros = np.zeros(len(jobs), dtype=np.int64)
    return Schedule(
        workload=workload,
        start_time=jobs["start"].to_numpy(),
        end_time=jobs["end"].to_numpy(),
        backfilled=jobs["by_backfill"].to_numpy() == 1,
        killed=zeros.astype(bool),
        predicted_run_time=workload.requested_time,
        corrections=zeros,
        scheduler=scheduler,
        processors=256,
        events="batched",
        specification={"engine": "slurm", "mode": "real time"},
    )


def aligned(schedule: Schedule) -> Schedule:
    """Return a schedule whose clock begins with the first submission."""
    first = int(schedule.workload.submit_time.min())
    workload = schedule.workload.replace(submit_time=schedule.workload.submit_time - first)
    return replace(
        schedule, workload=workload, start_time=schedule.start_time - first, end_time=schedule.end_time - first
    )


def configuration_of(jobs: sl.Workload, scheduler: str) -> sl.slurm.Configuration:
    """Return what the recorded clusters had: whole nodes are those of select/linear."""
    made = translate(jobs, sl.Scheduler.parse(scheduler)).configuration
    if "node=" not in scheduler:
        return made
    made = made.having(SelectType="select/linear")
    return replace(made, lines=tuple(line for line in made.lines if not line.startswith("SelectTypeParameters")))


def laboratory_runs(jobs: sl.Workload, scheduler: str, phases: int, seed: int = 1) -> list[Schedule]:
    """Return runs on the real Slurm, in skipped time."""
    runs = sl.slurm.run_phases(jobs, conf=configuration_of(jobs, scheduler), phases=phases, seed=seed)
    return [run.schedule for run in runs]


def clock_and_model(phases: int) -> Iterator[tuple[str, sl.slurm.EnsembleComparison]]:
    """The six recorded configurations: real time, skipped time, and the model, all from the recorded seconds on."""
    for name, clusters in recorded().items():
        text = CONFIGURATIONS[name]
        lab, model = [], []
        for number, cluster in enumerate(clusters, 1):
            share = -(-phases // len(clusters))
            lab += laboratory_runs(cluster.workload, text, share, seed=number)
            model += sl.slurm.model_phases(cluster.workload, text, phases=share)
        yield name, comparison(lab, {"real time": clusters, "model": model})


def comparison(lab: list[Schedule], groups: dict[str, list[Schedule]]) -> sl.slurm.EnsembleComparison:
    """Return schedules side by side, all from the first submission on."""
    shifted = {name: tuple(map(aligned, group)) for name, group in groups.items()}
    return sl.slurm.EnsembleComparison(tuple(map(aligned, lab)), shifted)


def thousand_jobs() -> sl.Workload:
    """Return 1,000 jobs of the kind of the recorded ones: 3.3 hours at an offered load of 1.02 of 256 processors."""
    rng = np.random.default_rng(16)
    run = np.exp(rng.uniform(np.log(20), np.log(634), 1000))
    processors = 2 ** np.minimum(7, rng.geometric(0.3, 1000) - 1)
    run *= 1.02 * 256 * 12_000 / float(run @ processors)
    columns = {
        "submit_time": np.sort(rng.integers(0, 12_000, 1000)),
        "run_time": run.astype(np.int64),
        "requested_time": 60 * np.ceil(run * rng.uniform(1.05, 5, 1000) / 60).astype(np.int64),
        "requested_processors": processors,
    }
    return sl.Workload.from_columns(columns, processors=256, name="thousand")


def thousand(phases: int) -> Iterator[tuple[str, sl.slurm.EnsembleComparison]]:
    """The six configurations on a thousand jobs: skipped time and the model."""
    jobs = thousand_jobs()
    for name, text in CONFIGURATIONS.items():
        model = sl.slurm.model_phases(jobs, text, phases=phases)
        yield name, comparison(laboratory_runs(jobs, text, phases), {"model": model})


def on_nodes(phases: int) -> Iterator[tuple[str, sl.slurm.EnsembleComparison]]:
    """Long requests and wide jobs on 64 nodes of one core: the model on a number of processors, and on these nodes."""
    cluster = sl.Cluster.of_nodes([sl.cluster.NodeGroup.of("n[1-64]", cores=1)])
    for seed, load in ((3, 0.55), (4, 0.75)):
        rng = np.random.default_rng(seed)
        jobs = sl.model.tsafrir_estimates(sl.model.lublin(250, 64, rng=rng, load=load), rng=rng)
        groups = {
            "processors": sl.slurm.model_phases(jobs, FCFS, phases=phases),
            "nodes": sl.slurm.model_phases(jobs, f"{FCFS},placement=consecutive", phases=phases, cluster=cluster),
        }
        real = sl.slurm.run_phases(jobs, FCFS, phases=phases, cores_per_node=1)
        yield f"250 jobs at an offered load of {load}", comparison([run.schedule for run in real], groups)


def deployed(phases: int) -> Iterator[tuple[str, sl.slurm.EnsembleComparison]]:
    """The order of `saf` by each way of deployment, beside priorities given at submission and our simulation."""
    jobs = recorded()["cores"][0].workload
    base, ordered = CONFIGURATIONS["cores"], CONFIGURATIONS["cores"].replace("fcfs", "saf")
    given = sl.slurm.run_phases(jobs, ordered, phases=phases)
    groups = {
        "simulated": sl.slurm.model_phases(jobs, ordered, phases=phases),
        "fcfs": laboratory_runs(jobs, base, phases),
    }
    for way in WAYS:
        deployment = sl.slurm.deploy("saf", way=way)
        conf = configuration_of(jobs, base)
        runs = sl.slurm.run_phases(jobs, conf=conf, phases=phases, deployment=deployment)
        groups[way] = [run.schedule for run in runs]
    yield "saf, priorities given at submission", comparison([run.schedule for run in given], groups)


def micro(phases: int) -> Iterator[tuple[str, sl.slurm.EnsembleComparison]]:
    """UB CCR's site of ten nodes with 500 jobs, and its twin on nodes, whose users stand side by side."""
    place = SITES / "ubccr-micro"
    found = sl.site.validate(place, place / "jobs500.events", phases=phases)
    yield f"ten nodes, 500 jobs; {found.scheduler}", found.comparison


class Begun(NamedTuple):
    """What had begun when all was stopped: each job's start (`STOPPED`: none), and whether a backfill pass began it."""

    start: np.ndarray
    backfilled: np.ndarray
    end: np.ndarray


def begun(rows: np.ndarray, schedule: Schedule, jobs: int) -> Begun:
    """Return what a schedule of the jobs in some rows says of all."""
    found = Begun(np.full(jobs, STOPPED), np.zeros(jobs, dtype=bool), np.full(jobs, STOPPED))
    found.start[rows] = np.minimum(schedule.start_time, STOPPED)
    found.end[rows] = np.minimum(schedule.end_time, STOPPED)
    found.backfilled[rows] = schedule.backfilled
    return found


def begun_really(run: SlurmRun, jobs: int) -> Begun:
    """Return what had begun in a run on the real Slurm."""
    return begun(run.records["row"].to_numpy(), run.schedule, jobs)


def first_hours(jobs: JobList) -> tuple[JobList, list[Command]]:
    """Return the jobs that come before `SUBMITTED`, and the commands that stop all of them."""
    rows = [row for row, job in enumerate(jobs.jobs) if job.submit < SUBMITTED]
    chosen = replace(jobs, jobs=tuple(jobs.jobs[row] for row in rows), workload=jobs.workload[rows])
    words = [("scancel", f"--partition={partition}") for partition in ("general-compute", "debug")]
    return chosen, [Command(STOPPED, (*one, f"--state={state}")) for state in ("PENDING", "RUNNING") for one in words]


def twins(jobs: JobList, phases: int) -> list[Begun]:
    """Return what had begun in phases of the twin that is made of the site's files."""
    site = sl.site.import_site(SITES / "ubccr-medium", WEEK, slurm=VERSION)
    assert site.jobs is not None
    known = site.jobs[: len(jobs.jobs)].replace(start_time=None, run_time=np.array([job.run_time for job in jobs.jobs]))
    found = sl.slurm.model_phases(known, site.scheduler, phases=phases, cluster=site.cluster)
    return [begun(np.arange(len(known)), one, len(known)) for one in found]


class Hours(NamedTuple):
    """The first hours of the week on the real Slurm and in the twin, as a table."""

    jobs: sl.Workload
    real: Sequence[Begun]
    twin: Sequence[Begun]

    def __str__(self) -> str:
        groups = {"all": np.ones(len(self.jobs), dtype=bool)}
        for kind in ("partition", "qos"):
            labels = getattr(self.jobs.resources, kind)
            groups |= {f"{kind} {name}": labels.codes == code for code, name in enumerate(labels.names)}
        rows = []
        for name, mine in groups.items():
            if mine.any():
                waits = [[(one.start - self.jobs.submit_time)[mine].mean() for one in side] for side in self[1:]]
                rows.append([f"mean wait, s: {name} ({mine.sum():,} jobs)", *map(_spread, waits)])
        starts = np.array([one.start for one in self.real], dtype=float)
        distances = [np.abs(one - (starts.sum(axis=0) - one) / (len(starts) - 1)).mean() for one in starts]
        away = [np.abs(one.start - starts.mean(axis=0)).mean() for one in self.twin]
        rows.append(["distance, s", _spread(distances), _spread(away)])
        for name, measure in (("begun", self._begun), ("by backfill, %", self._share), ("core-hours", self._held)):
            rows.append([name, *(_spread([measure(one) for one in side]) for side in self[1:])])
        return table(["", f"real Slurm, {len(self.real)}", f"twin, {len(self.twin)}"], rows)

    def _begun(self, one: Begun) -> float:
        return float((one.start < STOPPED).sum())

    def _share(self, one: Begun) -> float:
        return 100 * float(one.backfilled[one.start < STOPPED].mean())

    def _held(self, one: Begun) -> float:
        return float((self.jobs.job_processors * (one.end - one.start)).sum()) / 3600


def _spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):,.1f} ({min(values):,.1f} to {max(values):,.1f})"


def week(phases: int) -> Iterator[tuple[str, Hours]]:
    """The first hours of UB CCR's week on 217 nodes, and its twin."""
    jobs, stop = first_hours(read_events(WEEK))
    runs = sl.slurm.run_phases(jobs, conf=SITES / "ubccr-medium", phases=phases, commands=stop)
    real = [begun_really(run, len(jobs.jobs)) for run in runs]
    yield f"{len(jobs.jobs):,} jobs of 17 hours, to the end of hour 18", Hours(jobs.workload, real, twins(jobs, phases))


PARTS = {
    "deployed": deployed,
    "micro": micro,
    "week": week,
    "clock": clock_and_model,
    "thousand": thousand,
    "on-nodes": on_nodes,
}


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--phases", type=int, default=10)
    options = parser.parse_args()
    for part in options.parts:
        for name, found in PARTS[part](options.phases):
            print(f"\n{part}: {name} {CONFIGURATIONS.get(name, '')}\n{found}", flush=True)


if __name__ == "__main__":
    main()
