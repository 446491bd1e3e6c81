"""Chapter 3 of the thesis: the experiment of SC'17 on more logs and more sequences.

References
----------
Carastan-Santos, "Learning heuristics for resource and job management", PhD thesis, 2019, chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from schedlab.types import Progress
from schedlab_papers.published_medians import reproduce_study
from schedlab_papers.regression import regression_tables
from schedlab_papers.reproduction import Part, chosen
from schedlab_papers.sequences import variants_of
from schedlab_papers.thesis3_tables import TABLE_3_3

NAMES = {"SPT": "SPF"}
"""What the thesis calls a policy, where that is not what SC'17 does."""


def chapter3(
    traces: Path,
    directory: Path,
    *,
    logs: Iterable[str] = (),
    variant: str = "both",
    scores: Path | None = None,
    plots: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Part, ...]:
    """Repeat the chapter on those logs that are there; parameters as for `schedlab_papers.sc17.reproduce`."""
    wanted = chosen(TABLE_3_3.logs, logs, "chapter 3 of the thesis")
    fits = regression_tables(traces, scores, "Thesis, Table 3.2", errors=True)
    medians = reproduce_study(
        TABLE_3_3,
        wanted,
        traces,
        variants_of(variant),
        names=NAMES,
        directory=directory,
        plots=plots,
        progress=progress,
    )
    return (*fits, medians)
