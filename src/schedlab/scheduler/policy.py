"""Ordering policies: a score for every waiting job; the job with the smallest score is at the head of the queue.

Ties go to the earlier submission, then to the earlier position in the trace. The variables of the formulas are those of
`schedlab.scheduler.formula`: p assumed run time, q processors, r submit time, w waiting time so far, R requested time,
and statistics of the distribution of run times, if the predictor of the order keeps one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError, check_type
from schedlab.scheduler.formula import Formula

Scores = NDArray[np.float64]

_formula = lru_cache(maxsize=256)(Formula)
"""Formulas are compiled once, since this would take most of the time of a small simulation."""


@dataclass(frozen=True)
class Policy:
    """An ordering of the queue.

    A subclass sets `name` and `formula`. From Python, a policy can also be made from a formula (`FormulaPolicy`)
    or from a function of arrays (`schedlab.policies.FunctionPolicy`).
    """

    name: ClassVar[str]
    formula: ClassVar[str]

    @property
    def text(self) -> str:
        """The form of the policy in a scheduler text."""
        return self.name

    @property
    def program(self) -> Formula | None:
        """The formula, ready to run, or None if only Python can compute the scores."""
        return _formula(self.formula)

    @property
    def changes_with_time(self) -> bool:
        """Whether scores must be recomputed at every scheduling pass."""
        program = self.program
        return program is not None and program.uses_waiting_time

    @property
    def uses_request(self) -> bool:
        """Whether scores depend on the requested time itself, regardless of the assumed run time."""
        program = self.program
        return program is not None and program.uses_request

    def scores(
        self,
        p: NDArray[np.int64],
        q: NDArray[np.int64],
        r: NDArray[np.int64],
        w: NDArray[np.int64],
        R: NDArray[np.int64] | None = None,
        statistics: NDArray[np.float64] | None = None,
    ) -> Scores:
        """Return a score per job, smallest first.

        Parameters
        ----------
        p, q, r, w, R
            int64 arrays of one length: assumed run time (s), processors, submit time (s), waiting time (s), requested
            time (s). Without `R`, the request is the assumed run time.
        statistics
            A row for each of `schedlab.scheduler.formula.STATISTICS`; without them, p is the run time.

        Examples
        --------
        >>> SAF().scores(*(np.array(x) for x in ([60, 10], [2, 4], [0, 5], [0, 0]))).tolist()
        [120.0, 40.0]
        """
        program = self.program
        assert program is not None
        return program.scores(p, q, r, w, R, statistics)


class FCFS(Policy):
    """First come, first served: by submit time."""

    name = "fcfs"
    formula = "r"


class LCFS(Policy):
    """Last come, first served."""

    name = "lcfs"
    formula = "-r"


class SPF(Policy):
    """Shortest assumed run time first; also called SJF and SPT."""

    name = "spf"
    formula = "p"


class LPF(Policy):
    """Longest assumed run time first."""

    name = "lpf"
    formula = "-p"


class SQF(Policy):
    """Fewest processors first (Carastan-Santos et al., CCGrid 2019). With it, EASY never backfills a job."""

    name = "sqf"
    formula = "q"


class LQF(Policy):
    """Most processors first."""

    name = "lqf"
    formula = "-q"


class SAF(Policy):
    """Smallest estimated area first: run time times processors (Carastan-Santos et al., CCGrid 2019)."""

    name = "saf"
    formula = "p*q"


class LAF(Policy):
    """Largest estimated area first."""

    name = "laf"
    formula = "-p*q"


class WFP3(Policy):
    """Waiting time over run time, cubed, times processors, largest first (Tang et al., CLUSTER 2009)."""

    name = "wfp3"
    formula = "-(w/p)**3*q"


class UNICEF(Policy):
    """Waiting time over the logarithm of size times run time, largest first (Tang et al., CLUSTER 2009).

    The logarithm of 1 is 0, so serial jobs come first, as in the program behind SC'17; the small constant keeps jobs
    that have not waited yet in a defined order.
    """

    name = "unicef"
    formula = "-(w+1e-20)/(log2(q)*p)"


class F1(Policy):
    """First of the four policies learned in SC'17 (Carastan-Santos & de Camargo, Table 3), constants as printed."""

    name = "f1"
    formula = "log10(p)*q + 8.70e2*log10(r)"


class F2(Policy):
    """Second of the four policies learned in SC'17, constants as printed."""

    name = "f2"
    formula = "sqrt(p)*q + 2.56e4*log10(r)"


class F3(Policy):
    """Third of the four policies learned in SC'17, constants as printed."""

    name = "f3"
    formula = "p*q + 6.86e6*log10(r)"


class F4(Policy):
    """Fourth of the four policies learned in SC'17, constants as printed."""

    name = "f4"
    formula = "p*sqrt(q) + 5.30e5*log10(r)"


class Smith(Policy):
    """Expected work over expected weight in the mean bounded slowdown, smallest first (Smith 1956; Rothkopf 1966).

    Smith's rule orders the jobs of one machine by run time over weight; for random run times, Rothkopf's rule uses the
    expected run time. A job does q m processor-seconds, and weighs 1/max(run time, 10) in the sum of bounded slowdowns.
    With a predictor that returns one number, the score is q p max(p, 10).

    References
    ----------
    Smith, "Various optimizers for single-stage production", Naval Research Logistics Quarterly 3, 1956. Rothkopf,
    "Scheduling with random service times", Management Science 12(9), 1966.
    """

    name = "smith"
    formula = "q*m/h"


class Gittins(Policy):
    """Gittins' index of the expected distribution with the weight of `smith`, times processors, smallest first.

    The score is the least expected work per gain, over all times at which one could stop serving a job: a job that may
    well be over in a minute precedes one that surely lasts an hour, however long the first may last otherwise. Jobs are
    not actually stopped, so this is a heuristic here.

    References
    ----------
    Sevcik, "Scheduling for minimum total loss using service time distributions", Journal of the ACM 21(1), 1974.
    Gittins, "Bandit processes and dynamic allocation indices", Journal of the Royal Statistical Society B 41(2), 1979.
    """

    name = "gittins"
    formula = "q*G"


@dataclass(frozen=True)
class FormulaPolicy(Policy):
    """A policy given by the text of a formula.

    Examples
    --------
    >>> FormulaPolicy("log10(p)*q + 870*log10(r)").text
    '"log10(p)*q + 870*log10(r)"'
    """

    name: ClassVar[str] = "formula"
    source: str

    def __post_init__(self) -> None:
        check_type(self.source, str, 'a formula is a text such as "p*q"')
        if '"' in self.source:
            raise InputError(f"formula {self.source!r}: a formula cannot contain a quotation mark")
        _formula(self.source)

    @property
    def text(self) -> str:
        """The formula in double quotes."""
        return f'"{self.source}"'

    @property
    def program(self) -> Formula:
        """The formula, ready to run."""
        return _formula(self.source)


POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (FCFS, LCFS, SPF, LPF, SQF, LQF, SAF, LAF, WFP3, UNICEF, F1, F2, F3, F4, Smith, Gittins)
}
"""Every policy with a name."""

ALIASES = {"sjf": "spf", "spt": "spf", "ljf": "lpf", "wfp": "wfp3", "unicep": "unicef", "uni": "unicef"}
"""Other names in the literature."""
