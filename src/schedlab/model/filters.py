"""What is left out of a log before it is modelled: jobs with missing data, rare huge jobs, flurries of single users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from schedlab.errors import InputError
from schedlab.workload.cleaning import RULES, Mask, Rule, find_flurries, parse_rules
from schedlab.workload.cleaning_report import Step
from schedlab.workload.workload import Workload

Filter = Literal["missing", "huge", "flurries"]

FILTERS: tuple[Filter, ...] = get_args(Filter)
"""All filters, in the order in which they are applied."""

HUGE_SHARE = 0.5
"""Of the machine: a job of more is huge."""

RARE_SHARE = 1e-3
"""Of all jobs: if fewer are huge, they are tests of the machine rather than its use."""

_MISSING = ("negative-submit", "no-run-time", "no-processors", "requested-too-wide")


def apply_filters(workload: Workload, filters: Sequence[str] = FILTERS) -> tuple[Workload, list[Step]]:
    """Leave out the jobs of a log that a model should not know.

    Parameters
    ----------
    workload
        The log.
    filters
        Which of them: "missing" (no submit time, run time or processors, or more processors than there are), "huge"
        (jobs of more than half the machine, if they are less than one in a thousand), "flurries" (those that
        `find_flurries` suggests, if the log tells users apart).

    Returns
    -------
    tuple of Workload and list of Step
        The jobs that are left, in order of submission, and what each rule dropped.

    Raises
    ------
    InputError
        If a filter is unknown.

    Examples
    --------
    >>> columns = dict(submit_time=[0, 5], run_time=[60, -1], requested_processors=[2, 1])
    >>> jobs, steps = apply_filters(Workload.from_columns(columns), ["missing"])
    >>> len(jobs), [(step.rule, step.dropped) for step in steps if step.dropped]
    (1, [('no-run-time', 1)])
    """
    strangers = sorted(set(filters) - set(FILTERS))
    if strangers:
        raise InputError(f"unknown filter {strangers[0]!r}; the filters are {', '.join(FILTERS)}")
    jobs, steps = workload, []
    for name in (one for one in FILTERS if one in filters):
        for rule in _rules(name, jobs):
            jobs, step = rule.apply(jobs)
            steps.append(step)
    return jobs.sorted_by_submit(), steps


def _rules(name: Filter, jobs: Workload) -> list[Rule]:
    """Return the rules of cleaning that a filter stands for, given the jobs that it is applied to."""
    if name == "missing":
        return [RULES[rule] for rule in _MISSING]
    if name == "huge":
        return [Rule("rare-huge", f"wider than {HUGE_SHARE:.0%} of the machine, and rare", _rare_huge)]
    # Where all jobs have one user number, it stands for everybody.
    several = len(np.unique(jobs.user_id)) > 1
    return parse_rules([flurry.rule for flurry in find_flurries(jobs)] if several else [])


def _rare_huge(workload: Workload) -> Mask:
    huge: Mask = workload.job_processors > HUGE_SHARE * (workload.processors or np.inf)
    return huge if np.count_nonzero(huge) < RARE_SHARE * len(workload) else np.zeros_like(huge)
