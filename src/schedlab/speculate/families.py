"""Families of run-time distributions: their parameters, and the untruncated distribution of SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schedlab.errors import InputError

Parameters = Mapping[str, float]

FROM_SCIPY = "scipy."
"""The prefix of a distribution of SciPy that has no family here."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of distributions.

    Parameters
    ----------
    distribution
        Its name in `scipy.stats`.
    durations
        Names of the parameters that are durations.
    numbers
        Names of the parameters that are plain numbers.
    arguments
        Function from the parameters and the support to the arguments of the distribution.
    example
        A valid text.
    """

    distribution: str
    durations: tuple[str, ...]
    numbers: tuple[str, ...]
    arguments: Callable[[Parameters, float, float], dict[str, float]]
    example: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parameters."""
        return self.durations + self.numbers


FAMILIES = {
    "truncnorm": Family(
        "norm",
        ("mu", "sigma"),
        (),
        lambda p, low, high: {"loc": p["mu"], "scale": p["sigma"]},
        "truncnorm(0h,20h,mu=8h,sigma=2h)",
    ),
    "exponential": Family(
        "expon", ("mean",), (), lambda p, low, high: {"scale": p["mean"]}, "exponential(0h,15h,mean=1h)"
    ),
    "pareto": Family(
        "pareto", (), ("shape",), lambda p, low, high: {"b": p["shape"], "scale": low}, "pareto(1h,20h,shape=2.1)"
    ),
    "beta": Family(
        "beta",
        (),
        ("alpha", "beta"),
        lambda p, low, high: {"a": p["alpha"], "b": p["beta"], "loc": low, "scale": high - low},
        "beta(0h,1h,alpha=2,beta=2)",
    ),
    "lognormal": Family(
        "lognorm",
        ("median",),
        ("sigma",),
        lambda p, low, high: {"s": p["sigma"], "scale": p["median"]},
        "lognormal(0h,30h,median=2h,sigma=0.8)",
    ),
    "uniform": Family("uniform", (), (), lambda p, low, high: {"loc": low, "scale": high - low}, "uniform(1h,3h)"),
    "weibull": Family(
        "weibull_min",
        ("scale",),
        ("shape",),
        lambda p, low, high: {"c": p["shape"], "scale": p["scale"]},
        "weibull(0h,20h,scale=3h,shape=0.9)",
    ),
    "gamma": Family(
        "gamma",
        ("scale",),
        ("shape",),
        lambda p, low, high: {"a": p["shape"], "scale": p["scale"]},
        "gamma(0h,20h,scale=1h,shape=2)",
    ),
}
"""Families by their names in texts."""


def frozen_distribution(family: str, parameters: Parameters, low: float, high: float) -> Any:
    """Return the distribution of SciPy whose truncation to [low, high] is the run-time distribution.

    Raises
    ------
    InputError
        If SciPy has no such distribution, or it does not take these parameters.
    """
    from scipy import stats

    if family in FAMILIES:
        known = FAMILIES[family]
        return getattr(stats, known.distribution)(**known.arguments(parameters, low, high))
    name = family.removeprefix(FROM_SCIPY)
    distribution = getattr(stats, name, None)
    if not isinstance(distribution, stats.rv_continuous):
        raise InputError(f"distribution {family}: scipy.stats has no continuous distribution {name!r}")
    try:
        frozen = distribution(**parameters)
    except TypeError:
        takes = ", ".join([*(distribution.shapes or "").replace(",", " ").split(), "loc", "scale"])
        raise InputError(f"distribution {family} takes the parameters {takes}, all but loc and scale needed") from None
    if not math.isfinite(frozen.median()):
        raise InputError(f"distribution {family}: the parameters do not define a distribution")
    return frozen


def check_parameters(family: str, parameters: Parameters, low: float, high: float) -> None:
    """Raise InputError if parameters of a family are missing, unknown, or out of range.

    Raises
    ------
    InputError
        The message names the parameter, and gives an example.
    """
    known = FAMILIES[family]
    for name in known.names:
        if name not in parameters:
            raise InputError(f"distribution {family} needs {name}=, as in {known.example}")
    for name, value in parameters.items():
        if name not in known.names:
            raise InputError(f"distribution {family} has no parameter {name!r}; write it as in {known.example}")
        if not math.isfinite(value) or (value <= 0 and name != "mu"):
            raise InputError(
                f"distribution {family}: {name} is {value:g}; it must be {'finite' if name == 'mu' else 'above 0'}"
            )
    if family == "pareto" and low <= 0:
        raise InputError(f"distribution pareto begins above 0, as in {known.example}")
