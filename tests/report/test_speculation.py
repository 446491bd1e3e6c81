"""Methods of requesting run times side by side."""

from __future__ import annotations

import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer

from schedlab.report.speculation import plot_method_bars, plot_method_lines

ORDER = ("HPC", "TOptimal", "ATOptimal")
MEASURE = {"utilisation": "Utilisation"}


def results(*methods: str) -> pd.DataFrame:
    """Return two runs of each method on two workloads; the k-th method uses about 0.k of the machine."""
    rows = [
        (workload, method, 0.1 * place + spread)
        for workload in ("small", "large")
        for place, method in enumerate(methods, start=1)
        for spread in (-0.01, 0.01)
    ]
    return pd.DataFrame(rows, columns=["workload", "method", "utilisation"])


def test_bars_are_the_means_of_the_runs_by_workload_and_method() -> None:
    (ax,) = plot_method_bars(results("HPC", "TOptimal"), MEASURE, "heading").axes
    shown = [bars for bars in ax.containers if isinstance(bars, BarContainer)]
    heights = {bars.get_label(): [round(bar.get_height(), 6) for bar in bars] for bars in shown}
    assert heights == {"HPC": [0.1, 0.1], "TOptimal": [0.2, 0.2]}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["small", "large"]


def test_a_method_has_one_colour_in_all_figures() -> None:
    colours = []
    for methods in (("HPC", "ATOptimal"), ("ATOptimal", "TOptimal")):
        (lines,) = plot_method_lines(results(*methods), MEASURE, "along", "heading", ORDER).axes
        colours.append({line.get_label(): to_hex(line.get_color()) for line in lines.get_lines()})
        (bars,) = plot_method_bars(results(*methods), MEASURE, "heading", ORDER).axes
        shown = [one for one in bars.containers if isinstance(one, BarContainer)]
        colours.append({one.get_label(): to_hex(one.patches[0].get_facecolor()) for one in shown})
    assert len({found["ATOptimal"] for found in colours}) == 1
    assert colours[0]["HPC"] != colours[0]["ATOptimal"] != colours[2]["TOptimal"]
