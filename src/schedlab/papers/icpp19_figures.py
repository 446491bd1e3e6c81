"""Figures 2 to 8 of ICPP'19."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.report.speculation import plot_method_bars, plot_method_lines
from schedlab.report.style import save_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

BOTH = {"utilisation": "Utilisation", "response": "Mean response (h)"}


def save_figures(frames: Mapping[str, pd.DataFrame], directory: Path) -> list[Path]:
    """Write the figures of the scenarios that were run as PNG, and return the files.

    Parameters
    ----------
    frames
        Results, by the names that `schedlab.papers.icpp19.reproduce` gives them.
    directory
        Where to write.
    """
    figures: dict[str, Figure] = {}
    if "laws" in frames:
        laws = frames["laws"]
        two = laws[laws["workload"].str.endswith((", full", ", beta"))]
        figures["2"] = plot_method_bars(two, BOTH, "Laws of run times")
        figures["3"] = plot_method_bars(laws, {"utilisation": "Utilisation"}, "Laws and allocations")
        figures["4"] = plot_method_lines(along_histories(frames["histories"]), BOTH, "Runs looked back", "History")
    if "mixes" in frames:
        figures["5"] = plot_method_lines(frames["mixes"], BOTH, "Small jobs", "Speculative backfilling")
    if "fluid" in frames:
        rate = "Work rate of the small jobs, zeta"
        fluid = frames["fluid"]
        figures["6-fluid"] = plot_method_lines(fluid, {"utilisation": "Utilisation"}, rate, "Small jobs as a fluid")
        figures["6-discrete"] = plot_method_lines(frames["discrete"], BOTH, rate, "Small jobs as jobs")
        large = {"reserved": "Mean response of large jobs (h)"}
        figures["7-fluid"] = plot_method_lines(fluid, large, rate, "Large jobs alone, small jobs as a fluid")
        large = {"large": "Mean response of large jobs (h)"}
        figures["7-discrete"] = plot_method_lines(
            frames["discrete"], large, rate, "Large jobs alone, small jobs as jobs"
        )
    if "weeks" in frames:
        weeks = frames["weeks"]
        figures["8"] = plot_method_bars(weeks, BOTH, "Two weeks of imaging jobs")
    return [save_figure(figure, directory / f"icpp19-{number}.png") for number, figure in figures.items()]


def along_histories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the results of Figure 4 with the number of runs as the workload; the other methods have none."""
    import pandas as pd

    looks_back = frame["method"].str.startswith("Neuroscience")
    own = frame[looks_back]
    own = own.assign(workload=own["method"].str.rpartition(" ")[2].astype(int), method="Neuroscience")
    others = [frame[~looks_back].assign(workload=k) for k in dict.fromkeys(own["workload"])]
    return pd.concat([own, *others], ignore_index=True).sort_values("workload", kind="stable")
