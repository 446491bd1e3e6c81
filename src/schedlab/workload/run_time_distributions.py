"""Jobs whose run times follow distributions: which, and what the jobs of each ask for in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.workload.columns import below


@dataclass(frozen=True, slots=True, eq=False)
class RunTimeDistributions:
    """The run-time distributions of jobs.

    Parameters
    ----------
    law
        int64, one per job: which of `laws` its run time follows, -1 if none is known.
    laws
        The distributions as texts, see `schedlab.requests.Law.parse`.
    sequences
        Of each, what its jobs ask for in turn, as text such as "3h, 8h"; "" if that is not given. Empty: of none.

    Raises
    ------
    InputError
        If a job has the number of no distribution, or if there are not as many sequences as distributions.
    """

    law: NDArray[np.int64]
    laws: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.law.ndim != 1 or self.law.min(initial=-1) < -1 or self.law.max(initial=-1) >= len(self.laws):
            raise InputError(f"law needs, for each job, a number from -1 to {len(self.laws) - 1}")
        if self.sequences and len(self.sequences) != len(self.laws):
            raise InputError(f"sequences needs a text for each of {len(self.laws)} laws")
        view = self.law.astype(np.int64, copy=False).view()
        view.flags.writeable = False
        object.__setattr__(self, "law", view)

    @classmethod
    def none(cls, jobs: int) -> RunTimeDistributions:
        """Return what is known of jobs without distributions."""
        return cls(np.full(jobs, -1, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.law)

    def select(self, rows: Any) -> RunTimeDistributions:
        """Return what is known of these rows; the distributions stay as they are."""
        return RunTimeDistributions(self.law[rows], self.laws, self.sequences)

    def join(self, other: RunTimeDistributions) -> RunTimeDistributions:
        """Return what is known of these jobs with that of others below.

        Examples
        --------
        >>> one = RunTimeDistributions(np.array([0]), ("uniform(0s,9s)",), ("5s, 9s",))
        >>> one.join(RunTimeDistributions(np.array([-1, 0]), ("uniform(0s,8s)",))).law.tolist()
        [0, -1, 1]
        """
        law = np.where(other.law < 0, -1, other.law + len(self.laws))
        sequences: tuple[str, ...] = ()
        if self.sequences or other.sequences:
            sequences = tuple(text for one in (self, other) for text in one.sequences or ("",) * len(one.laws))
        return RunTimeDistributions(below(self.law, law), self.laws + other.laws, sequences)
