"""The verb `when`: when a job of a log, or one that is asked about, will start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.followers import tell_followed
from schedlab.cli.options import DEFAULT_SCHEDULER, Clean, Json, Processors, Requests, SchedulerText
from schedlab.cli.outputs import check_page, note_report
from schedlab.cli.queue_starts import answer_from_queue
from schedlab.cli.reading import reads_logs
from schedlab.cli.schedules import only_one
from schedlab.cli.site_starts import (
    LikeOption,
    NodesOption,
    OrOption,
    OrSiteOption,
    OutputOption,
    Outputs,
    ReservationsOption,
    SinfoOption,
    SiteOption,
    SiteQuestion,
    SprioOption,
    SqueueOption,
    SshareOption,
    WatchOption,
    advise_at_site,
    answer_at_site,
    compare_sites,
    judge_site,
    new_words,
)
from schedlab.cli.terminal import command_line, note, show, show_json
from schedlab.cli.times import seconds_of
from schedlab.cli.traces import read_trace
from schedlab.errors import InputError, located

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule
    from schedlab.when.backtests import Backtest
    from schedlab.when.forks import Forking, Twin
    from schedlab.workload.reading import Reading
    from schedlab.workload.workload import Workload


ReportOption = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="With --backtest: write its page, too.")
]

WithinOption = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Begin no further simulation after so many seconds, beyond the first ten; 0: make all.",
    ),
]


@reads_logs
def when(
    trace: Annotated[
        Path | None,
        typer.Argument(metavar="TRACE", help="Log of the machine, up to the moment or beyond; none with --site."),
    ] = None,
    jobs: Annotated[list[str] | None, typer.Argument(metavar="JOB", help="Numbers of waiting jobs.")] = None,
    site: SiteOption = None,
    squeue: SqueueOption = None,
    sinfo: SinfoOption = None,
    sprio: SprioOption = None,
    sshare: SshareOption = None,
    reservations: ReservationsOption = None,
    output: OutputOption = None,
    watch: WatchOption = 0,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Moment to ask at: a time since the begin of the log, such as 12.5d, or a date.",
            show_default="the last submission",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Ask about all waiting jobs.")] = False,
    cores: Annotated[int | None, typer.Option(min=1, help="Ask about a new job of so many processors.")] = None,
    nodes: NodesOption = None,
    like: LikeOption = None,
    others: OrOption = None,
    other_sites: OrSiteOption = None,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="Requested time of the new job, such as 6h.")] = None,
    user: Annotated[
        str | None,
        typer.Option(metavar="USER", help="User of the new job, whose past runs count: a name, or a number."),
    ] = None,
    scheduler: SchedulerText = None,
    replay: Annotated[
        str | None,
        typer.Option(
            metavar="log|SCHEDULER",
            help="Source of the starts.",
            show_default="the log if it has them, else the scheduler",
        ),
    ] = None,
    backtest: Annotated[bool, typer.Option("--backtest", help="Judge such forecasts on the log instead.")] = False,
    followed: Annotated[
        bool,
        typer.Option("--followed", help="Replay the log with shares of users that ask for less time, as advised."),
    ] = False,
    sample: Annotated[int, typer.Option(metavar="N", help="With --backtest: jobs of each half of the log.")] = 600,
    report: ReportOption = None,
    forks: Annotated[int, typer.Option(min=1, help="Number of simulations.")] = 100,
    within: WithinOption = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all randomness.")] = 1,
    clean: Clean = "default",
    processors: Processors = None,
    requests: Requests = None,
    *,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Forecast when waiting jobs will start, as a distribution from many simulations; or judge such forecasts."""
    from schedlab.when.forks import Forking, Twin

    _check_report(report, backtest)
    _check_followed(followed, site is not None or squeue is not None, replay)
    how = Forking(forks, seed, within=within or None)
    _check_log(trace if site is None else None)
    if site is not None:
        files = {"squeue": squeue, "sinfo": sinfo, "sprio": sprio, "sshare": sshare, "reservations": reservations}
        words = new_words(nodes, cores, time, ",".join(reading.partition) or None, like)
        asked_about = tuple(map(str, [*([] if trace is None else [trace]), *(jobs or [])]))
        if backtest and not (asked_about or every or words):
            return _tell_judged(judge_site(site, sample, forks, seed), as_json, report)
        if backtest or bool(asked_about) + every + bool(words) != 1:
            raise typer.BadParameter("ask one question: JOB numbers, a new job (--nodes or --cores, --time) or --all")
        asked = SiteQuestion(site, files, at, reading.timezone or "UTC", asked_about, words, user)
        if other_sites:
            if others or not words:
                raise typer.BadParameter("--or-site compares sites for one new job: --nodes or --cores, and --time")
            return compare_sites(asked, how, other_sites, as_json=as_json)
        if others and words:
            return advise_at_site(asked, how, others, as_json=as_json)
        return answer_at_site(asked, how, Outputs(tuple(output or ()), watch), as_json=as_json)
    if squeue is not None and trace is not None:
        words = new_words(nodes, cores, time, ",".join(reading.partition) or None, like)
        if backtest or bool(jobs) + every + bool(words) != 1:
            raise typer.BadParameter("ask about one of: JOB numbers, a new job (--nodes or --cores, --time), --all")
        whole = replace(reading, partition=())  # the partition is the new job's, and the past is of all
        read = read_trace(trace, clean, processors=processors, requests=requests, reading=whole)
        queue = SiteQuestion(trace, {"squeue": squeue}, at, reading.timezone or "UTC", tuple(jobs or ()), words, user)
        return answer_from_queue(read.workload, queue, how, as_json=as_json)
    _refuse_mixtures((bool(jobs), every, cores is not None, backtest, followed), cores, time, at)
    if trace is None:
        raise typer.BadParameter("give the log of a machine, or --site")
    read = read_trace(trace, clean, processors=processors, requests=requests, reading=reading)
    chosen = only_one(scheduler) or (DEFAULT_SCHEDULER if replay in (None, "log") else str(replay))
    if followed:
        with read.blamed():
            tell_followed(read.workload, chosen, processors, seed, as_json=as_json)
        return read.note_cleaning()
    with read.blamed():
        log = _log(read.workload, replay, chosen, processors)
        twin = Twin(chosen, log.processors)
        if backtest:
            _judge(log, twin, (sample, forks, seed), as_json, report)
        else:
            new = None if cores is None else _new_job(read.workload, cores, time, _whole("--user", user or "-1"))
            numbers = [_whole("JOB", job) for job in jobs or ()]
            _ask(log, twin, _second(at, read.workload), (numbers or None, new), how, as_json)
    read.note_cleaning()


