"""Which jobs of a log belong to which application, and the run-time distributions of applications, from a TOML file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.documents import read_toml
from schedlab.errors import InputError
from schedlab.scheduler.retries import GROWTH
from schedlab.wording import did_you_mean, shown
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.workload import Workload

KEYS = {"executable": "executable_id", "user": "user_id", "group": "group_id", "queue": "queue_id"}
"""The keys that identify the jobs of an application, and their columns of the workload."""


@dataclass(frozen=True, slots=True)
class Application:
    """Jobs whose run times follow one distribution.

    Parameters
    ----------
    distribution
        The text of the distribution, see `schedlab.speculate.distributions.RunTimeDistribution.parse`.
    keys
        Numbers by column of the workload: a job belongs to the application if each of these columns is known and has
        one of them.
    requests
        Their sequence of requests, as text such as "3h, 8h"; empty if not given.
    """

    distribution: str
    keys: tuple[tuple[str, tuple[int, ...]], ...]
    requests: str = ""

    def members(self, workload: Workload) -> NDArray[np.bool_]:
        """Return which jobs belong to it."""
        mask = np.ones(len(workload), dtype=np.bool_)
        for column, numbers in self.keys:
            values = getattr(workload, column)
            mask &= np.isin(values, numbers) & (values != UNKNOWN)
        return mask


@explained
def read_distributions(path: str | PathLike[str]) -> list[Application]:
    """Read applications and their run-time distributions.

    Parameters
    ----------
    path
        TOML: a table `[[application]]` for each, with `distribution` and at least one of `executable`, `user`, `group`
        and `queue`, a number or a list of numbers. `requests`, such as "3h, 8h", gives a sequence of requests.

    Raises
    ------
    InputError
        If the file cannot be read, or a table is not of that form; the message names the table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "distributions.toml"
    >>> _ = path.write_text('[[application]]\\ndistribution = "uniform(1h,2h)"\\nexecutable = [3, 4]\\n')
    >>> read_distributions(path)
    [Application(distribution='uniform(1h,2h)', keys=(('executable_id', (3, 4)),), requests='')]
    """
    name = fspath(path)
    fields = read_toml(path, "distributions")
    tables = fields.pop("application", [])
    if fields or not isinstance(tables, list) or not tables:
        raise InputError(f"{name}: distributions are tables [[application]] and nothing else, at least one")
    return [_application(table, f"{name}: application {number}") for number, table in enumerate(tables, start=1)]


def _application(table: Any, where: str) -> Application:
    from schedlab.speculate.distributions import RunTimeDistribution
    from schedlab.speculate.sequences import RequestSequence

    fields = ("distribution", "requests", *KEYS)
    strangers = sorted(set(table) - set(fields)) if isinstance(table, dict) else []
    if strangers:
        raise InputError(
            f"{where}: unknown field {shown(strangers[0])}{did_you_mean(strangers[0], fields)}; the fields are "
            f"{', '.join(fields)}"
        )
    if not isinstance(table, dict) or not isinstance(table.get("distribution"), str):
        raise InputError(
            f'{where}: a distribution is missing, such as distribution = "truncnorm(0h,20h,mu=8h,sigma=2h)"'
        )
    if not isinstance(table.get("requests", ""), str):
        raise InputError(f'{where}: requests are durations in one text, such as requests = "3h, 8h"')
    keys = []
    for key, column in KEYS.items():
        if key in table:
            numbers = table[key] if isinstance(table[key], list) else [table[key]]
            if not numbers or not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
                raise InputError(f"{where}: {key} is a whole number or a list of them, not {shown(table[key])}")
            if max(numbers) >= 2**63:
                raise InputError(f"{where}: {key} is {max(numbers)}, which does not fit into 64 bits")
            if min(numbers) < 0:
                raise InputError(f"{where}: {key} is {min(numbers)}; numbers are 0 or more, and -1 in a log is unknown")
            keys.append((column, tuple(numbers)))
    if not keys:
        raise InputError(f"{where}: say which jobs it has, by {', '.join(KEYS)}")
    try:
        distribution = RunTimeDistribution.parse(table["distribution"]).text
        requests = RequestSequence.parse(table["requests"]).text if "requests" in table else ""
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return Application(distribution, tuple(keys), requests)


def jobs_beyond_distributions(workload: Workload) -> tuple[int, int]:
    """Return how many jobs run longer than their distribution allows, and how many jobs have one.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0, 0], run_time=[9, 11, 99]))
    >>> jobs_beyond_distributions(jobs.replace(distribution=np.array([0, 0, -1]), distributions=("uniform(0s,10s)",)))
    (1, 2)
    """
    from schedlab.speculate.distributions import RunTimeDistribution

    if workload.distribution is None or not workload.distributions:
        return 0, 0
    longest = np.array([math.ceil(RunTimeDistribution.parse(text).high) for text in workload.distributions])
    has_distribution = workload.distribution >= 0
    beyond = has_distribution & (workload.run_time > longest[workload.distribution])
    return int(np.count_nonzero(beyond)), int(np.count_nonzero(has_distribution))


def beyond_text(workload: str, beyond: int, with_distribution: int) -> str:
    """Return a sentence about the jobs that run longer than their distribution allows; empty if there are none.

    Examples
    --------
    >>> beyond_text("log", 3, 60).partition("; ")[0]
    'log: 3 of 60 jobs run longer than their distribution allows'
    """
    if not beyond:
        return ""
    return (
        f"{workload}: {beyond:,} of {with_distribution:,} jobs run longer than their distribution allows; with "
        f"requests= in the scheduler, their last request is followed by {GROWTH:g} times as much, or by what "
        f"exhausted= says"
    )


@explained
def assign_distributions(workload: Workload, applications: list[Application]) -> Workload:
    """Return the workload with run-time distributions; a job of several applications follows that of the first.

    Raises
    ------
    InputError
        If an application has no jobs.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[9, 9], executable_id=[3, 5]))
    >>> assign_distributions(jobs, [Application("uniform(0s,10s)", (("executable_id", (3,)),))]).distribution.tolist()
    [0, -1]
    """
    kinds = list(dict.fromkeys((application.distribution, application.requests) for application in applications))
    distribution = np.full(len(workload), -1, dtype=np.int64)
    for application in applications:
        members = application.members(workload)
        if not members.any():
            said = " and ".join(f"{column} {', '.join(map(str, numbers))}" for column, numbers in application.keys)
            raise InputError(f"{workload.name}: no job has {said}, and so none follows {application.distribution}")
        distribution[members & (distribution < 0)] = kinds.index((application.distribution, application.requests))
    distributions, sequences = zip(*kinds, strict=True)
    return workload.replace(distribution=distribution, distributions=distributions, sequences=sequences)
