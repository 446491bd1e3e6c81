"""Generate the workload of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.generate.composer import Composer
from schedlab.generate.experiment import Experiment
from schedlab.generate.fill import fill_jobs, scsf_fill_jobs
from schedlab.generate.patterns import Pattern, Submitted
from schedlab.generate.pool import BLOCK, Columns, JobPool, draw_jobs
from schedlab.generate.special import special_pattern
from schedlab.generate.triggers import Periodic, Trigger
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.sections import Sections
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import submit_workflows
from schedlab.workload.workload import Workload

Seconds = NDArray[np.int64]

_JOB = ("submit_time", "run_time", "requested_processors", "requested_time")


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """A generated workload, and how it came out.

    Parameters
    ----------
    workload
        All jobs. Its header tells the sections, see `schedlab.workload.sections.sections_of`.
    sections
        Seconds on the clock of the workload.
    reserved_pressure, useful_pressure
        Core-seconds submitted from begin to end, per core-second of the machine: those that jobs reserve, and those in
        which something is computed. They differ by the idle parts of pilot jobs. Fill jobs do not count.
    workflow_share
        Share of workflows in the useful core-seconds.
    counts
        How many: `fill` jobs; `arrived`, jobs of the model that came by themselves; `added`, those that keep the
        pressure; `rejected`, drawn jobs that the site would not accept; `dropped`, arrivals without a submission as the
        pressure was too high; `workflows`; `fixed` jobs of patterns.
    """

    workload: Workload
    sections: Sections
    reserved_pressure: float
    useful_pressure: float
    workflow_share: float
    counts: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the jobs."""
        return {
            "sections": asdict(self.sections),
            "reserved_pressure": self.reserved_pressure,
            "useful_pressure": self.useful_pressure,
            "workflow_share": self.workflow_share,
            "counts": dict(self.counts),
        }

    def text(self) -> str:
        """Return the same in a few lines for a reader."""
        counts, sections = self.counts, self.sections
        kinds = {"fill": "to fill the machine", "arrived": "arrived", "added": "added to keep the pressure"}
        kinds |= {"fixed": "of patterns", "rejected": "rejected", "dropped": "dropped as the pressure was too high"}
        jobs = [f"{counts[name]:,} {kind}" for name, kind in kinds.items() if counts[name]]
        lines = [
            f"sections: begin {sections.begin:,} s, start {sections.start:,} s, end {sections.end:,} s, "
            f"cutoff {sections.cutoff:,} s",
            f"jobs: {', '.join(jobs) or 'none'}",
            f"pressure: {self.reserved_pressure:.3f} reserved, {self.useful_pressure:.3f} useful",
        ]
        if counts["workflows"]:
            lines.append(
                f"workflows: {counts['workflows']:,} with {self.workflow_share:.1%} of the useful core-seconds"
            )
        return "\n".join(lines)


@explained
def generate_experiment(experiment: Experiment, *, rng: np.random.Generator | int) -> Generated:
    """Generate the workload of an experiment.

    Parameters
    ----------
    experiment
        What is wanted.
    rng
        Source of randomness: a generator, or the seed of a new one. Arrivals, the jobs they bring, jobs that are added,
        patterns and the fill phase have a generator each, spawned from it: whatever the mode and policy of the
        workflows, the jobs that arrive by themselves are the same.

    Returns
    -------
    Generated
        Jobs in order of submission.

    Raises
    ------
    InputError
        If no pressure can be kept with the jobs of the model.

    References
    ----------
    Rodrigo, Elmroth, Östberg and Ramakrishnan, "ScSF: a scheduling simulation framework", JSSPP 2017, section 3.4.

    Examples
    --------
    >>> from schedlab.model.edison import EDISON_TOY
    >>> hour = Experiment(EDISON_TOY, preload=0, duration=3600)
    >>> generated = generate_experiment(hour, rng=np.random.default_rng(1))
    >>> round(generated.reserved_pressure, 1), generated.counts["workflows"]
    (1.0, 0)
    """
    rng = np.random.default_rng(rng)
    for_gaps, for_arrivals, for_added, for_patterns, for_fill = rng.spawn(5)
    sections = experiment.sections
    arrivals = _arrivals(experiment, for_gaps)
    own = draw_jobs(experiment.model, for_arrivals, len(arrivals))
    composer = Composer(
        experiment, JobPool(experiment.model, for_added), _planned(experiment, arrivals, for_patterns), for_patterns
    )
    composer.arrive(arrivals.tolist(), own["work"].tolist())
    composer.finish(sections.end)
    capacity = experiment.model.processors * (sections.end - sections.begin)
    fill = _fill(experiment, for_fill)
    workload, counts = _collect(experiment, fill, arrivals, own, composer)
    return Generated(
        workload=workload,
        sections=sections,
        reserved_pressure=composer.reserved / capacity,
        useful_pressure=composer.useful / capacity,
        workflow_share=composer.useful_in_workflows / composer.useful if composer.useful else 0.0,
        counts=counts,
    )


def _arrivals(experiment: Experiment, rng: np.random.Generator) -> Seconds:
    """Return the seconds at which something arrives, from begin to end."""
    from schedlab.model.cycles import clock_offset

    sections, model = experiment.sections, experiment.model
    if experiment.is_special:
        return np.empty(0, dtype=np.int64)
    block = int((sections.end - sections.begin) / model.mean_gap) + 1
    # Second 0 of a model's clock is a Monday's midnight.
    begin = float(clock_offset(experiment.start_time - sections.start) + sections.begin)
    gaps, times = np.empty(0), np.empty(0)
    last = begin + sections.end - sections.begin
    while not len(times) or times[-1] <= last:
        gaps = np.concatenate([gaps, model.draw_gaps(rng, block)])
        times = model.arrival_times(begin, gaps)
    seconds = np.floor(times - begin).astype(np.int64) + sections.begin
    return seconds[seconds <= sections.end]


