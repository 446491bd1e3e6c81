"""The verb `search`: a policy that is better than the known ones on your logs, found by simulation, and its test."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import Clean, Json
from schedlab.cli.outputs import check_output
from schedlab.cli.reading import reads_logs
from schedlab.cli.search_windows import SearchLog, hold_out, parts, read_logs, split, used
from schedlab.cli.terminal import INTERRUPTED, campaign_bar, command_line, note, show, show_json, stopped_like_ctrl_c
from schedlab.cli.times import time_of
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.campaign.results.holdout import Holdout
    from schedlab.learn.racing import Candidate
    from schedlab.learn.search import Search
    from schedlab.learn.training import Training
    from schedlab.scheduler.policy_file import PolicyFile
    from schedlab.workload.reading import Reading

SHOWN_LEADERS = 8


@reads_logs
def search(
    workload: Annotated[
        list[Path], typer.Option("--workload", "-w", metavar="TRACE", help="Log to train on; repeatable.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Policy file to write, .json.")],
    objective: Annotated[
        str, typer.Option(metavar="METRIC", help="Metric to minimise, such as mean_wait or p95_bounded_slowdown.")
    ] = "mean_bounded_slowdown",
    budget: Annotated[str, typer.Option(metavar="TIME", help="Time to search, such as 90s, 10m or 2h.")] = "10m",
    evaluations: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Stop after this many simulations instead of after --budget: then the result is the same on every "
            "machine.",
        ),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(metavar="TRACE", help="Log to test on; repeatable.", show_default="the last third of the windows"),
    ] = None,
    choose: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="TRACE",
            help="Log on which the best of the families is chosen; repeatable.",
            show_default="every third window",
        ),
    ] = None,
    family: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Families of formulas: forms, power, linear, expected (comma-separated), or all."
        ),
    ] = "all",
    with_: Annotated[
        str, typer.Option("--with", metavar="TEXT", help="Rest of the scheduler text after the policy.")
    ] = "+easy",
    baseline: Annotated[
        str, typer.Option(metavar="SCHEDULER", help="Scheduler that policies are compared with, window by window.")
    ] = "saf+easy",
    worst_wait: Annotated[
        float | None,
        typer.Option(metavar="FACTOR", help="Penalise maximum waits above FACTOR times those of fcfs+easy."),
    ] = None,
    worst_class: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR",
            help="Penalise policies under which the mean bounded slowdown of any size class or class of users "
            "exceeds FACTOR times that under the baseline.",
        ),
    ] = None,
    windows: Annotated[str, typer.Option(metavar="TIME", help="Length of the windows that logs are cut into.")] = "15d",
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random draws.")] = 1,
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, show_default="one per core", help="Number of processes.")
    ] = None,
    clean: Clean = "default",
    *,
    reading: Reading,
    directory: Annotated[
        Path | None,
        typer.Option("--directory", "-d", metavar="DIR", help="Run directory to keep the test in, as a campaign."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Search for a policy by simulation, and compare it with known ones on held-out jobs."""
    from schedlab.campaign.run.executors import usable_cores
    from schedlab.learn.search import check_kinds
    from schedlab.learn.training import check_objective, check_rest, prepare_training, runnable

    check_objective(objective)
    check_rest(with_)
    kinds = _kinds(family, with_)
    check_kinds(kinds)
    runnable(baseline)
    allowance: dict[str, float] = (
        {"simulations": evaluations} if evaluations else {"seconds": _seconds(budget, "--budget")}
    )
    length = int(_seconds(windows, "--windows"))
    for path in (*workload, *(choose or []), *(test or [])):
        check_output(output, path)
    logs = read_logs(workload, clean, reading, length)
    chosen_on = read_logs(choose, clean, reading, length, known=logs) if choose else []
    unseen = read_logs(test, clean, reading, length, known=[*logs, *chosen_on]) if test else hold_out(logs)
    trained, validation = (logs, chosen_on) if choose else split(logs)
    training = prepare_training(
        parts(trained),
        metric=objective,
        baseline=baseline,
        rest=with_,
        worst_wait=worst_wait,
        worst_class=worst_class,
        validation=parts(validation),
    )
    number = workers or usable_cores()
    found, interrupted = _run(training, kinds, allowance, seed, number)
    best = found.best
    if best is None:
        note("schedlab: interrupted before any policy was simulated on all windows; nothing is written")
        raise typer.Exit(INTERRUPTED)
    settings = {
        "baseline": baseline,
        "clean": clean,
        "window": length,
        "worst_wait": worst_wait,
        "worst_class": worst_class,
        "seed": seed,
        "budget": allowance,
    }
    policy = _policy(best, found, training, used(trained, training), used(validation, training), settings)
    policy.save(output)
    if not as_json:
        show(
            _found_text(found, baseline, training.validation, limited=worst_wait is not None or worst_class is not None)
        )
    note(f"\npolicy {output}")
    holdout = None
    if not interrupted:
        holdout, interrupted = _examine(
            best.formula, unseen, directory, with_, baseline, objective, length, clean, reading, number
        )
    if as_json:
        leaders = [
            {
                "family": leader.family.name,
                "formula": leader.formula,
                "ratio": leader.ratio,
                "validation_ratio": leader.validation_ratio,
            }
            for leader in found.leaders
        ]
        show_json({"policy": policy.to_dict(), "leaders": leaders, "holdout": holdout and holdout.to_dict()})
    elif holdout is not None:
        held_out = "" if test else f", of the last third of {'the log' if len(logs) == 1 else 'each log'}"
        show(f"\nNot seen by the search{held_out}:\n{holdout}")
    if interrupted:
        note(f"schedlab: interrupted; {output} has the best policy found so far, without a test")
        raise typer.Exit(INTERRUPTED)


