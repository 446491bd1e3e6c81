"""What is public: few names at the top, the rest in namespaces, all documented, and the classes of their signatures."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import schedlab

NAMESPACES = sorted(name for name in schedlab.__all__ if inspect.ismodule(getattr(schedlab, name)))  # type: ignore[attr-defined]
WITHOUT_EXTRAS = [name for name in NAMESPACES if name != "gym"]
TOP = [name for name in schedlab.__all__ if name not in NAMESPACES]  # type: ignore[attr-defined]
REFERENCE = Path(__file__).parents[1] / "docs" / "reference"


def public() -> dict[str, Any]:
    names = {name: getattr(schedlab, name) for name in TOP}
    for namespace in WITHOUT_EXTRAS:
        module = getattr(schedlab, namespace)
        names |= {f"{namespace}.{name}": getattr(module, name) for name in module.__all__}
    return names


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


def documented(page: Path) -> list[str]:
    return re.findall(
        r"^\.\. (?:auto(?:class|function|exception)|data):: (\w+)$", page.read_text(encoding="utf-8"), re.M
    )


def test_every_class_in_a_public_signature_is_public() -> None:
    names = public()
    known = {id(thing) for thing in names.values()}
    checked, hidden = 0, set()
    del names["types.Plan"]  # its tasks are the campaign's own
    for name, thing in names.items():
        for where, function in functions_of(name, thing):
            try:
                hints = typing.get_type_hints(function)
            except NameError:  # names for type checkers alone, such as pandas
                continue
            checked += 1
            for annotation in hints.values():
                for kind in classes_in(annotation):
                    if kind.__module__.startswith("schedlab") and id(kind) not in known:
                        hidden.add(f"{where} has {kind}")
    assert not hidden, "\n".join(sorted(hidden))
    assert checked > 200


def test_twenty_five_names_stand_at_the_top() -> None:
    assert len(TOP) == 25


def test_a_thing_has_one_public_name() -> None:
    names: dict[int, str] = {}
    for name, thing in public().items():
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert id(thing) not in names, f"sl.{name} is sl.{names[id(thing)]}"
            names[id(thing)] = name


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_no_module_hides_a_public_name_of_its_namespace(namespace: str) -> None:
    """One that is loaded lazily would be the module of that name, once that was imported."""
    module = getattr(schedlab, namespace)
    for path in [Path(path) for path in getattr(module, "__path__", []) if Path(path, "__init__.pyi").exists()]:
        assert not {entry.stem for entry in path.iterdir()} & set(module.__all__)


def test_the_names_at_the_top_are_documented() -> None:
    assert sorted(documented(REFERENCE / "python.md")) == sorted(TOP)
    assert sorted(page.stem for page in (REFERENCE / "api").glob("*.md")) == NAMESPACES


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_the_names_of_a_namespace_are_documented(namespace: str) -> None:
    assert sorted(documented(REFERENCE / "api" / f"{namespace}.md")) == sorted(getattr(schedlab, namespace).__all__)


def test_policies_and_backfilling_have_namespaces() -> None:
    easy = schedlab.backfilling.Easy(schedlab.policies.SPF())
    assert str(schedlab.Scheduler(schedlab.policies.SAF(), easy)) == "saf+easy:sjf"
