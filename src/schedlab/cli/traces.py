"""Read the trace that a verb is about, and say of errors where in it they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.cli.terminal import note
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from schedlab.cluster.cluster import Cluster
    from schedlab.cluster.node_events import NodeEvents
    from schedlab.scheduler.scheduler import Scheduler
    from schedlab.workload.cleaning_report import CleaningReport
    from schedlab.workload.reading import Reading
    from schedlab.workload.workload import Workload


@dataclass(frozen=True)
class CleanedTrace:
    """A trace as a verb uses it: its jobs after cleaning, the rules, what they did, and notes on the file.

    `on_nodes` says whether the jobs are for a cluster of nodes, which knows more of what they ask for; `whole`, whether
    they were all jobs of the file before cleaning.
    """

    path: Path
    workload: Workload
    rules: str
    cleaning: CleaningReport
    notes: tuple[str, ...] = ()
    on_nodes: bool = False
    whole: bool = True

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Let errors about the jobs name the file and, where the job's line is known, the line."""
        try:
            yield
        except InputError as error:
            row = error.row if self.whole and self.cleaning.jobs_after == self.cleaning.jobs_before else None
            raise _located(error, self.path, self.workload, row) from None

    def note_reading(self) -> None:
        """Tell what the reader left out or does not know, and who waits for whom."""
        for text in self.notes:
            note(text)

    def note_cleaning(self) -> None:
        """Tell what reading and cleaning changed, if anything; call it last: an error is one line alone."""
        from schedlab.workload.cleaning import KEEP_CANCELLED

        self.note_reading()
        report = self.cleaning
        dropped = [f"{step.rule} {step.dropped:,}" for step in report.steps if step.dropped]
        changed = [f"{step.rule} {step.changed:,}" for step in report.steps if step.changed]
        parts = []
        if dropped:
            count = f"{report.jobs_before - report.jobs_after:,} of {count_of(report.jobs_before, 'job')}"
            parts.append(f"dropped {count} ({', '.join(dropped)})")
        if changed:
            parts.append(f"changed jobs ({', '.join(changed)})")
        told = [f"cleaning ({self.rules}) {' and '.join(parts)}"] if parts else []
        if any(step.rule == KEEP_CANCELLED and not step.changed for step in report.steps):
            told.append(f"cleaning ({self.rules}): this log has no jobs that were cancelled while they waited")
        if self.workload.rounded:
            told.append(f"fractions rounded while reading: {self.workload.rounded:,}")
        if told:
            note("; ".join(told))

    def note_left_out(self) -> None:
        """Tell what a simulation does not take over from the log."""
        from schedlab.workload.changes import left_out

        for sentence in left_out(self.workload, on_nodes=self.on_nodes):
            note(sentence)

    def changes(self) -> list[str]:
        """Return what was changed or left out, as sentences for a page."""
        from schedlab.workload.changes import changes

        return changes(self.workload, self.cleaning, self.notes, on_nodes=self.on_nodes)

    def note_distributions(self, schedulers: Iterable[Scheduler]) -> None:
        """Say whether jobs run longer than their distribution allows, or no scheduler uses the distributions."""
        if self.workload.distribution is None:
            return
        if not any(scheduler.needs_distributions for scheduler in schedulers):
            note(
                "the run-time distributions are not used: say how jobs ask, with requests=METHOD in the scheduler (or "
                "--requests METHOD)"
            )
        else:
            from schedlab.speculate.assignment import beyond_text, jobs_beyond_distributions

            if text := beyond_text(self.workload.name, *jobs_beyond_distributions(self.workload)):
                note(text)


def read_machine(path: Path | None, processors: int | None) -> Cluster | None:
    """Read the cluster that is given instead of a number of processors, if one is."""
    if path is None:
        return None
    if processors is not None:
        raise InputError("give the machine by --cluster or --processors, not both")
    from schedlab.cluster.files import read_cluster

    return read_cluster(path)


def read_node_events(
    path: Path | None, interrupted: str, requeue_delay: int, machine: Cluster | None
) -> NodeEvents | None:
    """Read what happens to the nodes of a cluster, if anything does."""
    if path is None:
        return None
    if machine is None:
        raise InputError("--node-events is about the nodes of a cluster: give --cluster FILE")
    from schedlab.cluster.node_events import NodeEvents

    events = NodeEvents.read(path, interrupted, requeue_delay)  # type: ignore[arg-type]
    try:
        events.numbers(machine.nodes)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return events


