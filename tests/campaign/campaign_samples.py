"""What the tests of campaigns share: small run directories, with results that a test chooses."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan, Task
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.outcome import Failure

Metrics = Callable[[Task], dict[str, float]]

BATCH = "0123456789abcdef" * 2
"""Name of a batch."""

PROVENANCE = {"schedlab": "9.8.7", "commit": "abc1234"}


def campaign(name: str = "small", **fields: Any) -> Campaign:
    """Return a campaign of 2 loads x 2 repetitions x 2 schedulers, unless fields say otherwise."""
    defaults: dict[str, Any] = {
        "description": "Is EASY better?",
        "schedulers": ["fcfs", "easy"],
        "workloads": [{"generate": "lublin", "jobs": 20, "processors": 16, "load": [0.5, 0.9], "repetitions": 2}],
    }
    return Campaign.model_validate({"name": name, **defaults, **fields})


def metrics_by_load(task: Task) -> dict[str, float]:
    """Return waits that one can compute in one's head: 1,000 s x load under FCFS, half of it under anything else."""
    load = 1.0 if task.instance.load is None else task.instance.load
    wait = 1000 * load / (1 if task.scheduler == "fcfs" else 2)
    return {"mean_wait": wait, "utilisation": load, "mean_wait_wide": float("nan")}


def finished_run(
    directory: Path,
    definition: Campaign | None = None,
    *,
    metrics: Metrics = metrics_by_load,
    failed: Collection[int] = (),
    left_out: Collection[int] = (),
) -> RunDirectory:
    """Make a run directory in which all tasks are done, without simulating any.

    Parameters
    ----------
    directory
        Of run directories; the new one is called like the campaign.
    definition
        By default, that of `campaign`.
    metrics
        Gives the metrics of a task.
    failed, left_out
        Positions in the plan of tasks that failed, and that have not been run.
    """
    definition = definition or campaign()
    plan = Plan(definition, find_inputs(definition, directory))
    run = RunDirectory(directory / definition.name)
    run.create()
    run.write_facts(plan, directory, PROVENANCE, f"schedlab campaign run {definition.name}.toml")
    tasks = [plan.task(position) for position in range(len(plan))]
    rows = [
        result_row(name, task, metrics(task))
        for position, (name, task) in enumerate(tasks)
        if position not in failed and position not in left_out
    ]
    if rows:
        store_rows(run, rows)
    if failed:
        run.store_failures(BATCH, [failure(*tasks[position]) for position in failed])
    return run


def result_row(name: str, task: Task, metrics: dict[str, float]) -> dict[str, Any]:
    """Return a row of results."""
    instance = task.instance
    return {
        "task": name,
        "workload": instance.workload,
        "load": float("nan") if instance.load is None else instance.load,
        "repetition": instance.repetition,
        "window": -1 if instance.window is None else instance.window.number,
        "scheduler": task.scheduler,
        **metrics,
        "seconds": 0.25,
        "specification": "{}",
    }


def store_rows(run: RunDirectory, rows: list[dict[str, Any]]) -> Path:
    """Store rows of results as one batch, and return its file."""
    content = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), content)
    return run.store("results", BATCH, ".parquet", content.getvalue())


def failure(name: str, task: Task) -> Failure:
    """Return a failure of a task."""
    return Failure(
        name,
        "error",
        "ValueError: the disc is round",
        "Traceback: ...",
        task.specification(),
        "node1",
        "2026-01-02T03:04:05.000000+00:00",
    )
