"""Edison, the machine of ScSF's study, and the small model of it that was published with the program.

The real model is not public. This one is made of twenty jobs: it is for tests, and to compare with ScSF.
"""

from __future__ import annotations

from schedlab.model.empirical import EmpiricalDistribution
from schedlab.model.jobs import MINUTE, IndependentJobs
from schedlab.model.model import JobLimits, WorkloadModel

EDISON_CORES_PER_NODE = 24
EDISON_PROCESSORS = 5_576 * EDISON_CORES_PER_NODE

EDISON_LIMITS = JobLimits(
    processors=EDISON_PROCESSORS // 4, run_time=5 * 24 * 60 * MINUTE, work=1e8, wide=15_000, long=15_000
)
"""What ScSF does not generate for Edison."""

_GAPS = {1: 7, 3: 1, 12: 1, 18: 1, 25: 2, 75: 1, 88: 1, 101: 1, 102: 1, 188: 1, 231: 1}
_NODES = {1: 1, 2: 5, 5: 2, 6: 10, 8: 1, 10: 1}
_MINUTES = {1: 1, 10: 5, 20: 1, 30: 11, 60: 1, 356: 1}
_ACCURACIES = {
    0.0039: 9,
    0.0239: 2,
    0.0539: 1,
    0.1639: 1,
    0.2939: 1,
    0.3239: 1,
    0.3339: 1,
    0.3539: 1,
    0.4539: 1,
    0.6639: 2,
}
"""Lower edges of the bins, and how many of the observed values each holds."""

EDISON_TOY = WorkloadModel(
    name="Edison (ScSF's example)",
    processors=EDISON_PROCESSORS,
    cores_per_node=EDISON_CORES_PER_NODE,
    gaps=EmpiricalDistribution.of_shares({(low, low + 1): jobs for low, jobs in _GAPS.items()}, "scsf"),
    jobs=IndependentJobs(
        EmpiricalDistribution.of_shares(
            {(nodes * 24, (nodes + 1) * 24): jobs for nodes, jobs in _NODES.items()}, "low"
        ),
        EmpiricalDistribution.of_shares(
            {(low * MINUTE, (low + 1) * MINUTE): jobs for low, jobs in _MINUTES.items()}, "uniform"
        ),
        EmpiricalDistribution.of_shares({(low, low + 0.01): jobs for low, jobs in _ACCURACIES.items()}, "uniform"),
        rules="scsf",
    ),
    rules="scsf",
    longest_gap=25.0,
    limits=EDISON_LIMITS,
    provenance={"log": "the example in ScSF's repository: twenty jobs of Edison"},
)
"""ScSF's example model: 20 jobs, 18 gaps."""
