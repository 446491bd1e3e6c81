"""Verbs about a site: import its configuration and accounting, look at what was read, replay its past."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from schedlab.atomic import make_directory
from schedlab.cli.energy import PowerFile
from schedlab.cli.options import Json
from schedlab.cli.outputs import PAGES, check_page
from schedlab.cli.site_reports import SchedulesDirectory, check_outputs, save_schedules
from schedlab.cli.site_variants import (
    Anyway,
    ConfirmFor,
    Copies,
    LogPart,
    LongJobs,
    OtherEvents,
    OwnEvents,
    PolicyPoints,
    ProcessorsOnly,
    Report,
    RequestsAbove,
    Shortened,
    SiteDirectory,
    SlurmRuns,
    Workers,
    answer_many,
    chosen_samples,
    confirmed_for,
    other_events,
    read_many,
    run_many,
)
from schedlab.cli.terminal import command_line, note, show, show_json
from schedlab.errors import InputError

SAME = "it has not changed, so its answers and calibrations hold"
OTHER = "it has changed, so questions are simulated again, and the twin has to be calibrated again"
"""What an import has done to a site that was there."""


def import_site(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Directory to write the site to.")],
    conf: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            show_default="nodes of --sinfo, or inferred from --sacct",
            help="A directory with slurm.conf and what belongs to it (gres.conf, topology.conf or topology.yaml, a "
            "dump or script of sacctmgr), or a slurm.conf.",
        ),
    ] = None,
    sacct: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Output of sacct --parsable2, or another log of the site's jobs (.events, .swf, ...)."
        ),
    ] = None,
    sinfo: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Output of sinfo -N: memory of nodes without RealMemory, or all nodes if there is no slurm.conf.",
        ),
    ] = None,
    timezone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Time zone of times without one, such as Europe/Stockholm.")
    ] = None,
    node_events: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="What happened to the nodes meanwhile: node events (.csv), or the output of scontrol show reservation "
            "or of sacctmgr --parsable2 show event; repeatable.",
        ),
    ] = None,
    values: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What a template of slurm.conf (Jinja) is filled with, .toml or .json."),
    ] = None,
    infer_downtimes: Annotated[
        bool,
        typer.Option(
            "--infer-downtimes",
            help="Take nodes as down that stood idle while jobs waited that fit there (needs sacct's column NodeList).",
        ),
    ] = False,
    slurm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE",
            show_default="guessed from the files",
            help="Which Slurm the site runs, such as 24.11: the ledger says what it would refuse.",
        ),
    ] = None,
    ledger: Annotated[
        bool, typer.Option("--ledger", help="Also print parameters that are modelled exactly or have no effect.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Import a site: nodes, partitions, QOS, accounts, jobs, scheduler, with a ledger of every option of every line."""
    from schedlab.site.importing import import_site as imported
    from schedlab.site.site import MANIFEST, fingerprint
    from schedlab.site.templates import read_values

    if output.exists() and not (output / MANIFEST).is_file() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{output}: exists and is not a site: choose another name")
    fill = None if values is None else read_values(values)
    site = imported(
        conf,
        sacct,
        sinfo=sinfo,
        timezone=timezone,
        node_events=node_events or (),
        values=fill,
        infer_downtimes=infer_downtimes,
        slurm=slurm,
    )
    before = fingerprint(output) if (output / MANIFEST).is_file() else None
    site.save(output)
    if before is not None:
        note(f"{output} was a site already and is replaced: {SAME if fingerprint(output) == before else OTHER}")
    for text in site.settings.notes:
        note(text)
    _show(site, as_json, ledger=ledger)


