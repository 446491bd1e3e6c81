"""The verb `learn trials`: scores of jobs from trial simulations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from schedlab.atomic import make_directory
from schedlab.cli.options import Clean
from schedlab.cli.outputs import check_output
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import INTERRUPTED, note, progress_bar, show, stopped_like_ctrl_c
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.learn.scores import ScoreTable
    from schedlab.workload.reading import Reading
    from schedlab.workload.workload import Workload


@reads_logs
def trials(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File of scores, .parquet; an existing one is continued."),
    ],
    workload: Annotated[str, typer.Option(metavar="TRACE|lublin", help="Log, or model from which jobs are drawn.")],
    clean: Clean = "default",
    processors: Annotated[
        int | None, typer.Option(min=1, show_default="the log's; lublin: 256", help="Size of the machine.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="lublin: number of jobs to draw.")] = 10_000,
    tuples: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of tuples to try: each is some jobs that fill the machine (--state) and some that get "
            "scores (--queue).",
        ),
    ] = 216,
    tuples_of: Annotated[
        Path | None, typer.Option(metavar="SCORES", help="Use the tuples of these scores instead of drawing tuples.")
    ] = None,
    number: Annotated[int, typer.Option("--trials", min=1, help="Maximum number of trials per tuple.")] = 256_000,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Stop the trials of a tuple when its standard errors fall below this share of the scores, such as "
            "0.02.",
        ),
    ] = None,
    state: Annotated[int, typer.Option(min=0, help="Jobs of a tuple that fill the machine, |S|.")] = 16,
    queue: Annotated[int, typer.Option(min=2, help="Jobs of a tuple that get scores, |Q|.")] = 32,
    objective: Annotated[
        Literal["bounded-slowdown", "wait", "flow", "per-processor-bounded-slowdown"],
        typer.Option(help="Metric of a trial, as a mean over the jobs."),
    ] = "bounded-slowdown",
    sampling: Annotated[
        Literal["antithetic", "common", "independent"] | None,
        typer.Option(
            show_default="antithetic; with the biased shuffle, independent",
            help="Random orders: common, one order in which each job in turn is moved to the front; antithetic, "
            "the same, with the others also in reverse; independent, a new order for each trial (as in SC'17).",
        ),
    ] = None,
    shuffle: Annotated[
        Literal["uniform", "biased"],
        typer.Option(help="Draw all orders with equal probability, or with the biased shuffle of SC'17's programs."),
    ] = "uniform",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the trials.")] = 1,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory to write figures of the scores and their precision to."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, show_default="all cores", help="Number of processes.")
    ] = None,
    *,
    reading: Reading,
) -> None:
    """Score jobs by trial simulations: how good it is to start each of them first."""
    from concurrent.futures import ThreadPoolExecutor

    from schedlab.learn.collection import collect_scores, draw_tuples, usable_jobs
    from schedlab.learn.collection import tuples_of as found_tuples
    from schedlab.learn.scores import read_scores
    from schedlab.learn.trials import Trials

    if output.suffix != ".parquet":
        raise InputError(f"{output}: scores are written as .parquet, which also records their provenance")
    check_output(output, Path(workload))
    chosen = sampling or ("independent" if shuffle == "biased" else "antithetic")
    settings = Trials(number, precision, state, queue, objective, chosen, shuffle)
    log, machine, facts = _jobs(workload, clean, processors, jobs, seed, reading)
    usable = usable_jobs(log, settings, machine)
    if tuples_of is None:
        stretches = draw_tuples(usable, tuples, settings, seed=seed)
    else:
        stretches = found_tuples(read_scores(tuples_of), usable, settings, seed=seed)
        facts["tuples_of"] = tuples_of.name
    provenance = {"workload": facts, "seed": seed}
    if plot is not None:
        make_directory(plot)
    executor = ThreadPoolExecutor(workers or len(os.sched_getaffinity(0)))
    try:
        with stopped_like_ctrl_c(), progress_bar("trying tuples") as progress:
            table = collect_scores(
                usable,
                stretches,
                settings,
                processors=machine,
                provenance=provenance,
                path=output,
                executor=executor,
                progress=progress,
            )
    except KeyboardInterrupt:
        kept = f"{output} holds the tuples that were done, and" if output.exists() else "no tuple was done yet;"
        note(f"interrupted; {kept} the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        executor.shutdown(cancel_futures=True)
    if plot is not None:
        from schedlab.learn.trials import precision_curves
        from schedlab.report.learning import save_trial_figures

        first = usable[stretches[0].start :][: state + queue]
        curves = precision_curves(first, settings, processors=machine, seed=stretches[0].seed)
        note(f"{count_of(len(save_trial_figures(table, curves, plot)), 'figure')} are in {plot}")
    show(_summary(table, output))


def _jobs(
    workload: str, rules: str, processors: int | None, jobs: int, seed: int, reading: Reading
) -> tuple[Workload, int, dict[str, Any]]:
    """Return the jobs, the size of the machine, and what is written down of where they come from."""
    if workload == "lublin":
        import numpy as np

        from schedlab.model.lublin_feitelson import lublin

        machine = processors or 256
        drawn = lublin(jobs, machine, rng=np.random.default_rng(seed))
        return drawn, machine, {"model": "lublin", "jobs": jobs, "seed": seed}
    from schedlab.cli.traces import read_trace
    from schedlab.learn.fit import file_facts

    trace = read_trace(Path(workload), rules, processors=processors, reading=reading)
    trace.note_cleaning()
    if trace.workload.processors is None:
        raise InputError(f"{workload}: the size of the machine is unknown; give --processors")
    return trace.workload, trace.workload.processors, {**file_facts(Path(workload)), "clean": rules}


def _summary(table: ScoreTable, output: Path) -> str:
    import numpy as np

    tuples, first = np.unique(table.group, return_index=True)
    scored = table.score > 0
    worst = np.max(table.standard_error[scored] / table.score[scored])
    return (
        f"{output}: {count_of(len(table), 'score')} of {count_of(len(tuples), 'tuple')}, "
        f"{table.trials[first].sum():,} trials, standard errors up to {worst:.2%} of a score"
        + ("" if scored.all() else f"; {count_of(int((~scored).sum()), 'job')} never came first: make more trials")
    )
