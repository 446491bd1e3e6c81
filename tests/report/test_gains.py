from __future__ import annotations

import numpy as np
import pandas as pd

from schedlab.report.gains import plot_gains


def test_every_scheduler_is_a_dot_in_the_row_of_every_log():
    ratios = pd.DataFrame({"EASY": [2.0, 1.5], "chosen": [0.5, 1.1]}, index=["KTH", "CTC"])
    ax = plot_gains(ratios, "mean bounded slowdown", "saf+easy")
    dots = [tuple(point) for group in ax.collections for point in np.asarray(group.get_offsets()).tolist()]
    assert dots == [(2.0, 0), (1.5, 1), (0.5, 0), (1.1, 1)]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["KTH", "CTC"]
    assert ax.get_xlabel() == "mean bounded slowdown, to saf+easy"
