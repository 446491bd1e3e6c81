"""What is typically asked for of a node: what the placement by fragmentation gradient descent looks at.

References
----------
Weng et al., "Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient descent",
USENIX ATC 2023.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.node_inputs import PLACEMENTS, WHOLE, NodeInputs


class Typical(NamedTuple):
    """Distinct requests for one node, and how large a part of the jobs asks for each.

    Parameters
    ----------
    cores
        int64: cores of the job.
    gpus
        int64: whole GPUs of the job; 0 if it shares one, or needs none.
    share
        int64: thousandths of the GPU that it shares; 0 if it shares none.
    part
        float64: of all such jobs.
    """

    cores: NDArray[np.int64]
    gpus: NDArray[np.int64]
    share: NDArray[np.int64]
    part: NDArray[np.float64]


def typical_requests(inputs: NodeInputs) -> Typical:
    """Return what the one-node jobs of a simulation ask for; nothing unless the placement rule needs it."""
    if PLACEMENTS[inputs.placement] != "fgd":
        nothing = np.zeros(0, dtype=np.int64)
        return Typical(nothing, nothing, nothing, np.zeros(0))
    jobs = np.bincount(inputs.shape, minlength=len(inputs.nodes))
    one = inputs.nodes <= 1
    cores = inputs.tasks * inputs.task_cores
    gpus = inputs.node_gpus + inputs.tasks * inputs.task_gpus
    share = np.where(inputs.share < WHOLE, inputs.share, 0)
    distinct, which = np.unique(np.stack([cores, gpus, share])[:, one], axis=1, return_inverse=True)
    counts = np.bincount(which.ravel(), weights=jobs[one])
    cores, gpus, share = (np.ascontiguousarray(row) for row in distinct)
    return Typical(cores, gpus, share, counts / max(counts.sum(), 1.0))
