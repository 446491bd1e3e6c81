"""Verbs about schedulers and what they decide: simulate, compare, schedulers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.agents import note_agent
from schedlab.cli.energy import EnforceCap, PowerFile, document_of, energy_of, read_power_of, under_cap
from schedlab.cli.options import (
    DEFAULT_SCHEDULER,
    AlternativesFile,
    Checkpoints,
    Clean,
    ClusterFile,
    CoolDown,
    Dependencies,
    DistributionFile,
    Events,
    Exhausted,
    Interrupted,
    Json,
    NodeEventsFile,
    Processors,
    Requests,
    RequestsOrMethod,
    RequeueDelay,
    SchedulerText,
    SchedulerTexts,
    Trace,
    WarmUp,
)
from schedlab.cli.outputs import check_output, check_page, write_text
from schedlab.cli.reading import reads_logs
from schedlab.cli.retries import with_retries
from schedlab.cli.terminal import command_line, note, progress_bar, show, show_json
from schedlab.cli.traces import read_machine, read_node_events, read_trace
from schedlab.errors import InputError
from schedlab.wording import count_of, did_you_mean, shown

if TYPE_CHECKING:
    from schedlab.campaign.results.comparison import Comparison
    from schedlab.workload.reading import Reading

ENFORCEMENT = ("enforced", "advisory")


@reads_logs
def simulate(
    trace: Trace,
    scheduler: SchedulerText = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write the schedule to: .parquet, .csv (evalys, Batsim) or .swf.",
        ),
    ] = None,
    clean: Clean = "default",
    events: Events = "batched",
    processors: Processors = None,
    cluster: ClusterFile = None,
    node_events: NodeEventsFile = None,
    interrupted: Interrupted = "requeue",
    requeue_delay: RequeueDelay = 0,
    requests: RequestsOrMethod = None,
    exhausted: Exhausted = None,
    distributions: DistributionFile = None,
    dependencies: Dependencies = "none",
    alternatives: AlternativesFile = None,
    checkpoints: Checkpoints = None,
    speculative_backfill: Annotated[
        bool,
        typer.Option(
            "--speculative-backfill",
            help="Run jobs with a run-time distribution in gaps shorter than any of their requests.",
        ),
    ] = False,
    warm_up: WarmUp = 0,
    cool_down: CoolDown = 0,
    power: PowerFile = None,
    enforce_cap: EnforceCap = False,
    *,
    reading: Reading,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page to explore the schedule, .html.")
    ] = None,
    perfetto: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a trace for ui.perfetto.dev, .pftrace.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay a trace under a scheduler, and print metrics of the schedule."""
    from schedlab.engine.simulation import simulate as replay
    from schedlab.schedule.exports import check_schedule_suffix
    from schedlab.schedule.summary import summary
    from schedlab.scheduler.scheduler import Scheduler

    method = None if requests in ENFORCEMENT else requests
    parsed = Scheduler.parse(only_one(scheduler) or DEFAULT_SCHEDULER)
    chosen = with_retries(parsed, method, exhausted, speculates=speculative_backfill)
    if output is not None:
        check_schedule_suffix(output)
    check_output(output, trace)
    if perfetto is not None:
        from schedlab.schedule.perfetto import check_perfetto_suffix

        check_perfetto_suffix(perfetto)
        check_output(perfetto, trace)
    if report is not None:
        check_page(report, trace)
    machine = read_machine(cluster, processors)
    model = read_power_of(power, machine)
    happening = read_node_events(node_events, interrupted, requeue_delay, machine)
    read = read_trace(
        trace,
        clean,
        processors=processors,
        machine=machine,
        requests=requests if method is None else None,
        distributions=distributions,
        dependencies=dependencies,
        alternatives=alternatives,
        checkpoints=checkpoints,
        reading=reading,
        node_events=happening,
    )
    with read.blamed():
        jobs, tamed = under_cap(read.workload, model, machine, processors, enforced=enforce_cap)
        schedule = replay(jobs, chosen, events=events, cluster=tamed, node_events=happening)
        metrics = schedule.metrics(warm_up=warm_up, cool_down=cool_down)
    energy = energy_of(schedule, model, power)
    if output is not None:
        schedule.save(output)
    if perfetto is not None:
        from schedlab.schedule.perfetto import write_perfetto

        write_perfetto(schedule, perfetto)
    if report is not None:
        from schedlab.report.schedules import write_schedule_report

        write_schedule_report(
            schedule,
            report,
            command=command_line(),
            source=str(trace),
            warm_up=warm_up,
            cool_down=cool_down,
            changes=read.changes(),
            power=model,
        )
        note(f"report {report}")
    read.note_cleaning()
    read.note_left_out()
    read.note_distributions([chosen])
    note_agent(chosen, schedule)
    if as_json:
        told = {} if energy is None else {"energy": document_of(energy)}
        known = {"cleaning": read.cleaning.to_dict(), "provenance": schedule.provenance(), "metrics": metrics}
        show_json(known | told)
    else:
        show(summary(schedule, metrics) + ("" if energy is None else f"\n{energy}"))


