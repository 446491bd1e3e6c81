"""The four scenarios of ICPP'19 as campaigns, and what the paper leaves open about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab import Campaign, Scheduler, read_schedule, run_campaign
from schedlab.requests import RunTimeDistribution, optimal_requests, simulate_fluid
from schedlab.types import Progress

if TYPE_CHECKING:
    import pandas as pd

HOUR = 3_600
PROCESSORS = 100
JOBS = 100

FIXED = "laf+conservative,reservations=fixed"
MOVING = "laf+conservative"
"""The largest area first, as in the paper: reservations stand, or move forward when a job ends early."""

METHODS = {"HPC": "classic", "Neuroscience": "neuroscience(k=10,listed)", "TOptimal": "toptimal"}

DISTRIBUTIONS = {
    "truncated normal": "truncnorm(6h,16h,mu=8h,sigma=2h)",
    "Beta": "beta(0h,1h,alpha=2,beta=2)",
    "exponential": "exponential(0h,16h,mean=1h)",
    "Pareto": "pareto(1h,20h,shape=2.1)",
}

ALLOCATIONS = ("full", "half", "truncnorm", "beta")

HISTORIES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Of Figure 4."""

ORDER_RUN_TIMES = "truncnorm(0h,20h,mu=8h,sigma=2h)"

SHARES = tuple(range(10, 100, 10))
"""Of small jobs in scenario 2, in percent."""

BOTH_SIZES = ("truncnorm(1h,8h,mu=4h,sigma=2h)", "truncnorm(36s,4h,mu=1h,sigma=1h)")

LARGE = "truncnorm(1h,20h,mu=8h,sigma=2h)"
SMALL = "truncnorm(36s,12m,mu=288s,sigma=72s)"
"""Of scenario 3; the small ones are the large ones divided by 100."""

ZETAS = tuple(round(0.1 * tenths, 1) for tenths in range(1, 10))
DISCRETE_ZETAS = ZETAS[::2]
DISCRETE_RUNS = 5
"""Up to 13,000 small jobs in a run are too many for more."""

INTREPID = 40_960
"""Nodes."""
TWO_WEEKS = 14 * 24 * HOUR
ZETA_INTREPID = 0.21
IMAGING = {
    "AbOrganSeg": ("truncnorm(11h,31h,mu=20h,sigma=8h)", 10),
    "maCRUISE": ("truncnorm(1.5h,3h,mu=1.7h,sigma=0.5h)", 90),
    "FSL": ("truncnorm(10m,35m,mu=20m,sigma=8m)", 300),
}
"""Applications of Table 3: distribution, and number of submissions."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How all campaigns are run.

    Parameters
    ----------
    directory
        Where run directories are made.
    runs
        Of each experiment.
    progress
        Called now and then, as for `run_campaign`.
    """

    directory: Path
    runs: int
    progress: Progress | None = None

    def results(
        self,
        name: str,
        workloads: Mapping[str, Sequence[Mapping[str, Any]]],
        schedulers: Mapping[str, str],
        *,
        processors: int = PROCESSORS,
        response: Callable[[Path], float] | None = None,
    ) -> pd.DataFrame:
        """Run a campaign, and return what is measured: one row per workload, repetition and method, times in hours.

        Parameters
        ----------
        name
            Of the campaign, after "icpp19-".
        workloads
            Applications of each, by name.
        schedulers
            By the names of the methods.
        processors
            Of the machine.
        response
            A measure of a file of a schedule; its column is `large`.
        """
        entries = [
            {"generate": "stochastic", "name": label, "processors": processors, "applications": applications}
            for label, applications in workloads.items()
        ]
        campaign = Campaign(
            name=f"icpp19-{name}",
            description="ICPP'19: requests for jobs with stochastic run times.",
            workloads=entries,  # type: ignore[arg-type]
            repetitions=self.runs,
            schedulers=list(schedulers.values()),  # type: ignore[arg-type]
            schedules=response is not None,
        )
        run = run_campaign(campaign, self.directory / campaign.name, progress=self.progress)
        found = run.results()
        names = {Scheduler.parse(text).text: method for method, text in schedulers.items()}
        frame = found[["workload", "repetition", "utilisation"]].assign(
            method=found["scheduler"].map(names),
            response=found["mean_turnaround"] / HOUR,
            reserved=found["mean_reserved_turnaround"] / HOUR,
        )
        if response is not None:
            files = [run.schedule_file(task) for task in found["task"]]
            frame["large"] = [np.nan if file is None else response(file) for file in files]
        return frame


def asking(methods: Mapping[str, str], scheduler: str = FIXED) -> dict[str, str]:
    """Return the scheduler texts of methods."""
    return {name: f"{scheduler},requests={method}" for name, method in methods.items()}


def with_speculation(schedulers: Mapping[str, str]) -> dict[str, str]:
    """Return scheduler texts, and each once more with speculative backfilling."""
    both: dict[str, str] = {}
    for name, text in schedulers.items():
        both |= {name: text, f"{name} + speculation": f"{text},speculation=0"}
    return both


def application(distribution: str, jobs: int = JOBS, processors: int | str = "full", **fields: Any) -> dict[str, Any]:
    """Return an application of a campaign file."""
    return {"distribution": distribution, "jobs": jobs, "processors": processors, **fields}


