"""The verb about idle nodes that are switched off."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from schedlab.cli.energy import read_power_of
from schedlab.cli.options import DEFAULT_SCHEDULER, Clean, ClusterFile, Json, SchedulerText
from schedlab.cli.reading import reads_logs
from schedlab.cli.schedules import only_one
from schedlab.cli.terminal import note, progress_bar, show, show_json
from schedlab.cli.times import seconds_of
from schedlab.cli.traces import read_machine, read_trace
from schedlab.cluster.power_saving import PowerSaving
from schedlab.errors import InputError, located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedlab.cluster.cluster import Cluster
    from schedlab.energy.switching_off import SwitchedOff
    from schedlab.workload.reading import Reading
    from schedlab.workload.workload import Workload

USUAL = PowerSaving(600, 300, 30)
"""When nodes are switched off, unless options or slurm.conf say it."""


@reads_logs
def switch_off(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE|SITE", help="Jobs, with --cluster; or the directory of a site.")
    ],
    power: Annotated[Path, typer.Option("--power", metavar="FILE", help="Power model of the machine, .toml.")],
    cluster: ClusterFile = None,
    after: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            show_default="SuspendTime of slurm.conf, or 10m",
            help="Time for which a node is idle before it is switched off; repeatable.",
        ),
    ] = None,
    boot: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", show_default="ResumeTimeout of slurm.conf, or 5m", help="Time that a node takes to boot."
        ),
    ] = None,
    shutdown: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", show_default="SuspendTimeout of slurm.conf, or 30s", help="Time to switch a node off."
        ),
    ] = None,
    always_on: Annotated[
        str | None,
        typer.Option(
            metavar="NODES",
            show_default="SuspendExcNodes of slurm.conf, or none",
            help="Nodes that are never switched off, as a host list.",
        ),
    ] = None,
    scheduler: SchedulerText = None,
    clean: Clean = "default",
    *,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Switch idle nodes off, and tell what that saves in energy and costs in waits for nodes that boot."""
    from schedlab.energy.switching_off import switch_off as switched_off

    asked = _asked(trace, cluster, only_one(scheduler), clean, reading)
    model = read_power_of(power, asked.cluster)
    assert model is not None
    one = _with_options(_usual(asked), boot, shutdown, always_on)
    times = [seconds_of("--after", text) for text in after or ()] or [one.suspend_time]
    savings = [None, *(replace(one, suspend_time=seconds) for seconds in times)]
    with asked.blamed, progress_bar("simulating") as progress:
        found = switched_off(asked.jobs, asked.scheduler, model, asked.cluster, savings, progress=progress)
    for text in asked.notes:
        note(text)
    if as_json:
        document = [{"after": one.saving and one.saving.suspend_time, **one.metrics()} for one in found]
        show_json({"switched_off": document, "sentences": [one.sentence(found[0]) for one in found[1:]]})
    else:
        sentences = "\n".join(one.sentence(found[0]) for one in found[1:])
        show(f"{sentences}\n\n{asked.jobs.name} under {found[0].schedule.scheduler}\n\n{_table(found)}")
    note(
        "a start that is later by a boot changes which jobs start next, so that the mean wait may differ by more than "
        "the boots, to either side, which is chance; and nodes are chosen as ever, where Slurm takes those that are on "
        "first, and would boot fewer"
    )


class Asked(NamedTuple):
    """What is to be simulated, where the cluster comes from, what was left out; `blamed` lets errors name a file."""

    jobs: Workload
    cluster: Cluster
    scheduler: str
    described: Path
    notes: list[str]
    blamed: AbstractContextManager[None]


def _asked(trace: Path, cluster: Path | None, scheduler: str | None, clean: str, reading: Reading) -> Asked:
    """Return the jobs of a trace on a cluster, or those of a site on its own, under its own scheduler."""
    from schedlab.site.site import MANIFEST, read

    if (trace / MANIFEST).is_file():
        site = read(trace)
        found = site.replayable()
        notes = found.notes()
        if site.node_events is not None:
            notes.append("what happened to the site's nodes is left out: nodes that are switched off do not go with it")
        text = scheduler or site.settings.scheduler
        return Asked(found.jobs, site.cluster, text, trace, notes, located(str(trace)))
    machine = read_machine(cluster, None)
    if machine is None or cluster is None:
        raise InputError(
            f"{trace}: nodes are switched off on a cluster: give --cluster FILE, or the directory of a site"
        )
    cleaned = read_trace(trace, clean, machine=machine, reading=reading)
    cleaned.note_cleaning()
    cleaned.note_left_out()
    return Asked(cleaned.workload, machine, scheduler or DEFAULT_SCHEDULER, cluster, [], cleaned.blamed())


def _usual(asked: Asked) -> PowerSaving:
    """Return when the slurm.conf of a cluster switches nodes off, or what is usual here."""
    from schedlab.cluster.slurm_power import slurm_power_saving
    from schedlab.durations import duration_text

    told = slurm_power_saving(asked.described, asked.cluster)
    if told is not None:
        note(
            f"slurm.conf: nodes are switched off after {duration_text(told.suspend_time)} (SuspendTime); unless --boot "
            f"says it, a boot takes {duration_text(told.boot_time)}, for which Slurm waits at most (ResumeTimeout)"
        )
    return told or USUAL


def _with_options(usual: PowerSaving, boot: str | None, shutdown: str | None, always_on: str | None) -> PowerSaving:
    from schedlab.cluster.hostlist import host_names

    given = {
        "boot_time": seconds_of("--boot", boot),
        "shutdown_time": seconds_of("--shutdown", shutdown),
        "always_on": None if always_on is None else tuple(host_names(always_on)),
    }
    changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return replace(usual, **changed)


def _table(found: Sequence[SwitchedOff]) -> str:
    """Return energy and waits by when nodes are switched off."""
    from schedlab.durations import duration_text
    from schedlab.energy.text import energy_text
    from schedlab.schedule.columns import in_columns
    from schedlab.schedule.summary import three_digits
    from schedlab.wording import table

    rows: list[list[str | float]] = []
    first = found[0]
    head = ["off after", "energy", "change", "boots", "wait mean", "wait p95", "wait max"]
    costs = {"energy_cost": f"cost ({first.account.currency or 'money'})", "energy_co2_kg": "kg of CO2"}
    known = [name for name in costs if name in first.metrics()]
    for one in found:
        told = one.metrics()
        change = (one.account.kwh - first.account.kwh) / first.account.kwh if first.account.kwh else 0.0
        rows.append(
            [
                "never" if one.saving is None else duration_text(one.saving.suspend_time),
                energy_text(one.account.kwh),
                "-" if one.saving is None else f"{change:+.1%}",
                f"{told['boots']:,.0f}",
                *(told[name] for name in ("mean_wait", "p95_wait", "max_wait")),
                *(three_digits(told[name]) for name in known),
            ]
        )
    return table([*head, *(costs[name] for name in known)], in_columns(rows))
