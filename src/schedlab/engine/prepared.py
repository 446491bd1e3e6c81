"""A simulation ready to run: checked, with the jobs in order of submission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.columns import (
    Columns,
    allocated,
    check_jobs,
    columns_of,
    has_nodes,
    known_columns,
    machine_of,
    own_arrays,
    size_of_machine,
)
from schedlab.engine.jobs.overtime import overtime_of
from schedlab.engine.kept_preparations import keep, kept_preparation
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.part import Given
from schedlab.engine.parts.heterogeneous.numbers import wait_together
from schedlab.engine.parts.limits.machine_inputs import longest_requests
from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.engine.parts.limits.on_all_jobs import as_one_node, is_held_back, is_limited
from schedlab.engine.parts.malleable.numbers import resizes
from schedlab.engine.parts.moldable.rows import Spread, spread_out
from schedlab.engine.parts.outages.numbers import OutageInputs
from schedlab.engine.parts.preemption.numbers import PreemptionInputs
from schedlab.engine.parts.priority.associations import Associations
from schedlab.engine.parts.reservations.numbers import BookingInputs
from schedlab.engine.parts.retries.part import chooses_requests
from schedlab.engine.parts.submission_limits.numbers import SubmissionLimitInputs
from schedlab.engine.world import PARTS
from schedlab.errors import InputError, check_type, whole_number
from schedlab.imports import named_classes
from schedlab.permutations import inverse
from schedlab.scheduler import compatible
from schedlab.scheduler.agent import agent_at
from schedlab.scheduler.backfilling import Easy, Slurm
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import FCFS
from schedlab.scheduler.predictor import ATTRIBUTES, Requested
from schedlab.scheduler.scheduler import Scheduler, as_scheduler
from schedlab.speculate.requests import Requests, requests_of
from schedlab.workload.workload import NO_WORKLOAD, Workload

Events = Literal["batched", "pyss", "sc17"]

NEEDS_NODES = "node_events= needs a cluster of nodes: give cluster="

EVENT_ORDERS = ("batched", "pyss", "sc17")

FEATURES = [part.features for part in PARTS if part.features is not None]
NUMBERS = [part.numbers for part in PARTS if part.numbers is not None]
CUTS_RUNS = [part.cuts_runs for part in PARTS if part.cuts_runs is not None]


class Prepared(NamedTuple):
    """A simulation checked and in order of submission, ready for one run of the engine or its reference.

    Parameters
    ----------
    workload
        As it was given.
    jobs
        Records of type JOB.
    seen
        The jobs as the order of the queue sees them: with the run times that the order assumes, and tasks that share
        one place in the queue like the pilot job. The same array as `jobs` where there is no difference.
    pilot
        Which jobs share a place; empty if none does.
    request
        int64 seconds: the first requests of the jobs, at least 1.
    seen_request
        The same for the order of the queue: for tasks that share a place, the request of the pilot job.
    killed
        In the workload's order: which jobs end at their request.
    order
        The rows of the workload in order of submission, or None if they are in that order already.
    asked
        The requests of the jobs, in order of submission, if runs may be cut and their jobs come back.
    overtime
        int64 seconds, in order of submission, or one number for all: how long jobs may run beyond their requests.
    nodes
        The nodes and the requests for them; None if the machine is only a number of processors.
    limits
        Partitions of the nodes and limits; None if all jobs may use all nodes at all times.
    associations
        The associations of the jobs, if priorities depend on past usage; otherwise None.
    tres
        What the resources that jobs request, and a site factor, add to their priorities; None: nothing.
    outages
        Outages and closures of the nodes; None if there are none.
    spread
        If jobs have alternatives: the jobs, of which `workload` and the columns have a row for each alternative.
    preemption
        Which jobs may preempt which; None if none may.
    features
        What the simulation has by its parts: names of `schedlab.scheduler.compatible.OF_SIMULATIONS`.
    of_parts
        What parts have taken that nobody else reads, by their names.
    """

    workload: Workload
    jobs: NDArray[Any]
    seen: NDArray[Any]
    pilot: NDArray[np.bool_]
    request: NDArray[np.int64]
    seen_request: NDArray[np.int64]
    killed: NDArray[np.bool_]
    order: NDArray[np.intp] | None
    processors: int
    scheduler: Scheduler
    events: Events
    in_order: int
    asked: Requests | None
    overtime: NDArray[np.int64] | int = 0
    nodes: NodeInputs | None = None
    limits: LimitInputs | None = None
    associations: Associations | None = None
    tres: NDArray[np.float64] | None = None
    outages: OutageInputs | None = None
    spread: Spread | None = None
    preemption: PreemptionInputs | None = None
    features: tuple[str, ...] = ()
    of_parts: Mapping[str, Any] = MappingProxyType({})

    def with_numbers(self, part: str, numbers: Any) -> Prepared:
        """Return the simulation with what a part has taken, which stands in `of_parts` by its name."""
        return self._replace(of_parts={**self.of_parts, part: numbers})

    def column(self, field: str) -> NDArray[Any]:
        """Return a column of the workload in order of submission."""
        values = self.workload[field]
        return values if self.order is None else values[self.order]

    def attributes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return a row per job, in order of submission: the attributes of these names, see `ATTRIBUTES`."""
        known = {"request": self.request, "processors": self.jobs["processors"]}
        columns = [known[name] if name in known else self.column(ATTRIBUTES[name]) for name in names]
        return np.array(columns, np.int64).reshape(len(names), len(self.jobs)).T.copy()

    def in_submission_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a column that is in the workload's order, in order of submission."""
        return values if self.order is None else values[self.order]

    def in_workload_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a column that is in order of submission, in the workload's order."""
        return values if self.order is None else values[inverse(self.order)]

    @property
    def bookings(self) -> BookingInputs | None:
        """The jobs of advance reservations; None without any."""
        return None if self.outages is None else self.outages.bookings

    @property
    def submission_limits(self) -> SubmissionLimitInputs | None:
        """Limits on jobs that are in the queue or run; None if none may bind."""
        return None if self.limits is None else self.limits.submission_limits

    @property
    def counting_period(self) -> int:
        """Seconds between the moments in which Slurm counts down what runs still have to go: with its priorities.

        Where it computes none (priority/basic), it never does. Other schedulers know it at all times.
        """
        policy = self.scheduler.policy
        if not isinstance(self.scheduler.backfill, Slurm):
            return 1
        if isinstance(policy, Multifactor):
            return policy.period
        return NEVER if isinstance(policy, FCFS) else 1

    @property
    def one_by_one(self) -> bool:
        """Whether events are processed one at a time."""
        return self.events == "pyss"

    @property
    def tick(self) -> int:
        """Seconds until the end of a run is noticed, where events are not processed one at a time."""
        passes = self.scheduler.backfill
        return passes.tick if isinstance(passes, Slurm) and not self.one_by_one else 0

    @property
    def passes_if_fits(self) -> bool:
        """Whether a submission leads to a scheduling pass only if the new job fits the free processors.

        The simulator of SC'15 works this way, except where its candidates are ordered by a prediction.
        """
        scheduler = self.scheduler
        predicted_order = scheduler.order is not None and scheduler.ranking != Requested()
        return self.one_by_one and isinstance(scheduler.backfill, Easy) and not predicted_order


