"""What can be annotated: every class in the signature of something public is public itself."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from typing import Any

import schedlab

NAMESPACES = [name for name in schedlab.__all__ if inspect.ismodule(getattr(schedlab, name)) and name != "gym"]


def public() -> dict[str, Any]:
    return {name: getattr(schedlab, name) for name in schedlab.__all__ if name != "gym"}


def classes_in(annotation: Any) -> Iterator[type]:
    for part in typing.get_args(annotation):
        for one in part if isinstance(part, list | tuple) else [part]:
            yield from classes_in(one)
    if inspect.isclass(annotation) and typing.get_origin(annotation) is None:
        yield annotation


def functions_of(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    if not inspect.isclass(thing):
        if inspect.isfunction(thing):
            yield name, thing
        return
    yield name, thing.__init__
    for member, value in vars(thing).items():
        if not member.startswith("_"):
            function = getattr(value, "fget", None) or getattr(value, "__func__", value)
            if inspect.isfunction(function):
                yield f"{name}.{member}", function


def test_every_class_in_a_public_signature_is_public() -> None:
    names = public()
    known = {id(thing) for thing in names.values()}
    for namespace in NAMESPACES:
        module = getattr(schedlab, namespace)
        known |= {id(getattr(module, name)) for name in module.__all__}
    checked = 0
    for name, thing in names.items():
        for where, function in functions_of(name, thing):
            try:
                hints = typing.get_type_hints(function)
            except NameError:  # names for type checkers alone, such as pandas
                continue
            checked += 1
            for annotation in hints.values():
                for kind in classes_in(annotation):
                    assert not kind.__module__.startswith("schedlab") or id(kind) in known, f"{where} has {kind}"
    assert checked > 200


def test_policies_and_figures_have_namespaces() -> None:
    assert str(schedlab.Scheduler(schedlab.policies.SAF(), schedlab.Easy(schedlab.policies.SPF()))) == "saf+easy:sjf"
    assert schedlab.plot.gantt is schedlab.plot_gantt
