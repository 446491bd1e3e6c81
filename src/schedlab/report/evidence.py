"""What reports are made of: gathered from the run directory of a campaign, or from one comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedlab.campaign.definition.plan import Task
from schedlab.campaign.results.blocks import block_name, over_all_jobs, weekly_blocks
from schedlab.campaign.results.comparison import Comparison
from schedlab.campaign.results.statistics import METRIC, by_instance
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.worker import simulate_task
from schedlab.errors import InputError
from schedlab.naming import label_of
from schedlab.report.html import Evidence
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.provenance import input_sha256, provenance_for_pages
from schedlab.schedule.recorded import AS_RECORDED
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.window import started_by_all

if TYPE_CHECKING:
    import pandas as pd


def evidence_of_campaign(run: RunDirectory, *, metric: str | None = None, running: str = "") -> Evidence:
    """Gather what the report of a campaign shows, also of one that still runs.

    Parameters
    ----------
    run
        The run directory.
    metric
        The metric that decides; by default, that of the campaign.
    running
        Of a campaign that still runs: a sentence on how far it is. There need not be results then.

    Raises
    ------
    InputError
        If no simulation is finished.
    """
    campaign = run.plan.campaign
    metric = metric or campaign.metrics.main
    frame = _results(run) if running else run.results()
    example: dict[str, Schedule] = {}
    name = ""
    if not running:
        by_instance(frame, metric)  # says whether there is such a metric
        example, name = _example(run, frame, metric)
    elif not _comparable(frame, metric, campaign.compared_with):
        frame = frame.iloc[:0]
    return Evidence(
        name=campaign.name,
        description=campaign.description,
        frame=frame,
        baseline=campaign.compared_with,
        metric=metric,
        command=run.facts["command"],
        definition=run.facts["text"],
        planned=len(run.plan),
        failures=_failures(run),
        provenance=run.facts["provenance"] | {"seed": campaign.seed},
        inputs=[item.to_dict() | {"source": item.path or "model"} for item in run.plan.inputs],
        example=example,
        example_name=name,
        run=str(run.path),
        running=running,
    )


def _results(run: RunDirectory) -> pd.DataFrame:
    """Return the results so far, of which there may be none."""
    import pandas as pd

    table = run.table()
    return pd.DataFrame() if table is None or not table.num_rows else run.results()


def _comparable(frame: pd.DataFrame, metric: str, baseline: str) -> bool:
    """Say whether there are results of the metric and the baseline yet."""
    return metric in frame and bool((frame.scheduler == baseline).any())


def evidence_of_comparison(
    comparison: Comparison,
    *,
    baseline: str | None = None,
    metric: str = METRIC,
    command: str = "",
    source: str = "",
    changes: Sequence[str] = (),
) -> Evidence:
    """Gather what the report of one comparison shows: its pairs are weeks or days of submission.

    Parameters
    ----------
    comparison
        Schedules of one workload.
    baseline
        The scheduler that the others are compared with; by default, the first.
    metric
        The metric that decides.
    command
        What the user typed.
    source
        Where the jobs come from.
    changes
        Sentences on what was changed or left out in the log, see `schedlab.workload.changes`.
    """
    first = next(iter(comparison.schedules.values()))
    shown, recorded = dict(comparison.schedules), comparison.recorded
    if recorded is not None and len(recorded) == len(first):
        shown[AS_RECORDED] = recorded
    rows = started_by_all(
        comparison.schedules.values(), first, warm_up=comparison.warm_up, cool_down=comparison.cool_down
    ).rows
    block = block_name(first.workload.submit_time[rows])
    return Evidence(
        name=first.workload.name,
        frame=weekly_blocks(comparison.schedules, rows),
        whole=over_all_jobs(comparison.schedules, metric, rows),
        baseline=baseline or next(iter(comparison.schedules)),
        metric=metric,
        command=command,
        caveat=(
            f"The {block}s are of one log under one simulation each: a busy {block} burdens the next, so that "
            "the intervals are too narrow rather than too wide."
        ),
        provenance={name: value for name, value in provenance_for_pages(first).items() if name != "scheduler"},
        inputs=[
            {
                "workload": first.workload.name,
                "source": source,
                "sha256": input_sha256(first.workload),
                "jobs": len(first),
                "processors": first.processors,
            }
        ],
        example=shown,
        example_name=first.workload.name,
        prices=comparison.who_pays(baseline),
        own={
            scheduler: {name: values[name] for name in comparison.own}
            for scheduler, values in comparison.metrics.items()
            if comparison.own
        },
        changes=changes,
        blocks=block,
        warm_up=comparison.warm_up,
        cool_down=comparison.cool_down,
    )


def _failures(run: RunDirectory) -> list[dict[str, str]]:
    return [
        {
            "task": name,
            "workload": failure.specification["workload"],
            "scheduler": failure.specification["scheduler"],
            "reason": failure.reason,
            "command": run.command_for(name),
        }
        for name, failure in run.failures().items()
    ]


def _example(run: RunDirectory, frame: pd.DataFrame, metric: str) -> tuple[dict[str, Schedule], str]:
    """Return the schedules of an ordinary instance: of the first workload, the one with the median of the baseline.

    They are simulated again if they were not kept; there are none if their jobs have gone.
    """
    campaign = run.plan.campaign
    rows = frame[(frame.scheduler == campaign.compared_with) & frame[metric].notna()]
    if rows.empty:
        return {}, ""
    rows = rows[rows.workload == rows.workload.iloc[0]].sort_values(metric, kind="stable")
    chosen = run.plan.find(rows.task.iloc[(len(rows) - 1) // 2])
    schedules = {}
    for scheduler in run.plan.schedulers:
        task = Task(chosen.instance, scheduler, chosen.settings)
        try:
            schedules[label_of(scheduler)] = _schedule(run, task)
        except (InputError, OSError):
            continue
    return schedules, chosen.instance.label


def _schedule(run: RunDirectory, task: Task) -> Schedule:
    kept = run.schedule_file(task.name)
    return simulate_task(task) if kept is None else read_schedule(kept)
