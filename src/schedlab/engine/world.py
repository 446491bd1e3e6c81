"""The world: all that a simulation is, in one record that kernels get by address.

Parts that a simulation does not have are None: `if world.retries is not None` is decided before types are inferred, and
nothing is left of a part that is not there.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, PerJob
from schedlab.engine.jobs.state import State
from schedlab.engine.machine.state import Nodes
from schedlab.engine.parts.cancellations.kernels import Cancellations
from schedlab.engine.parts.checkpoints.kernels import Checkpoints
from schedlab.engine.parts.dependencies.kernels import DependencyState
from schedlab.engine.parts.forecasts.kernels import Forecasts
from schedlab.engine.parts.heterogeneous.kernels import Components
from schedlab.engine.parts.limits.state import LimitState
from schedlab.engine.parts.moldable.kernels import AlternativeJobs
from schedlab.engine.parts.outages.kernels import Outages
from schedlab.engine.parts.power_saving.kernels import PowerSaving
from schedlab.engine.parts.preemption.state import Preemption
from schedlab.engine.parts.priority.kernels import Priority
from schedlab.engine.parts.requeues.kernels import Requeues
from schedlab.engine.parts.retries.kernels import Retries
from schedlab.engine.parts.submission_limits.state import SubmissionLimits
from schedlab.engine.parts.switch_waits.kernels import SwitchWaits
from schedlab.engine.passes.conservative_plan import Plan
from schedlab.engine.queue.waiting import Orders, Waiting
from schedlab.engine.rules import Rules
from schedlab.engine.slurm.state import Passes
from schedlab.kernels import by_address, replacing


@by_address
class World(NamedTuple):
    """A simulation; its parts stand side by side.

    To a type checker, a part may be anything: a kernel is asked only where there is one, which its caller has decided.

    Parameters
    ----------
    jobs, state
        See `schedlab.engine.jobs.state`.
    seen
        The jobs as the order of the queue sees them.
    waiting, orders
        The queues and their orders.
    plan
        The plan of the passes: `Plan` for conservative backfilling, `Passes` for Slurm's, None for the others.
    rules
        The rules of the scheduler.
    nodes, limits
        What is free on each node; partitions and limits. None on processors, or without any.
    forecasts, retries, dependencies, priority
        Parts, or None: predicted run times; runs that fail at their requests and are retried; dependencies;
        multifactor priority.
    moldable, heterogeneous
        The alternatives of moldable jobs; the components of heterogeneous ones.
    preemption, requeues, submission_limits, outages, switch_waits, cancellations, checkpoints
        Preemption, requeued jobs that may not begin again yet, limits on submitted jobs, changes of nodes, waits for
        fewer switches, jobs that are cancelled while they wait, and jobs that write checkpoints.
    """

    jobs: PerJob[NDArray[Any]]
    seen: PerJob[NDArray[Any]]
    state: State
    waiting: ByPart[Waiting]
    orders: Orders
    plan: Annotated[Any, Plan | Passes]
    rules: Fixed[Rules]
    nodes: Annotated[Any, Nodes] = None
    limits: Annotated[Any, LimitState] = None
    forecasts: ByPart[Annotated[Any, Forecasts]] = None
    retries: Annotated[Any, Retries] = None
    dependencies: Annotated[Any, DependencyState] = None
    priority: Annotated[Any, Priority] = None
    moldable: Annotated[Any, AlternativeJobs] = None
    heterogeneous: Annotated[Any, Components] = None
    preemption: Annotated[Any, Preemption] = None
    requeues: Annotated[Any, Requeues] = None
    submission_limits: Annotated[Any, SubmissionLimits] = None
    outages: Annotated[Any, Outages] = None
    switch_waits: Fixed[Annotated[Any, SwitchWaits]] = None
    cancellations: Annotated[Any, Cancellations] = None
    power_saving: Annotated[Any, PowerSaving] = None
    checkpoints: Annotated[Any, Checkpoints] = None


with_jobs = replacing("jobs", "seen")
"""Return a world with other jobs, for a kernel that is called where it is."""
