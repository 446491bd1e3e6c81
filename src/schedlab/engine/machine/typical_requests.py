"""Typical requests for a node, as the placement by fragmentation gradient descent uses them.

References
----------
Weng et al., "Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient descent",
USENIX ATC 2023.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.numbers import PLACEMENTS, NodeInputs
from schedlab.kernels import new_records
from schedlab.workload.resources import WHOLE

TYPICAL = np.dtype([(name, "i8") for name in ("cores", "gpus", "share", "gpu_type", "eligible", "jobs")])
"""A distinct request for one node: cores and whole GPUs of the job, or the thousandths of one GPU that it shares; the
type of these GPUs, and the row of `Machine.allowed` with its nodes; and how many jobs have this request."""


def typical_requests(inputs: NodeInputs) -> NDArray[Any]:
    """Return the requests of a simulation's one-node jobs (TYPICAL); empty unless the placement rule needs them."""
    if PLACEMENTS[inputs.placement] != "fgd":
        return new_records(0, TYPICAL)
    jobs = np.bincount(inputs.shape, minlength=len(inputs.nodes))
    one = (inputs.nodes == 1) | (inputs.tasks == 1)
    cores = inputs.tasks * inputs.task_cores
    gpus = inputs.node_gpus + inputs.tasks * inputs.task_gpus
    share = np.where(inputs.share < WHOLE, inputs.share, 0)
    asked = np.stack([cores, gpus, share, inputs.gpu_type, inputs.eligible])
    distinct, which = np.unique(asked[:, one], axis=1, return_inverse=True)
    counts = np.bincount(which.ravel(), weights=jobs[one])
    typical = new_records(len(counts), TYPICAL)
    typical["cores"], typical["gpus"], typical["share"], typical["gpu_type"], typical["eligible"] = distinct
    typical["jobs"] = counts
    return typical
