"""How many threads the libraries of predictors in Python may use: one, since a simulation keeps one core busy.

The simulation itself has no threads: several are run side by side by `schedlab.engine.many`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any


def limited_threads(predictors: Iterable[object]) -> AbstractContextManager[Any]:
    """Return a context in which the libraries of predictors have as many threads as these want: one, unless they say.

    A library for which every prediction wakes all threads may take forever on a host whose cores are busy. An attribute
    `threads` of a predictor allows more, and None as many as the library likes. Without threadpoolctl, which comes with
    scikit-learn, nothing is limited.
    """
    wanted = [getattr(one, "threads", 1) for one in predictors]
    if not wanted or None in wanted:
        return nullcontext()
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(limits=max(wanted))
    return limits
