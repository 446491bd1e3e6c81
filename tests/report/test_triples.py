from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from schedlab.errors import InputError
from schedlab.report.style import root_figure
from schedlab.report.triples import plot_triples

VALUES = {
    "fcfs+easy": (90.0, 50.0),
    "fcfs+easy:sjf": (70.0, 30.0),
    "fcfs+easy:sjf@actual": (50.0, 18.0),
    "fcfs+easy@ave2/doubling": (77.0, 69.0),
    "fcfs+easy:sjf@e-loss/incremental": (51.0, 20.0),
}


def results() -> pd.DataFrame:
    rows = [
        {"workload": log, "scheduler": text, "mean_bounded_slowdown": value}
        for text, values in VALUES.items()
        for log, value in zip(("KTH", "CTC"), values, strict=True)
    ]
    return pd.DataFrame(rows)


def test_every_triple_is_a_dot_at_its_values_on_both_logs():
    ax = plot_triples(results(), "KTH", "CTC")
    dots = {tuple(point) for group in ax.collections for point in np.asarray(group.get_offsets()).tolist()}
    assert dots == set(VALUES.values())
    assert ax.get_xlabel() == "mean bounded slowdown on KTH"
    assert ax.get_ylabel() == "mean bounded slowdown on CTC"


def test_the_title_holds_their_correlation():
    both = np.array(list(VALUES.values())).T
    assert f"r = {np.corrcoef(both)[0, 1]:.2f}" in plot_triples(results(), "KTH", "CTC").get_title(loc="left")


def test_kinds_of_run_times_have_a_legend_of_their_own():
    ax = plot_triples(results(), "KTH", "CTC")
    root_figure(ax).canvas.draw()
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert "regression, candidates in order" in labels
    assert len(labels) == len(VALUES)


def test_logs_without_common_schedulers_are_refused():
    with pytest.raises(InputError, match="KTH and SDSC have fewer than two schedulers"):
        plot_triples(results(), "KTH", "SDSC")
