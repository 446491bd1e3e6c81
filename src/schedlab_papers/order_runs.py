"""The campaigns of the study of predictions for the order: which schedulers simulate which copies of the logs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab import Campaign, Scheduler, Workload, run_campaign, simulate_many
from schedlab.durations import DAY
from schedlab.files import atomic_path, file_sha256, versions
from schedlab.formats import read_table
from schedlab.policies import SCHEDULERS as ALIASES
from schedlab.types import Progress
from schedlab.workload import windows
from schedlab_papers.order_logs import NOISE, OrderLog, copies

if TYPE_CHECKING:
    import pandas as pd

SAF, EASY, EAF, ACTUAL = "saf+easy", "fcfs+easy", ALIASES["eaf"], "saf@actual+easy@requested"
AGED = ALIASES["aged-eaf"]

CONSERVATIVE = "fcfs+conservative"

BASELINES = {
    "EASY": EASY,
    "SAF": SAF,
    "SPF": "spf+easy",
    "SQF": "sqf+easy",
    "F1": "f1+easy",
    "EASY++": ALIASES["easy++"],
    "E-loss": ALIASES["e-loss"],
    "SAF, actual run times": ACTUAL,
}

GROUPS = ("user", "user.request", "user.request.processors", "user.executable.request.processors")

FORMULAS = ("spf", '"p*q**0.25"', '"p*q**0.5"', '"p*q*R**0.3"', '"p*q**0.25*R**0.3"', '"p*q**0.5*R**0.3"')

CANDIDATES = tuple(
    dict.fromkeys(
        Scheduler.parse(text).text
        for text in (
            *(f"saf@groups({by})+easy" for by in GROUPS),
            *(f"saf@groups({by},shrink={shrink})+easy" for by, shrink in product(GROUPS[1::2], (0, 3))),
            *(f"saf@groups(decay={decay})+easy" for decay in (0.8, 0.99, 1)),
            *(f"{formula}@groups+easy" for formula in FORMULAS),
            "saf@groups(mean=arithmetic)+easy",
            *(f"{policy}@groups+easy" for policy in ("smith", "gittins", '"q*x25"', '"q*x50"')),
            *(
                f"saf@{predictor}+easy"
                for predictor in ("ave2", "similar", "e-loss", "log-nag", "log-nag(linear)", "log-nag(pairs)")
            ),
        )
    )
)
"""Among which the study chooses."""

PURE = (EASY, "spf+easy", "sqf+easy", SAF, "f1+easy", '"p*q**0.5"+easy', '"p**0.5*q"+easy')
"""Policies of requests alone, among which one could change from week to week."""

WEEK, MONTH = 7 * DAY, 30 * DAY

OF_WINDOWS = (
    "mean_bounded_slowdown",
    "mean_per_processor_bounded_slowdown",
    "mean_wait",
    "p99_wait",
    "max_wait",
)
"""The metrics of windows; those of whole logs are all that there are, by size class and class of users, too."""

LARGE = 100_000
"""Jobs: on logs of more, only those candidates are simulated that are among the best of the smaller logs."""

FINALISTS = 3
"""How many those are, whichever log is left out."""

SHORTEST = 60
"""Days: logs of fewer are not cut into windows."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Where the study simulates.

    Parameters
    ----------
    logs
        Those that are there.
    traces
        Where they are.
    directory
        Where run directories and copies are made. What is in it is not simulated again.
    progress
        Called now and then, as for `run_campaign`.
    """

    logs: Sequence[OrderLog]
    traces: Path
    directory: Path
    progress: Progress | None = None

    @property
    def copies(self) -> Path:
        """Where the copies of the logs are."""
        return self.directory / "order-logs"

    def whole(self, candidates: Sequence[str], baselines: Iterable[str]) -> pd.DataFrame:
        """Return the results of whole logs: of baselines, candidates and, where that is possible, conservative ones."""
        import pandas as pd

        always = [*baselines, EAF, AGED]
        small, large = self.by_size()
        frame = self.results("order", small, ("0",), (*always, *candidates))
        if small and large:
            best = finalists(frame, candidates)
            frame = pd.concat([frame, self.results("order-large", large, ("0",), (*always, *best))])
        elif large:
            frame = self.results("order-large", large, ("0",), (*always, *candidates))
        fit = [log for log in small if log.conservative]
        return pd.concat([frame, self.results("order-conservative", fit, ("0",), (CONSERVATIVE,))])

    def chance(self, number: int) -> pd.DataFrame:
        """Return the results of copies that differ by chance."""
        kinds = [str(copy) for copy in range(1, number)]
        return self.results("order-copies", self.logs, kinds, (EASY, SAF, EAF, AGED))

    def noise(self) -> pd.DataFrame:
        """Return the results of logs with other run times."""
        return self.results("order-noise", self.logs, (NOISE,), (EASY, SAF, EAF, AGED, ACTUAL))

    def months(self) -> pd.DataFrame:
        """Return the results of windows of 30 days, in each of which predictors start afresh."""
        return self._windows("months", (EASY, "f1+easy", SAF, EAF, AGED, ACTUAL), MONTH)

    def weeks(self) -> pd.DataFrame:
        """Return the results of windows of a week."""
        return self._windows("weeks", (*PURE, EAF, AGED, ACTUAL), WEEK)

    def jobs_of(self, log: OrderLog) -> Workload:
        """Return the jobs of a log as it is."""
        return read_table(copies(log, self.traces, self.copies, ("0",))[0])

    def by_size(self) -> tuple[list[OrderLog], list[OrderLog]]:
        """Return the logs of at most `LARGE` jobs, and the others."""
        small = [log for log in self.logs if len(self.jobs_of(log)) <= LARGE]
        return small, [log for log in self.logs if log not in small]

    def _long(self) -> list[OrderLog]:
        """Return the logs that are long enough for windows."""
        return [log for log in self.logs if np.ptp(self.jobs_of(log).submit_time) >= SHORTEST * DAY]

    def kept(self, name: str, facts: object, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return a table that is made once for these facts and this version, and then read from the directory."""
        import pandas as pd

        digest = hashlib.sha256(json.dumps([facts, versions()], sort_keys=True).encode()).hexdigest()
        file = self.directory / "order-tables" / f"{name}-{digest[:16]}.parquet"
        if not file.is_file():
            file.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(file) as temporary:
                make().to_parquet(temporary)
        return pd.read_parquet(file)

    def fingerprint(self, log: OrderLog) -> str:
        """Return what tells a log from another version of it."""
        return file_sha256(copies(log, self.traces, self.copies, ("0",))[0])

    def _windows(self, name: str, schedulers: Sequence[str], length: int) -> pd.DataFrame:
        """Return the results of windows of a length in seconds, each of which begins with an empty machine."""
        import pandas as pd

        def simulated(log: OrderLog) -> pd.DataFrame:
            parts = list(windows(self.jobs_of(log), length, 0))
            values = simulate_many(parts, schedulers, metrics=OF_WINDOWS)
            rows = pd.MultiIndex.from_product([range(len(parts)), schedulers], names=["window", "scheduler"])
            frame = pd.DataFrame(values.reshape(len(rows), -1), rows, OF_WINDOWS).reset_index()
            return frame.assign(log=log.name, workload=log.name, load=1.0, repetition=0)

        frames = [
            self.kept(f"{name}-{log.name}", [self.fingerprint(log), schedulers, length], partial(simulated, log))
            for log in self._long()
        ]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def results(
        self, name: str, logs: Sequence[OrderLog], kinds: Sequence[str], schedulers: Sequence[str]
    ) -> pd.DataFrame:
        """Return the results of a campaign over copies of logs, with the columns `log` and `copy`."""
        import pandas as pd

        entries = [
            {"trace": str(file.absolute()), "name": file.stem, "clean": "none"}
            for log in logs
            for file in copies(log, self.traces, self.copies, kinds)
        ]
        if not entries:
            return pd.DataFrame()
        campaign = Campaign(
            name=name,
            description="Run times predicted for the order of the queue alone.",
            workloads=entries,  # type: ignore[arg-type]
            schedulers=list(schedulers),  # type: ignore[arg-type]
            baseline=SAF if SAF in schedulers else None,
        )
        frame = run_campaign(campaign, self.directory / name, progress=self.progress).results()
        frame[["log", "copy"]] = frame["workload"].str.rsplit("-", n=1, expand=True)
        return frame


