"""Verbs about clusters: look at the file of one, write it as a cluster file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from schedlab.cli.options import Json
from schedlab.cli.outputs import check_output
from schedlab.cli.terminal import note, show, show_json
from schedlab.cli.times import seconds_of, time_of
from schedlab.errors import InputError
from schedlab.wording import count_of

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A cluster file (.toml, .json), a slurm.conf or a directory with one, an Alea .machines file, or a list "
        "of nodes (.csv).",
    ),
]


def show_cluster(
    file: File,
    ignored: Annotated[bool, typer.Option("--ignored", help="Print what is ignored, with the reason.")] = False,
    drawing: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the nodes by switch, cores and GPUs to this .svg file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the nodes, partitions and totals of a cluster."""
    from schedlab.cluster.files import read_cluster

    if drawing is not None:
        if drawing.suffix != ".svg":
            raise InputError(f"{drawing}: unknown suffix; a drawing of a cluster is written as .svg")
        check_output(drawing, file)
    cluster = read_cluster(file)
    if drawing is not None:
        from schedlab.cluster.drawing import save_drawing

        save_drawing(cluster, drawing)
    lines = [{"where": line.where, "text": line.text, "reason": line.reason} for line in cluster.ignored]
    if as_json:
        sums = {
            "nodes": len(cluster.nodes),
            "cores": cluster.processors,
            "memory": cluster.memory,
            "gpus": cluster.gpus,
        }
        show_json(cluster.to_dict() | {"sums": sums} | ({"ignored": lines} if ignored else {}))
        return
    show(cluster)
    if ignored:
        show("")
        for line in cluster.ignored:
            show(line)
    elif cluster.ignored:
        note(f"{count_of(len(cluster.ignored), 'line')} not used; --ignored prints them with the reason")


def convert_cluster(
    file: File,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Cluster file to write, .toml or .json.")
    ],
) -> None:
    """Write a cluster as a cluster file."""
    from schedlab.cluster.files import read_cluster, write_cluster

    check_output(output, file)
    cluster = read_cluster(file)
    write_cluster(cluster, output)
    unused = f"; {count_of(len(cluster.ignored), 'line')} not used" if cluster.ignored else ""
    note(f"{cluster.summary()}{unused}")


EventsOutput = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="File of node events to write, .csv.")
]
Epoch = Annotated[int, typer.Option(metavar="SECONDS", help="Unix time of second 0 of the trace.")]
Zone = Annotated[str, typer.Option(metavar="ZONE", help="Time zone of the file.")]


def import_reservations(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `scontrol show reservation` prints.")],
    output: EventsOutput,
    epoch: Epoch,
    timezone: Zone = "UTC",
) -> None:
    """Write the reservations of a site as node events, for `simulate --node-events`."""
    from schedlab.cluster.reservations import read_reservations

    check_output(output, file)
    events = read_reservations(file, epoch=epoch, timezone=timezone)
    events.save(output)
    note(count_of(len(events), "reservation"))


def estimate_mtbf(
    file: File,
    events: Annotated[Path, typer.Argument(metavar="EVENTS", help="Node events, as `cluster downtimes` writes them.")],
    begin: Annotated[int, typer.Option(help="First second of the record.")] = 0,
    until: Annotated[int | None, typer.Option(help="Its last second.", show_default="the last event")] = None,
    as_json: Json = False,
) -> None:
    """Estimate how often a node fails from recorded node events, for the interval between checkpoints."""
    from schedlab.cluster.files import read_cluster
    from schedlab.cluster.mtbf import mtbf_of
    from schedlab.cluster.node_events import NodeEvents

    found = mtbf_of(NodeEvents.read(events), read_cluster(file), begin=begin, until=until)
    if as_json:
        show_json(asdict(found))
    else:
        show(str(found))


def import_downtimes(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `sacctmgr --parsable2 show event` prints.")],
    output: EventsOutput,
    epoch: Epoch,
    timezone: Zone = "UTC",
) -> None:
    """Write the recorded downtimes of a site's nodes as node events, for `simulate --node-events`."""
    from schedlab.cluster.downtimes import read_downtimes

    check_output(output, file)
    events = read_downtimes(file, epoch=epoch, timezone=timezone)
    events.save(output)
    for text in events.notes:
        note(f"{file}: {text}")
    note(count_of(len(events), "node event"))


def draw_failures(
    file: File,
    output: EventsOutput,
    until: Annotated[str, typer.Option(metavar="TIME", help="Length of the period with failures, such as 90d.")],
    mtbf: Annotated[
        str | None, typer.Option(metavar="TIME", help="Mean time to the next failure of a node, such as 60d.")
    ] = None,
    mttr: Annotated[str | None, typer.Option(metavar="TIME", help="Mean time to repair a node, such as 4h.")] = None,
    gpu_mtbf: Annotated[
        str | None, typer.Option(metavar="TIME", help="Mean time to the next failure of a single GPU.")
    ] = None,
    gpu_mttr: Annotated[str | None, typer.Option(metavar="TIME", help="Mean time to repair a single GPU.")] = None,
    begin: Annotated[int, typer.Option(help="First second of the period, in seconds of the trace.")] = 0,
    shape: Annotated[float, typer.Option(help="Shape of the Weibull distribution of times between failures.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random draws.")] = 1,
) -> None:
    """Draw random failures and repairs of the nodes of a cluster, or of single GPUs, for `simulate --node-events`."""
    from schedlab.cluster.files import read_cluster
    from schedlab.cluster.node_events import NodeEvents

    check_output(output, file)
    means = {"mtbf": mtbf, "mttr": mttr, "gpu_mtbf": gpu_mtbf, "gpu_mttr": gpu_mttr}
    for name in ("mtbf", "gpu_mtbf"):
        repair = name.replace("mtbf", "mttr")
        if (means[name] is None) != (means[repair] is None):
            raise InputError(f"--{name.replace('_', '-')} and --{repair.replace('_', '-')} go together: give both")
    if mtbf is None and gpu_mtbf is None:
        raise InputError("give --mtbf and --mttr, --gpu-mtbf and --gpu-mttr, or all four: what fails how often")
    lengths: dict[str, Any] = {
        name: None if value is None else time_of(f"--{name.replace('_', '-')}", value) for name, value in means.items()
    }
    events = NodeEvents.drawn(
        read_cluster(file),
        **lengths,
        begin=begin,
        until=begin + seconds_of("--until", until),
        shape=shape,
        rng=seed,
    )
    events.save(output)
    note(count_of(len(events) // 2, "failure"))