@reads_logs
def compare(
    trace: Trace,
    scheduler: SchedulerTexts,
    clean: Clean = "default",
    events: Events = "batched",
    processors: Processors = None,
    cluster: ClusterFile = None,
    node_events: NodeEventsFile = None,
    interrupted: Interrupted = "requeue",
    requeue_delay: RequeueDelay = 0,
    requests: Requests = None,
    distributions: DistributionFile = None,
    dependencies: Dependencies = "none",
    alternatives: AlternativesFile = None,
    checkpoints: Checkpoints = None,
    warm_up: WarmUp = 0,
    cool_down: CoolDown = 0,
    power: PowerFile = None,
    enforce_cap: EnforceCap = False,
    *,
    reading: Reading,
    plot: Annotated[Path | None, typer.Option(metavar="DIR", help="Directory for figures of all schedulers.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="CSV file to write all metrics to.")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="LaTeX file to write a table to.")] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report, .html; the first scheduler is the baseline.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="mean_bounded_slowdown",
            help="Ranking metric of the report and of the printed answer.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:FUNCTION", help="Add a metric of your own, a function of a schedule; repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay a trace under several schedulers, and print one table of metrics."""
    from schedlab.campaign.results.blocks import BLOCK_METRICS
    from schedlab.campaign.results.comparison import compare as compare_schedulers
    from schedlab.campaign.results.statistics import METRIC
    from schedlab.energy.measures import metrics as energy_metrics
    from schedlab.schedule.provenance import common_provenance
    from schedlab.scheduler.scheduler import Scheduler

    chosen = [Scheduler.parse(text) for text in scheduler]
    if metric is not None and metric not in BLOCK_METRICS:
        near = did_you_mean(metric, BLOCK_METRICS)
        raise InputError(f"unknown metric {shown(metric)}{near}; the metrics are {', '.join(BLOCK_METRICS)}")
    for table in (csv, latex):
        check_output(table, trace)
    if report is not None:
        check_page(report, trace)
    machine = read_machine(cluster, processors)
    model = read_power_of(power, machine)
    happening = read_node_events(node_events, interrupted, requeue_delay, machine)
    read = read_trace(
        trace,
        clean,
        processors=processors,
        machine=machine,
        requests=requests,
        distributions=distributions,
        dependencies=dependencies,
        alternatives=alternatives,
        checkpoints=checkpoints,
        reading=reading,
        node_events=happening,
    )
    with read.blamed(), progress_bar("simulating") as progress:
        jobs, tamed = under_cap(read.workload, model, machine, processors, enforced=enforce_cap)
        comparison = compare_schedulers(
            jobs,
            chosen,
            cluster=tamed,
            node_events=happening,
            events=events,
            warm_up=warm_up,
            cool_down=cool_down,
            metrics=[*(measure or ()), *([] if model is None else energy_metrics(model))],
            progress=progress,
        )
    _write_tables(comparison, csv, latex)
    if plot is not None:
        from schedlab.report.figures import save_comparison_figures

        figures = save_comparison_figures(comparison.schedules, plot)
        note(f"{len(figures)} figures are in {plot}")
    answered: list[str] = []
    if report is not None or metric is not None:
        from schedlab.report.evidence import evidence_of_comparison
        from schedlab.report.html import answer_of

        evidence = evidence_of_comparison(
            comparison,
            metric=metric or METRIC,
            command=command_line(),
            source=str(trace),
            changes=read.changes(),
        )
        if report is not None:
            from schedlab.report.html import write_report

            note(f"report {write_report(evidence, report)}")
        if metric is not None:
            answered = answer_of(evidence)
    for label, count in Counter(one.label for one in chosen).items():
        if count > 1:
            note(f"{label} was given {count} times and stands once in the table")
    read.note_cleaning()
    read.note_left_out()
    read.note_distributions(chosen)
    if as_json:
        show_json(
            {
                "cleaning": read.cleaning.to_dict(),
                "provenance": common_provenance(comparison.schedules.values()),
                "metrics": comparison.metrics,
                "recorded": comparison.recorded_metrics,
            }
            | ({"answer": answered} if answered else {})
        )
    else:
        size = next(iter(comparison.schedules.values())).processors
        said = "\n\n" + " ".join(answered) if answered else ""
        which = f"{read.workload.name}: {count_of(len(read.workload), 'job')}, {size:,} processors"
        show(f"{which}\n\n{comparison}{_who_pays(comparison)}{said}")


def _who_pays(comparison: Comparison) -> str:
    """Return a table of wide jobs and users, if there is something to compare and they are known."""
    from schedlab.campaign.results.trade_offs import price_table
    from schedlab.report.groups import user_names

    if len(comparison.schedules) < 2:
        return ""
    baseline, first = next(iter(comparison.schedules.items()))
    prices = comparison.who_pays()
    paid = price_table(prices, user_names(first.workload))
    wide = "mean wait of wide jobs (more than a quarter of the machine)"
    users = f"users who wait at least a minute longer than under {baseline}"
    told = [wide] if any(each.wide_wait >= 0 for each in prices) else []  # NaN: there is none
    told += [users] if any(each.users for each in prices) else []
    return f"\n\nWho pays: {', and '.join(told)}\n\n{paid}" if paid else ""


def _write_tables(comparison: Comparison, csv: Path | None, latex: Path | None) -> None:
    if csv is not None:
        write_text(csv, comparison.to_frame(recorded=True).to_csv())
    if latex is not None:
        write_text(latex, comparison.to_latex())


def only_one(texts: list[str] | None) -> str | None:
    """Return the one scheduler that a verb was given, or None if it was given none."""
    if texts and len(texts) > 1:
        raise typer.BadParameter("name one scheduler; to compare several, use schedlab compare")
    return texts[0] if texts else None


def schedulers(as_json: Json = False) -> None:
    """List the parts of a scheduler text: policies, backfilling, run times, options."""
    from schedlab.cli.catalogue import catalogue, catalogue_text

    if as_json:
        show_json(catalogue())
    else:
        show(catalogue_text())