def read_trace(
    path: Path,
    rules: str,
    *,
    processors: int | None = None,
    machine: Cluster | None = None,
    requests: str | None = None,
    distributions: Path | None = None,
    dependencies: str = "none",
    alternatives: Path | None = None,
    checkpoints: str | None = None,
    reading: Reading | None = None,
    node_events: NodeEvents | None = None,
) -> CleanedTrace:
    """Read and clean a trace.

    Parameters
    ----------
    path
        The file.
    rules
        Cleaning rules.
    processors
        Size of the machine, if it is not the one that the file gives.
    machine
        The same as a cluster. Jobs that never fit on it are left out, unless nothing is cleaned.
    requests
        "enforced" or "advisory", or None for what the file says.
    distributions
        A file that says which applications follow which run-time distribution.
    dependencies
        "preceding" lets jobs wait for their preceding jobs; those that cleaning drops are taken for ended.
    alternatives
        A file of other sizes of jobs.
    checkpoints
        Rules of the checkpoints of jobs.
    reading
        How the file is read, and which of its jobs are kept.
    node_events
        What happens to the nodes of the machine. Jobs that may not use the reservations that they ask for are left out,
        unless nothing is cleaned.

    Raises
    ------
    InputError
        As `read_workload` and `clean` do; the message names the file.
    """
    from schedlab.workload.checkpoints import checkpoints_text
    from schedlab.workload.cleaning import clean_with_report, parse_rules
    from schedlab.workload.preceding import preceding_jobs
    from schedlab.workload.reading import AS_IT_IS

    parse_rules(rules)
    size = processors if machine is None else machine.processors
    reading = reading or AS_IT_IS
    workload = reading.read(path, size)
    told = _notes_of_reader(path, workload)
    whole = not reading.selects
    if requests is not None:
        workload = workload.replace(requests_enforced=requests == "enforced")
    try:
        if dependencies == "preceding":
            waits, dangling = preceding_jobs(workload)
            workload = workload.replace(dependencies=waits)
            told.append(_dependencies_text(len(waits.parents), dangling))
        cleaned, report = clean_with_report(workload, rules)
        if machine is not None and machine.groups and rules != "none":
            cleaned = _without_the_impossible(cleaned, machine, told)
            if node_events is not None:
                cleaned = _without_the_unreserved(cleaned, machine, node_events, told)
    except InputError as error:
        raise _located(error, path, workload, error.row if whole else None) from None
    if distributions is not None:
        from schedlab.speculate.assignment import assign_distributions, read_distributions

        cleaned = assign_distributions(cleaned, read_distributions(distributions))
    if alternatives is not None:
        from schedlab.workload.molding import read_alternatives

        cleaned = read_alternatives(alternatives, cleaned)
    if checkpoints is not None:
        from schedlab.workload.checkpoint_rules import with_checkpoints

        cleaned = with_checkpoints(cleaned, checkpoints)
    if text := checkpoints_text(cleaned):
        told.append(text)
    on_nodes = machine is not None and bool(machine.groups)
    return CleanedTrace(path, cleaned, rules, report, tuple(told), on_nodes, whole)


def _without_the_impossible(workload: Workload, cluster: Cluster, told: list[str]) -> Workload:
    """Return the jobs that can ever run on a cluster of nodes; tell of the others, by reason.

    Raises
    ------
    InputError
        If there are jobs, but none that can run.
    """
    from schedlab.engine.parts.limits.machine_inputs import never_runs
    from schedlab.engine.parts.limits.refusal import why_left_out

    never = never_runs(workload, cluster)
    if bool((never.codes < 0).all()):
        return workload
    sentences = why_left_out(workload, cluster, never)
    if bool((never.codes >= 0).all()):
        raise InputError("no job can run on the cluster: " + "; ".join(sentences))
    told += sentences
    return _kept(workload, never.codes < 0, "never-runs")


def _without_the_unreserved(workload: Workload, cluster: Cluster, events: NodeEvents, told: list[str]) -> Workload:
    """Return the jobs that may use the reservations that they ask for; tell of the others, by reason."""
    from schedlab.engine.parts.reservations.numbers import may_not_reserve

    refused = may_not_reserve(workload, cluster, events)
    for reason, count in refused.counts().items():
        told.append(f"{count_of(count, 'job')} left out: {'it' if count == 1 else 'each'} {reason}")
    return _kept(workload, refused.codes < 0, "not-reserved")


def _kept(workload: Workload, rows: NDArray[np.bool_], rule: str) -> Workload:
    """Return some jobs; their origin says that the others were left out."""
    from schedlab.workload.cleaning_report import Step
    from schedlab.workload.origin import Origin

    kept = workload[rows]
    if len(kept) == len(workload):
        return workload
    step = Step(rule, "", dropped=len(workload) - len(kept))
    return kept.replace(origin=(workload.origin or Origin()).cleaned([step]))


def _notes_of_reader(path: Path, workload: Workload) -> list[str]:
    """Return in one line what the reader of a site's log has noted in the header, and which lines were left out."""
    from schedlab.workload.files import SITE_LOGS
    from schedlab.workload.lenient import LEFT_OUT

    form = "" if workload.origin is None else workload.origin.format
    beginning = " Note: " if form in (*SITE_LOGS, "mapped") else LEFT_OUT
    told = [line.removeprefix(" Note: ") for line in workload.header if line.startswith(beginning)]
    return [f"{path}: {'; '.join(told)}"] if told else []


def _dependencies_text(waiting: int, dangling: int) -> str:
    """Say how many jobs wait for others, and how many cannot."""
    missing = f"; {dangling:,} more name one that the trace does not have, and do not wait" if dangling else ""
    return f"dependencies (preceding): {count_of(waiting, 'job')} may not start before another one has ended{missing}"


def _located(error: InputError, path: Path, workload: Workload, row: int | None) -> InputError:
    """Return the error with the file and, for a job of an SWF file, its line in front."""
    from schedlab.workload.files import format_of
    from schedlab.workload.swf import line_of_job

    message = str(error).removeprefix(f"{workload.name}: ")
    if str(path) in message:
        return error
    line = f", line {line_of_job(path, row)}" if row is not None and format_of(path) == "swf" else ""
    return InputError(f"{path}{line}: {message}", row=row)
