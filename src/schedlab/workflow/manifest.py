"""Manifests of ScSF: JSON with the tasks, and their dependencies as a Graphviz text.

References
----------
Rodrigo, Elmroth, Ostberg and Ramakrishnan, "ScSF: A scheduling simulation framework", JSSPP 2017. The files that its
program reads differ from the example in the paper; both are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from schedlab.errors import InputError
from schedlab.workflow.json_values import (
    REQUEST_MARGIN,
    member,
    needed_number,
    number,
    objects,
    texts,
    whole_processors,
)
from schedlab.workflow.workflow import Task, Workflow

_TOKEN = re.compile(
    r"""
      "((?:\\.|[^"\\])*)"                                   # 1: a name in quotes
    | /\*.*?\*/ | //[^\n]* | ^\s*\#[^\n]*                      # a comment
    | \[(?:"(?:\\.|[^"\\])*"|[^\]"])*\]                      # attributes
    | (->|--|[{};,=])                                         # 2: a sign
    | ([^\s{};,="\[\]-]+(?:-(?![->])[^\s{};,="\[\]-]+)*)      # 3: a name, with dashes in it at most
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def from_manifest(document: Mapping[str, Any], source: str, name: str) -> Workflow:
    """Return the workflow of a manifest.

    Parameters
    ----------
    document
        With `tasks`: `id`, `number_of_cores` (or `cores`), `runtime_sim` (or `rtime`), `runtime_limit` (by default
        60 s more) and, in the form of the paper, `deps`; and with `dot_dag`, `max_cores` and `total_runtime`.
    source
        The file, for messages.
    name
        What the workflow is called.

    Returns
    -------
    Workflow
        With notes on what the manifest says that its tasks contradict.

    Raises
    ------
    InputError
        If something is missing or impossible.
    """
    tasks: list[Task] = []
    parents: dict[str, list[str]] = {}
    for place, entry in enumerate(objects(document, "tasks", source), 1):
        identifier = member(entry, "id", str, f"{source}, task {place}")
        where = f"{source}, task {identifier}"
        if identifier in parents:
            raise InputError(f"{source}: two tasks have the id {identifier}; ids must be unique")
        run_time = needed_number(entry, ("runtime_sim", "rtime"), where)
        limit = number(entry, ("runtime_limit",), where)
        if run_time < 0 or (limit is not None and limit <= 0):
            raise InputError(f"{where}: run times must be 0 or more, and limits above 0")
        processors = whole_processors(needed_number(entry, ("number_of_cores", "cores"), where), where)
        label = entry.get("name") or identifier
        tasks.append(Task(identifier, processors, run_time, limit or run_time + REQUEST_MARGIN, name=str(label)))
        parents[identifier] = texts(entry, "deps", where)
    if document.get("dot_dag") is not None:
        for parent, child in dot_edges(member(document, "dot_dag", str, source), source):
            if child not in parents:
                raise InputError(f"{source}, dot_dag: {child} is not a task; correct the edge or add the task")
            parents[child].append(parent)
    stated = number(document, ("total_runtime",), source)
    workflow = Workflow.arrange(name, tasks, parents, stated_time=stated or None)
    peak = number(document, ("max_cores",), source)
    if peak is not None and peak != workflow.peak_processors:
        note = f"states a peak of {peak:,g} cores, but its tasks have one of {workflow.peak_processors:,}"
        workflow = workflow.with_notes(note)
    return workflow


def dot_edges(text: str, source: str) -> list[tuple[str, str]]:
    """Return the edges of a directed graph in Graphviz' language, as pairs from parent to child.

    Statements may end with a semicolon or not, and edges be chained; attributes and comments are passed over.

    Raises
    ------
    InputError
        If an edge has no node on a side, or is undirected, or if braces do not match.

    Examples
    --------
    >>> dot_edges("digraph { a->b -> c [color=black]; 'd' }", "example")
    [('a', 'b'), ('b', 'c')]
    """
    words: list[tuple[str, bool]] = []  # and whether each is a sign
    for found in _TOKEN.finditer(text):
        if found[1] is not None:
            words.append((re.sub(r"\\(.)", r"\1", found[1]), False))
        elif found[2] or found[3]:
            words.append((found[2] or found[3], bool(found[2])))
    braces = [word for word, is_sign in words if is_sign and word in "{}"]
    if braces.count("{") != braces.count("}"):
        raise InputError(f"{source}, dot_dag: its braces do not match (truncated file?); write 'digraph {{ a -> b }}'")
    edges: list[tuple[str, str]] = []
    for place, (word, is_sign) in enumerate(words):
        if not is_sign or word not in ("->", "--"):
            continue
        before, after = (words[i] if 0 <= i < len(words) else ("", True) for i in (place - 1, place + 1))
        if word == "--" or before[1] or after[1]:
            raise InputError(
                f"{source}, dot_dag: around {before[0]!r} {word} {after[0]!r}, each edge must lead from one task to "
                "one task, with ->"
            )
        edges.append((before[0], after[0]))
    return edges


def to_manifest(workflow: Workflow) -> dict[str, Any]:
    """Return the manifest of a workflow, as the programs of ScSF read it.

    Examples
    --------
    >>> manifest = to_manifest(Workflow("two", (Task("a", 2, 10.0, 60.0), Task("b", 1, 5.0, 60.0, (0,)))))
    >>> manifest["max_cores"], manifest["total_runtime"], manifest["dot_dag"]
    (2, 15.0, 'strict digraph {\\n\\t"a";\\n\\t"b";\\n\\t"a" -> "b";\\n}\\n')
    """
    tasks = workflow.tasks
    nodes = [_quoted(task.id) for task in tasks]
    edges = [f"{nodes[parent]} -> {node}" for node, task in zip(nodes, tasks, strict=True) for parent in task.parents]
    lines = "".join(f"\t{statement};\n" for statement in (*nodes, *edges))
    return {
        "tasks": [
            {
                "id": task.id,
                "name": task.name or task.id,
                "execution_cmd": f"./{task.id}.py",
                "number_of_cores": task.processors,
                "runtime_limit": task.requested_time,
                "runtime_sim": task.run_time,
            }
            for task in tasks
        ],
        "resource_steps": [{"num_cores": cores, "end_time": end} for cores, end in workflow.steps()],
        "max_cores": workflow.peak_processors,
        "total_runtime": workflow.stated_time or workflow.length,
        "dot_dag": f"strict digraph {{\n{lines}}}\n",
    }


def _quoted(identifier: str) -> str:
    escaped = identifier.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