def show_site(
    directory: SiteDirectory,
    ledger: Annotated[
        bool, typer.Option("--ledger", help="Also print parameters that are modelled exactly or have no effect.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print a site, and how each of its parameters is modelled."""
    from schedlab.site.site import read

    _show(read(directory), as_json, ledger=ledger)


def calibrate(
    directory: SiteDirectory,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the calibration as a page (.html), or the twin's schedule (.parquet, .csv, .swf), of which "
            "schedlab explain tells about single jobs; repeatable.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", "-s", metavar="TEXT", help="Scheduler to use instead of the site's own."),
    ] = None,
    processors_only: ProcessorsOnly = False,
    as_json: Json = False,
) -> None:
    """Replay the log of a site with its own settings, and compare the waits with the recorded ones.

    The verdict is kept in the site, and stands in front of the answers of what-if and search.
    """
    from schedlab.site.calibration import calibrate as calibrated
    from schedlab.site.jobs import left_out_texts

    check_outputs(output or ())
    found = calibrated(directory, scheduler, nodes=not processors_only)
    for told in left_out_texts(found.left_out):
        note(told)
    if as_json:
        show_json(found.to_document())
    else:
        show(found)
    for path in output or ():
        if path.suffix in PAGES:
            from schedlab.report.calibration import write_calibration

            note(f"report {write_calibration(found, path, command=command_line())}")
        else:
            found.simulated.save(path)
            note(f"schedule {path}")


def what_if(
    directory: SiteDirectory,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="TEXT",
            help="A change of the configuration: PARAMETER=VALUE, SchedulerParameters.OPTION=VALUE, "
            "'PartitionName=NAME OPTION=VALUE', 'QOS=NAME OPTION=VALUE', '2 more nodes like NODE' ...; repeatable, "
            "applied together.",
        ),
    ] = None,
    policies: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="TEXT", help="Another policy, or a whole scheduler; repeatable."),
    ] = None,
    variants: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A TOML file of variants (changed sites to compare): tables 'variant', or a table 'over' as --over.",
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Variants: WHAT=VALUE,VALUE, such as SchedulerParameters.bf_interval=30,60, policy=saf,fcfs or "
            "load=1,1.1; repeatable, all combinations are run.",
        ),
    ] = None,
    samples: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="With variants: also run on N logs that are resampled by the weeks of each user, to see how much the "
            "results vary.",
        ),
    ] = 0,
    model: Annotated[
        bool,
        typer.Option(
            "--model",
            help="Draw the logs of --samples from a model of arrivals and jobs that is fitted to the log, instead "
            "of redrawing weeks of its users.",
        ),
    ] = False,
    think: Annotated[
        str | None,
        typer.Option(
            "--think-times",
            metavar="TIME",
            help="Users react: what they submitted within this time after a job's end, such as 20m, follows its "
            "simulated end.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samples.")] = 1,
    points: PolicyPoints = None,
    copies: Copies = None,
    power: PowerFile = None,
    checkpoints: Annotated[
        str,
        typer.Option(
            metavar="RULES",
            help="Let jobs write checkpoints in all variants, such as 'daly(mtbf=300d,cost=5m,restart=10m,node=64) for "
            "partition=batch'; with --node-events, the same nodes fail at the site as it is.",
        ),
    ] = "",
    rank_by: Annotated[
        str,
        typer.Option(
            metavar="METRIC",
            show_default="mean_wait, or energy_kwh with --power",
            help="With variants: ranking metric.",
        ),
    ] = "",
    part: LogPart = None,
    confirm: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Also run the site as it is and the best N variants on the real Slurm."),
    ] = 0,
    phases: Annotated[int, typer.Option(min=1, metavar="N", help="With --confirm: runs of each variant.")] = 3,
    confirm_for: ConfirmFor = None,
    slurm: Annotated[
        str,
        typer.Option(
            "--slurm",
            metavar="VERSION",
            show_default="that of the site, if it is known",
            help="The Slurm whose rules both sides follow, and that --confirm runs: 22.05, 24.11 or 26.05.",
        ),
    ] = "",
    requests: RequestsAbove = "cut",
    long: LongJobs = "killed",
    node_events: OtherEvents = None,
    own_events: OwnEvents = "keep",
    workers: Workers = None,
    report: Report = None,
    output: SchedulesDirectory = None,
    processors_only: ProcessorsOnly = False,
    anyway: Anyway = False,
    as_json: Json = False,
) -> None:
    """Replay a site's jobs under a changed configuration or other policies, compared with the site as it is.

    The answer begins with how good the site's twin is known to be (schedlab site calibrate). Results are stored in
    SITE/what-if, so an interrupted run resumes.
    """
    from schedlab.scheduler.slurm_rules import check_version
    from schedlab.site.answers import usual_metric
    from schedlab.slurm.installation import installed_version

    if report is not None:
        check_page(report)
    if output is not None:
        make_directory(output)  # if that cannot be, before anything is simulated
    rules = check_version(slurm, "--slurm") if slurm else ""
    if confirm:
        installed_version(rules or None)  # before anything is simulated
    bound = confirmed_for(confirm_for, asked=bool(confirm))
    on_slurm = SlurmRuns(confirm, phases, seed, bound) if confirm else None
    shortened = Shortened(requests, long)
    many = read_many(variants, over or [], changes or [], policies or [], shortened, points, checkpoints)
    many = other_events(directory, node_events or [], many, own=own_events == "keep")
    chosen = chosen_samples(part, think, range(seed, seed + samples), model=model)
    how: dict[str, Any] = {"nodes": not processors_only, "anyway": anyway, "slurm": rules, "power": power}
    answers = run_many(directory, many, chosen, rank_by or usual_metric(power), workers, copies=copies, **how)
    failed = answer_many(answers, on_slurm, report, as_json=as_json)
    if output is not None:
        save_schedules(answers, output)
    if failed:
        raise InputError(failed)


