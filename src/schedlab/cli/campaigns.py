"""Verbs for campaigns: many simulations from one file, in a run directory that survives anything."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from schedlab.cli.archives import RUNS, Index, Run, open_run
from schedlab.cli.campaign_runs import asked_for, chosen_workers, run_here, update_index
from schedlab.cli.option_words import in_options
from schedlab.cli.options import Json
from schedlab.cli.outputs import check_page, note_report, write_text
from schedlab.cli.terminal import command_line, note, show, show_json
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.campaign.run.directory import RunDirectory
    from schedlab.campaign.sources.input import Input

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Campaign file: TOML, or Python that sets the variable campaign.")
]
Directory = Annotated[
    Path | None,
    typer.Option("--directory", "-d", metavar="DIR", show_default="runs/NAME", help="The run directory."),
]


def run(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|RUN",
            help="Campaign file: TOML, or Python that sets the variable campaign; or a run directory to resume.",
        ),
    ],
    directory: Directory = None,
    executor: Annotated[
        Literal["local", "dask", "slurm"],
        typer.Option(
            help="Where to run: on this host, on a Dask cluster, or as a Slurm job array (submitted, without waiting)."
        ),
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="one per core",
            help="Number of processes on this host, of jobs of a new Dask cluster, or of array elements.",
        ),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed simulations again.")] = False,
    dask_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of a running Dask scheduler.",
            show_default="start one on this host, or with --slurm-option as Slurm jobs",
        ),
    ] = None,
    dask_file: Annotated[
        Path | None,
        typer.Option("--dask-scheduler-file", metavar="FILE", help="Scheduler file of a running Dask scheduler."),
    ] = None,
    slurm_option: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION", help="Option for sbatch, such as --time=2:00:00; repeatable."),
    ] = None,
    max_array_size: Annotated[
        int | None, typer.Option(min=1, show_default="what Slurm says", help="MaxArraySize of this Slurm.")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report at the end, .html.")] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Keep the report (default: report.html in DIR) up to date while running; an open page follows.",
        ),
    ] = False,
    index: Index = None,
    as_json: Json = False,
) -> None:
    """Run the missing simulations of a campaign; the same command resumes an interrupted one."""
    from schedlab.report.evidence import evidence_of_campaign
    from schedlab.report.html import write_report
    from schedlab.report.watch import Watch

    if executor != "dask" and (dask_address or dask_file):
        raise typer.BadParameter("--dask-address and --dask-scheduler-file go with --executor dask")
    if executor == "local" and slurm_option:
        raise typer.BadParameter("--slurm-option goes with --executor slurm or dask")
    definition, base, text, place = asked_for(file, directory)
    options, command = slurm_option or [], command_line(definition.named_classes())
    page = report or (place / "report.html" if watch else None)
    if page is not None:
        check_page(page, made=place)
    if executor == "slurm":
        from schedlab.campaign.run.slurm import submit

        submission = submit(
            definition,
            place,
            base=base,
            elements=workers,
            max_array_size=max_array_size,
            options=options,
            retry_failed=retry_failed,
            command=command,
            text=text,
        )
        show(submission)
        if page is not None:
            watching = Watch(place, page)
            watching.follow()
            note_report(page, watching.finish)
        return
    chosen = chosen_workers(executor, workers, dask_address, dask_file, options)
    following = Watch(place, page) if page is not None and watch else None
    finished = run_here(
        place,
        following,
        campaign=definition,
        base=base,
        text=text,
        workers=chosen,
        retry_failed=retry_failed,
        command=command,
    )
    update_index(finished, index)
    status = finished.status()
    if page is not None:
        note_report(page, lambda: write_report(evidence_of_campaign(finished), page))
    if finished.left_alone:
        note(finished.left_alone)
    if as_json:
        show_json(_status(finished))
    else:
        _show_finished(finished, place, "" if page else f"; report: schedlab report {place} -o report.html")
    if status.failed:
        _note_failures(finished)
        raise typer.Exit(1)


def _show_finished(finished: RunDirectory, place: Path, hint: str) -> None:
    """Print what came of a campaign, and what to do next."""
    _show_standings(finished)
    _note_warnings(finished.plan.inputs)
    note(f"\n{count_of(finished.status().done, 'result')} in {place}{hint}")
    if any(getattr(entry, "workflows", ()) for entry in finished.plan.campaign.workloads):
        note(f"the submission modes of workflows compared: schedlab analyse {place}")


def _show_standings(finished: RunDirectory) -> None:
    """Print the comparison; failures may have left nothing to compare, which does not hide them."""
    try:
        show(_ranking(finished, None))
    except InputError as error:
        note(str(error))


def plan(file: File, directory: Directory = None, as_json: Json = False) -> None:
    """Print what a campaign would run, and how much of it is done."""
    from schedlab.campaign.definition.campaign_file import read_campaign
    from schedlab.campaign.definition.inputs import find_inputs
    from schedlab.campaign.definition.plan import Plan
    from schedlab.campaign.run.directory import RunDirectory
    from schedlab.wording import table

    definition = read_campaign(file)
    place = directory or RUNS / definition.name
    planned = Plan(definition, find_inputs(definition, file.parent))
    done = int(RunDirectory(place).done(planned).sum())
    instances = {item.workload: 0 for item in planned.inputs}
    for instance in planned.instances:
        instances[instance.workload] += 1
    if as_json:
        workloads = [item.to_dict() | {"instances": instances[item.workload]} for item in planned.inputs]
        show_json({"workloads": workloads, "schedulers": planned.schedulers, "tasks": len(planned), "done": done})
        return
    rows = [
        [item.workload, f"{item.jobs:,}", f"{item.processors:,}", f"{instances[item.workload]:,}"]
        for item in planned.inputs
    ]
    show(table(["workload", "jobs", "processors", "instances"], rows))
    show(f"\nschedulers: {'  '.join(planned.schedulers)}")
    show(
        f"\n{count_of(len(planned.instances), 'instance')} x {count_of(len(planned.schedulers), 'scheduler')} = "
        f"{count_of(len(planned), 'simulation')}, {done:,} of them done in {place}"
    )
    _note_warnings(planned.inputs)


def _note_warnings(inputs: Iterable[Input]) -> None:
    for item in inputs:
        if item.warning:
            note(item.warning)


def status(run: Run, as_json: Json = False) -> None:
    """Print the progress and failures of a campaign, also while it runs."""
    opened = open_run(run).without_code()
    document = _status(opened)
    if as_json:
        show_json(document)
        return
    planned, done, failed = document["planned"], document["done"], document["failed"]
    show(f"{document['name']}: {done:,} of {count_of(planned, 'simulation')} done, {failed:,} failed")
    note(f"the run directory is {opened.path}")
    if document["coordinator"]:
        holder = document["coordinator"]
        show(f"running: process {holder['pid']} on {holder['host']}, {count_of(document['running'], 'worker')} busy")
    elif document["slurm_jobs"]:
        for job, elements in document["slurm_jobs"].items():
            show(f"running: Slurm job {job}, {count_of(elements, 'element')} waiting or running")
    elif done + failed < planned:
        show("not running here; the same campaign run continues it")
    if document["corrupt"]:
        show(
            f"{count_of(document['corrupt'], 'damaged file')} in {opened.path / 'corrupt'}: their tasks are made again"
        )
    if opened.left_alone:
        note(opened.left_alone)
    _note_other_code(opened)
    _note_failures(opened)


def _note_other_code(opened: RunDirectory) -> None:
    if changed := opened.other_code():
        note(
            f"the code of {', '.join(changed)} has changed since the campaign was run: these are results of the "
            "earlier one; campaign run makes them again"
        )


def _status(opened: RunDirectory) -> dict[str, Any]:
    from dataclasses import asdict

    from schedlab.campaign.run.job_arrays import active
    from schedlab.campaign.run.lock import Lock

    lock = Lock(opened.path / "lock.json")
    holder = lock.holder()
    living = holder if holder is not None and lock.is_alive(holder) else None
    failures = [asdict(failure) | {"command": opened.command_for(name)} for name, failure in opened.failures().items()]
    facts = {"name": opened.facts["name"], "directory": str(opened.path)}
    workers = {"coordinator": living, "slurm_jobs": active(opened)}
    return facts | asdict(opened.status()) | workers | {"failures": failures}


SHOWN_FAILURES = 10


def _note_failures(opened: RunDirectory) -> None:

    failures = opened.failures()
    for name, failure in list(failures.items())[:SHOWN_FAILURES]:
        what = opened.plan.find(name).label
        note(f"failed: {what}\n  {in_options(failure.reason)}\n  again, alone: {opened.command_for(name)}")
    if len(failures) > SHOWN_FAILURES:
        note(f"and {len(failures) - SHOWN_FAILURES:,} more failures; schedlab campaign status --json lists all")
    if failures:
        note("campaign run --retry-failed tries them again")


def results(
    run: Run,
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", show_default="that of the campaign", help="Metric to compare.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the comparison: .tex (LaTeX, booktabs) or .csv.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write all results: .csv or .parquet.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare the schedulers of a campaign, with intervals of paired differences; also while it runs."""
    from schedlab.cli.outputs import check_output

    if output is not None and output.suffix not in (".csv", ".parquet"):
        raise InputError(f"{output}: unknown suffix; results are written as .csv or .parquet")
    if table is not None and table.suffix not in (".csv", ".tex"):
        raise InputError(f"{table}: unknown suffix; the comparison is written as .tex or .csv")
    check_output(output, run)
    check_output(table, run)
    opened = open_run(run).without_code()  # numbers that are stored need none
    frame = opened.results()
    if output is not None:
        from schedlab.atomic import atomic_path

        with atomic_path(output) as temporary:
            if output.suffix == ".csv":
                frame.to_csv(temporary, index=False)
            else:
                frame.to_parquet(temporary, index=False)
        note(f"{count_of(len(frame), 'result')} written to {output}")
    ranking = _ranking(opened, metric)
    if table is not None:
        write_text(table, ranking.to_latex() if table.suffix == ".tex" else ranking.to_frame().to_csv(index=False))
        note(f"the comparison is in {table}")
    _note_other_code(opened)
    if as_json:
        show_json({"campaign": opened.facts["name"], **ranking.to_dict()})
    else:
        show(ranking)
        note(f"the results are those in {opened.path}")


