"""The verb `predict`: how good predictors are on a trace, and what a trained one says of single jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import Clean, Json, Processors, Requests
from schedlab.cli.outputs import check_output
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import note, show, show_json
from schedlab.cli.traces import read_trace
from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.predict.model import PredictionModel
    from schedlab.scheduler.predictor import Predictor
    from schedlab.workload.reading import Reading

MODEL = "A trained model"
"""The options about it stand together in the help."""


@reads_logs
def predict(
    trace: Annotated[Path | None, typer.Argument(metavar="TRACE", help="Log to learn from.")] = None,
    predictor: Annotated[
        list[str] | None,
        typer.Option("--predictor", "-p", metavar="TEXT", help="Predictor, such as ave2 or e-loss; repeatable."),
    ] = None,
    replay: Annotated[
        str | None,
        typer.Option(
            metavar="log|SCHEDULER", help="Source of the waits.", show_default="the log if it has them, else fcfs+easy"
        ),
    ] = None,
    load: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Continue with a saved model.", rich_help_panel=MODEL)
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write the model to, after the last job.", rich_help_panel=MODEL),
    ] = None,
    jobs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-",
            help="Predict these jobs (CSV, or a JSON object per line) with a loaded model.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory to write figures of all predictors to.")
    ] = None,
    clean: Clean = "default",
    processors: Processors = None,
    requests: Requests = None,
    *,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Validate run-time predictors on a trace, or predict single jobs with a trained one."""
    if jobs is not None:
        if load is None or trace is not None or predictor or save is not None or plot is not None:
            raise typer.BadParameter("--jobs goes with --load and nothing else")
        _answer(load, jobs)
        return
    if trace is None:
        raise typer.BadParameter("name a TRACE, or a model and jobs: --load model.json --jobs -")
    if load is None and not predictor:
        raise typer.BadParameter("name a --predictor, such as ave2, or a model to --load")
    if save is not None and len(predictor or []) + (load is not None) != 1:
        raise typer.BadParameter("--save takes one predictor; name no other")
    _validate(trace, predictor or [], replay, load, save, plot, (clean, processors, requests, reading), as_json)


def _validate(
    trace: Path,
    texts: list[str],
    replay: str | None,
    load: Path | None,
    save: Path | None,
    plot: Path | None,
    source: tuple[str, int | None, str | None, Reading],
    as_json: bool,
) -> None:
    """Validate all predictors on a trace, and say what came of it."""
    from schedlab.predict.model import PredictionModel
    from schedlab.predict.replay import LOG, replay_of
    from schedlab.predict.tables import class_texts, comparison_text
    from schedlab.predict.validation import validate
    from schedlab.scheduler.predictor_text import predictor_from_text
    from schedlab.scheduler.scheduler import Scheduler

    chosen: list[Predictor | PredictionModel] = [predictor_from_text(text) for text in texts]
    if replay is not None and replay != LOG:
        Scheduler.parse(replay)
    if load is not None:
        chosen.append(PredictionModel.load(load))
    check_output(save, trace)
    clean, processors, requests, reading = source
    read = read_trace(trace, clean, processors=processors, requests=requests, reading=reading)
    with read.blamed():
        lived = replay_of(read.workload, replay)
        validations = [validate(read.workload, one, replay=lived) for one in chosen]
    if save is not None:
        model = validations[0].model
        if model is None:
            raise InputError(
                f"@{validations[0].predictor} knows the future and learns nothing, so there is nothing to save"
            )
        model.save(save)
    if plot is not None:
        from schedlab.report.predictions import save_prediction_figures

        note(f"{len(save_prediction_figures(validations, plot))} figures are in {plot}")
    read.note_cleaning()
    if as_json:
        show_json({"cleaning": read.cleaning.to_dict(), "validations": [one.to_dict() for one in validations]})
    else:
        show(
            "\n\n".join([comparison_text(validations), *(class_texts(validations[0]) if len(validations) == 1 else [])])
        )


def _answer(load: Path, jobs: str) -> None:
    """Print the prediction for each job, one per line, as soon as it has been read."""
    from schedlab.predict.model import PredictionModel
    from schedlab.predict.questions import questions

    model = PredictionModel.load(load)
    with _lines(jobs) as lines:
        for job in questions(lines, now=model.present, machine=model.processors):
            show(model.predict(job))


@contextmanager
def _lines(jobs: str) -> Iterator[Iterable[str]]:
    """Give the lines of a file, or of standard input for "-"."""
    with ExitStack() as stack:
        stream: IO[str] = sys.stdin
        if jobs != "-":
            try:
                stream = stack.enter_context(open(jobs, encoding="utf-8"))
            except OSError as error:
                raise InputError(f"{jobs}: cannot read the jobs: {error.strerror or error}") from None
        lines = _bounded_lines(stream, jobs)
        try:
            yield lines
        except UnicodeDecodeError:
            raise InputError(f"{jobs}: the jobs are not text in UTF-8") from None


LONGEST_LINE = 1 << 16


def _bounded_lines(stream: IO[str], name: str) -> Iterator[str]:
    """Yield lines as soon as they are there, but none without an end."""
    while line := stream.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise InputError(f"{name}: a line has more than {LONGEST_LINE:,} characters; each line is one job")
        yield line