def _check_followed(followed: bool, now: bool, replay: str | None) -> None:
    """Raise if what followed advice does is asked of a queue as it is now, or of waits as they were."""
    if followed and (now or replay == "log"):
        raise typer.BadParameter("--followed replays a log under a scheduler: LOG --replay fcfs+easy, without a queue")


def _check_report(report: Path | None, backtest: bool) -> None:
    """Refuse a page that cannot be written, before anything is simulated, and one of anything but a backtest."""
    if report is None:
        return
    if not backtest:
        raise typer.BadParameter("--report is the page of a backtest: add --backtest, or take -o page.html with --site")
    check_page(report)


def _check_log(trace: Path | None) -> None:
    """Refuse a directory: it may be that of a site, which is an option."""
    if trace is not None and trace.is_dir():
        raise InputError(f"{trace}: this is a directory, not a log; of a site, it is --site {trace}")


def _whole(what: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{what} {text} is not a number: jobs and users of a log have numbers") from None


def _refuse_mixtures(questions: tuple[bool, ...], cores: int | None, time: str | None, at: str | None) -> None:
    """Raise if it is not said, or said twice, what is asked about; the last two questions are about many moments."""
    if sum(questions) != 1:
        raise typer.BadParameter(
            "name a log (or a site: --site DIR) and one question: JOB numbers, a new job (--cores, --time), --all, "
            "--backtest or --followed; such as schedlab when LOG --all"
        )
    if (cores is None) != (time is None):
        raise typer.BadParameter("a new job needs --cores and --time")
    if any(questions[-2:]) and at is not None:
        raise typer.BadParameter("--backtest and --followed ask at many moments: remove --at")


def _log(workload: Workload, replay: str | None, scheduler: str, processors: int | None) -> Schedule:
    """Return when the jobs started: as the log says, or as a scheduler has it."""
    from schedlab.engine.simulation import simulate
    from schedlab.schedule.recorded import recorded

    known = bool((workload.wait_time >= 0).all())
    if replay == "log" and not known:
        raise InputError(f"{workload.name} does not say how long all jobs waited: --replay {scheduler}")
    as_recorded = replay == "log" or (replay is None and known)
    log = recorded(workload) if as_recorded else simulate(workload, replay or scheduler, processors=processors)
    if workload.processors is None:
        note(f"the machine is taken to have {log.processors:,} processors: the most in use at once in the log")
    return log


def _second(at: str | None, workload: Workload) -> int:
    """Return the moment as a second of the log."""
    from schedlab.cluster.moments import second_of, zone_of
    from schedlab.durations import is_duration, parse_duration_with_unit

    last = int(workload.submit_time.max())
    if at is None:
        return last
    with located("--at"):
        if is_duration(at):
            second = int(parse_duration_with_unit(at))
        elif workload.start_time is None:
            raise InputError(f"{at} is not a time such as 12.5d, and the log has no dates")
        else:
            second = second_of("the moment", at, workload.start_time, zone_of("UTC"))
        if not int(workload.submit_time.min()) <= second <= last:
            raise InputError(f"{at} lies outside of the log, whose submissions end {last / 86_400:.1f}d from its begin")
    return second


def _new_job(workload: Workload, cores: int, time: str | None, user: int) -> Workload:
    """Return a job that is asked about, with a number that no job of the log has."""
    from schedlab.workload.workload import Workload as Jobs

    request = seconds_of("--time", time or "")
    with located("--time"):
        if request < 1:
            raise InputError("the requested time must be at least 1 s")
    columns = {"job_id": [int(workload.job_id.max()) + 1], "submit_time": [0], "run_time": [request]}
    columns |= {"requested_time": [request], "requested_processors": [cores], "user_id": [user]}
    return Jobs.from_columns(columns, processors=workload.processors)


def _ask(
    log: Schedule,
    twin: Twin,
    now: int,
    asked: tuple[list[int] | None, Workload | None],
    how: Forking,
    as_json: bool,
) -> None:
    """Print a forecast."""
    from schedlab.scheduler.scheduler import as_scheduler
    from schedlab.when.start_forecast import forecast_of_state
    from schedlab.when.state import state_at
    from schedlab.when.texts import forecast_text

    jobs, new = asked
    if new is not None and int(new.requested_processors[0]) > log.processors:
        asked_for = f"--cores {new.requested_processors[0]}"
        raise InputError(f"{asked_for}: such a job never starts, the machine has {log.processors} processors")
    state = state_at(log, now)
    if jobs is None and new is None and not len(state.waiting):
        raise InputError(f"no job waits at second {now}: name a new one (--cores, --time) or another moment (--at)")
    found = forecast_of_state(state, twin, log, how, jobs=jobs, new=new)
    if as_json:
        told = {"now": now, "forks": found.forks, "forks_left_out": found.left_out, "seed": how.seed}
        told["weeks_of_arrivals"] = found.weeks
        show_json({**told, "scheduler": as_scheduler(twin.scheduler).text, "jobs": found.to_dicts()})
        return
    running = state.start_time >= 0
    free = log.processors - int(state.jobs.job_processors[running].sum())
    waiting = len(state.waiting) + (new is not None)
    show(forecast_text(found, free, log.processors, as_scheduler(twin.scheduler).text, waiting))


def _judge(log: Schedule, twin: Twin, options: tuple[int, int, int], as_json: bool, report: Path | None) -> None:
    """Print how good forecasts of a log were."""
    from schedlab.when.backtests import backtest as judged

    sample, forks, seed = options
    _tell_judged(judged(log, twin, jobs=sample, forks=forks, seed=seed), as_json, report)


def _tell_judged(found: Backtest, as_json: bool, report: Path | None) -> None:
    """Print a backtest, and write its page if that is asked for."""
    from schedlab.when.texts import backtest_document, backtest_text

    if as_json:
        show_json(backtest_document(found))
    else:
        show(backtest_text(found))
    if report is not None:
        from schedlab.report.backtests import write_backtest

        note_report(report, lambda: write_backtest(found, report, command=command_line()))
