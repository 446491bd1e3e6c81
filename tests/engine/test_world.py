"""The world: everything of a simulation side by side, and nothing asked for where it does not stand.

Where a kernel asks for a part in a place where no part is, the question is decided before types are inferred, and what
hangs on it is compiled away without a word. So each chain of attributes is looked up in the records themselves.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import schedlab
from schedlab.engine.axes import records_in
from schedlab.engine.world import World

PACKAGE = Path(schedlab.__file__).parent
MODULES = sorted(
    path
    for room in ("engine", "gym")
    for path in (PACKAGE / room).rglob("*.py")
    if "reference" not in path.parts and path.name != "__init__.py"
)
Records = tuple[type, ...]


def hints_of(record: type) -> dict[str, Any]:
    """Return the types of fields; none of inputs that name types for type checkers only, which are not in a world."""
    try:
        return get_type_hints(record, include_extras=True)
    except NameError:
        return {}


def behind(records: Records, name: str) -> Records:
    """Return the classes of the values of a field."""
    return tuple(inner for record in records for inner in records_in(hints_of(record).get(name)))


def chain_of(node: ast.expr) -> list[str]:
    """Return the names of `a.b.c`; none where it does not begin with a name."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        before = chain_of(node.value)
        return [*before, node.attr] if before else []
    return []


class Names:
    """The records that the names of a function stand for."""

    def __init__(self, function: ast.FunctionDef, module: ModuleType) -> None:
        known = {**vars(module), "World": World}
        self.records: dict[str, Records] = {}
        for one in (*function.args.args, *function.args.kwonlyargs):
            try:
                hint = eval(ast.unparse(one.annotation), known) if one.annotation else None
            except NameError:  # known to type checkers only
                hint = None
            self.records[one.arg] = records_in(hint)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._assign(node.targets[0], node.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, other in zip(target.elts, value.elts, strict=True):
                self._assign(one, other)
        elif isinstance(target, ast.Name) and isinstance(value, ast.Attribute):
            self.records[target.id] = self.of(chain_of(value))[0]

    def of(self, chain: list[str]) -> tuple[Records, str]:
        """Return what a chain of attributes stands for, and the name in it that no record has."""
        records: Records = ()
        for place, name in enumerate(chain):
            if records:
                if not any(hasattr(record, name) for record in records):
                    return (), name
                records = behind(records, name)
            elif name in ("world", "_world"):
                records = (World,)
            elif place == 0:
                records = self.records.get(name, ())
        return records, ""


def wrong_in(source: str, module: ModuleType) -> Iterator[str]:
    """Yield the chains of attributes that ask a record for what it does not have."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            names = Names(function, module)
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and (missing := names.of(chain_of(node))[1]):
                    yield f"{module.__name__}, {function.name}: {ast.unparse(node)} has no {missing}"


def module_of(path: Path) -> ModuleType:
    return importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).with_suffix("").as_posix())
def test_nothing_is_asked_for_where_it_does_not_stand(path: Path) -> None:
    assert not list(wrong_in(path.read_text(encoding="utf-8"), module_of(path)))


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("def f(world):\n    return world.limits.gate is None", "gate"),
        ("def f(self):\n    return self._world.state.nodes", "nodes"),
        ("def f(world):\n    later = world.nodes.later\n    return later.outages", "outages"),
        ("def f(nodes: Nodes | None):\n    return nodes.wishes", "wishes"),
        ("def f(world):\n    state, nodes = world.state, world.nodes\n    return nodes.machine.shapes[0]", "shapes"),
    ],
)
def test_what_does_not_stand_there_is_found(source: str, missing: str) -> None:
    (found,) = wrong_in(source, importlib.import_module("schedlab.engine.machine.state"))
    assert found.endswith(f"has no {missing}")


def test_each_part_of_the_world_says_which_record_it_is() -> None:
    numbers = {"jobs", "seen"}
    assert {name for name in World._fields if not behind((World,), name)} == numbers
