"""The thesis of Carastan-Santos: policies learned from simulations (chapter 3), and SAF against EASY (chapter 4).

References
----------
Carastan-Santos, "Learning heuristics for resource and job management", PhD thesis, 2019.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from schedlab.types import Progress
from schedlab_papers.reproduction import NamedFile, Part, Reproductions, chosen, require_some
from schedlab_papers.thesis3 import chapter3
from schedlab_papers.thesis3_tables import TABLE_3_3

RUNS = Path("runs")

CHAPTERS = (3, 4)


def reproduce(
    traces: Path,
    *,
    chapter: int | None = None,
    logs: Iterable[str] = (),
    variant: str = "both",
    scores: Path | None = None,
    directory: Path = RUNS,
    plots: Path | None = None,
    progress: Progress | None = None,
) -> Reproductions:
    """Repeat the thesis' experiments on those logs that are there.

    Parameters
    ----------
    traces
        Directory with the logs.
    chapter
        3 or 4; None is both.
    logs
        Names of logs, of one chapter or the other; none are all.
    variant, scores
        For chapter 3, see `schedlab_papers.sc17.reproduce`.
    directory
        Where run directories are made. What is in them is not simulated again.
    plots
        Directory for figures.
    progress
        Called now and then, as for `run_campaign`.

    Raises
    ------
    InputError
        If none of the logs is there or one cannot be read, or if the thesis has no log of such a name.
    """
    known = {number: _logs_of(number) for number in (CHAPTERS if chapter is None else (chapter,))}
    everything = [log for logs_of_chapter in known.values() for log in logs_of_chapter]
    place = "the thesis" if chapter is None else f"chapter {chapter} of the thesis"
    wanted = {log.name for log in chosen(everything, logs, place)}
    require_some(traces, dict.fromkeys(log.file for log in everything if log.name in wanted and log.file))
    names = {number: [log.name for log in one if log.name in wanted] for number, one in known.items()}
    parts: list[Part] = []
    if names.get(3):
        parts += chapter3(
            traces, directory, logs=names[3], variant=variant, scores=scores, plots=plots, progress=progress
        )
    if names.get(4):
        from schedlab_papers.thesis4 import chapter4

        parts += chapter4(traces, directory, logs=names[4], plots=plots, progress=progress)
    return Reproductions(tuple(parts))


def _logs_of(chapter: int) -> Sequence[NamedFile]:
    if chapter == 3:
        return TABLE_3_3.logs
    from schedlab_papers.thesis4_logs import LOGS

    return LOGS