def prepare(
    workload: Workload,
    scheduler: str | Scheduler,
    *,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
    requests: Requests | None = None,
    cluster: Cluster | None = None,
    node_events: NodeEvents | None = None,
) -> Prepared:
    """Check a simulation and bring it into the engine's form; parameters and errors as for `simulate`."""
    if cluster is not None:
        check_type(cluster, Cluster, "use Cluster(128) for processors, Cluster.of_nodes, or read_cluster(FILE)")
    check_type(workload, Workload, NO_WORKLOAD)
    named = _parsed(scheduler) if isinstance(scheduler, str) else as_scheduler(scheduler)
    given = Given(workload, named, processors, events, in_order, requests, cluster, node_events)
    kept = kept_preparation(given)
    if kept is not None:
        return kept
    spread = _spread(given)
    if spread is None:
        prepared = _prepared(given)
        keep(prepared, given)
        return prepared
    try:
        return _prepared(given._replace(workload=spread.workload, requests=None, spread=spread))
    except InputError as error:
        error.row = None if error.row is None else int(spread.owner[error.row])  # the job, not its alternative
        raise


def _prepared(given: Given) -> Prepared:
    """Prepare jobs of one size each."""
    workload = wait_together(given.workload)
    if workload is not given.workload:
        given = given._replace(workload=workload)
    given, features = _checked(_with_a_node(given))
    overtime = overtime_of(workload, given.scheduler, given.cluster)
    machine, asked, columns = _columns(given, workload, overtime)
    if given.events == "pyss" and asked is None and columns.outlives:
        raise InputError(
            'the pyss event order needs run times within the requests: clean the workload (clean(jobs, "sc15")) or let '
            "requests be enforced"
        )
    order = columns.order
    prepared = Prepared(
        workload,
        *own_arrays(columns.jobs, columns.seen, columns.pilot, columns.request, columns.seen_request),
        columns.killed,
        order,
        machine,
        given.scheduler,
        given.events,
        given.in_order,
        asked if asked is None or order is None else asked.in_order(order),
        overtime if isinstance(overtime, int) or order is None else overtime[order],
        spread=given.spread,
        features=features,
    )
    for numbers in NUMBERS:
        prepared = numbers(given, prepared)
    return prepared


def _spread(given: Given) -> Spread | None:
    """Return moldable jobs as one job per alternative; None if no job has alternatives, or passes resize jobs."""
    workload = given.workload
    if workload.alternatives is None or len(workload) == 0 or resizes(workload, given.scheduler):
        return None
    if given.requests is not None:
        raise InputError(f"{workload.name}: requests= is for one size of each job, but jobs have alternatives")
    machine = size_of_machine(given.processors, given.cluster)
    return spread_out(workload, given.scheduler, machine, given.cluster)