def _kinds(family: str, rest: str) -> tuple[str, ...]:
    """Return the kinds of formulas that are asked for; without predictions, R is p, and `expected` has nothing new."""
    from schedlab.learn.families import KINDS
    from schedlab.learn.training import runnable

    if family != "all":
        return tuple(name.strip() for name in family.split(","))
    return KINDS if runnable(f'"p*q"{rest}').ranking.learns else tuple(kind for kind in KINDS if kind != "expected")


def _seconds(text: str, option: str) -> float:
    """Return the seconds of a duration, at least one."""
    value = time_of(option, text)
    if not 1 <= value < math.inf:
        raise InputError(f"{option} {text!r}: must be at least one second")
    return value


def _run(
    training: Training, kinds: tuple[str, ...], allowance: dict[str, float], seed: int, workers: int
) -> tuple[Search, bool]:
    """Search, and return what was found and whether the user has stopped it."""
    from schedlab.learn.racing import Budget
    from schedlab.learn.search import Search
    from schedlab.learn.workers import training_workers

    found = None
    try:
        with stopped_like_ctrl_c(), search_bar() as progress, training_workers(training, workers) as executor:
            found = Search(
                training, executor, Budget(**allowance), kinds=kinds, seed=seed, workers=workers, progress=progress
            )
            found.run()
    except KeyboardInterrupt:
        if found is None:
            raise
        return found, True
    return found, False


def _examine(
    formula: str,
    unseen: list[SearchLog],
    directory: Path | None,
    rest: str,
    baseline: str,
    metric: str,
    length: int,
    clean: str,
    reading: Reading,
    workers: int,
) -> tuple[Holdout | None, bool]:
    """Test a policy, and return the table and whether the user has stopped it."""
    from schedlab.campaign.results.holdout import HoldoutLog, examine
    from schedlab.learn.training import STATE

    logs = [HoldoutLog(log.path, log.name, tuple(sorted(set(range(log.total)) - set(log.windows)))) for log in unseen]
    with tempfile.TemporaryDirectory(prefix="schedlab-") as temporary, campaign_bar() as progress:
        try:
            holdout = examine(
                formula,
                logs,
                directory or Path(temporary) / "holdout",
                rest=rest,
                baseline=baseline,
                metric=metric,
                length=length,
                state=STATE,
                clean=clean,
                reading=reading,
                workers=workers,
                progress=progress,
            )
        except KeyboardInterrupt:
            return None, True
    return holdout, False


def _policy(
    best: Candidate,
    found: Search,
    training: Training,
    trained: list[SearchLog],
    validation: list[SearchLog],
    settings: dict[str, Any],
) -> PolicyFile:
    """Return what is written of a policy: how it orders, and where it comes from."""
    from schedlab.schedule.provenance import versions
    from schedlab.scheduler.policy_file import PolicyFile

    facts = {
        "method": "search",
        "family": best.family.name,
        "objective": training.metric,
        "with": training.rest,
        "ratio_to_baseline": best.ratio,
        "validation_ratio": best.validation_ratio,
        **settings,
        "logs": _provenance(trained, validation),
        "simulations": found.budget.simulations,
        "seconds": round(found.budget.elapsed, 1),
        "versions": versions(),
        "command": command_line(),
    }
    return PolicyFile(best.formula, best.coefficients, facts)


def _provenance(trained: list[SearchLog], validation: list[SearchLog]) -> list[dict[str, Any]]:
    """Return for each log which of its windows were trained on, and which were for the choice."""
    logs = {log.sha256: log for log in (*trained, *validation)}
    numbers = [{log.sha256: list(log.windows) for log in part} for part in (trained, validation)]
    return [
        {
            "name": log.name,
            "sha256": sha256,
            "windows": numbers[0].get(sha256, []),
            "validation_windows": numbers[1].get(sha256, []),
        }
        for sha256, log in logs.items()
    ]


def _found_text(found: Search, baseline: str, validation: int, *, limited: bool) -> str:
    """Return the best policies of the search as text; `validation` is the number of validation windows."""
    from schedlab.wording import table

    leaders = found.leaders
    rows = [
        [
            leader.formula,
            leader.family.name.split()[0],
            f"{leader.ratio:.3f}",
            "" if leader.validation_ratio is None else f"{leader.validation_ratio:.3f}",
        ]
        for leader in leaders
    ]
    used = f"{count_of(found.budget.simulations, 'simulation')} in {found.budget.elapsed:.0f} s"
    windows = count_of(len(leaders[0].losses), "window")
    penalties = ", penalties included" if limited else ""
    head = f"Best of {used}, on the {windows} of the training, as ratio to {baseline}{penalties}"
    if leaders[0].validation is not None:
        head += f";\nchosen by {count_of(validation, 'validation window')} that the search has not optimised for"
    text = f"{head}:\n\n{table(['formula', 'family', 'training', 'validation'], rows[:SHOWN_LEADERS])}"
    if (leaders[0].validation_ratio or 0) >= 1:
        text += f"\n\nNone is better than {baseline} on the validation windows."
    return text


@contextmanager
def search_bar() -> Iterator[Callable[[float, int, Candidate | None], None]]:
    """Give a function that shows how much of the budget is used, how fast, and the best ratio so far."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    begin = time.monotonic()
    columns = (TextColumn("searching"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=1.0, state="")

        def advance(used: float, simulations: int, best: Candidate | None) -> None:
            rate = simulations / (time.monotonic() - begin)
            ratio = "" if best is None else f", best ratio {best.ratio:.3f}"
            bar.update(task, completed=used, state=f"{simulations:,} simulations, {rate:,.0f}/s{ratio}")

        yield advance
