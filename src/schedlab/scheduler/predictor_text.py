"""The texts of predictors, and the objects that they denote."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from schedlab.errors import InputError
from schedlab.scheduler.grammar import RUN_TIMES
from schedlab.scheduler.own_objects import named_object, names_an_object
from schedlab.scheduler.own_predictor import OnlinePredictor, PythonPredictor
from schedlab.scheduler.predictor import Predictor
from schedlab.wording import did_you_mean

PREDICTORS: dict[str, Predictor] = {name: entry.kind() for name, entry in RUN_TIMES.items() if entry.kind}
"""Predictors with default parameters, by their names in texts."""

_TEXT = re.compile(r"(?P<name>[a-z][a-z0-9-]*)\s*(?:\((?P<arguments>.*)\))?", re.DOTALL)


def predictor_from_text(text: str) -> Predictor:
    """Read a predictor: one of `PREDICTORS`, or MODULE:CLASS for a user-defined class, each with its parameters.

    Raises
    ------
    InputError
        If the name or an argument is unknown; the message lists the known ones. If a user-defined class cannot be
        loaded.

    Examples
    --------
    >>> predictor_from_text("ave(5)")
    RecentAverage(jobs=5)
    >>> predictor_from_text("nag(over=square, under=linear, weight=area)").text
    'e-loss'
    >>> predictor_from_text("quantile(0.9, jobs=20)").text
    'quantile(0.9,jobs=20)'
    """
    if names_an_object(text):
        return _own(text.strip())
    match = _TEXT.fullmatch(text.strip().lower())
    if match is None or match["name"] not in PREDICTORS:
        near = did_you_mean(text, PREDICTORS)
        raise InputError(f"unknown run times {'@' + text!r}; known are @{' @'.join(PREDICTORS)}{near}")
    usual = PREDICTORS[match["name"]]
    names = [field.name for field in fields(usual)]
    if match["arguments"] is None:
        return usual
    values: dict[str, Any] = {}
    for place, argument in enumerate(part.strip() for part in match["arguments"].split(",")):
        name, equals, value = (part.strip() for part in argument.rpartition("="))
        if not equals and place < len(names):
            name = names[place]
        if name not in names:
            known = f"known are {', '.join(names)}" if names else "it has none"
            raise InputError(f"predictor {match['name']}: unknown parameter {argument!r}; {known}")
        if name in values:
            raise InputError(f"predictor {match['name']}: {name} is given twice")
        values[name] = _value(match["name"], name, value, getattr(usual, name))
    return type(usual)(**values)


def as_predictor(given: object) -> Predictor:
    """Return a predictor unchanged, one that a text names, or one around an object with `predict` and `learn`.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if isinstance(given, Predictor):
        return given
    return predictor_from_text(given) if isinstance(given, str) else PythonPredictor(given)


def _own(text: str) -> PythonPredictor:
    """Return a new object of a class in a module of the current directory, or an installed one."""
    # Only a class is called: reading a text must not run arbitrary functions.
    found, source = named_object(text, "predictor", "predict")
    if isinstance(found, type) or not isinstance(found, OnlinePredictor):
        raise InputError(f"predictor {text}: must be a class with methods predict(job) and learn(job, run_time)")
    return PythonPredictor(found, source)


def _value(predictor: str, name: str, text: str, usual: Any) -> Any:
    """Return the value of a parameter, of the type of its default."""
    try:
        return type(usual)(text)
    except ValueError:
        kind = "a whole number" if isinstance(usual, int) else "a number"
        raise InputError(f"predictor {predictor}: {name}={text!r} is not {kind}") from None
