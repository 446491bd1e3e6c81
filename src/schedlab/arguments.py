"""Arguments of a wrong type are told by their names: looked for after a call has failed, so that it costs nothing."""

from __future__ import annotations

import builtins
import collections.abc
import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from schedlab.errors import InputError
from schedlab.wording import shown

T = TypeVar("T", bound=Callable[..., Any])

RAW = (TypeError, AttributeError, IndexError, KeyError, ValueError)
"""What Python says of a value that is none of a function's business."""


def _is_numeric(value: Any) -> bool:
    return bool(np.asarray(value).dtype.kind != "O")


KINDS: dict[Any, tuple[Callable[[Any], bool], str]] = {
    type(None): (lambda value: value is None, "None"),
    int: (lambda value: isinstance(value, Integral | np.ndarray), "a whole number"),
    float: (lambda value: isinstance(value, Real | np.ndarray), "a number"),
    str: (lambda value: isinstance(value, str), "a text"),
    bool: (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    collections.abc.Callable: (callable, "a function"),
    np.ndarray: (_is_numeric, "an array of numbers"),
    os.PathLike: (lambda value: isinstance(value, os.PathLike), "a path"),
    Path: (lambda value: isinstance(value, os.PathLike | str), "a path"),
    np.random.Generator: (lambda value: isinstance(value, np.random.Generator), "a numpy.random.Generator"),
}
"""How a value of a type is recognised, and what the type is called in a sentence."""


def explained(function: T) -> T:
    """Return a function that says which of its arguments is of a wrong type, if it fails for that.

    Of a class, its public methods do; class methods and static ones are marked by themselves.

    Examples
    --------
    >>> @explained
    ... def half(number: int) -> int:
    ...     return number // 2
    >>> half("six")
    Traceback (most recent call last):
    schedlab.errors.InputError: half(number='six'): must be a whole number
    """
    if isinstance(function, type):
        kind: Any = function
        if kind.__init__ is not object.__init__:
            kind.__init__ = _explained(kind.__init__, kind.__name__)
        for name, member in list(vars(kind).items()):
            if inspect.isfunction(member) and not name.startswith("_") and not hasattr(member, "__wrapped__"):
                setattr(kind, name, _explained(member, f"{kind.__name__}.{name}"))
        return function
    return cast("T", _explained(function, function.__name__))


def _explained(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except RAW as error:
            told = None if isinstance(error, InputError) else _first_wrong(function, name, args, kwargs)
            if told is None:
                raise
            raise InputError(told) from error

    return call


def _first_wrong(
    function: Callable[..., Any], called: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str | None:
    """Return a sentence about the first argument that is not of the type that is written, or None."""
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    hints = _hints(function)
    for name, value in given.items():
        if name in hints and not _is(value, hints[name]):
            return f"{called}({name}={shown(value)}): must be {_told(hints[name])}"
    return None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of arguments, as far as their names are known."""
    names, found = _Names(inspect.unwrap(function).__globals__), {}
    for name, written in function.__annotations__.items():
        try:
            found[name] = eval(written, {}, names) if isinstance(written, str) else written  # our own source
        except (NameError, TypeError, AttributeError):
            continue
    return found


class _ByName(type):
    """A class that a module imports for type checkers alone: a value is of it if its class, or a base, has its name."""

    def __instancecheck__(cls, value: object) -> bool:
        return any(kind.__name__ == cls.__name__ for kind in type(value).__mro__)

    def __getattr__(cls, name: str) -> _ByName:
        return _ByName(name, (), {})

    def __getitem__(cls, parts: object) -> _ByName:
        return cls


class _Names(dict[str, Any]):
    """The names of a module; one that is not there is that of a class."""

    def __missing__(self, name: str) -> Any:
        return vars(builtins)[name] if hasattr(builtins, name) else _ByName(name, (), {})


def _is(value: Any, hint: Any) -> bool:
    """Return whether a value is of a type, as far as that can be seen without looking into it."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint == ArrayLike:
        return _is_numeric(value)
    if origin in (typing.Union, types.UnionType):
        return any(_is(value, part) for part in parts)
    if origin is typing.Literal:
        return any(value is part or (isinstance(value, type(part)) and value == part) for part in parts)
    return _is(value, parts[0]) if origin is typing.Annotated else _is_of(value, origin or hint)


def _is_of(value: Any, kind: Any) -> bool:
    kind = type(None) if kind is None else kind
    if kind in KINDS:
        return KINDS[kind][0](value)
    try:
        return not isinstance(kind, type) or isinstance(value, kind)
    except TypeError:  # a protocol that cannot be looked for
        return "__call__" not in vars(kind) or callable(value)


def _told(hint: Any) -> str:
    """Return what a type is called in a sentence."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint == ArrayLike:
        return "an array of numbers"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_told(part) for part in parts))
    if origin is typing.Literal:
        return " or ".join(repr(part) for part in parts)
    kind = type(None) if hint is None else parts[0] if origin is typing.Annotated else origin or hint
    if kind in KINDS:
        return KINDS[kind][1]
    name = str(getattr(kind, "__name__", kind))
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
