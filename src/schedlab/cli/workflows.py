"""Verbs about workflows: show, convert, submit, results, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from schedlab.cli.options import Clean, Json, Processors, Trace
from schedlab.cli.outputs import check_output
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import note, show, show_json
from schedlab.cli.traces import read_trace
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    import pandas as pd

    from schedlab.workflow.workflow import Workflow
    from schedlab.workload.reading import Reading

HOUR = 3600

Description = Annotated[Path, typer.Argument(metavar="FILE", help="A manifest of ScSF, DAX or WfFormat (also .gz).")]
Descriptions = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Manifests of ScSF, DAX or WfFormat (also .gz).")
]
SavedSchedule = Annotated[
    Path, typer.Argument(metavar="SCHEDULE", help="A schedule of jobs of workflows, saved as .parquet.")
]
Rules = Annotated[
    Literal["corrected", "scsf"], typer.Option(help="Rules to apply; the reference of workflows lists the differences.")
]


def show_workflows(files: Descriptions, as_json: Json = False) -> None:
    """Print a summary of workflow files."""
    from schedlab.workflow.files import read_workflow

    described = [(file, read_workflow(file)) for file in files]
    if as_json:
        show_json([{"file": str(file)} | _facts(workflow) for file, workflow in described])
        return
    columns = ("workflow", "tasks", "edges", "levels", "length", "peak", "widest", "core-hours", "as pilot", "idle")
    lines = [columns, *(_cells(workflow) for _, workflow in described)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *cells in lines:
        padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        show("  ".join([f"{name:<{widths[0]}}", *padded]))
    for _, workflow in described:
        for remark in workflow.remarks():
            note(f"{workflow.name}: {remark}")


def _cells(workflow: Workflow) -> tuple[str, ...]:
    """Return the line of a workflow in the table."""
    facts = _facts(workflow)
    return (
        workflow.name,
        f"{facts['tasks']:,}",
        f"{facts['edges']:,}",
        f"{facts['levels']:,}",
        f"{facts['length']:,.0f} s",
        f"{facts['peak_processors']:,}",
        f"{facts['widest']:,}",
        f"{facts['work'] / HOUR:,.1f}",
        f"{facts['pilot_work'] / HOUR:,.1f}",
        f"{facts['idle_share']:.0%}",
    )


def _facts(workflow: Workflow) -> dict[str, Any]:
    """Return what a table says of a workflow."""
    pilot_work = workflow.peak_processors * workflow.length
    return {
        "name": workflow.name,
        "tasks": len(workflow),
        "edges": workflow.edges,
        "roots": len(workflow.roots),
        "levels": len(workflow.levels),
        "widest_level": max(len(level) for level in workflow.levels),
        "length": workflow.length,
        "peak_processors": workflow.peak_processors,
        "widest": workflow.widest,
        "work": workflow.work,
        "pilot_work": pilot_work,
        "pilot_request": workflow.pilot_request,
        "idle_share": 1 - workflow.work / pilot_work if pilot_work else 0.0,
        "remarks": workflow.remarks(),
    }


def convert(
    file: Description,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="File to write, .json or .json.gz.")],
    to: Annotated[
        Literal["wfformat", "manifest"], typer.Option(help="WfFormat 1.6, or a manifest of ScSF.")
    ] = "wfformat",
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:CAP]", help="Group all tasks with this name into one; '*' is every name. Repeatable."
        ),
    ] = None,
    cap: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum number of processors of a group.")
    ] = None,
    rounds: Annotated[
        Literal["average", "packed"] | None,
        typer.Option(
            show_default="average",
            help="Run time of capped groups: average, the mean run time of the tasks multiplied by the number of "
            "rounds (as ScSF does); packed, as long as the tasks take when each starts on the first free "
            "processors.",
        ),
    ] = None,
    chains: Annotated[
        bool, typer.Option("--merge-chains", help="Merge tasks in a row that use as many processors.")
    ] = False,
    rename: Annotated[bool, typer.Option("--rename", help="Rename the tasks S0, S1, ... level by level.")] = False,
) -> None:
    """Write a workflow in another format, with tasks grouped on request."""
    from schedlab.workflow.files import read_workflow, write_workflow
    from schedlab.workflow.grouping import group_by_name, merge_chains, parse_groups, rename_by_levels

    if cap is not None and not group:
        raise typer.BadParameter("a cap is for groups; say with --group which tasks to group", param_hint="--cap")
    check_output(output, file)
    workflow = read_workflow(file)
    tasks = len(workflow)
    groups = parse_groups(group or (), workflow, cap)
    if rounds is not None and not any(groups.values()):
        raise InputError("--rounds is for groups with a cap: add --group NAME:CAP, or --cap, or leave it out")
    if groups:
        workflow = group_by_name(workflow, groups, rounds=rounds or "average")
    if chains:
        workflow = merge_chains(workflow)
    if rename:
        workflow = rename_by_levels(workflow)
    write_workflow(workflow, output, format=to)
    before = "" if len(workflow) == tasks else f" instead of {tasks:,}"
    cores = f"{workflow.peak_processors:,} cores at the peak"
    show(f"{output}: {count_of(len(workflow), 'task')}{before}, {cores}, {workflow.length:,.6f} s")


@reads_logs
def submit(
    trace: Trace,
    files: Descriptions,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="File to write, .parquet.")],
    submission_mode: Annotated[
        Literal["pilot", "chained", "aware"],
        typer.Option(help="One job for all tasks, a job per task, or a job per task with a common place in the queue."),
    ] = "chained",
    every: Annotated[int, typer.Option(min=1, metavar="SECONDS", help="Time between two workflows.")] = HOUR,
    begin: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Submit time of the first workflow.", show_default="that of the first job"
        ),
    ] = None,
    rules: Rules = "corrected",
    clean: Clean = "default",
    processors: Processors = None,
    *,
    reading: Reading,
) -> None:
    """Add workflows to a trace, one after the other in turn, until its last submission."""
    from schedlab.workflow.files import read_workflow
    from schedlab.workload.files import write_workload
    from schedlab.workload.submissions import Submission
    from schedlab.workload.submitting import submit_workflows

    if output.suffix != ".parquet":
        raise InputError(f"{output}: jobs of workflows are written as .parquet: use that suffix")
    check_output(output, trace)
    workflows = [read_workflow(file) for file in files]
    read = read_trace(trace, clean, processors=processors, reading=reading)
    first = int(read.workload.submit_time.min()) if begin is None else begin
    last = int(read.workload.submit_time.max())
    if first > last:
        raise InputError(f"--begin {first}: the last job is submitted at {last} s: give an earlier second")
    instants = range(first, last + 1, every)
    submissions = [
        Submission(workflows[number % len(workflows)], submission_mode, instant)
        for number, instant in enumerate(instants)
    ]
    workload = submit_workflows(read.workload, submissions, rules=rules)
    write_workload(workload, output)
    read.note_cleaning()
    added = len(workload) - len(read.workload)
    show(
        f"{output}: {count_of(len(read.workload), 'job')} and {count_of(len(submissions), 'workflow')} as "
        f"{submission_mode} jobs ({added:,})"
    )


def results(
    schedule: SavedSchedule,
    until: Annotated[
        int | None, typer.Option(min=0, metavar="SECONDS", help="Workflows that end later count as unfinished.")
    ] = None,
    rules: Rules = "corrected",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="CSV", help="File to write one line per workflow to.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print wait, run time and stretch of workflows, by kind and submission mode."""
    from schedlab.atomic import atomic_path
    from schedlab.schedule.exports import read_schedule
    from schedlab.schedule.workflows import workflow_table

    check_output(output, schedule)
    table = workflow_table(read_schedule(schedule), until=until, rules=rules)
    if table.empty:
        raise InputError(
            f"{schedule}: no workflow is complete in this schedule: add workflows with schedlab workflow submit"
        )
    if output is not None:
        with atomic_path(output) as temporary:
            table.to_csv(temporary, index=False)
    summary = _by_group(table)
    if as_json:
        show_json(summary)
        return
    width = max(len(row["group"]) for row in summary)
    show(f"{'workflow':<{width}}  mode      finished  median wait  run time  turnaround  stretch  killed tasks")
    for row in summary:
        medians = f"{'-':>8}    {'-':>8}  {'-':>10}  {'-':>7}"
        if row["finished"]:
            medians = (
                f"{row['median_wait']:>8,.0f} s  {row['median_run_time']:>8,.0f}  {row['median_turnaround']:>10,.0f}"
                f"  {row['median_stretch']:>7.3f}"
            )
        show(
            f"{row['group']:<{width}}  {row['submission_mode']:<8}  "
            f"{row['finished']:>4} of {row['workflows']:<4}{medians}"
            f"  {row['killed_tasks']:>12,}"
        )


