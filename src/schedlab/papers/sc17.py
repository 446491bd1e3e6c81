"""Table 4 of SC'17: the learned policies F1 to F4 against FCFS, WFP, UNICEF and SPT, on short sequences of jobs.

Each number is the median, over ten sequences of 15 days, of the mean bounded slowdown. The authors' simulator differs
from their text in one thing that matters: policy and backfilling see no more than the first 32 waiting jobs. The table
holds only with that window; the alternative is the whole queue, as the text describes it.

References
----------
Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC 2017.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from schedlab.engine.simulation import simulate
from schedlab.papers.reproduction import Number, Reproduction, Row, missing, require_some
from schedlab.scheduler.policy import FCFS, SAF, SPF, SQF, UNICEF, WFP3, FormulaPolicy, Policy
from schedlab.scheduler.predictor import Actual, Requested
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.sampling import windows
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import UNKNOWN, Workload

TITLE = "SC'17 (Carastan-Santos & de Camargo), Table 4: median over the sequences of the mean bounded slowdown"

STATE = 16
"""Jobs at the head of a sequence that run in order of submission and are not counted."""

WINDOW = 32
"""Waiting jobs that the authors' simulator looks at."""

POLICIES: Mapping[str, Policy] = {
    "FCFS": FCFS(),
    "WFP": WFP3(),
    "UNI": UNICEF(),
    "SPT": SPF(),
    "F4": FormulaPolicy("0.0056500287*p * 0.0000024814*sqrt(q) + 0.0074444355*log10(r)"),
    "F3": FormulaPolicy("0.2188093701*p * 0.0000000049*q + 0.0073580361*log10(r)"),
    "F2": FormulaPolicy("0.0000342717*sqrt(p) * 0.0076562110*q + 0.0067364626*log10(r)"),
    "F1": FormulaPolicy("0.0155183403*log10(p) * 0.0005149209*q + 0.0069596182*log10(r)"),
    "SAF": SAF(),
    "SQF": SQF(),
}
"""By the paper's names, in the order of its columns, then two that it does not have.

F1 to F4 have the coefficients of the authors' simulators, not the rounded ones of the paper's Table 3.
"""

SETTINGS = ("actual", "estimates", "backfilling")

TOLERANCE = 0.001
"""Relative; where ours differs by more, a note says why."""

LAST_DIGIT = 0.01
"""Some of the paper's values are rounded and some cut off."""

TRIMMED = (
    "The authors dropped the largest one or two of these ten values before they took the median, which the paper does "
    'not say; so does the row "trimmed" below.'
)
BURSTS = (
    "When several jobs arrive in one second and nobody waits, the authors' simulator starts the first of them before "
    "it sorts the others; ours sorts them all first."
)
TIES = (
    "The authors sort SPT by exchanges that shuffle jobs of equal run time at every pass; ours takes such jobs by "
    "submission."
)
RELEASES = (
    "Of the jobs expected to end in the second of the head's reservation, the authors count only as many as the head "
    "needs; ours counts them all (jobs beyond their estimate are all expected to end now), so that wider jobs may be "
    "backfilled. Their scheduler also takes 2.6 ms for a start. Such changes grow large in a median of ten "
    "sequences."
)


@dataclass(frozen=True, slots=True)
class Trace:
    """A workload of the paper and what the authors got with it.

    Parameters
    ----------
    name
        As in the paper.
    file
        In the directory of traces.
    processors
        Size of the machine.
    published
        The row of Table 4 of each setting, in the order of `POLICIES`.
    cut
        How many sequences are cut from the head of the trace.
    skipped
        Those that the authors left out, counted from 0.
    trimmed
        For each setting and policy, how many of the largest values the authors' plot program dropped before it
        took the median.
    """

    name: str
    file: str
    processors: int
    published: Mapping[str, tuple[float, ...]]
    cut: int = 10
    skipped: tuple[int, ...] = ()
    trimmed: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


