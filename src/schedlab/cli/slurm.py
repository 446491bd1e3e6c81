"""Verbs about a real Slurm: run on it in skipped time, deploy a policy, look at what a deployment would do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from schedlab.cli.options import Clean, Json, Processors
from schedlab.cli.outputs import check_output, check_page
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import command_line, laboratory_bar, note, show, show_json
from schedlab.cli.traces import read_trace
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.workload.reading import Reading

Conf = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="A site's slurm.conf, topology.conf, accounts.", show_default="a small machine"),
]

Mode = Annotated[
    Literal["frozen", "hybrid"],
    typer.Option(help="frozen: no time passes while Slurm computes; hybrid: its computing takes time."),
]
Ways = Literal["lua-site-factor", "site-factor", "lua", "priority-loop", "rest"] | None
Seed = Annotated[int, typer.Option(help="Seed of the phases (offsets of Slurm's loops).")]


Version = Annotated[
    str | None,
    typer.Option(
        "--slurm",
        metavar="VERSION",
        help="Which Slurm: 22.05, 24.11, 26.05, or the root of an unpacked one.",
        show_default="the one that is installed",
    ),
]


@reads_logs
def run(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="Jobs: any trace, or an .events file of UB CCR's Slurm simulator.")
    ],
    conf: Conf = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            "-s",
            metavar="TEXT",
            show_default="fcfs+slurm",
            help="Scheduler text that Slurm is configured for, without --conf.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write the first phase's schedule to: .parquet, .csv or .swf.",
        ),
    ] = None,
    phases: Annotated[int, typer.Option(min=1, help="Number of runs, each with other offsets of Slurm's loops.")] = 1,
    mode: Mode = "frozen",
    seed: Seed = 1,
    slurm: Version = None,
    clean: Clean = "default",
    processors: Processors = None,
    cores_per_node: Annotated[
        int | None,
        typer.Option(min=1, help="Cores per node, without --conf.", show_default="as few as 256 nodes allow"),
    ] = None,
    deployed: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="Install this policy, as 'schedlab deploy' writes it, and run its daemon."),
    ] = None,
    way: Annotated[Ways, typer.Option("--as", help="Way of deployment.", show_default="as 'schedlab deploy'")] = None,
    observe: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=1, help="Interval at which to record reasons, priorities and sdiag."),
    ] = None,
    observations: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory to write these records to, as Parquet files.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory to keep the laboratory's files in: logs, configuration."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page to explore the first phase, .html.")
    ] = None,
    as_json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Replay a trace on an unmodified slurmctld, hundreds to thousands of times faster than real time."""
    from schedlab.schedule.exports import check_schedule_suffix
    from schedlab.slurm.deployment import deploy as deployment_of
    from schedlab.slurm.replay import run_phases

    if way is not None and deployed is None:
        raise InputError("--as says how a policy is deployed: give it with --deployed POLICY")

    if output is not None:
        check_schedule_suffix(output)
    check_output(output, trace)
    if report is not None:
        check_page(report, trace)
    jobs, cleaned = _jobs(trace, clean, processors, reading)
    with laboratory_bar(len(getattr(jobs, "jobs", jobs))) as progress:
        runs = run_phases(
            jobs,
            scheduler,
            phases=phases,
            seed=seed,
            conf=conf,
            mode=mode,
            processors=processors,
            cores_per_node=cores_per_node,
            deployment=None if deployed is None else deployment_of(deployed, way=way),
            observe=observe if observe is not None or observations is None else 60.0,
            directory=keep,
            slurm=slurm,
            progress=progress,
        )
    if output is not None:
        runs[0].schedule.save(output)
    if observations is not None:
        observations.mkdir(parents=True, exist_ok=True)
        for name, frame in {**runs[0].observations, "records": runs[0].records}.items():
            frame.to_parquet(observations / f"{name}.parquet")
    if report is not None:
        from schedlab.report.schedules import write_schedule_report

        write_schedule_report(runs[0].schedule, report, command=command_line(), source=str(trace))
        note(f"report {report}")
    if cleaned is not None:
        cleaned.note_cleaning()
    _report(runs, as_json)


def _jobs(trace: Path, clean: str, processors: int | None, reading: Reading) -> tuple[Any, Any]:
    if trace.name.endswith((".events", ".events.gz")):
        from schedlab.slurm.jobs import read_events

        if not trace.is_file():
            raise InputError(f"{trace}: the file does not exist")
        _check_only_logs_are_read(trace, reading)
        return read_events(trace), None
    read = read_trace(trace, clean, processors=processors, reading=reading)
    return read.workload, read


