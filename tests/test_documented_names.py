"""Docstrings say what is there: their parameters are those of the signature, the records that comments name exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import schedlab
import schedlab_papers

FILES = [
    path for package in (schedlab, schedlab_papers) for path in sorted(Path(package.__file__).parent.rglob("*.py"))
]
PLAIN = {"NamedTuple", "Protocol", "Generic"}
"""Bases that have no fields."""

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def documented() -> Iterator[tuple[Path, Documented, str]]:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Documented):
                text = ast.get_docstring(node)
                if text:
                    yield path, node, text


def parameters_in(text: str) -> list[str]:
    """Return the parameters that a docstring in numpydoc's sections describes."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        return []
    lines = section[1].replace("\\\n", "")
    heads = [line for line in lines.splitlines() if re.match(r"[*\w]", line)]
    return [name.strip(" *") for head in heads for name in re.split(r"[,:]", head) if re.fullmatch(r"[ *]*\w+ *", name)]


def names_of(node: Documented) -> set[str] | None:
    """Return the parameters of a function, or the fields of a class; None if another class has them."""
    if isinstance(node, ast.ClassDef):
        made = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
        if made is None and {ast.unparse(base) for base in node.bases} - PLAIN:
            return None
        fields = {
            one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        }
        return fields | (names_of(made) or set() if made else set())
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return {one.arg for one in every}


def test_a_docstring_describes_only_parameters_that_there_are():
    wrong = [
        f"{path.name}: {node.name}: {name}"
        for path, node, text in documented()
        for known in [names_of(node)]
        for name in parameters_in(text)
        if known is not None and name not in known
    ]
    assert not wrong


def test_records_whose_counters_a_comment_names_have_counters():
    having, named = set(), []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        named += [(path.name, name) for name in re.findall(r"positions? in `?([A-Z]\w+)\.counters", text)]
        having |= {
            node.name
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ClassDef) and "counters" in (names_of(node) or ())
        }
    assert named
    assert not [one for one in named if one[1] not in having]
