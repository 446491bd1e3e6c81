from __future__ import annotations

import numpy as np

from schedlab.report.sequences import plot_sequences

SAMPLES = {"FCFS": np.array([1.0, 2, 3, 4, 100]), "SAF": np.array([1.0, 1, 1, 1, 1])}


def test_panels_share_one_logarithmic_axis_and_name_the_policies():
    figure = plot_sequences({"a": SAMPLES, "b": {name: 10 * values for name, values in SAMPLES.items()}}, "log", 2)
    left, right = figure.axes
    assert [ax.get_title("left") for ax in (left, right)] == ["a (5 sequences)", "b (5 sequences)"]
    assert left.get_xscale() == right.get_xscale() == "log"
    assert left.get_xlim() == right.get_xlim()
    assert left.get_xlim()[0] < 1
    assert left.get_xlim()[1] > 1_000
    assert [label.get_text() for label in left.get_yticklabels()] == ["FCFS", "SAF"]


def test_boxes_have_the_quartiles_and_whiskers_end_within_one_and_a_half_of_their_length():
    (ax,) = plot_sequences({"a": SAMPLES}, "log").axes
    box = ax.patches[0].get_path().vertices[:, 0]
    assert (box.min(), box.max()) == (2, 4)  # quartiles of 1, 2, 3, 4, 100
    ends = [line.get_xdata().max() for line in ax.lines if len(line.get_xdata()) == 2]
    assert max(ends) == 4
    assert 100 in np.concatenate([line.get_xdata() for line in ax.lines])