def _check_only_logs_are_read(events: Path, reading: Reading) -> None:
    """Raise InputError if options of logs are given with a file of events, which needs none."""
    from schedlab.workload.reading import AS_IT_IS

    if reading != AS_IT_IS:
        raise InputError(
            f"{events}: --partition, --timezone, --default-limit, --lenient and --column belong to logs, and this is a "
            "file of events for a site: leave them out"
        )


def _report(runs: list[Any], as_json: bool) -> None:
    from schedlab.slurm.ensemble import ensemble_table

    first = runs[0]
    for change in first.changes:
        note(str(change))
    for row, said in list(first.rejected.items())[:20]:
        note(f"Slurm rejected the job in row {row}: {said}")
    if len(first.rejected) > 20:
        note(f"... and {count_of(len(first.rejected) - 20, 'more job')}")
    if first.unstarted:
        note(f"{count_of(len(first.unstarted), 'job')} never started")
    if as_json:
        show_json(
            {
                "runs": [{"facts": dict(run.facts), "metrics": run.schedule.metrics()} for run in runs],
                "rejected": {str(row): said for row, said in first.rejected.items()},
                "unstarted": list(first.unstarted),
                "changes": [str(change) for change in first.changes],
            }
        )
    else:
        show(ensemble_table(runs))


