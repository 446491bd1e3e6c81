"""Tables in LaTeX: escaped, with one unit in a column, and the best value in bold."""

from __future__ import annotations

import pandas as pd
import pytest

from schedlab.campaign.results import latex
from schedlab.campaign.results.comparison import compare
from schedlab.campaign.results.ranking import ranking
from schedlab.errors import InputError
from schedlab.workload.workload import Workload

JOBS = Workload.from_columns(
    {
        "submit_time": [0, 600, 1200],
        "run_time": [6000, 6000, 3000],
        "requested_time": [6000, 6000, 3000],
        "requested_processors": [3, 4, 1],
    },
    processors=4,
)


def test_signs_of_latex_are_escaped():
    assert latex.escaped(r"a_b & 5 % #1 {x} ~^\<y>") == (
        r"a\_b \& 5 \% \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}y\textgreater{}"
    )


@pytest.mark.parametrize(
    ("value", "sign", "text"),
    [(0.0, True, "0.000"), (-12345.6, False, r"$-$12\,346"), (99.95, False, "100.0"), (2.5, True, "+2.50")],
)
def test_numbers_have_three_digits_and_a_real_minus(value, sign, text):
    assert latex.number(value, sign=sign) == text


def test_a_comparison_has_units_and_the_best_in_bold():
    # fcfs: waits 0, 5400, 10800 s, mean 1.5 h; EASY lets the third job start at once: 0, 5400, 0, mean 0.5 h.
    told = compare(JOBS, {"plain old": "fcfs", "new_one": "easy"}).to_latex(["mean_wait", "utilisation"])
    # 3 x 6000 + 4 x 6000 + 3000 = 45,000 processor-seconds, of 4 x 15,000 and of 4 x 12,000
    assert told.splitlines() == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"Scheduler & Mean wait (min) & Utilisation (\%) \\",
        r"\midrule",
        r"plain old & 90.0 & 75.0 \\",
        r"new\_one & \textbf{30.0} & \textbf{93.8} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_who_knows_the_future_is_marked_and_never_the_best():
    told = compare(JOBS, ["fcfs", "easy@actual"]).to_latex("mean_wait", caption="Waits", label="tab:waits")
    assert r"fcfs & 90.0" in told  # which is the best of one
    assert r"fcfs+easy@actual$^{*}$ & 30.0" in told
    assert told.startswith("\\begin{table}\n\\centering\n\\caption{Waits}\n\\label{tab:waits}\n")
    assert r"\footnotesize $^{*}$" in told


@pytest.mark.parametrize(
    ("metric", "values", "cells"),
    [
        ("mean_bounded_slowdown", [3.0, 1.5, 1.5], ["3.00", r"\textbf{1.50}", r"\textbf{1.50}"]),
        ("mean_bounded_slowdown", [1.5, 1.5, 1.5004], ["1.50"] * 3),  # nobody is better
        ("backfilled_share", [0.1, 0.2, 0.3], ["10.0", "20.0", "30.0"]),  # neither more nor less is better
        ("killed_jobs", [71.0, 5.0, 8.0], ["71", r"\textbf{5}", "8"]),
        ("killed_jobs", [70.5, 5.0, 8.0], ["70.5", r"\textbf{5.00}", "8.00"]),  # means
    ],
)
def test_only_what_is_better_than_others_is_in_bold_and_counts_are_whole(metric, values, cells):
    assert list(latex.of_metric(metric, values, [True] * 3).cells) == cells


def test_an_unknown_metric_is_told():
    with pytest.raises(InputError, match=r"unknown metric 'mean_wat' \(did you mean mean_wait\?\)"):
        compare(JOBS, ["fcfs"]).to_latex(["mean_wat"])


def test_a_ranking_has_differences_and_ratios_with_intervals():
    rows = [
        {"workload": name, "load": 1.0, "repetition": number, "window": -1, "scheduler": scheduler, "mean_wait": wait}
        for name in ("A_log", "B")
        for number in range(8)
        for scheduler, wait in (("fcfs", 7200.0), ("fcfs+easy", 3600.0))
    ]
    told = ranking(pd.DataFrame(rows), "fcfs", "mean_wait", resamples=50).to_latex().splitlines()
    assert told[2] == (
        r"Scheduler & Instances & Mean wait (h) & Difference (h) & 95\,\% interval & Ratio & 95\,\% interval \\"
    )
    assert told[4] == r"\multicolumn{7}{l}{\emph{all workloads}} \\"
    assert told[5] == r"fcfs+easy & 16 & \textbf{1.00} & $-$1.00 & [$-$1.00, $-$1.00] & 0.500 & [0.500, 0.500] \\"
    assert told[6] == r"fcfs & 16 & 2.00 &  &  &  &  \\"
    assert told[8] == r"\multicolumn{7}{l}{\emph{A\_log}} \\"