def _rules_of(site: Any) -> str:
    """Say which version's rules the twin follows, and why, where that is not the one that the site surely runs."""
    from schedlab.scheduler.slurm_rules import version_of
    from schedlab.scheduler.slurm_versions import NEWEST, VERSIONS
    from schedlab.site.coverage import listed

    release = site.settings.slurm
    version = version_of(release) or NEWEST
    if version == str(release):
        return ""
    bound = release.oldest or release.newest
    which = f"the last up to {bound}" if bound and version <= bound else "the first" if bound else "the newest"
    told = f"; the twin follows the rules of {version} (of {listed(VERSIONS)}, {which})"
    sure = release.oldest and release.oldest == release.newest
    return told if sure else f"{told}: give --slurm if the site runs another"


def _show(site: Any, as_json: bool, *, ledger: bool) -> None:
    if as_json:
        show_json(
            {
                "cluster": None if site.machine is None else site.machine.summary(),
                "inferred": site.inferred,
                "scheduler": site.settings.scheduler,
                "limits": site.settings.limits,
                "slurm": {"release": str(site.settings.slurm), "source": site.settings.slurm.source},
                "jobs": None if site.jobs is None else len(site.jobs),
                "node_events": None if site.node_events is None else len(site.node_events),
                "notes": list(site.settings.notes),
                "counts": site.ledger.counts(),
                "ledger": site.ledger.to_document(),
            }
        )
        return
    if site.machine is not None:
        show(site.machine)
        if site.inferred:
            show("nodes and partitions: inferred from what jobs held of them, not configured")
        show("")
    show(f"scheduler: {site.settings.scheduler}")
    source = f" ({site.settings.slurm.source})" if site.settings.slurm.source else ""
    show(f"Slurm: {site.settings.slurm}{source}{_rules_of(site)}")
    jobs = "none: calibrate and what-if need some (import again with --sacct)"
    show(f"jobs: {jobs if site.jobs is None else f'{len(site.jobs):,}'}")
    if site.node_events is not None:
        show(f"node events: {len(site.node_events):,}")
    show(f"options of the files: {site.ledger.summary()}")
    text = site.ledger.text() if ledger else site.ledger.deciding().text("unknown", "ignored", "approximated")
    if text:
        show("")
        show(text)
