"""Cleaning of logs by named rules, with a report of what each rule did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError, check_type
from schedlab.wording import did_you_mean
from schedlab.workload.cancelling import CANCELLED, were_cancelled, with_patience
from schedlab.workload.cleaning_report import CleaningReport, Step
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.origin import Origin
from schedlab.workload.workload import NO_WORKLOAD, Workload

Mask = NDArray[np.bool_]
"""One value for each job, shape (n,)."""

PARTIAL = (2, 3, 4)
"""SWF's status of parts of checkpointed jobs: one that others follow, the last one, and the last one if it failed."""

KEEP_CANCELLED = "keep-cancelled"
"""The rule that lets jobs wait that were cancelled while they waited."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A possible defect of jobs, and its remedy.

    Parameters
    ----------
    name
        Its name in lists of rules and reports.
    meaning
        The jobs concerned, in a few words.
    concerns
        Function of a workload that returns for each job whether the rule applies.
    repair
        Function of a workload and the jobs concerned that returns the workload with these jobs repaired; None if they
        are dropped.
    """

    name: str
    meaning: str
    concerns: Callable[[Workload], Mask]
    repair: Callable[[Workload, Mask], Workload] | None = None

    def apply(self, workload: Workload) -> tuple[Workload, Step]:
        """Return the workload with the rule applied, and the number of jobs concerned."""
        concerned = self.concerns(workload)
        count = int(np.count_nonzero(concerned))
        if self.repair is None:
            return (workload[~concerned] if count else workload), Step(self.name, self.meaning, dropped=count)
        repaired = self.repair(workload, concerned) if count else workload
        return repaired, Step(self.name, self.meaning, changed=count)


def _part_of_another_line(workload: Workload) -> Mask:
    """Return the parts of jobs for which the log has a line for the whole job, too, with the same number."""
    part = np.isin(workload.status, PARTIAL)
    return np.asarray(part & np.isin(workload.job_id, workload.job_id[~part])) if part.any() else part


def _never_ran(workload: Workload) -> Mask:
    cancelled = (workload.status == CANCELLED) & (workload.run_time == 0)
    return np.asarray(cancelled | (workload.run_time < 0))


def _no_processors(workload: Workload) -> Mask:
    return (workload.requested_processors <= 0) & (workload.allocated_processors <= 0)


def _one_processor_number(workload: Workload) -> Mask:
    return (workload.requested_processors > 0) ^ (workload.allocated_processors > 0)


def _copy_processors(workload: Workload, concerned: Mask) -> Workload:
    known = np.maximum(workload.requested_processors, workload.allocated_processors)
    return workload.replace(
        requested_processors=np.where(concerned, known, workload.requested_processors),
        allocated_processors=np.where(concerned, known, workload.allocated_processors),
    )


def _wider_than_machine(column: str) -> Callable[[Workload], Mask]:
    def concerns(workload: Workload) -> Mask:
        if workload.processors is None:
            return np.zeros(len(workload), dtype=np.bool_)
        wider: Mask = getattr(workload, column) > workload.processors
        return wider

    return concerns


def _no_request(workload: Workload) -> Mask:
    return workload.requested_time <= 0


def _request_run_time(workload: Workload, concerned: Mask) -> Workload:
    run_time = np.maximum(workload.run_time, 1)
    return workload.replace(requested_time=np.where(concerned, run_time, workload.requested_time))


def _above_request(workload: Workload) -> Mask:
    return (workload.requested_time > 0) & (workload.run_time > workload.requested_time)


def _cut_at_request(workload: Workload, concerned: Mask) -> Workload:
    return workload.replace(run_time=np.where(concerned, workload.requested_time, workload.run_time))


_ALL_RULES = (
    Rule(
        "partial-executions",
        "part of a checkpointed job that has a line for the whole",
        _part_of_another_line,
    ),
    Rule(
        KEEP_CANCELLED,
        "cancelled while it waited: waits as long, and leaves unless it starts before",
        were_cancelled,
        with_patience,
    ),
    Rule("never-ran", "run time unknown, or cancelled before it ran", _never_ran),
    Rule("no-run-time", "run time unknown or 0", lambda jobs: jobs.run_time <= 0),
    Rule("no-processors", "neither requested nor allocated processors known", _no_processors),
    Rule(
        "fill-processors",
        "requested or allocated processors unknown: set to the other",
        _one_processor_number,
        _copy_processors,
    ),
    Rule(
        "allocated-processors",
        "other processors requested than allocated: set to the allocated, or unknown as they are",
        lambda jobs: jobs.requested_processors != jobs.allocated_processors,
        lambda jobs, _: jobs.replace(requested_processors=jobs.allocated_processors),
    ),
    Rule(
        "allocated-too-wide",
        "more processors allocated than the machine has",
        _wider_than_machine("allocated_processors"),
    ),
    Rule(
        "requested-too-wide",
        "more processors requested than the machine has",
        _wider_than_machine("requested_processors"),
    ),
    Rule("no-request", "requested time unknown or 0", _no_request),
    Rule("fill-request", "requested time unknown or 0: set to the run time", _no_request, _request_run_time),
    Rule("cut-at-request", "run time above the request: cut to it", _above_request, _cut_at_request),
    Rule("negative-submit", "submit time unknown or before second 0", lambda jobs: jobs.submit_time < 0),
)

