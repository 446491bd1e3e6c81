"""The verb that says what a schedule or a log took in energy, and the option that adds it to other verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import Clean, ClusterFile, Json, Processors
from schedlab.cli.outputs import check_figure, check_output, check_page
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import command_line, note, show, show_json
from schedlab.cli.traces import read_machine, read_trace
from schedlab.errors import InputError, located

if TYPE_CHECKING:
    from schedlab.cluster.cluster import Cluster
    from schedlab.energy.accounting import EnergyAccount
    from schedlab.energy.power import Power
    from schedlab.schedule.schedule import Schedule
    from schedlab.workload.reading import Reading
    from schedlab.workload.workload import Workload

PowerFile = Annotated[
    Path | None,
    typer.Option(
        "--power",
        metavar="FILE",
        help="Power model of the machine (.toml): add its energy, its cost and its CO2.",
    ),
]

EnforceCap = Annotated[
    bool, typer.Option("--enforce-cap", help="With --power: start no job that would bring the power above its cap.")
]


def under_cap(
    jobs: Workload, power: Power | None, machine: Cluster | None, processors: int | None, *, enforced: bool
) -> tuple[Workload, Cluster | None]:
    """Return jobs and machine, under the cap of the power model if it is to be enforced."""
    from schedlab.energy.capping import capped

    if not enforced:
        return jobs, machine
    if power is None:
        raise InputError("--enforce-cap needs the power model that has the cap: give --power FILE")
    return capped(jobs, power, cluster=machine, processors=processors)


def read_power_of(file: Path | None, cluster: Cluster | None) -> Power | None:
    """Return the power model of an option, for a machine."""
    from schedlab.energy.power_file import read_power

    return None if file is None else read_power(file, cluster)


def energy_of(schedule: Schedule, power: Power | None, file: Path | None) -> EnergyAccount | None:
    """Return the energy of a schedule, if there is a power model; errors name its file."""
    from schedlab.energy.accounting import account

    if power is None:
        return None
    with located(str(file)):
        return account(schedule, power)


@reads_logs
def energy(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SCHEDULE|TRACE", help="A schedule (.parquet), or a trace: its jobs as they were recorded."
        ),
    ],
    power: Annotated[Path, typer.Option("--power", metavar="FILE", help="Power model of the machine, .toml.")],
    cluster: ClusterFile = None,
    clean: Clean = "default",
    processors: Processors = None,
    *,
    reading: Reading,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV file to write the power over time to: second, watts.")
    ] = None,
    jobs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV file to write the energy of each job to: job_id, kwh.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Figure of the power over time: .png, .pdf, .svg or .pgf.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page to explore the schedule, .html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what a schedule or a log took in energy, and what that cost in money and CO2."""
    for output in (csv, jobs):
        check_output(output, source)
    if plot is not None:
        check_figure(plot, source)
    if report is not None:
        check_page(report, source)
    machine = read_machine(cluster, processors)
    model = read_power_of(power, machine)
    schedule = _schedule(source, clean, processors, machine, reading)
    found = energy_of(schedule, model, power)
    assert model is not None
    assert found is not None
    _write(schedule, found, csv, jobs)
    if plot is not None:
        from schedlab.report.power import plot_power
        from schedlab.report.style import save_figure

        save_figure(plot_power(schedule, model), plot)
        note(f"figure {plot}")
    if report is not None:
        from schedlab.report.schedules import write_schedule_report

        write_schedule_report(schedule, report, command=command_line(), source=str(source), power=model)
        note(f"report {report}")
    if as_json:
        show_json({"energy": document_of(found)})
    else:
        show(f"{schedule.workload.name} {_how(schedule)}\n{found}")


def _how(schedule: Schedule) -> str:
    return schedule.scheduler if schedule.scheduler.startswith("as ") else f"under {schedule.scheduler}"


def _schedule(source: Path, clean: str, processors: int | None, machine: Cluster | None, reading: Reading) -> Schedule:
    """Return a schedule that was saved, or the one that a log has recorded."""
    if source.suffix == ".parquet":
        from schedlab.schedule.exports import read_schedule

        return read_schedule(source)
    from schedlab.schedule.recorded import recorded

    read = read_trace(source, clean, processors=processors, machine=machine, reading=reading)
    if not len(read.workload):
        raise InputError(f"{source}: there are no jobs")
    read.note_cleaning()
    return recorded(read.workload)


def document_of(found: EnergyAccount) -> dict[str, Any]:
    """Return an account as a document for --json."""
    return {**found.metrics(), "joules": dict(found.joules), "runs_not_measured": found.estimated}


def _write(schedule: Schedule, found: EnergyAccount, csv: Path | None, jobs: Path | None) -> None:
    import pandas as pd

    from schedlab.atomic import atomic_path

    tables = [
        (csv, {"second": found.power.times, "watts": found.power.values}),
        (jobs, {"job_id": schedule.workload.job_id, "kwh": found.of_jobs}),
    ]
    for path, columns in tables:
        if path is not None:
            with atomic_path(path) as temporary:
                pd.DataFrame(columns).to_csv(temporary, index=False)
