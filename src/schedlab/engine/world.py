"""The world: all that a simulation is, in one record that kernels get by address.

Parts that a simulation does not have are None: `if world.retries is not None` is decided before types are inferred, and
nothing is left of a part that is not there. A part is registered by its field here alone; it takes its turns in
`schedlab.engine.moments`, and what passes ask it by name is listed in `tests/test_architecture.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, get_type_hints

from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, PerJob, told_beside
from schedlab.engine.jobs.state import State
from schedlab.engine.machine.part import NODES
from schedlab.engine.part import Part
from schedlab.engine.parts.cancellations.part import CANCELLATIONS
from schedlab.engine.parts.checkpoints.part import CHECKPOINTS
from schedlab.engine.parts.dependencies.part import DEPENDENCIES
from schedlab.engine.parts.forecasts.part import FORECASTS
from schedlab.engine.parts.heterogeneous.part import HETEROGENEOUS
from schedlab.engine.parts.limits.part import LIMITS
from schedlab.engine.parts.malleable.part import MALLEABLE
from schedlab.engine.parts.moldable.part import MOLDABLE
from schedlab.engine.parts.outages.part import OUTAGES
from schedlab.engine.parts.power_saving.part import POWER_SAVING
from schedlab.engine.parts.preemption.part import PREEMPTION
from schedlab.engine.parts.priority.part import PRIORITY
from schedlab.engine.parts.requeues.part import REQUEUES
from schedlab.engine.parts.retries.part import RETRIES
from schedlab.engine.parts.submission_limits.part import SUBMISSION_LIMITS
from schedlab.engine.parts.switch_waits.part import SWITCH_WAITS
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
    forecasts ... malleable
        The parts, or None, in the order in which they take their numbers, and are brought over when jobs are added.
        Each reads only the numbers of those before it: whoever asks for nodes of its own, such as jobs of reservations,
        comes behind limits. `schedlab.engine.moments` says what they do. `limits` are more than limits: partitions and
        tiers, the reservations of EASY by partition, and for what jobs wait; it is there with any of these, and
        whenever there are node events.
    """

    jobs: PerJob[NDArray[Any]]
    seen: PerJob[NDArray[Any]]
    state: State
    waiting: ByPart[Waiting]
    orders: Orders
    plan: Annotated[Any, Plan | Passes]
    rules: Fixed[Rules]
    forecasts: ByPart[Annotated[Any, FORECASTS]] = None
    retries: Annotated[Any, RETRIES] = None
    dependencies: Annotated[Any, DEPENDENCIES] = None
    limits: Annotated[Any, LIMITS] = None
    submission_limits: Annotated[Any, SUBMISSION_LIMITS] = None
    preemption: Annotated[Any, PREEMPTION] = None
    requeues: Annotated[Any, REQUEUES] = None
    outages: Annotated[Any, OUTAGES] = None
    nodes: Annotated[Any, NODES] = None
    switch_waits: Fixed[Annotated[Any, SWITCH_WAITS]] = None
    heterogeneous: Annotated[Any, HETEROGENEOUS] = None
    moldable: Annotated[Any, MOLDABLE] = None
    priority: Annotated[Any, PRIORITY] = None
    cancellations: Annotated[Any, CANCELLATIONS] = None
    power_saving: Annotated[Any, POWER_SAVING] = None
    checkpoints: Annotated[Any, CHECKPOINTS] = None
    malleable: Annotated[Any, MALLEABLE] = None


_HINTS = get_type_hints(World, include_extras=True).values()

PARTS = tuple(one for hint in _HINTS for one in told_beside(hint) if isinstance(one, Part))
"""All parts, in the order of their fields."""

with_jobs = replacing("jobs", "seen")
"""Return a world with other jobs, for a kernel that is called where it is."""
