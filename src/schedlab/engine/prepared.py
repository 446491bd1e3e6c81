"""A simulation ready to run: checked, with the jobs in order of submission."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.columns import (
    allocated,
    check_jobs,
    columns_of,
    has_nodes,
    known_columns,
    machine_of,
    pilots,
    size_of_machine,
)
from schedlab.engine.jobs.overtime import overtime_of
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.machine.other_ways_numbers import with_ways
from schedlab.engine.parts.heterogeneous.numbers import check_together, owners_of, wait_together
from schedlab.engine.parts.limits.build import longest_requests, machine_inputs
from schedlab.engine.parts.limits.numbers import SiteInputs
from schedlab.engine.parts.limits.on_all_jobs import as_one_node, is_held_back
from schedlab.engine.parts.limits.slurm_version import by_version
from schedlab.engine.parts.limits.tres import counted
from schedlab.engine.parts.moldable.rows import Spread, spread_out
from schedlab.engine.parts.outages.numbers import OutageInputs, outage_inputs
from schedlab.engine.parts.preemption.numbers import preempts, suspends
from schedlab.engine.parts.priority.associations import Associations, associations
from schedlab.engine.parts.reservations.numbers import BookingInputs, booked
from schedlab.engine.parts.switch_waits.numbers import with_switch_waits
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
from schedlab.scheduler.site_factor import order_of, points_of
from schedlab.speculate.requests import Requests, requests_of
from schedlab.workload.workload import NO_WORKLOAD, Workload

Events = Literal["batched", "pyss", "sc17"]

NEEDS_NODES = "node_events= needs a cluster of nodes: give cluster="

EVENT_ORDERS = ("batched", "pyss", "sc17")


class Prepared(NamedTuple):
    """A simulation checked and in order of submission, ready for one run of the engine or its twin.

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
        The requests of the jobs, in order of submission, if runs may fail at them.
    nodes
        The nodes and the requests for them; None if the machine is only a number of processors.
    site
        Partitions of the nodes and limits; None if all jobs may use all nodes at all times.
    associations
        The associations of the jobs, if priorities depend on past usage; otherwise None.
    tres
        What the resources that jobs request, and a site factor, add to their priorities; None: nothing.
    outages
        Outages and closures of the nodes; None if there are none.
    spread
        If jobs have alternatives: the jobs, of which `workload` and the columns have a row for each alternative.
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
    nodes: NodeInputs | None = None
    site: SiteInputs | None = None
    associations: Associations | None = None
    tres: NDArray[np.float64] | None = None
    outages: OutageInputs | None = None
    spread: Spread | None = None

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
    spread = _spread(workload, scheduler, processors, cluster, requests)
    if spread is None:
        return _prepared(workload, scheduler, processors, events, in_order, requests, cluster, node_events, None)
    try:
        return _prepared(spread.workload, scheduler, processors, events, in_order, None, cluster, node_events, spread)
    except InputError as error:
        error.row = None if error.row is None else int(spread.owner[error.row])  # the job, not its alternative
        raise