def _ranking(opened: RunDirectory, metric: str | None) -> Any:
    from schedlab.campaign.results.ranking import ranking

    definition = opened.plan.campaign
    return ranking(opened.results(), definition.compared_with, metric or definition.metrics.main)


def task(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="TASK", help="Name of the task, or its first letters.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the schedule: .parquet, .csv or .swf."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a single task of a campaign without storing its result, to see its schedule or why it fails."""
    from schedlab.campaign.run.worker import simulate_task
    from schedlab.schedule.exports import check_schedule_suffix
    from schedlab.schedule.summary import summary

    if output is not None:
        check_schedule_suffix(output)
    found = open_run(run).plan.find(name)
    schedule = simulate_task(found)
    if output is not None:
        schedule.save(output)
    if as_json:
        show_json({"specification": found.specification(), "provenance": schedule.provenance()})
    else:
        show(f"{found.label}\n\n{summary(schedule, schedule.metrics())}")


def element(
    run: Run,
    submission: Annotated[str, typer.Argument(metavar="SUBMISSION")],
    number: Annotated[int, typer.Option(envvar="SLURM_ARRAY_TASK_ID", min=0)],
) -> None:
    """Work through one element of a Slurm job array: what the batch script calls."""
    from schedlab.campaign.run.slurm import run_element

    run_element(open_run(run), submission, number)
