"""Figures 2 to 8 of ICPP'19."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.plot import method_bars as plot_method_bars
from schedlab.plot import method_lines as plot_method_lines
from schedlab.plot import save as save_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

BOTH = {"utilisation": "Utilisation", "response": "Mean response (h)"}

PLAIN = ("HPC", "Neuroscience", "TOptimal", "ATOptimal")
METHODS = (*PLAIN, *(f"{name} + speculation" for name in PLAIN))
"""In the order of their colours, so that a method has one colour in all figures."""


def save_figures(frames: Mapping[str, pd.DataFrame], directory: Path) -> list[Path]:
    """Write the figures of the scenarios that were run as PNG, and return the files.

    Parameters
    ----------
    frames
        Results, by the names that `schedlab_papers.icpp19.reproduce` gives them.
    directory
        Where to write.
    """
    figures: dict[str, Figure] = {}
    share, large = {"utilisation": "Utilisation"}, "Mean response of large jobs (h)"
    if "distributions" in frames:
        distributions, histories = frames["distributions"], along_histories(frames["histories"])
        two = distributions[distributions["workload"].str.endswith((", full", ", beta"))]
        figures["2"] = plot_method_bars(two, BOTH, "Figure 2: run-time distributions", METHODS)
        figures["3"] = plot_method_bars(distributions, share, "Figure 3: distributions and allocations", METHODS)
        figures["4"] = plot_method_lines(histories, BOTH, "Runs looked back", "Figure 4: history", METHODS)
    if "mixes" in frames:
        figures["5"] = plot_method_lines(frames["mixes"], BOTH, "Small jobs", "Figure 5: speculation", METHODS)
    if "fluid" in frames:
        along = "Work rate of the small jobs, zeta"
        for number, measures in {"6": share, "7": {"reserved": large}}.items():
            figures[f"{number}-fluid"] = plot_method_lines(
                frames["fluid"], measures, along, f"Figure {number}: small jobs as a fluid", METHODS
            )
        for number, measures in {"6": BOTH, "7": {"large": large}}.items():
            figures[f"{number}-discrete"] = plot_method_lines(
                frames["discrete"], measures, along, f"Figure {number}: small jobs as jobs", METHODS
            )
    if "weeks" in frames:
        figures["8"] = plot_method_bars(frames["weeks"], BOTH, "Figure 8: two weeks of imaging jobs", METHODS)
    return [save_figure(figure, directory / f"icpp19-{number}.png") for number, figure in figures.items()]


def along_histories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the results of Figure 4 with the number of runs as the workload; the other methods have none."""
    import pandas as pd

    looks_back = frame["method"].str.startswith("Neuroscience")
    own = frame[looks_back]
    own = own.assign(workload=own["method"].str.rpartition(" ")[2].astype(int), method="Neuroscience")
    others = [frame[~looks_back].assign(workload=k) for k in dict.fromkeys(own["workload"])]
    return pd.concat([own, *others], ignore_index=True).sort_values("workload", kind="stable")
