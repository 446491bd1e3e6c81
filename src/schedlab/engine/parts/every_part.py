"""All parts, in the order in which they take their numbers, and are brought over when jobs are added.

Each reads only those before it: whoever asks for nodes of its own, such as jobs of reservations, comes behind limits.
"""

from __future__ import annotations

from schedlab.engine.machine.part import NODES
from schedlab.engine.parts.cancellations.part import CANCELLATIONS
from schedlab.engine.parts.checkpoints.part import CHECKPOINTS
from schedlab.engine.parts.dependencies.part import DEPENDENCIES
from schedlab.engine.parts.forecasts.part import FORECASTS
from schedlab.engine.parts.heterogeneous.part import HETEROGENEOUS
from schedlab.engine.parts.limits.part import LIMITS
from schedlab.engine.parts.moldable.part import MOLDABLE
from schedlab.engine.parts.outages.part import OUTAGES
from schedlab.engine.parts.power_saving.part import POWER_SAVING
from schedlab.engine.parts.preemption.part import PREEMPTION
from schedlab.engine.parts.priority.part import PRIORITY
from schedlab.engine.parts.requeues.part import REQUEUES
from schedlab.engine.parts.retries.part import RETRIES
from schedlab.engine.parts.submission_limits.part import SUBMISSION_LIMITS
from schedlab.engine.parts.switch_waits.part import SWITCH_WAITS

PARTS = (
    FORECASTS,
    RETRIES,
    DEPENDENCIES,
    LIMITS,
    SUBMISSION_LIMITS,
    PREEMPTION,
    REQUEUES,
    OUTAGES,
    NODES,
    SWITCH_WAITS,
    HETEROGENEOUS,
    MOLDABLE,
    PRIORITY,
    CANCELLATIONS,
    POWER_SAVING,
    CHECKPOINTS,
)