def _prepared(
    workload: Workload,
    scheduler: str | Scheduler,
    processors: int | None,
    events: Events,
    in_order: int,
    requests: Requests | None,
    cluster: Cluster | None,
    node_events: NodeEvents | None,
    spread: Spread | None,
) -> Prepared:
    """Prepare jobs of one size each, which stand for moldable ones if they are `spread` out."""
    workload = wait_together(workload) if isinstance(workload, Workload) else workload
    asking = workload
    if isinstance(workload, Workload) and not has_nodes(cluster) and is_held_back(workload, cluster):
        machine_size = size_of_machine(processors, cluster)
        whole = Cluster.for_workload(workload, machine_size)
        asking, cluster = as_one_node(workload, whole if cluster is None else cluster)
        processors = None
    scheduler, in_order = _checked(workload, scheduler, events, in_order, cluster, spread)
    processors = size_of_machine(processors, cluster)
    asked = None
    if node_events is not None and not has_nodes(cluster):
        raise InputError(NEEDS_NODES)
    breaks = (node_events is not None and node_events.breaks) or preempts(cluster)
    if requests is not None or scheduler.tries_again or breaks:
        machine = machine_of(workload, processors)
        check_jobs(workload, allocated(workload, scheduler, machine))
        asked = _asked(workload, scheduler, requests)
        if has_nodes(cluster) and (requests is not None or scheduler.tries_again):
            asked = asked.within(longest_requests(asking, cluster))
        columns = columns_of(workload, scheduler, asked)
    elif (overtime := overtime_of(workload, scheduler, cluster)) is not None:
        machine = machine_of(workload, processors)
        check_jobs(workload, allocated(workload, scheduler, machine))
        columns = columns_of(workload, scheduler, None, overtime)
    else:
        machine, columns = known_columns(workload, scheduler, processors)
    if events == "pyss" and asked is None and columns.outlives:
        raise InputError(
            'the pyss event order needs run times within the requests: clean the workload (clean(jobs, "sc15")) or let '
            "requests be enforced"
        )
    order = columns.order
    jobs, request = columns.jobs.copy(), columns.request.copy()
    nodes, site, outages, who, tres = None, None, None, None, None
    if has_nodes(cluster):
        nodes, site = machine_inputs(asking, cluster, order, scheduler.placement, always=node_events is not None)
        site = None if site is None else by_version(site, scheduler.backfill)
        if spread is not None and site is not None and site.submission_limits is not None:
            owner = spread.owner if order is None else spread.owner[order]
            site = site._replace(submission_limits=site.submission_limits.of_first(owner))
        if node_events is not None:
            outages = outage_inputs(node_events, nodes, int(jobs["submit"][0]))
            compatible.check(scheduler, closures=any(event.end is not None for event in node_events))
            if node_events.reservations and site is not None:
                nodes, bookings = booked(workload, cluster, node_events, order, nodes, site)
                outages = outages._replace(bookings=bookings)
        nodes = with_ways(nodes, scheduler)
        nodes = with_switch_waits(nodes, site, None if outages is None else outages.bookings, asking, scheduler, order)
    check_together(workload, order, nodes, site, machine)
    if isinstance(scheduler.policy, Multifactor):
        billing, tres = counted(jobs["processors"], machine, scheduler.policy, nodes, site, cluster)
        if scheduler.policy.site:
            points = points_of(
                order_of(scheduler.policy.order), scheduler.policy.site, request, jobs["processors"], jobs["submit"]
            )
            tres = points if tres is None else tres + points
        who = associations(workload, cluster, order, billing)
    return Prepared(
        workload,
        jobs,
        jobs if columns.seen is columns.jobs else columns.seen.copy(),
        columns.pilot,
        request,
        request if columns.seen_request is columns.request else columns.seen_request.copy(),
        columns.killed,
        order,
        machine,
        scheduler,
        events,
        in_order,
        asked if asked is None or order is None else asked.in_order(order),
        nodes,
        site,
        who,
        tres,
        outages,
        spread,
    )


def _spread(
    workload: Workload,
    scheduler: str | Scheduler,
    processors: int | None,
    cluster: Cluster | None,
    requests: Requests | None,
) -> Spread | None:
    """Return moldable jobs as one job per alternative; None if no job has alternatives."""
    if not isinstance(workload, Workload) or workload.alternatives is None or len(workload) == 0:
        return None
    if requests is not None:
        raise InputError(f"{workload.name}: requests= is for one size of each job, but jobs have alternatives")
    named = _parsed(scheduler) if isinstance(scheduler, str) else as_scheduler(scheduler)
    return spread_out(workload, named, size_of_machine(processors, cluster), cluster)


def _checked(
    workload: Workload,
    scheduler: str | Scheduler,
    events: Events,
    in_order: int,
    cluster: Cluster | None,
    spread: Spread | None,
) -> tuple[Scheduler, int]:
    """Return the scheduler and `in_order`, or raise InputError if the parts of the simulation are not compatible."""
    check_type(workload, Workload, NO_WORKLOAD)
    scheduler = _parsed(scheduler) if isinstance(scheduler, str) else as_scheduler(scheduler)
    if events not in EVENT_ORDERS:
        raise InputError(f"unknown event order {events!r}; known are {' '.join(EVENT_ORDERS)}")
    in_order = whole_number("in_order", in_order)
    if in_order < 0:
        raise InputError(f"in_order={in_order}: must be a number of jobs")
    linked = workload if spread is None else spread.given
    shared = linked.workflows is not None and bool(pilots(linked).any())
    nodes, waits = has_nodes(cluster), workload.dependencies is not None
    several = spread is not None, owners_of(workload) is not None
    moved = preempts(cluster), suspends(cluster)
    if sentence := _why_not(scheduler, events, in_order, waits, shared, nodes, *moved, *several):
        raise InputError(sentence)
    if scheduler.placement is not None and not nodes:
        raise InputError(f"{scheduler.text}: placement={scheduler.placement} needs a cluster of nodes: give cluster=")
    for policy in (scheduler.policy, scheduler.order):
        if isinstance(policy, FunctionPolicy):
            policy.check(workload)
    if len(workload) == 0:
        raise InputError(f"{workload.name}: the workload has no job to simulate")
    return scheduler, in_order


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
def _refusal(scheduler: Scheduler, events: str, in_order: int, *present: bool) -> str | None:
    """Return why a scheduler cannot run in a simulation, or None; of the features `FEATURES`, some are present."""
    return compatible.refusal(scheduler, events=events, in_order=in_order, **dict(zip(FEATURES, present, strict=True)))


FEATURES = ("dependencies", "shared_places", "nodes", "preemption", "suspension", "moldable", "heterogeneous")


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
