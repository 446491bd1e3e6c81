"""The world: everything of a simulation side by side, and nothing twice."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_type_hints

import schedlab
from schedlab.engine.jobs.state import State
from schedlab.engine.machine.state import Nodes
from schedlab.engine.parts.limits.state import Site
from schedlab.engine.world import MOVED, World

ENGINE = Path(schedlab.__file__).parent / "engine"
KERNELS = {"bare_kernel", "inner_kernel", "inlined", "operation", "chosen"}


def kernels_of(tree: ast.Module) -> list[ast.FunctionDef]:
    found = []
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            names = {node.id for one in function.decorator_list for node in ast.walk(one) if isinstance(node, ast.Name)}
            if names & KERNELS:
                found.append(function)
    return found


def test_what_is_moved_into_the_world_is_a_field_there_and_where_it_comes_from():
    for record, names in ((State, MOVED["state"]), (Nodes, MOVED["nodes"]), (Site, MOVED["site"])):
        assert set(names) <= set(record._fields)
        assert set(names) <= set(World._fields)


def test_no_kernel_asks_for_a_part_where_it_no_longer_stands():
    """It would be None there, for every simulation, and what it asks would be compiled away without a word."""
    for module in ENGINE.rglob("*.py"):
        for function in kernels_of(ast.parse(module.read_text(encoding="utf-8"))):
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
                    owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                    place = f"{module.name}, {function.name}: {ast.unparse(node)}"
                    assert node.attr not in MOVED.get(owner, ()), place


def test_kernels_ask_the_world_only_for_what_it_has():
    fields = set(get_type_hints(World)) | {"_replace"}
    for module in ENGINE.rglob("*.py"):
        for function in kernels_of(ast.parse(module.read_text(encoding="utf-8"))):
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "world":
                    assert node.attr in fields, f"{module.name}, {function.name}: {ast.unparse(node)}"
