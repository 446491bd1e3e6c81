"""Workflows for other programs and for notebooks: as a graph of networkx, and as a small table."""

from __future__ import annotations

from typing import Any

from schedlab.display import html_table
from schedlab.errors import InputError
from schedlab.workflow.workflow import Workflow


def to_networkx(workflow: Workflow) -> Any:
    """Return a workflow as a `networkx.DiGraph`.

    Nodes are the ids of the tasks, with processors, run_time, requested_time (seconds) and name; edges go from a task
    to those that wait for it.

    Raises
    ------
    InputError
        If the package networkx is not installed.
    """
    try:
        import networkx
    except ImportError:
        raise InputError("graphs need the package networkx: pip install networkx") from None
    graph = networkx.DiGraph(name=workflow.name)
    for task in workflow.tasks:
        times = {"run_time": task.run_time, "requested_time": task.requested_time}
        graph.add_node(task.id, processors=task.processors, **times, name=task.name)
    graph.add_edges_from((workflow.tasks[one].id, task.id) for task in workflow.tasks for one in task.parents)
    return graph


def as_table(workflow: Workflow) -> str:
    """Return what a notebook shows of a workflow."""
    facts = {
        "tasks": f"{len(workflow):,}",
        "edges": f"{workflow.edges:,}",
        "levels": f"{len(workflow.levels):,}",
        "longest path": f"{workflow.length:,.0f} s",
        "work": f"{workflow.work / 3600:,.1f} processor-hours",
        "peak": f"{workflow.peak_processors:,} processors",
    }
    return html_table([workflow.name, ""], list(facts.items()))
