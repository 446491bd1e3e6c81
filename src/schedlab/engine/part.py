"""A part outside of kernels: its numbers, how it begins, what becomes of it with more jobs, and what it tells then."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from schedlab.cluster.cluster import Cluster
    from schedlab.cluster.node_events import NodeEvents
    from schedlab.engine.axes import Moves
    from schedlab.engine.parts.moldable.rows import Spread
    from schedlab.engine.prepared import Events, Prepared
    from schedlab.engine.world import World
    from schedlab.scheduler.scheduler import Scheduler
    from schedlab.speculate.requests import Requests
    from schedlab.workload.workload import Workload


class Given(NamedTuple):
    """What a simulation is given, of which parts take their numbers.

    Parameters
    ----------
    workload
        The jobs, a row for each alternative if they are `spread` out. Where licences or limits of arrays hold jobs of a
        number of processors back, they ask for a node of so many cores, which is the `cluster`.
    scheduler, processors, events, in_order, requests, cluster, node_events
        As for `schedlab.simulate`.
    spread
        The jobs that have alternatives; None if no job has.
    """

    workload: Workload
    scheduler: Scheduler
    processors: int | None
    events: Events
    in_order: int
    requests: Requests | None
    cluster: Cluster | None
    node_events: NodeEvents | None
    spread: Spread | None = None


class Log(NamedTuple):
    """An array of a part that may become too short while a simulation runs.

    Parameters
    ----------
    array
        Its name in the record of the part.
    is_short
        Returns whether the next event could need more room than is left.
    longer
        Returns the world with a log of about twice the length.
    """

    array: str
    is_short: Callable[[World], bool]
    longer: Callable[[World], World]


class Part(NamedTuple):
    """A part that a simulation may lack.

    Parameters
    ----------
    name
        Its field in the world.
    record
        The class of its record.
    new
        Returns its record before the first event, None if the simulation lacks it.
    grown
        What the axes of its fields do not say (`schedlab.engine.axes`) when jobs are added: brings `new` to where `old`
        stands. It is called for each part of the new simulation, whether the old one had it or not, when all fields
        with axes have been taken over.
    log
        Its log.
    output
        Returns what it adds to the schedule of a simulation that has ended: arguments of
        `schedlab.engine.simulation.to_schedule`.
    cuts_runs
        Returns whether runs may end, by this part, before their jobs are done, so that jobs run again.
    features
        Returns which features a simulation has by this part: names of `schedlab.scheduler.compatible.OF_SIMULATIONS`,
        which says what they do not go together with. A simulation that has any runs on the event loop.
    numbers
        Takes from cluster and workload what the part needs: returns the simulation with it, or raises InputError. What
        nobody else reads is kept under the name of the part (`Prepared.with_numbers`).
    """

    name: str
    record: type
    new: Callable[[Prepared], Any]
    grown: Callable[[World, World, Moves], None] | None = None
    log: Log | None = None
    output: Callable[[Prepared, World], dict[str, Any]] | None = None
    cuts_runs: Callable[[Given], bool] | None = None
    features: Callable[[Given], tuple[str, ...]] | None = None
    numbers: Callable[[Given, Prepared], Prepared] | None = None