def _by_group(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return numbers and, of the finished workflows, medians, by group and submission_mode."""
    from schedlab.schedule.metrics import WORKFLOW_MEASURES

    rows = []
    for (group, submission_mode), part in table.groupby(["group", "submission_mode"], sort=True):
        finished = part[part["finished"]]
        medians = {f"median_{measure}": float(finished[measure].median()) for measure in WORKFLOW_MEASURES}
        counts = {"workflows": len(part), "finished": len(finished)}
        names = {"group": group, "submission_mode": submission_mode}
        rows.append(names | counts | medians | {"killed_tasks": int(part["killed_tasks"].sum())})
    return rows


def export(
    schedule: SavedSchedule,
    number: Annotated[
        int, typer.Argument(min=0, metavar="NUMBER", help="Number of the workflow, as in workflow results -o.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="File to write, .json or .json.gz.")],
) -> None:
    """Write a simulated workflow as WfFormat, with the time and place of each task."""
    from schedlab.schedule.exports import read_schedule
    from schedlab.schedule.workflows import execution_of
    from schedlab.workflow.files import write_workflow

    check_output(output, schedule)
    read = read_schedule(schedule)
    executed = execution_of(read, number)
    assert read.workload.workflows is not None
    workflow = read.workload.workflows.submissions[number].workflow
    write_workflow(workflow, output, executed=executed)
    show(f"{output}: {count_of(len(workflow), 'task')} of {workflow.name} under {read.scheduler}")
