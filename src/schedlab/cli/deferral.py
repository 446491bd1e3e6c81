"""The verb about jobs that can wait for cheap or green energy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from schedlab.cli.energy import read_power_of
from schedlab.cli.options import DEFAULT_SCHEDULER, Clean, ClusterFile, Json, Processors, SchedulerText, Trace
from schedlab.cli.outputs import check_figure, check_output
from schedlab.cli.reading import reads_logs
from schedlab.cli.schedules import only_one
from schedlab.cli.terminal import note, progress_bar, show, show_json
from schedlab.cli.times import time_of
from schedlab.cli.traces import read_machine, read_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedlab.energy.deferral import Deferral
    from schedlab.workload.reading import Reading

TOLERANCES = ("0s", "2h", "4h", "8h", "24h")


@reads_logs
def defer(
    trace: Trace,
    power: Annotated[
        Path, typer.Option("--power", metavar="FILE", help="Power model with the price or intensity over time, .toml.")
    ],
    scheduler: SchedulerText = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            show_default=", ".join(TOLERANCES),
            help="For how long jobs may be held back after their submission; repeatable.",
        ),
    ] = None,
    by: Annotated[Literal["price", "intensity"], typer.Option(help="What jobs wait for to be low.")] = "price",
    share: Annotated[float, typer.Option(min=0, max=1, help="Share of the jobs that can wait, drawn at random.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of that draw.")] = 1,
    clean: Clean = "default",
    processors: Processors = None,
    cluster: ClusterFile = None,
    *,
    reading: Reading,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Figure of cost against waits: .png, .pdf, .svg or .pgf.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let jobs wait for cheap or green energy up to a deadline, and tell what that saves and costs in waits."""
    from schedlab.energy.deferral import defer as deferred
    from schedlab.energy.deferral import tolerant

    check_output(None, trace)
    if plot is not None:
        check_figure(plot, trace)
    machine = read_machine(cluster, processors)
    model = read_power_of(power, machine)
    assert model is not None
    read = read_trace(trace, clean, processors=processors, machine=machine, reading=reading)
    jobs = read.workload if share == 1 else tolerant(read.workload, share, rng=seed)
    with read.blamed(), progress_bar("simulating") as progress:
        found = deferred(
            jobs,
            only_one(scheduler) or DEFAULT_SCHEDULER,
            model,
            [time_of("--tolerance", text) for text in tolerance or TOLERANCES],
            by=by,
            progress=progress,
            cluster=machine,
        )
    cost = "energy_cost" if by == "price" else "energy_co2_kg"
    if plot is not None:
        from schedlab.report.pareto import plot_pareto
        from schedlab.report.style import save_figure

        save_figure(plot_pareto(found, cost=cost), plot)
        note(f"figure {plot}")
    read.note_cleaning()
    read.note_left_out()
    if as_json:
        show_json({"by": by, "share": share, "tolerances": [one.metrics() for one in found]})
    else:
        show(f"{jobs.name} under {found[0].schedule.scheduler}\n\n{_table(found, cost, model.currency)}")


def _table(found: Sequence[Deferral], cost: str, currency: str) -> str:
    """Return waits and costs by how long jobs may wait, with a mark at those that another one beats in both."""
    from schedlab.durations import duration_text
    from schedlab.energy.deferral import undominated
    from schedlab.schedule.columns import in_columns
    from schedlab.schedule.summary import three_digits
    from schedlab.wording import table

    rows: list[list[str | float]] = []
    first = found[0].metrics()[cost]
    for one, best in zip(found, undominated(found, "mean_wait", cost), strict=True):
        told = one.metrics()
        saved = (told[cost] - first) / first if first else 0.0
        rows.append(
            [
                duration_text(one.tolerance) if one.tolerance else "at once",
                f"{told['held_back_jobs']:,.0f}",
                *(told[name] for name in ("mean_held_back", "mean_wait", "p95_wait", "max_wait")),
                f"{three_digits(told[cost])}",
                f"{saved:+.1%}" if saved else "-",
                "" if best else "beaten",
            ]
        )
    unit = (
        f"cost ({currency})" if cost == "energy_cost" and currency else {"energy_cost": "cost"}.get(cost, "kg of CO2")
    )
    head = ["may wait", "held back", "for mean", "wait mean", "wait p95", "wait max", unit, "change", ""]
    return table(head, in_columns(rows))