RULES = {rule.name: rule for rule in _ALL_RULES}
"""All rules without parameters, by name."""

RULE_SETS: dict[str, tuple[str, ...]] = {
    "none": (),
    "default": (
        "partial-executions",
        "never-ran",
        "negative-submit",
        "no-processors",
        "fill-processors",
        "requested-too-wide",
        "fill-request",
    ),
    "cancelled": (
        "partial-executions",
        KEEP_CANCELLED,
        "never-ran",
        "negative-submit",
        "no-processors",
        "fill-processors",
        "requested-too-wide",
        "fill-request",
    ),
    "sc15": (
        "allocated-too-wide",
        "requested-too-wide",
        "no-processors",
        "fill-processors",
        "no-run-time",
        "no-request",
        "cut-at-request",
        "negative-submit",
    ),
}
"""Sets of rules in order: none, for valid replays, the same with jobs that were cancelled while they waited, and for
the simulations of Gaussier et al. (SC 2015)."""


@explained
def clean(workload: Workload, rules: str | Sequence[str] = "default") -> Workload:
    """Drop or repair the jobs of a log that cannot be replayed.

    Parameters
    ----------
    workload
        The log.
    rules
        The rules to apply, in order: names of rules (`RULES`), of sets of rules (`RULE_SETS`: "none", "default",
        "cancelled", "sc15"), or `flurry:USER:START:END`, as a sequence or as one text with commas.

        "default" drops the parts of checkpointed jobs that have a line for the whole, and jobs that never ran, that
        have no submit time, no number of processors or one above the machine's; it sets a missing number of processors,
        requested or allocated, to the other one, and a missing requested time to the run time (at least 1 s). Jobs that
        ran for 0 s are kept, and so are run times above the request: a machine that enforces requests ends such jobs.
        "cancelled" does the same, but lets jobs that were cancelled before they ran wait as long as they did, see
        `schedlab.workload.cancelling.with_patience`.

    Raises
    ------
    InputError
        If a rule is unknown, or if no jobs are left.

    References
    ----------
    "sc15": Gaussier et al., "Improving backfilling by using machine learning to predict running times", SC
    2015; the order is that of the authors' program.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 5], run_time=[60, -1], requested_processors=[2, 1]))
    >>> clean(log).requested_time.tolist()
    [60]
    """
    return clean_with_report(workload, rules)[0]


@explained
def clean_with_report(workload: Workload, rules: str | Sequence[str] = "default") -> tuple[Workload, CleaningReport]:
    """Clean like `clean`, and also return a report of each rule.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 5], run_time=[60, -1], requested_processors=[2, 1]))
    >>> print(clean_with_report(log, ["never-ran", "fill-request"])[1])
    rule          dropped  changed
    never-ran           1        0  run time unknown, or cancelled before it ran
    fill-request        0        1  requested time unknown or 0: set to the run time
    2 jobs before, 1 after
    """
    check_type(workload, Workload, NO_WORKLOAD)
    steps = []
    cleaned = workload
    for rule in parse_rules(rules):
        cleaned, step = rule.apply(cleaned)
        steps.append(step)
    if len(cleaned) == 0:
        raise InputError(_nothing_left(workload, steps))
    report = CleaningReport(
        workload.name,
        len(workload),
        len(cleaned),
        tuple(steps),
        workload.rounded,
        int(np.count_nonzero(_above_request(cleaned))),
    )
    origin = workload.origin or Origin()
    return (cleaned.replace(origin=origin.cleaned(steps)) if steps else cleaned), report


def parse_rules(names: str | Sequence[str]) -> list[Rule]:
    """Return the rules of a text or a sequence of names; see `clean`.

    Examples
    --------
    >>> [rule.name for rule in parse_rules("never-ran,flurry:7:0:3600")]
    ['never-ran', 'flurry:7:0:3600']
    """
    rules: list[Rule] = []
    for name in (part.strip() for part in (names.split(",") if isinstance(names, str) else names)):
        if name in RULE_SETS:
            rules += [RULES[member] for member in RULE_SETS[name]]
        elif name in RULES:
            rules.append(RULES[name])
        elif name.startswith("flurry:"):
            rules.append(_flurry_rule(name))
        else:
            known = [*RULE_SETS, *RULES]
            told = ", ".join([*known, "flurry:USER:START:END"])
            raise InputError(f"unknown cleaning rule {name!r}; the rules are {told}{did_you_mean(name, known)}")
    return rules