def gains(frame: pd.DataFrame, candidates: Sequence[str]) -> pd.DataFrame:
    """Return the logarithms of mean bounded slowdowns over that of SAF, a row for each log; NaN if not simulated."""
    values = frame.pivot_table(index="log", columns="scheduler", values="mean_bounded_slowdown", sort=False)
    return values.reindex(columns=list(candidates)).div(values[SAF], axis=0).apply(np.log)


def finalists(frame: pd.DataFrame, candidates: Sequence[str]) -> list[str]:
    """Return the candidates that are among the best on all logs, or on all but any one of them."""
    of_logs = gains(frame, candidates)
    left = [of_logs, *(of_logs.drop(log) for log in of_logs.index if len(of_logs) > 1)]
    return list(dict.fromkeys(text for some in left for text in finalists_of(some)))


def held_out(frame: pd.DataFrame, candidates: Sequence[str]) -> dict[str, str]:
    """Return for each log the candidate with the smallest mean bounded slowdown, against SAF, on the other logs.

    Ratios are averaged geometrically. Only those count that are among the best of the logs on which all candidates were
    simulated, that log left out. A single log chooses for itself.
    """
    of_logs = gains(frame, candidates)
    choice = {}
    for log in of_logs.index:
        others = of_logs.drop(log) if len(of_logs) > 1 else of_logs
        best = finalists_of(others)
        choice[str(log)] = str(others[best].mean().idxmin())
    return choice


def finalists_of(of_logs: pd.DataFrame) -> list[str]:
    """Return the best candidates of those logs on which all were simulated; all where there is no such log."""
    complete = of_logs.dropna()
    return list(of_logs.columns if complete.empty else complete.mean().nsmallest(FINALISTS).index)
