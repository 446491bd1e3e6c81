"""Run-time distributions of jobs, and the sequence of requests of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workload.columns import below


@explained
@dataclass(frozen=True, slots=True, eq=False)
class RunTimeDistributions:
    """The run-time distributions of jobs.

    Parameters
    ----------
    distribution
        int64, one per job: which of `distributions` its run time follows, -1 if none is known.
    distributions
        The distributions as texts, see `schedlab.requests.RunTimeDistribution.parse`.
    sequences
        The sequence of requests of each, as text such as "3h, 8h"; "" if not given. Empty: no sequences.

    Raises
    ------
    InputError
        If a job has the number of an unknown distribution, or if there are not as many sequences as distributions.
    """

    distribution: NDArray[np.int64]
    distributions: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        view = np.asarray(self.distribution).astype(np.int64, copy=False).view()
        if view.ndim != 1 or view.min(initial=-1) < -1 or view.max(initial=-1) >= len(self.distributions):
            raise InputError(f"distribution needs, for each job, a number from -1 to {len(self.distributions) - 1}")
        if self.sequences and len(self.sequences) != len(self.distributions):
            raise InputError(f"sequences needs a text for each of {len(self.distributions)} distributions")
        view.flags.writeable = False
        object.__setattr__(self, "distribution", view)

    @classmethod
    @explained
    def none(cls, jobs: int) -> RunTimeDistributions:
        """Return the value for jobs without distributions."""
        return cls(np.full(jobs, -1, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.distribution)

    def select(self, rows: Any) -> RunTimeDistributions:
        """Return the value for these rows; the distributions are unchanged."""
        return RunTimeDistributions(self.distribution[rows], self.distributions, self.sequences)

    def join(self, other: RunTimeDistributions) -> RunTimeDistributions:
        """Return the value for these jobs followed by others.

        Examples
        --------
        >>> one = RunTimeDistributions(np.array([0]), ("uniform(0s,9s)",), ("5s, 9s",))
        >>> one.join(RunTimeDistributions(np.array([-1, 0]), ("uniform(0s,8s)",))).distribution.tolist()
        [0, -1, 1]
        """
        distribution = np.where(other.distribution < 0, -1, other.distribution + len(self.distributions))
        sequences: tuple[str, ...] = ()
        if self.sequences or other.sequences:
            sequences = tuple(text for one in (self, other) for text in one.sequences or ("",) * len(one.distributions))
        return RunTimeDistributions(
            below(self.distribution, distribution), self.distributions + other.distributions, sequences
        )