TRACES = (
    Trace(
        "model 256",
        "synthetic/gen-sched-policies-2017/lublin_256_est.swf.gz",
        256,
        {
            "actual": (5846.87, 3630.66, 1799.74, 943.59, 583.89, 89.93, 29.65, 29.58),
            "estimates": (5846.87, 6021.69, 3561.56, 4415.27, 719.88, 405.68, 207.05, 33.03),
            "backfilling": (842.66, 654.81, 470.72, 623.86, 329.49, 163.74, 45.72, 32.82),
        },
    ),
    Trace(
        "model 1024",
        "synthetic/gen-sched-policies-2017/lublin_1024_est.swf.gz",
        1024,
        {
            "actual": (10315.62, 7759.03, 4310.26, 4061.44, 1518.73, 831.18, 244.80, 217.13),
            "estimates": (10315.62, 9713.40, 5930.50, 7573.58, 2605.45, 2065.47, 1292.64, 249.80),
            "backfilling": (3018.94, 3792.40, 2804.38, 3024.49, 1571.95, 1055.82, 490.77, 223.52),
        },
    ),
    Trace(
        "Curie",
        "CEA-Curie-2011-2.1-cln.swf.gz",
        93_312,
        {
            "actual": (227.67, 182.95, 93.76, 132.59, 20.25, 10.66, 3.58, 10.38),
            "estimates": (227.67, 251.54, 135.53, 213.03, 48.45, 24.98, 12.47, 21.85),
            "backfilling": (59.03, 49.23, 24.35, 35.72, 24.54, 23.91, 18.69, 21.73),
        },
        cut=12,
        skipped=(0, 7),
        trimmed={
            "actual": {"FCFS": 2, "WFP": 2, "UNI": 2, "SPT": 2},
            "estimates": {"FCFS": 2, "WFP": 2, "UNI": 2, "SPT": 2},
            "backfilling": {"WFP": 1, "UNI": 2, "SPT": 1},
        },
    ),
    Trace(
        "SDSC Blue",
        "SDSC-BLUE-2000-4.2-cln.swf.gz",
        1_152,
        {
            "actual": (299.83, 44.40, 20.37, 21.77, 14.33, 10.38, 4.31, 10.22),
            "estimates": (299.83, 94.87, 39.69, 36.42, 24.26, 10.16, 9.88, 12.14),
            "backfilling": (36.40, 17.76, 13.07, 10.20, 9.37, 10.18, 9.66, 11.97),
        },
    ),
    Trace(
        "CTC SP2",
        "CTC-SP2-1996-3.1-cln.swf.gz",
        338,
        {
            "actual": (439.72, 309.72, 29.87, 87.55, 19.02, 14.06, 5.32, 10.27),
            "estimates": (439.72, 369.93, 98.58, 290.39, 31.23, 21.58, 13.78, 15.14),
            "backfilling": (74.96, 54.32, 24.06, 17.32, 14.12, 14.40, 10.77, 14.07),
        },
    ),
)
"""All workloads of Table 4 but ANL Intrepid."""


def reproduce(traces: Path) -> Reproduction:
    """Repeat the experiment on those workloads that are there.

    Parameters
    ----------
    traces
        Directory with the traces, under the file names of `TRACES`.

    Returns
    -------
    Reproduction
        For each workload, setting and policy the median with the authors' window of 32 jobs; as alternative, that
        with the whole queue.

    Raises
    ------
    InputError
        If none of the traces is there, or one cannot be read.
    """
    require_some(traces, (trace.file for trace in TRACES))
    rows = [row for trace in TRACES for row in rows_of(trace, traces)]
    return Reproduction(TITLE, "whole queue", tuple(rows))


