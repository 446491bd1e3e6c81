"""Objects of users in texts: MODULE:NAME, or MODULE:NAME(...) with the arguments of a class; their names and copies."""

from __future__ import annotations

import ast
import copy
import inspect
import re
from typing import Any, NamedTuple, TypeVar

from schedlab.errors import InputError
from schedlab.imports import load_named

_TEXT = re.compile(r"(?P<source>[A-Za-z_][\w.]*:[A-Za-z_]\w*)\s*(?:\((?P<arguments>.*)\))?", re.DOTALL)
_SHOWN = (bool, int, float, str)

Thing = TypeVar("Thing")


class Named(NamedTuple):
    """What a text names: `found` in a module, or what it makes of arguments; `source` is the text in its usual form."""

    found: Any
    source: str


def names_an_object(text: str) -> bool:
    """Return whether a text has the form MODULE:NAME or MODULE:NAME(...).

    Examples
    --------
    >>> names_an_object("mine.passes:Lookahead(k=3)"), names_an_object("easy"), names_an_object("slurm(depth=5)")
    (True, False, False)
    >>> names_an_object("mine:Fair(k=3)+mine:Lookahead(k=3)")
    False
    """
    match = _TEXT.fullmatch(text.strip())
    return match is not None and _closes_at_its_end(match["arguments"] or "")


def has_arguments(text: str) -> bool:
    """Return whether a text that names an object has brackets."""
    return text.rstrip().endswith(")")


def module_of(text: str) -> str:
    """Return what stands before the first colon, in small letters."""
    return text.partition(":")[0].strip().lower()


def names_what_has(method: str, text: str) -> bool:
    """Return whether a text MODULE:NAME(...) names something with a method, which is not called."""
    match = _TEXT.fullmatch(text.strip())
    return match is not None and hasattr(load_named(match["source"], "scheduler"), method)


def named_object(text: str, what: str, method: str) -> Named:
    """Return what a text names, in the current directory or installed; of a class, what it makes of the arguments.

    Parameters
    ----------
    text
        MODULE:NAME or MODULE:NAME(...), with numbers and strings as arguments.
    what
        What it should be, for the message.
    method
        What a class must have to be called, or be callable itself: to read a text must not run just anything.

    Raises
    ------
    InputError
        If it cannot be imported, or cannot be made from these arguments.
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{what} {text.strip()!r}: must be written MODULE:NAME or MODULE:NAME(...)")
    found = load_named(match["source"], what)
    if not isinstance(found, type) or not (hasattr(found, method) or _is_called(found)):
        if match["arguments"] is not None:
            raise InputError(f"{what} {text.strip()}: {match['source']} is no class with a method {method}")
        return Named(found, match["source"])
    positional, keywords = _read(match["arguments"] or "", text, what)
    written = ", ".join([*map(repr, positional), *(f"{name}={value!r}" for name, value in keywords.items())])
    try:
        made = found(*positional, **keywords)
    except Exception as error:
        raise InputError(f"{what} {text.strip()}: {type(error).__name__}: {error}{_arguments_of(found)}") from error
    return Named(made, match["source"] + (f"({written})" if written else ""))


def kept_arguments(given: object) -> str:
    """Return in brackets the arguments of its class that an object keeps, plain, in attributes of the same names.

    Examples
    --------
    >>> from schedlab.policies import FormulaPolicy
    >>> kept_arguments(FormulaPolicy("p*q"))
    "(source='p*q')"
    """
    try:
        parameters = inspect.signature(type(given)).parameters
    except (TypeError, ValueError):
        return ""
    values = {name: getattr(given, name) for name in parameters if isinstance(getattr(given, name, None), _SHOWN)}
    told = [f"{name}={value!r}" for name, value in values.items() if value != parameters[name].default]
    return f"({', '.join(told)})" if told else ""


def shown_object(given: object) -> str:
    """Return an object's name in angle brackets: of a function, or of a class with its plain attributes.

    Attributes with a leading underscore are state, and no part of the name.
    """
    if name := getattr(given, "__name__", None):
        return f"<{str(name).strip('<>')}>"
    plain = {name: value for name, value in getattr(given, "__dict__", {}).items() if isinstance(value, _SHOWN)}
    told = ", ".join(f"{name}={value!r}" for name, value in plain.items() if not name.startswith("_"))
    return f"<{type(given).__name__}{f'({told})' if told else ''}>"


def copied_object(given: Thing, what: str) -> Thing:
    """Return a copy, whose state is that of one simulation.

    Raises
    ------
    InputError
        If it cannot be copied.
    """
    try:
        return copy.deepcopy(given)
    except Exception as error:
        raise InputError(f"{what} cannot be copied: {type(error).__name__}: {error}") from error


def _is_called(kind: type) -> bool:
    """Return whether objects of a class can be called; the class itself always can."""
    return any("__call__" in vars(one) for one in kind.__mro__)


def _closes_at_its_end(arguments: str) -> bool:
    """Return whether the brackets around some arguments belong to each other."""
    depth = 0
    for character in arguments:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return True


def _read(arguments: str, text: str, what: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a text: numbers, strings, and lists of them."""
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        assert isinstance(call, ast.Call)
        keywords = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        return [ast.literal_eval(one) for one in call.args], keywords
    except (SyntaxError, ValueError, AssertionError):
        raise InputError(f"{what} {text.strip()}: arguments are numbers and strings, such as (k=3)") from None


def _arguments_of(found: Any) -> str:
    try:
        return f"; it is made by {found.__name__}{inspect.signature(found)}"
    except (TypeError, ValueError, AttributeError):
        return ""
