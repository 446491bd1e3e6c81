"""Run-time distributions as texts, and how they are parsed."""

from __future__ import annotations

import re
from difflib import get_close_matches

import numpy as np

from schedlab.durations import parse_duration
from schedlab.errors import InputError
from schedlab.speculate.distributions import ContinuousDistribution, RunTimeDistribution
from schedlab.speculate.families import FAMILIES, FROM_SCIPY
from schedlab.speculate.point_distributions import DiscreteDistribution, InterpolatedDistribution

_TEXT = re.compile(r"(?P<name>[a-z][\w.]*)\s*\((?P<arguments>.*)\)", re.DOTALL)

OTHERS = ("empirical", "discrete", "interpolated")
"""Distributions given by lists of run times instead of parameters."""


def distribution_from_text(text: str) -> RunTimeDistribution:
    """Parse a distribution: a name, the ends of its support, and parameters, such as gamma(0h,20h,scale=1h,shape=2).

    Parameters
    ----------
    text
        One of `FAMILIES`; "scipy." and the name of a SciPy distribution; empirical(RUN,...) with past runs;
        discrete(RUN:PROBABILITY,...); or interpolated(RUN:CUMULATIVE,...). Durations have a suffix s, m, min, h or d.

    Raises
    ------
    InputError
        If the name or a parameter is unknown, missing or out of range, or the support infinite.

    Examples
    --------
    >>> distribution_from_text("exponential(0h, 15h, mean=60min)").text
    'exponential(0s,15h,mean=1h)'
    >>> distribution_from_text("empirical(1h,2h,2h,3h)").text
    'discrete(1h:0.25,2h:0.5,3h:0.25)'
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text.strip()!r} is no distribution; write one such as {FAMILIES['truncnorm'].example}")
    name = match["name"]
    arguments = [part.strip() for part in match["arguments"].split(",") if part.strip()]
    try:
        if name == "empirical":
            return DiscreteDistribution.of_runs([parse_duration(part) for part in arguments])
        if name in OTHERS:
            pairs = np.array([_pair(part) for part in arguments], dtype=np.float64).reshape(-1, 2)
            kind = DiscreteDistribution if name == "discrete" else InterpolatedDistribution
            return kind(pairs[:, 0], pairs[:, 1])
        return _member(name, arguments)
    except InputError as error:
        message = str(error)
        raise InputError(
            message if message.startswith("distribution ") else f"distribution {name}: {message}"
        ) from None


def _member(name: str, arguments: list[str]) -> ContinuousDistribution:
    """Return a distribution of a family."""
    if name not in FAMILIES and not name.startswith(FROM_SCIPY):
        near = get_close_matches(name, [*FAMILIES, *OTHERS], 1)
        hint = f"do you mean {near[0]}?" if near else f"known are {', '.join([*FAMILIES, *OTHERS])}, scipy.NAME"
        raise InputError(f"distribution {name}: there is no such distribution; {hint}")
    ends: list[float] = []
    parameters: dict[str, float] = {}
    for argument in arguments:
        key, equals, value = (part.strip() for part in argument.partition("="))
        if not equals:
            ends.append(parse_duration(argument))
        elif key in parameters:
            raise InputError(f"{key} is given twice")
        else:
            parameters[key] = _value(name, key, value)
    if len(ends) == 1:
        ends.append(float("inf"))
    example = FAMILIES[name].example if name in FAMILIES else f"{name}(0h,20h,loc=1h,scale=2h)"
    if len(ends) != 2:
        raise InputError(f"give the shortest and the longest run, as in {example}")
    above = parameters.pop("above", None)
    distribution = ContinuousDistribution(name, ends[0], ends[1], tuple(parameters.items()))
    return distribution if above is None else distribution.exceeding(above)


def _value(name: str, key: str, value: str) -> float:
    """Return the value of a parameter: a duration, or a number."""
    if key == "above" or key in (FAMILIES[name].durations if name in FAMILIES else ("loc", "scale")):
        return parse_duration(value)
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{key}={value} is not a number") from None


def _pair(text: str) -> tuple[float, float]:
    """Return a run time and its probability."""
    run, _, probability = text.partition(":")
    try:
        return parse_duration(run), float(probability)
    except ValueError:
        raise InputError(f"{text!r} is not a run time and a probability such as 2h:0.25") from None
