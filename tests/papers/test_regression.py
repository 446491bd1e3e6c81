from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab_papers.regression import FUNCTIONS, SCORES, regression_tables
from schedlab_papers.reproduction import Reproduction


def test_scores_that_are_not_there_are_a_row_that_says_so(tmp_path: Path):
    (table,) = regression_tables(tmp_path / "traces", None, "Table 3")
    assert "score-distribution.csv.gz" in str(table)


def test_scores_that_are_asked_for_must_be_there(tmp_path: Path):
    with pytest.raises(InputError, match="nowhere"):
        regression_tables(tmp_path, tmp_path / "nowhere.csv", "Table 3")


def test_the_four_best_functions_are_the_published_ones(traces: Path):
    if not (traces.parent / SCORES).is_file():
        pytest.skip("the published scores are not there")
    constants, errors = regression_tables(traces, None, "Table 3.2", errors=True)
    assert isinstance(constants, Reproduction)
    assert isinstance(errors, Reproduction)
    assert [row.experiment for row in constants.rows] == [f"F{rank}, rank {rank}" for rank in (1, 2, 3, 4)]
    # With all digits, from a fit in another program; F3 is printed from rounded coefficients.
    assert [row.ours for row in constants.rows] == pytest.approx([870.96, 25_673, 6_833_120, 530_988], rel=1e-4)
    assert [row.ours for row in errors.rows[:4]] == pytest.approx(
        [0.0052776, 0.0053168, 0.0054076, 0.0054818], rel=1e-5
    )
    assert [row.published for row in errors.rows[:4]] == [function.mae for function in FUNCTIONS]
    assert errors.rows[-1].ours == pytest.approx(0.00416, abs=5e-6)
