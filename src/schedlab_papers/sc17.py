"""SC'17: policies learned by regression, against those of old, on short sequences of jobs.

References
----------
Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC 2017.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from schedlab.types import Progress
from schedlab_papers.published_medians import reproduce_study
from schedlab_papers.regression import regression_tables
from schedlab_papers.reproduction import Reproductions, chosen, require_some
from schedlab_papers.sc17_tables import TABLE_4
from schedlab_papers.sequences import variants_of

RUNS = Path("runs")


def reproduce(
    traces: Path,
    *,
    logs: Iterable[str] = (),
    variant: str = "both",
    scores: Path | None = None,
    directory: Path = RUNS,
    plots: Path | None = None,
    progress: Progress | None = None,
) -> Reproductions:
    """Repeat the paper's regression, and its simulations on those workloads that are there.

    Parameters
    ----------
    traces
        Directory with the logs, under the file names of `TABLE_4`.
    logs
        Names of workloads; none are all.
    variant
        "as-published", by the rules of the authors' simulator; "as-described", by their text; or "both".
    scores
        The score distribution that the authors published; by default, it is looked for beside the traces.
    directory
        Where run directories are made. What is in them is not simulated again.
    plots
        Directory for boxplots of each workload.
    progress
        Called now and then, as for `run_campaign`.

    Returns
    -------
    Reproductions
        The tables.

    Raises
    ------
    InputError
        If none of the workloads is there or one cannot be read, or if the paper has no workload of such a name.
    """
    wanted = chosen(TABLE_4.logs, logs, "SC'17")
    require_some(traces, (log.file for log in wanted))
    fits = regression_tables(traces, scores, "SC'17, Table 3")  # first: scores that cannot be read end it at once
    medians = reproduce_study(
        TABLE_4, wanted, traces, variants_of(variant), directory=directory, plots=plots, progress=progress
    )
    return Reproductions((*fits, medians))