def rows_of(trace: Trace, traces: Path) -> list[Row]:
    """Return the rows of one workload, or the one that says that it is missing."""
    path = traces / trace.file
    if not path.is_file():
        return [missing(trace.name, trace.file)]
    workload = read_swf(path).replace(processors=trace.processors)
    rows = []
    for setting in SETTINGS:
        parts = sequences(workload, trace, setting)
        published: Mapping[str, Number] = dict(zip(POLICIES, trace.published[setting], strict=False))
        for name, policy in POLICIES.items():
            seen, whole = (
                [average_bounded_slowdown(part, scheduler_of(policy, setting, window)) for part in parts]
                for window in (WINDOW, None)
            )
            rows += _medians(trace, setting, name, published.get(name), seen, whole)
    return rows


def sequences(workload: Workload, trace: Trace, setting: str) -> list[Workload]:
    """Cut a trace into the sequences of the experiment.

    Parameters
    ----------
    workload
        The jobs of the trace. They take the processors that they were given, whatever they asked for.
    trace
        How many sequences there are and which are left out.
    setting
        One of `SETTINGS`; jobs without an estimate are left out where estimates are used.
    """
    jobs = workload.replace(requested_processors=np.full(len(workload), UNKNOWN), requests_enforced=False)
    if setting != "actual":
        jobs = jobs[jobs.requested_time > 0]
    parts = enumerate(islice(windows(jobs, skip_state=STATE), trace.cut))
    return [part for number, part in parts if number not in trace.skipped]


def scheduler_of(policy: Policy, setting: str, window: int | None) -> Scheduler:
    """Return the scheduler of a setting, one of `SETTINGS`, with the number of waiting jobs that it sees.

    Examples
    --------
    >>> [scheduler_of(SPF(), setting, 32).text for setting in SETTINGS]
    ['spf@actual,window=32', 'spf,window=32', 'spf+easy,window=32']
    """
    return Scheduler(
        policy,
        backfill="easy" if setting == "backfilling" else "none",
        runtimes=Actual() if setting == "actual" else Requested(),
        window=window,
    )


def average_bounded_slowdown(sequence: Workload, scheduler: Scheduler) -> float:
    """Simulate a sequence and return the mean bounded slowdown of all jobs but those that only fill the machine.

    Examples
    --------
    Sixteen jobs of 10 seconds fill a machine of one processor, one after the other; the next waits 160 seconds.

    >>> jobs = Workload.from_columns(
    ...     dict(submit_time=[0] * 17, run_time=[10] * 17, allocated_processors=[1] * 17), processors=1)
    >>> average_bounded_slowdown(jobs, Scheduler.parse("fcfs@actual"))
    17.0
    """
    return float(simulate(sequence, scheduler, in_order=STATE).bounded_slowdown[STATE:].mean())


def _medians(
    trace: Trace, setting: str, policy: str, published: Number, seen: list[float], whole: list[float]
) -> list[Row]:
    """Return the row of a policy and, where the authors trimmed, the one that does as they did."""
    experiment = f"{trace.name}, {setting}"
    ours, alternative = float(np.median(seen)), float(np.median(whole))
    dropped = trace.trimmed.get(setting, {}).get(policy, 0)
    if not dropped:
        notes = _reasons(setting, policy, published, ours)
        return [Row(experiment, policy, published, ours=ours, alternative=alternative, notes=notes)]
    trimmed = float(np.median(sorted(seen)[:-dropped]))
    notes = _reasons(setting, policy, published, trimmed)
    return [
        Row(experiment, policy, published, ours=ours, alternative=alternative, notes=(TRIMMED,)),
        Row(experiment, f"{policy}, trimmed", published, ours=trimmed, notes=notes),
    ]


def _reasons(setting: str, policy: str, published: Number, ours: float) -> tuple[str, ...]:
    """Return why a value differs from the published one, if it does."""
    if published is None or abs(ours - published) <= TOLERANCE * published + LAST_DIGIT:
        return ()
    if setting == "backfilling":
        return (RELEASES, TIES) if policy == "SPT" else (RELEASES,)
    return (TIES,) if policy == "SPT" else (BURSTS,)
