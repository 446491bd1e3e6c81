"""By what a page tells jobs apart: user, account, partition, queue or QOS, application, and why they waited."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.columns import UNKNOWN
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload

SOURCES = {
    "user": ("User", "user_id", "User"),
    "account": ("Account", "group_id", "Group"),
    "partition": ("Partition", "partition_id", "Partition"),
    "qos": ("QOS", "", ""),
    "queue": ("Queue", "queue_id", "Queue"),
    "application": ("Application", "executable_id", "Executable"),
}
"""By key: the title, the column of numbers, and what header lines call it. What jobs ask for has names for three."""


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """One way to tell jobs apart.

    Parameters
    ----------
    key
        As links and searches of the page write it.
    title
        As a reader sees it.
    codes
        int64, one per job; negative for none.
    names
        Of the codes that have one.
    """

    key: str
    title: str
    codes: NDArray[np.int64]
    names: Mapping[int, str]

    @property
    def noun(self) -> str:
        """The title inside a sentence."""
        return self.title if self.title.isupper() else self.title.lower()

    def name_of(self, code: int) -> str:
        """Return what a group is called."""
        return self.names.get(code, "unknown" if code < 0 else f"{self.key} {code}")


def groupings(jobs: Workload, waited_for: Mapping[str, NDArray[np.int64]] | None = None) -> dict[str, Grouping]:
    """Return by what the jobs can be told apart, by key: whatever at least one job says.

    Parameters
    ----------
    jobs
        Names of partitions, accounts and QOS come from what the jobs ask for or, where that says nothing, from numbers
        and the header lines that name them.
    waited_for
        Where it is known why jobs waited, see `Schedule`.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1], run_time=[5, 5], requested_processors=[1, 1],
    ...     partition_id=[1, 2]), processors=4, header=(" Partition: 1 batch",))
    >>> {key: [found.name_of(code) for code in found.codes] for key, found in groupings(jobs).items()}
    {'partition': ['batch', 'partition 2']}
    """
    named = _names_in_header(jobs)
    found = {}
    for key, (title, column, _) in SOURCES.items():
        asked = _asked(jobs, key)
        if asked is not None:
            found[key] = Grouping(key, title, asked.codes, dict(enumerate(asked.names)) | {UNKNOWN: "none named"})
        elif column and not (key == "queue" and "qos" in found) and bool((getattr(jobs, column) != UNKNOWN).any()):
            found[key] = Grouping(key, title, getattr(jobs, column), named.get(key, {}))
    if waited_for:
        found["reason"] = _main_reason(waited_for)
    return found


def user_names(jobs: Workload) -> dict[int, str]:
    """Return the names of users by number, as far as header lines have them."""
    return {UNKNOWN: "unknown"} | _names_in_header(jobs).get("user", {})


def _asked(jobs: Workload, key: str) -> Labels | None:
    """Return the names that jobs ask for, if any does."""
    if jobs.resources is None or key not in ("partition", "account", "qos"):
        return None
    labels: Labels = getattr(jobs.resources, key)
    return labels if labels.names and bool((labels.codes >= 0).any()) else None


def _main_reason(waited_for: Mapping[str, NDArray[np.int64]]) -> Grouping:
    """Tell jobs apart by the reason for which they waited longest."""
    names = sorted(waited_for)
    seconds = np.stack([waited_for[name] for name in names])
    return Grouping(
        "reason",
        "Reason of waiting",
        np.where(seconds.any(axis=0), seconds.argmax(axis=0), UNKNOWN).astype(np.int64),
        {UNKNOWN: "never seen waiting", **dict(enumerate(names))},
    )


def _names_in_header(jobs: Workload) -> dict[str, dict[int, str]]:
    """Return the names that header lines give to numbers, as in "; Partition: 3 batch"."""
    kinds = {label: key for key, (_, _, label) in SOURCES.items() if label}
    form = re.compile(rf"\s*({'|'.join(kinds)}):\s*(\d+)\s+(\S.*)")
    names: dict[str, dict[int, str]] = {}
    for line in jobs.header:
        if found := form.match(line):
            label, number, name = found.groups()
            names.setdefault(kinds[label], {})[int(number)] = name.strip()
    return names