def _planned(experiment: Experiment, arrivals: Seconds, rng: np.random.Generator) -> list[Submitted]:
    """Return what is submitted at seconds that are known beforehand, in order."""
    sections = experiment.sections
    planned: list[Submitted] = []
    if experiment.workflow_policy == "period":
        planned += _periodic(experiment, arrivals, rng)
    patterns: list[tuple[Trigger, Pattern]] = list(experiment.extra)
    if experiment.is_special:
        patterns.append(special_pattern(experiment.workflow_policy))
    for trigger, pattern in patterns:
        for second in trigger.times(0, sections.end - sections.begin, rng).tolist():
            planned += pattern.submit(sections.begin + second, rng)
    return sorted((one for one in planned if one[0] <= sections.end), key=lambda one: one[0])


def _periodic(experiment: Experiment, arrivals: Seconds, rng: np.random.Generator) -> list[Submitted]:
    """Return the workflows that come by period: none before the start, nor at it."""
    sections, period = experiment.sections, experiment.period
    # By ScSF's rules at whole periods of Unix time, and not before the next arrival.
    first = sections.start + period - (experiment.start_time % period if experiment.rules == "scsf" else 0)
    due = Periodic(period, first).times(sections.start, sections.end, rng)
    if experiment.rules == "scsf":
        following = np.searchsorted(arrivals, due)
        due = arrivals[following[following < len(arrivals)]]
    choice = experiment.workflow_choice
    return [submitted for second in due.tolist() for submitted in choice.submit(second, rng)]


def _collect(
    experiment: Experiment, fill: Columns, arrivals: Seconds, own: Columns, composer: Composer
) -> tuple[Workload, dict[str, int]]:
    """Return the workload of everything that has been submitted, and how many of each kind there are."""
    kept = np.array(composer.kept, dtype=np.int64)
    added = np.array(composer.added, dtype=np.int64).reshape(-1, 2)
    drawn = {name: column[kept] for name, column in own.items()} | {"submit_time": arrivals[kept]}
    more = composer.pool.jobs() | {"submit_time": np.repeat(added[:, 0], added[:, 1])}
    parts = {
        "fill": fill,
        "arrived": _accepted(drawn),
        "added": _accepted(more),
        "fixed": _fixed(composer),
    }
    counts = {name: len(part["submit_time"]) for name, part in parts.items()}
    counts["rejected"] = len(kept) + composer.pool.taken - counts["arrived"] - counts["added"]
    counts["dropped"] = composer.dropped
    counts["workflows"] = len(composer.workflows)
    jobs = _workload(experiment, list(parts.values()))
    submissions = [Submission(workflow, experiment.submission_mode, second) for second, workflow in composer.workflows]
    return submit_workflows(jobs, submissions, rules=experiment.rules), counts


def _workload(experiment: Experiment, parts: Sequence[Columns]) -> Workload:
    """Return the jobs of all parts in order of submission; in one second, those of earlier parts come first."""
    columns = {name: np.concatenate([part[name] for part in parts]) for name in (*_JOB, "user_id")}
    order = np.argsort(columns["submit_time"], kind="stable")
    return Workload.from_columns(
        {name: column[order] for name, column in columns.items()},
        name="experiment",
        processors=experiment.model.processors,
        cores_per_node=experiment.model.cores_per_node,
        start_time=experiment.start_time - experiment.sections.start,
        header=(experiment.sections.line,),
    )


def _accepted(jobs: Columns) -> Columns:
    """Return the columns of a workload for the drawn jobs that the site accepts."""
    accepted = jobs["accepted"] > 0
    named = jobs | {"requested_processors": jobs["processors"]}
    return {name: named[name][accepted] for name in (*_JOB, "user_id")}


def _fill(experiment: Experiment, rng: np.random.Generator) -> Columns:
    """Return the fill jobs, which have no user."""
    model, wait = experiment.model, experiment.fill_wait
    if not wait:
        return _of_nobody({name: np.empty(0, dtype=np.int64) for name in _JOB})
    begin, node = experiment.sections.begin, model.cores_per_node or 1
    if experiment.rules == "scsf":
        return _of_nobody(scsf_fill_jobs(wait, model.processors, node, begin=begin))
    drawn = draw_jobs(model, rng, BLOCK)
    usual = {name: column[drawn["accepted"] > 0] for name, column in drawn.items()}
    usual["run_time"] = np.minimum(usual["run_time"], usual["requested_time"])
    return _of_nobody(fill_jobs(wait, model.processors, node, begin=begin, usual=usual))


def _fixed(composer: Composer) -> Columns:
    """Return the fixed jobs of patterns, which have no user."""
    rows = [(second, job.run_time, job.processors, job.requested_time) for second, job in composer.fixed]
    return _of_nobody(dict(zip(_JOB, np.array(rows, dtype=np.int64).reshape(-1, len(_JOB)).T, strict=True)))


def _of_nobody(jobs: Columns) -> Columns:
    """Return jobs without a user."""
    return jobs | {"user_id": np.full(len(jobs["submit_time"]), UNKNOWN)}
