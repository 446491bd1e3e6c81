"""All parts, in the order in which they are brought over when jobs are added: each reads only those before it."""

from __future__ import annotations

from schedlab.engine.machine.part import NODES
from schedlab.engine.parts.dependencies.part import DEPENDENCIES
from schedlab.engine.parts.forecasts.part import FORECASTS
from schedlab.engine.parts.heterogeneous.part import HETEROGENEOUS
from schedlab.engine.parts.limits.part import LIMITS
from schedlab.engine.parts.moldable.part import MOLDABLE
from schedlab.engine.parts.outages.part import OUTAGES
from schedlab.engine.parts.preemption.part import PREEMPTION
from schedlab.engine.parts.priority.part import PRIORITY
from schedlab.engine.parts.requeues.part import REQUEUES
from schedlab.engine.parts.retries.part import RETRIES
from schedlab.engine.parts.submission_limits.part import SUBMISSION_LIMITS
from schedlab.engine.parts.switch_waits.part import SWITCH_WAITS

PARTS = (
    FORECASTS,
    RETRIES,
    PRIORITY,
    DEPENDENCIES,
    NODES,
    OUTAGES,
    SWITCH_WAITS,
    LIMITS,
    PREEMPTION,
    REQUEUES,
    SUBMISSION_LIMITS,
    HETEROGENEOUS,
    MOLDABLE,
)