def _nothing_left(workload: Workload, steps: Sequence[Step]) -> str:
    """Return the message that cleaning has left no job, with the reason."""
    if not len(workload):
        return f"{workload.name}: there are no jobs to clean"
    worst = max(steps, key=lambda step: step.dropped)
    return (
        f"{workload.name}: no jobs are left after cleaning; rule {worst.rule} ({worst.meaning}) dropped "
        f"{worst.dropped} of {len(workload)}; choose other rules (rules=)"
    )


@explained
def remove_flurry(workload: Workload, user_id: int, start: int, end: int) -> Workload:
    """Drop the jobs that a user submitted from `start` until before `end`, seconds on the workload's clock.

    A flurry is a burst of activity of one user that is unlike the rest of the log and dominates the result of an
    evaluation. As a rule in a list: `flurry:USER:START:END`.

    References
    ----------
    Tsafrir and Feitelson, "Instability in parallel job scheduling simulation: the role of workload flurries",
    IPDPS 2006.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 5, 9], run_time=[1, 1, 1], user_id=[7, 7, 7]))
    >>> remove_flurry(log, 7, 0, 9).submit_time.tolist()
    [9]
    """
    return workload[~_in_flurry(workload, user_id, start, end)]


def _in_flurry(workload: Workload, user_id: int, start: int, end: int) -> Mask:
    within = (workload.submit_time >= start) & (workload.submit_time < end)
    return np.asarray(within & (workload.user_id == user_id))


def _flurry_rule(text: str) -> Rule:
    """Return the rule that `flurry:USER:START:END` describes."""
    try:
        user_id, start, end = (int(part) for part in text.split(":")[1:])
    except ValueError:
        raise InputError(f"{text!r} is not flurry:USER:START:END with a user number and two times in seconds") from None
    meaning = f"jobs of user {user_id} from {start} s until before {end} s"
    return Rule(text, meaning, lambda jobs: _in_flurry(jobs, user_id, start, end))


@dataclass(frozen=True, slots=True)
class Flurry:
    """A burst of jobs: `user_id` submitted `jobs` jobs from `start` until before `end`."""

    user_id: int
    start: int
    end: int
    jobs: int

    @property
    def rule(self) -> str:
        """The cleaning rule that removes it."""
        return f"flurry:{self.user_id}:{self.start}:{self.end}"


@explained
def find_flurries(workload: Workload, *, window: int = 86_400, factor: float = 10.0) -> list[Flurry]:
    """Find bursts of single users, for inspection before they are removed or kept.

    The criterion: in a window of time, one user submits more than `factor` times as many jobs as all users together in
    the median window that has any. Consecutive windows make one flurry. Unknown users are skipped, and users who
    constantly submit many jobs are not found.

    Parameters
    ----------
    workload
        The log.
    window
        Length of the windows in seconds, counted from the first submission.
    factor
        The multiple of the usual number of jobs that counts as abnormal.

    Returns
    -------
    list of Flurry
        Largest first.

    Examples
    --------
    >>> times = [day * 86_400 for day in range(5)] + [3 * 86_400 + second for second in range(20)]
    >>> log = Workload.from_columns(dict(submit_time=times, run_time=[9] * 25, user_id=[1] * 5 + [2] * 20))
    >>> [flurry.rule for flurry in find_flurries(log)]
    ['flurry:2:259200:345600']
    """
    if window < 1:
        raise InputError(f"the window for flurries must be at least 1 s, not {window} s")
    if len(workload) == 0:
        return []
    first = int(workload.submit_time.min())
    place = (workload.submit_time - first) // window
    usual = float(np.median(np.unique(place, return_counts=True)[1]))
    pairs, jobs = np.unique(np.column_stack((workload.user_id, place)), axis=0, return_counts=True)
    abnormal = (jobs > factor * usual) & (pairs[:, 0] != UNKNOWN)
    flurries: list[Flurry] = []
    for (user_id, number), count in zip(pairs[abnormal].tolist(), jobs[abnormal].tolist(), strict=True):
        start = first + number * window
        flurry = Flurry(user_id, start, start + window, count)
        if flurries and (flurries[-1].user_id, flurries[-1].end) == (user_id, start):
            previous = flurries.pop()
            flurry = replace(previous, end=flurry.end, jobs=previous.jobs + count)
        flurries.append(flurry)
    return sorted(flurries, key=lambda flurry: -flurry.jobs)
