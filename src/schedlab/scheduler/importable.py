"""Schedulers with objects of the user's own as texts that other processes can read: MODULE:NAME(...)."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace
from typing import Any

from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Easy
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.own_objects import shown_object
from schedlab.scheduler.own_pass import OwnPass
from schedlab.scheduler.own_predictor import PythonPredictor
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.predictor import Predictor
from schedlab.scheduler.scheduler import Scheduler


def importable_text(scheduler: Scheduler) -> str:
    """Return the text of a scheduler in which all that is the user's own is named as it can be imported.

    Raises
    ------
    InputError
        If one of them is not in a module, or is no object that its class makes of plain arguments.
    """
    backfill = scheduler.backfill
    if isinstance(backfill, OwnPass):
        backfill = replace(backfill, source=backfill.source or source_of(backfill.decider))
    elif isinstance(backfill, Easy) and backfill.order is not None:
        backfill = replace(backfill, order=_policy(backfill.order))
    order_runtimes = None if scheduler.order_runtimes is None else _predictor(scheduler.order_runtimes)
    return replace(
        scheduler,
        policy=_policy(scheduler.policy),
        backfill=backfill,
        runtimes=_predictor(scheduler.runtimes),
        order_runtimes=order_runtimes,
    ).text


def source_of(given: Any) -> str:
    """Return MODULE:NAME of a function, or MODULE:NAME(...) of an object that its class makes of plain arguments.

    Raises
    ------
    InputError
        If there is none.
    """
    named = given if hasattr(given, "__name__") else type(given)
    source = f"{named.__module__}:{named.__name__}"
    if _found(named.__module__, named.__name__) is not named:
        raise InputError(
            f"{shown_object(given)} cannot be imported by other processes, as {source}: put it into a module of its own"
        )
    return source if named is given else source + _arguments_of(given)


def _found(module: str, name: str) -> object:
    if module == "__main__":
        return None
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


def _arguments_of(given: Any) -> str:
    """Return the arguments of which the class of an object makes one like it, in brackets."""
    kind = type(given)
    parameters = list(inspect.signature(kind).parameters.values())
    values = {one.name: getattr(given, one.name) for one in parameters if hasattr(given, one.name)}
    told = {one.name: values[one.name] for one in parameters if one.name in values and values[one.name] != one.default}
    try:
        made = kind(**told)
        alike = repr(vars(made)) == repr(vars(given)) and all(
            isinstance(v, bool | int | float | str) for v in told.values()
        )
    except TypeError:
        alike = False
    if not alike:
        raise InputError(
            f"{shown_object(given)} cannot be written as {kind.__module__}:{kind.__name__}(...): let it keep its "
            "arguments, numbers and texts, in attributes of the same names, and give it as it is made"
        )
    return f"({', '.join(f'{name}={value!r}' for name, value in told.items())})" if told else ""


def _policy(policy: Policy) -> Policy:
    if isinstance(policy, FunctionPolicy) and policy.source is None:
        return FunctionPolicy(policy.function, source_of(policy.function))
    return policy


def _predictor(predictor: Predictor) -> Predictor:
    if isinstance(predictor, PythonPredictor) and predictor.source is None:
        return replace(predictor, source=source_of(predictor.predictor))
    return predictor
