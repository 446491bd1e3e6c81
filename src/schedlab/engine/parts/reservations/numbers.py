"""Advance reservations of nodes as numbers, for the engine and its reference.

A job of a reservation has, for each of its partitions, a second request: the same, on the nodes of the reservation. All
reservations are partitions of their own: jobs of one keep neither others waiting, nor the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.membership import membership
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.machine.fitting import fitting
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.errors import InputError
from schedlab.wording import did_you_mean, shown
from schedlab.workload.columns import distinct
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload

NO_RESERVATION = -1


class BookingInputs(NamedTuple):
    """Which jobs have to run in which reservations.

    Parameters
    ----------
    of_job
        int64, one per job in order of submission: its reservation, or NO_RESERVATION.
    opens, closes
        int64, one per reservation: its first second, and the first one after it.
    nodes
        bool, reservations by nodes: which nodes it has.
    option_partition, option_shape
        int64, one per option of the site: partition and request of the job while its reservation lasts. Partitions of
        reservations have the numbers after all others.
    ordinary_partition, ordinary_shape
        int64: the same after its reservation.
    """

    of_job: NDArray[np.int64]
    opens: NDArray[np.int64]
    closes: NDArray[np.int64]
    nodes: NDArray[np.bool_]
    option_partition: NDArray[np.int64]
    option_shape: NDArray[np.int64]
    ordinary_partition: NDArray[np.int64]
    ordinary_shape: NDArray[np.int64]


def booked(
    workload: Workload,
    cluster: Cluster,
    events: NodeEvents,
    order: NDArray[np.intp] | None,
    nodes: NodeInputs,
    limits: LimitInputs,
) -> tuple[NodeInputs, BookingInputs]:
    """Return the nodes with the requests within reservations, and the jobs of these.

    `order` is the workload's order of submission; None if it is sorted.
    """
    of_job = reserved_jobs(workload, cluster, events)
    try:
        return booking_inputs(nodes, limits, events, of_job if order is None else of_job[order])
    except InputError as error:
        if error.row is None:
            raise
        row = error.row if order is None else int(order[error.row])
        raise InputError(f"job {workload.job_id[row]} {error}", row=row) from None


def booking_inputs(
    nodes: NodeInputs, limits: LimitInputs, events: NodeEvents, of_job: NDArray[np.int64]
) -> tuple[NodeInputs, BookingInputs]:
    """Return the nodes with the requests within reservations, and which jobs have which.

    Parameters
    ----------
    nodes, limits
        The nodes, partitions and requests of the jobs.
    events
        With reservations.
    of_job
        int64, one per job in order of submission: a position among the reservations, or NO_RESERVATION.

    Raises
    ------
    InputError
        If a job would not even fit its reservation alone; `row` of the error is its place in order of submission.
    """
    found = events.reservations
    number = events.numbers(nodes.names)
    member = np.zeros((len(found), len(nodes.names)), dtype=np.bool_)
    for row, event in enumerate(found):
        member[row, [number[name] for name in event.nodes]] = True
    job = np.repeat(np.arange(len(of_job)), np.diff(limits.option_offset))
    owner = of_job[job]
    inside = np.flatnonzero(owner >= 0)
    first, which = distinct(limits.option_shape[inside], owner[inside])
    copied, owners = limits.option_shape[inside][first], owner[inside][first]
    more: dict[str, Any] = {
        name: np.concatenate([getattr(nodes, name), getattr(nodes, name)[copied]])
        for name in nodes.of_request
        if getattr(nodes, name) is not None
    }
    more["eligible"][len(nodes.nodes) :] = len(nodes.allowed) + np.arange(len(copied))
    allowed = np.concatenate([nodes.allowed, nodes.allowed[nodes.eligible[copied]] & member[owners]])
    books = np.concatenate([np.zeros(len(nodes.nodes), dtype=np.bool_), np.ones(len(copied), dtype=np.bool_)])
    partition, shape = limits.option_partition.copy(), limits.option_shape.copy()
    partition[inside], shape[inside] = len(limits.tier) + owner[inside], len(nodes.nodes) + which
    nodes = nodes._replace(**more, allowed=allowed, books=books)
    _refuse_too_large(nodes, shape, job, owner, found)
    opens, closes = (np.array([getattr(event, name) for event in found], dtype=np.int64) for name in ("second", "end"))
    ordinary = (limits.option_partition, limits.option_shape)
    return nodes, BookingInputs(of_job, opens, closes, member, partition, shape, *ordinary)


def _refuse_too_large(
    nodes: NodeInputs,
    shape: NDArray[np.int64],
    job: NDArray[np.intp],
    owner: NDArray[np.int64],
    found: Sequence[NodeEvent],
) -> None:
    """Raise InputError for the first job that fits no partition within its reservation."""
    served = np.zeros(int(job.max(initial=-1)) + 1, dtype=np.bool_)
    served[job[fitting(nodes._replace(shape=shape))]] = True
    bad = np.flatnonzero(~served[job] & (owner >= 0))
    if len(bad):
        event = found[owner[bad[0]]]
        raise InputError(
            f"asks for more than the nodes of its reservation {shown(event.name)} have: ask for less, or reserve more "
            "nodes",
            row=int(job[bad[0]]),
        )


def reserved_jobs(workload: Workload, cluster: Cluster, events: NodeEvents) -> NDArray[np.int64]:
    """Return the reservation of each job, in the workload's order: a position among the reservations of the events.

    Without any reservation among the events, what jobs ask for has no meaning.

    Raises
    ------
    InputError
        If a job asks for a reservation that does not exist when it is submitted, or that it may not use.
    """
    found, refused = _asked_for(workload, cluster, events)
    bad = refused.codes >= 0
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"job {workload.job_id[row]} {refused.texts()[row]}", row=row)
    return found


def may_not_reserve(workload: Workload, cluster: Cluster, events: NodeEvents) -> Labels:
    """Return why jobs may not use the reservations that they ask for; none if they may.

    Examples
    --------
    >>> from schedlab.workload.resources import Resources
    >>> machine = Cluster.from_dict({"groups": [{"nodes": "n1", "cores": 4}]})
    >>> columns = dict(submit_time=[0, 0], run_time=[9, 9], requested_processors=[1, 1], user_id=[1, 2])
    >>> jobs = Workload.from_columns(columns, resources=Resources.of(2, reservation=["course", "course"]),
    ...                              header=(" User: 1 ann", " User: 2 bob"))
    >>> event = NodeEvent(100, "reservation", ("n1",), end=400, name="course", users=("ann",))
    >>> may_not_reserve(jobs, machine, NodeEvents((event,))).texts()
    ['', "asks for the reservation 'course', which its user 'bob' may not use"]
    """
    return _asked_for(workload, cluster, events)[1]


def _asked_for(workload: Workload, cluster: Cluster, events: NodeEvents) -> tuple[NDArray[np.int64], Labels]:
    """Return the reservation of each job, and why it may not use it."""
    jobs = len(workload)
    none = np.full(jobs, NO_RESERVATION, dtype=np.int64)
    reservations = events.reservations
    asked = None if workload.resources is None else workload.resources.reservation
    if not reservations or asked is None or not bool((asked.codes >= 0).any()):
        return none, Labels.none(jobs)
    who = membership(workload, cluster)
    places = {event.name: place for place, event in enumerate(reservations)}
    above = _above(cluster)
    reasons = [""] * jobs
    columns = (asked.texts(), who.user.texts(), who.account.texts(), workload.submit_time.tolist())
    for row, (name, user, account, second) in enumerate(zip(*columns, strict=True)):
        if not name:
            continue
        if name not in places:
            known = did_you_mean(name, list(places))
            reasons[row] = f"asks for the reservation {shown(name)}, which does not exist{known}"
            continue
        event = reservations[places[name]]
        reasons[row] = _why_not(event, user, {account} | above.get(account, set()), second)
        none[row] = places[name]
    return none, Labels.of(reasons)


def _why_not(event: NodeEvent, user: str, accounts: set[str], second: int) -> str:
    """Return why a user may not use a reservation in a job that is submitted in a second; "" if she may."""
    what = f"asks for the reservation {shown(event.name)}"
    if event.end is not None and second >= event.end:
        return f"{what} after its end"
    if event.announced is not None and second < event.announced:
        return f"{what} before it is announced"
    name = user.removeprefix("user ")
    if event.users and name not in event.users:
        return f"{what}, which its user {shown(name or 'unknown')} may not use"
    if event.accounts and accounts.isdisjoint(event.accounts):
        account = next(iter(accounts)) if len(accounts) == 1 else ""
        return f"{what}, which its account {shown(account)} may not use" if account else f"{what} of other accounts"
    return ""


def _above(cluster: Cluster) -> dict[str, set[str]]:
    """Return the accounts above each account."""
    who = cluster.accounting
    return {one.name: {up.name for up in who.above(one.name)} for one in who.accounts} if who else {}