def _with_a_node(given: Given) -> Given:
    """Let a number of processors be a node, if licences or limits hold its jobs back."""
    if has_nodes(given.cluster) or not (is_held_back(given.workload, given.cluster) or is_limited(given.cluster)):
        return given
    whole = Cluster.for_workload(given.workload, size_of_machine(given.processors, given.cluster))
    asking, cluster = as_one_node(given.workload, whole if given.cluster is None else given.cluster)
    return given._replace(workload=asking, cluster=cluster, processors=None)


def _checked(given: Given) -> tuple[Given, tuple[str, ...]]:
    """Return what is given with a number of warm-up jobs, and its features; raise InputError if it may not be."""
    scheduler, workload = given.scheduler, given.workload
    if given.events not in EVENT_ORDERS:
        raise InputError(f"unknown event order {given.events!r}; known are {' '.join(EVENT_ORDERS)}")
    in_order = whole_number("in_order", given.in_order)
    if in_order < 0:
        raise InputError(f"in_order={in_order}: must be a number of jobs")
    features: tuple[str, ...] = ()
    for features_of in FEATURES:
        features += features_of(given)
    if sentence := _why_not(scheduler, given.events, in_order, *features):
        raise InputError(sentence)
    if scheduler.placement is not None and "nodes" not in features:
        raise InputError(f"{scheduler.text}: placement={scheduler.placement} needs a cluster of nodes: give cluster=")
    for policy in (scheduler.policy, scheduler.order):
        if isinstance(policy, FunctionPolicy):
            policy.check(workload)
    if len(workload) == 0:
        raise InputError(f"{workload.name}: the workload has no job to simulate")
    if given.node_events is not None and "nodes" not in features:
        raise InputError(NEEDS_NODES)
    return given if in_order is given.in_order else given._replace(in_order=in_order), features


def _columns(
    given: Given, workload: Workload, overtime: NDArray[np.int64] | int
) -> tuple[int, Requests | None, Columns]:
    """Return the size of the machine, the requests of jobs at which runs may fail, and the columns of the jobs."""
    scheduler, cluster = given.scheduler, given.cluster
    processors = size_of_machine(given.processors, cluster)
    several = False
    for cuts_runs in CUTS_RUNS:  # a loop takes half the time of any(), of which a small simulation would notice
        several = several or cuts_runs(given)
    if not several and isinstance(overtime, int):
        machine, columns = known_columns(workload, scheduler, processors)
        return machine, None, columns
    machine, asked = machine_of(workload, processors), None
    check_jobs(workload, allocated(workload, scheduler, machine))
    if several:
        asked = _asked(workload, scheduler, given.requests)
    if asked is not None and chooses_requests(given) and has_nodes(cluster):
        asked = asked.within(longest_requests(given.workload, cluster))
    return machine, asked, columns_of(workload, scheduler, asked, overtime)


def _parsed(text: str) -> Scheduler:
    """Read a scheduler text; the last ones are cached, except those that name a user's own classes or files."""
    scheduler = _PARSED.get(text)
    if scheduler is None:
        scheduler = Scheduler.parse(text)
        if len(_PARSED) >= MOST_TEXTS:
            _PARSED.clear()
        if not named_classes(text) and agent_at(text) is None:
            _PARSED[text] = scheduler
    return scheduler


_PARSED: dict[str, Scheduler] = {}
MOST_TEXTS = 512


@lru_cache(maxsize=MOST_TEXTS)
def _refusal(scheduler: Scheduler, events: str, in_order: int, *features: str) -> str | None:
    """Return why a scheduler cannot run in a simulation with some features, or None."""
    return compatible.refusal(scheduler, events=events, in_order=in_order, **dict.fromkeys(features, True))


def _why_not(scheduler: Scheduler, *others: Any) -> str | None:
    try:
        return _refusal(scheduler, *others)
    except TypeError:  # a part of it is not hashable
        return _refusal.__wrapped__(scheduler, *others)


def _asked(workload: Workload, scheduler: Scheduler, requests: Requests | None) -> Requests:
    """Return the sequences of requests of the jobs."""
    retries = scheduler.retries
    if requests is None:
        ordinary = (
            np.ones(len(workload), dtype=np.bool_) if workload.distribution is None else workload.distribution < 0
        )
        if retries is not None and retries.speculation is not None and ordinary.all():
            raise InputError(
                f"{workload.name}: speculation= is for jobs whose run times follow a distribution, and no job has one; "
                "give distributions (assign_distributions)"
            )
        beyond = ordinary & (workload.run_time > workload.requested_time) & (workload.requested_time > 0)
        if not workload.requests_enforced and beyond.any():
            raise InputError(
                f"{workload.name}: {np.count_nonzero(beyond):,} jobs run longer than they request; where runs may "
                "fail, requests are enforced: remove requests_enforced=False"
            )
        requests = (
            requests_of(workload, None)
            if retries is None
            else requests_of(workload, retries.requests, retries.exhausted)
        )
    first = requests.lengths[requests.offsets[:-1]]
    if len(first) != len(workload) or bool((first < 1).any()) or bool((np.diff(requests.offsets) < 1).any()):
        raise InputError(f"{workload.name}: each job needs at least one request of at least one second")
    return requests
