"""The choice of a regression that learns online for the order of the queue: logarithms, or pairs of jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.scheduler.arguments import argument
from schedlab.scheduler.predictor import Predictor, arguments_of, check_attributes

LogLoss = Literal["square", "linear", "pairs"]

LOG_LOSSES = ("square", "linear", "pairs")


@explained
@dataclass(frozen=True)
class LogRegression(Predictor):
    """Polynomial regression of degree 2 on the logarithm of the used share of the request, learned online.

    It learns as `Regression` does, from logarithms of the job, its user's history and the shares of its groups, see
    `GroupMean`. Before it has learned, it predicts the request.

    Parameters
    ----------
    loss
        "square" or "linear": loss of the error of the logarithm. "pairs": the logistic loss of the order of areas, of
        the completed job and of each of the 1st, 4th, 16th and 64th that have completed before it.
    by
        Attributes of the narrowest group, as for `GroupMean`.
    step
        The parameter eta of the learning algorithm.

    References
    ----------
    The algorithm: as for `Regression`. The pairwise loss: Burges et al., "Learning to rank using gradient descent",
    ICML 2005.
    """

    name: ClassVar[str] = "log-nag"
    loss: LogLoss = argument("of the logarithm, or of the order of pairs", words=LOG_LOSSES, default="square")
    by: str = argument("what jobs of the narrowest group share", default="user.request")
    step: float = argument("learning rate", default=0.1)

    def __post_init__(self) -> None:
        if self.loss not in LOG_LOSSES:
            raise InputError(f"predictor log-nag: loss={self.loss!r} is unknown; known are {', '.join(LOG_LOSSES)}")
        check_attributes(self, self.by)
        if not (isinstance(self.step, int | float) and math.isfinite(self.step) and self.step > 0):
            raise InputError(f"predictor log-nag: step={self.step!r} is not a positive number")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the narrowest group, those of the widest first."""
        return tuple(self.by.split("."))

    @property
    def text(self) -> str:
        """`log-nag`, or `log-nag(pairs)` for another loss."""
        return f"{self.name}{arguments_of(self, 'loss')}"