@reads_logs
def validate(
    trace: Annotated[
        Path,
        typer.Argument(metavar="TRACE", help="Jobs: any trace, with --conf also an .events file."),
    ],
    conf: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="A site's slurm.conf and accounts: compare its twin on nodes with the real Slurm."
        ),
    ] = None,
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            "--scheduler",
            "-s",
            metavar="TEXT",
            show_default="fcfs+slurm",
            help="Scheduler text to configure Slurm for; repeatable.",
        ),
    ] = None,
    phases: Annotated[int, typer.Option(min=2, help="Number of runs of the model, and of Slurm.")] = 5,
    mode: Mode = "frozen",
    seed: Seed = 1,
    clean: Clean = "default",
    processors: Processors = None,
    cores_per_node: Annotated[
        int | None, typer.Option(min=1, help="Cores per node.", show_default="as few as 256 nodes allow")
    ] = None,
    slurm: Version = None,
    as_json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Compare the model of Slurm with a real slurmctld on the same jobs, in runs with several offsets of its loops."""
    from schedlab.slurm.validation import validate as comparison_of

    if conf is not None:
        if scheduler or processors or cores_per_node:
            raise InputError("the site's slurm.conf defines its scheduler: remove -s, --processors, --cores-per-node")
        _check_only_logs_are_read(trace, reading)
        _validate_site(trace, conf, as_json, phases=phases, seed=seed, mode=mode, slurm=slurm)
        return
    read = read_trace(trace, clean, processors=processors, reading=reading)
    found = {}
    for text in scheduler or ["fcfs+slurm"]:
        with laboratory_bar(len(read.workload)) as progress:
            found[text] = comparison_of(
                read.workload,
                text,
                phases=phases,
                seed=seed,
                mode=mode,
                processors=processors,
                cores_per_node=cores_per_node,
                progress=progress,
                slurm=slurm,
            )
    read.note_cleaning()
    _show_comparisons(found, as_json)


def _validate_site(trace: Path, conf: Path, as_json: bool, **options: Any) -> None:
    from schedlab.site.validation import validate as validate_site

    with laboratory_bar(0) as progress:
        found = validate_site(conf, trace, progress=progress, **options)
    first = found.runs[0]
    for change in first.changes:
        note(str(change))
    if first.rejected:
        note(f"Slurm rejected {count_of(len(first.rejected), 'job')}, such as: {next(iter(first.rejected.values()))}")
    for left_out in found.left_out:
        note(f"not compared: {left_out}")
    _show_comparisons({found.scheduler: found.comparison}, as_json)


def _show_comparisons(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        frames = {text: comparison.to_frame() for text, comparison in found.items()}
        heads = {text: [" ".join(head) for head in frame.columns.to_list()] for text, frame in frames.items()}
        show_json({text: frame.set_axis(heads[text], axis=1).to_dict() for text, frame in frames.items()})
    else:
        show("\n\n".join(f"{text}\n{comparison}" for text, comparison in found.items()))


def deploy(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="Policy, a formula of run time p, processors q, submit time r and wait w, or POLICY@groups(...) "
            "with predicted run times; see 'schedlab schedulers'.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Directory to write the files to install to.")
    ],
    way: Annotated[
        Ways,
        typer.Option(
            "--as",
            help="Way of deployment: within Slurm's own priority by a site factor (the default; by Lua for scores "
            "fixed at submission, else by a daemon), or instead of it (lua, priority-loop, rest).",
        ),
    ] = None,
    site: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Site directory: the README then has its weights, and who would wait longer."),
    ] = None,
    weight: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="POINTS",
            show_default="from the site's QOS and partitions, or 1000",
            help="With a site factor: points between the first and the last job.",
        ),
    ] = None,
    partition: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Change jobs of this partition only; repeatable.", show_default="all"),
    ] = None,
    period: Annotated[int, typer.Option(min=1, help="Interval of the daemon, in seconds.")] = 30,
) -> None:
    """Write the files that deploy a policy on an unmodified Slurm, with the steps to install and remove it.

    As written, they only log what they would do, until DRY_RUN is edited.
    """
    from schedlab.site.variant_task import is_whole
    from schedlab.slurm.deployment import WITHIN
    from schedlab.slurm.deployment import deploy as deployment_of

    own, told = None, ""
    if site is not None:
        from schedlab.site.own_priority import own_priority
        from schedlab.site.policy_consequences import consequences
        from schedlab.site.site import read

        found = read(site)
        points = 0 if way is not None and way not in WITHIN else weight
        own = own_priority(found)
        told = "" if found.jobs is None else consequences(site, policy, points, partition)
    deployment = deployment_of(
        policy, way=way, partitions=partition, period=period, weight=weight, own=own, consequences=told
    )
    names = ", ".join(path.name for path in deployment.save(output))
    instead = "instead of Slurm's own priority, so that age, fair share and QOS stop counting"
    counts = "within Slurm's own priority" if deployment.way in WITHIN else instead
    order = " (its order, and not its backfilling)" if is_whole(policy) else ""
    show(f"{deployment.policy}{order} as {deployment.way}, {counts}: {names} in {output}; begin with README.md. "
         "Nothing is live until DRY_RUN is edited.")  # fmt: skip


def shadow(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="Policy, or a formula of run time p, processors q, submit time r and wait w; see 'schedlab "
            "schedulers'.",
        ),
    ],
    queue: Annotated[
        Path | None,
        typer.Option(
            "--queue",
            metavar="FILE",
            help="Output of squeue or 'scontrol show job', as text or JSON.",
            show_default="run squeue",
        ),
    ] = None,
    timezone: Annotated[str, typer.Option(help="Zone of times in text that have none.")] = "UTC",
    limit: Annotated[int, typer.Option(min=1, help="Number of lines to print.")] = 50,
    as_json: Json = False,
) -> None:
    """Print the order of a production queue under a policy, without changing anything."""
    from schedlab.slurm.shadow import shadow as shadow_of

    rows = shadow_of(policy, _squeue() if queue is None else queue, timezone=timezone)
    if as_json:
        show_json(rows)
        return
    lines = [f"{'rank':>6} {'Slurm':>6} {'job':>10} {'user':<12} {'cores':>6} {'limit':>9} {'score':>12}  reason"]
    for row in rows[:limit]:
        line = f"{row['rank']:>6} {row['slurm_rank']:>6} {row['job']:>10} {row['user']:<12} {row['processors']:>6}"
        asked = "unlimited" if row["limit"] is None else f"{row['limit'] // 60}min"
        lines.append(f"{line} {asked:>9} {row['score']:>12.6g}  {row['reason']}")
    moved = sum(row["rank"] != row["slurm_rank"] for row in rows)
    lines.append(
        f"\n{moved} of {count_of(len(rows), 'waiting job')} would have another place under {policy}; nothing "
        f"was changed"
    )
    if endless := sum(row["limit"] is None for row in rows):
        lines.append(f"{count_of(endless, 'job')} without a limit: ranked as if for a year, as Slurm plans it")
    show("\n".join(lines))


def _squeue() -> dict[str, Any]:
    """Return what squeue prints on this machine."""
    import subprocess

    from schedlab.workload.slurm_json import jobs_of

    try:
        said = subprocess.run(["squeue", "--json"], capture_output=True, check=True).stdout
        return {"jobs": jobs_of(said, "squeue --json")}
    except OSError as error:
        told = str(error.strerror)
    except subprocess.CalledProcessError as error:
        told = error.stderr.decode(errors="replace").strip()
    raise InputError(f"squeue --json failed: {told}; give its output with --queue FILE")