def distributions_and_allocations(setting: Setting) -> pd.DataFrame:
    """Run scenario 1 for Figures 2 and 3: all distributions and allocations, three methods."""
    workloads = {
        f"{name}, {allocation}": [application(distribution, processors=allocation)]
        for name, distribution in DISTRIBUTIONS.items()
        for allocation in ALLOCATIONS
    }
    return setting.results("scenario1", workloads, asking(METHODS))


def histories(setting: Setting) -> pd.DataFrame:
    """Run scenario 1 for Figure 4: the number of runs that Neuroscience looks back."""
    last = {f"Neuroscience {k}": f"neuroscience(k={k},listed)" for k in HISTORIES}
    methods = {"HPC": "classic", **last, "TOptimal": "toptimal"}
    return setting.results("histories", {"full": [application(DISTRIBUTIONS["truncated normal"])]}, asking(methods))


def orders(setting: Setting) -> pd.DataFrame:
    """Run the methods on the same jobs with reservations that stand, and with some that move forward."""
    moving = {f"{name}, moving": text for name, text in asking(METHODS, MOVING).items()}
    workloads = {allocation: [application(ORDER_RUN_TIMES, processors=allocation)] for allocation in ALLOCATIONS}
    return setting.results("moving", workloads, asking(METHODS) | moving)


def mixes(setting: Setting) -> pd.DataFrame:
    """Run scenario 2 for Figure 5: 200 jobs, some of which are small, with and without speculation."""
    large, small = BOTH_SIZES
    workloads = {
        f"{share}%": [
            application(large, 200 - 2 * share, "beta"),
            application(small, 2 * share, "beta"),
        ]
        for share in SHARES
    }
    methods = {name: METHODS[name] for name in ("HPC", "TOptimal")}
    return setting.results("scenario2", workloads, with_speculation(asking(methods)))


def fluid(setting: Setting) -> pd.DataFrame:
    """Simulate scenario 3 with the small jobs as a fluid."""
    import pandas as pd

    distribution = RunTimeDistribution.parse(LARGE)
    fixed = {"HPC": [distribution.high], "TOptimal": optimal_requests(distribution).sequence}
    jobs = [distribution.sample(np.random.default_rng([3, number]), JOBS) for number in range(setting.runs)]
    rows = []
    for zeta in ZETAS:
        methods: dict[str, Any] = {**fixed, "ATOptimal": optimal_requests(distribution, zeta=zeta).sequence}
        for number, run_time in enumerate(jobs):
            for method, requests in methods.items():
                done = simulate_fluid(run_time, requests, zeta)
                rows.append((zeta, number, method, done.utilisation, done.end.mean(), done.reserved_end.mean()))
    frame = pd.DataFrame(rows, columns=["workload", "repetition", "method", "utilisation", "response", "reserved"])
    return frame.assign(response=frame["response"] / HOUR, reserved=frame["reserved"] / HOUR)


def discrete(setting: Setting) -> pd.DataFrame:
    """Run scenario 3 with small jobs that are jobs: as wide as the machine, with requests that are exact."""
    import pandas as pd

    few = Setting(setting.directory, min(setting.runs, DISCRETE_RUNS), setting.progress)
    period = JOBS * optimal_requests(LARGE).evaluation.makespan
    parts = []
    for zeta in DISCRETE_ZETAS:
        count = round(zeta * period / RunTimeDistribution.parse(SMALL).mean)
        jobs = [application(LARGE), application(SMALL, count, over=int(period), requests="exact")]
        methods = {"HPC": "classic", "TOptimal": "toptimal", "ATOptimal": f"atoptimal(zeta={zeta})"}
        found = few.results(f"scenario3-{zeta}", {"small jobs": jobs}, asking(methods), response=_response_of_large)
        parts.append(found.assign(workload=zeta))
    return pd.concat(parts, ignore_index=True)


def _response_of_large(file: Path) -> float:
    """Return the mean response of the jobs of the first application, in hours."""
    schedule = read_schedule(file)
    return float(schedule.turnaround_time[schedule.workload.executable_id == 1].mean()) / HOUR


def two_weeks(setting: Setting) -> pd.DataFrame:
    """Run scenario 4 for Figure 8."""
    methods = {"HPC": "classic", "ATOptimal": f"atoptimal(zeta={ZETA_INTREPID})"}
    nodes: dict[str, int | str] = {"AbOrganSeg": "half", "maCRUISE": "half", "FSL": small_nodes()}
    workloads = {
        label: [
            application(distribution, jobs, nodes[name], over=over, requests="longest" if name == "FSL" else "method")
            for name, (distribution, jobs) in IMAGING.items()
        ]
        for label, over in {"over two weeks": TWO_WEEKS, "all at once": 0}.items()
    }
    return setting.results("scenario4", workloads, with_speculation(asking(methods)), processors=INTREPID)


def small_nodes() -> int:
    """Return how many nodes each FSL job of scenario 4 takes, so that all are 0.21 of the machine for two weeks."""
    distribution, jobs = IMAGING["FSL"]
    return round(ZETA_INTREPID * INTREPID * TWO_WEEKS / (jobs * RunTimeDistribution.parse(distribution).mean))
