"""Changes and omissions in a log before it is simulated, as sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedlab.wording import count_of
from schedlab.workload.cleaning_report import CleaningReport
from schedlab.workload.workload import Workload

UNUSED = {
    "GPUs": ("gpus", "gpus_per_node", "gpus_per_task"),
    "memory": ("memory_per_node", "memory_per_core"),
    "whole nodes": ("exclusive",),
    "numbers of nodes": ("nodes",),
}
"""Requests that a machine without nodes ignores, and their columns."""


def changes(
    jobs: Workload, cleaning: CleaningReport | None = None, notes: Sequence[str] = (), *, on_nodes: bool = False
) -> list[str]:
    """Return all known changes: notes of the reader, results of cleaning, and omissions of the model.

    Parameters
    ----------
    jobs
        The jobs as simulated.
    cleaning
        The report of the cleaning rules.
    notes
        The notes of the reader of the file.
    on_nodes
        Whether the jobs are simulated on a cluster of nodes.

    Examples
    --------
    >>> from schedlab.workload.cleaning import clean_with_report
    >>> log = Workload.from_columns(dict(submit_time=[0, 5], run_time=[60, -1], requested_processors=[2, 1]))
    >>> for sentence in changes(*clean_with_report(log)):
    ...     print(sentence)
    1 of 2 jobs is left out: run time unknown, or cancelled before it ran (never-ran).
    1 job is changed: requested or allocated processors unknown: set to the other (fill-processors).
    1 job is changed: requested time unknown or 0: set to the run time (fill-request).
    """
    found = [f"{note[:1].upper()}{note[1:]}." for note in notes]
    if cleaning is not None:
        for step in cleaning.steps:
            if step.dropped:
                number, of = step.dropped, count_of(cleaning.jobs_before, "job")
                found.append(f"{number:,} of {of} {_is(number)} left out: {step.meaning} ({step.rule}).")
            if step.changed:
                jobs_changed = count_of(step.changed, "job")
                found.append(f"{jobs_changed} {_is(step.changed)} changed: {step.meaning} ({step.rule}).")
    if jobs.rounded:
        found.append(f"{count_of(jobs.rounded, 'value')} with a fraction {_is(jobs.rounded)} rounded.")
    return [*found, *left_out(jobs, on_nodes=on_nodes)]


def left_out(jobs: Workload, *, on_nodes: bool = False) -> list[str]:
    """Return what the simulation ignores in a log or treats differently; parameters as for `changes`.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 5], run_time=[60, 9], requested_processors=[2, 1],
    ...                                  requested_time=[50, 10], partition_id=[1, 2]), processors=4)
    >>> for sentence in left_out(log):
    ...     print(sentence)
    1 job ran longer than it asked for: it is ended at its requested time.
    2 partitions are pooled into one machine.
    """
    found = []
    longer = int(np.count_nonzero((jobs.requested_time > 0) & (jobs.run_time > jobs.requested_time)))
    if longer and jobs.requests_enforced:
        they, their = ("it is", "its") if longer == 1 else ("they are", "their")
        asked = f"than {'it' if longer == 1 else 'they'} asked for"
        found.append(f"{count_of(longer, 'job')} ran longer {asked}: {they} ended at {their} requested time.")
    partitions = len(np.unique(jobs.partition_id[jobs.partition_id >= 0]))
    if partitions > 1 and not on_nodes:
        found.append(f"{partitions:,} partitions are pooled into one machine.")
    named = int(np.count_nonzero(jobs.preceding_job_id > 0))
    if named and jobs.dependencies is None:
        name = "names" if named == 1 else "name"
        found.append(f"{count_of(named, 'job')} {name} a preceding job, and may start before it has ended.")
    if jobs.resources is not None and not on_nodes:
        columns = {what: [getattr(jobs.resources, name) for name in names] for what, names in UNUSED.items()}
        asked_for = [what for what, values in columns.items() if any(bool((each > 0).any()) for each in values)]
        if asked_for:
            found.append(f"Requests for {', '.join(asked_for)} are left out: processors alone count.")
    return found


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
