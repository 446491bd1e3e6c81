"""Tables of scores: what may stand in them, and that they survive a file."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from learn_samples import score_table

from schedlab.errors import InputError
from schedlab.learn.scores import COLUMNS, ScoreTable, read_scores

PUBLISHED_FORM = "10.0,4.0,27541.0,0.25\n11.0,2.0,27614.0,0.75\n8196.0,8.0,27804.0,0.5\n9.0,1.0,27834.0,0.5\n"


def test_the_published_form_is_read_and_tuples_end_where_scores_add_up_to_one(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(PUBLISHED_FORM)
    scores = read_scores(path)
    assert scores.run_time.tolist() == [10, 11, 8196, 9]
    assert scores.processors.tolist() == [4, 2, 8, 1]
    assert scores.submit_time.tolist() == [27541, 27614, 27804, 27834]
    assert scores.score.tolist() == [0.25, 0.75, 0.5, 0.5]
    assert scores.group.tolist() == [0, 0, 1, 1]
    assert np.isnan(scores.standard_error).all()
    assert scores.trials.tolist() == [-1] * 4
    assert repr(scores) == "<ScoreTable: 4 scores of 2 tuples>"


def test_a_compressed_file_is_read_like_a_plain_one(tmp_path):
    path = tmp_path / "scores.csv.gz"
    path.write_bytes(gzip.compress(PUBLISHED_FORM.encode()))
    assert read_scores(path).group.tolist() == [0, 0, 1, 1]


def test_rows_whose_scores_do_not_add_up_are_groups_of_their_own(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("10,4,5,0.25\n11,2,6,0.7\n12,2,7,0.5\n")
    assert read_scores(path).group.tolist() == [0, 1, 2]


def test_columns_may_have_headers_in_any_order(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("group,score,processors,run_time,submit_time,trials\n7,0.5,4,60,0,1000\n7,0.4,1,30,5,1000\n")
    scores = read_scores(path)
    assert (scores.group.tolist(), scores.trials.tolist()) == ([7, 7], [1000, 1000])
    assert scores.run_time.tolist() == [60, 30]


@pytest.mark.parametrize("name", ["scores.parquet", "scores.csv", "scores.csv.gz"])
def test_a_table_survives_a_file_to_the_last_bit(tmp_path, name):
    table = score_table(lambda p, q, r: p / 3e6 + q / 7e3)
    table = ScoreTable(
        *(getattr(table, column) for column in COLUMNS),
        provenance={"workload": "x.swf", "seed": 1, "shuffle": "uniform"},
    )
    table.save(tmp_path / name)
    back = read_scores(tmp_path / name)
    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(back, column), getattr(table, column), strict=True)
    assert back.provenance == (table.provenance if name.endswith(".parquet") else {})


def test_a_table_cannot_be_changed():
    table = score_table(lambda p, q, r: p)
    with pytest.raises(ValueError, match="read-only"):
        table.score[0] = 1.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "this is not a CSV file of scores"),
        ("10,4,5\n", "without headers, scores have the four columns run_time, processors, submit_time, score"),
        ("10,4,5,0.1\n10,4.5,5,0.1\n", "column processors, row 1: '4.5' is not a whole number"),
        (f"10,4,5,0.1\n{'9' * 400},4,5,0.1\n", "column run_time, row 1: '9999"),
        ("10,4,5,0.1\n10,none,5,0.1\n", "column processors, row 1: 'none' is not a whole number"),
        ("10,4,5,0.1\n0,4,5,0.1\n", "column run_time, row 1: 0 is less than 1"),
        ("10,4,-5,0.1\n", "column submit_time, row 0: -5 is less than 0"),
        ("10,4,5,\n", "column score, row 0: nan is not a finite number"),
        ("10,4,5,inf\n", "column score, row 0: inf is not a finite number"),
        (
            "run_time,processors,score\n10,4,0.1\n",
            "the column submit_time is missing; scores need run_time, processors, submit_time, score",
        ),
        ("run_time,processors,submit_time,score,user\n10,4,5,0.1,9\n", "unknown column user"),
        ("run_time,processors,submit_time,score\n", "the table has no scores"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path, text, reason):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=r"scores\.csv") as caught:
        read_scores(path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_scores_of_another_version_are_refused(tmp_path):
    import pyarrow.parquet as pq

    path = tmp_path / "scores.parquet"
    score_table(lambda p, q, r: p).save(path)
    pq.write_table(pq.read_table(path).replace_schema_metadata({"schedlab": '{"scores_version": 99}'}), path)
    with pytest.raises(InputError, match="another version"):
        read_scores(path)


def test_a_damaged_parquet_file_is_one_sentence(tmp_path):
    path = tmp_path / "scores.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="not a Parquet file, or damaged"):
        read_scores(path)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="differ in length"):
        ScoreTable([1, 2], [1], [1], [0.5], [0.1], [1], [0])


def test_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(InputError, match="unknown suffix"):
        score_table(lambda p, q, r: p).save(tmp_path / "scores.txt")


def test_the_published_scores_are_216_tuples_of_32_jobs(published_scores):
    scores = read_scores(published_scores)
    assert np.bincount(scores.group).tolist() == [32] * 216
    assert (scores.run_time.min(), scores.run_time.max()) == (1, 124_707)
    assert (scores.submit_time.min(), scores.submit_time.max()) == (1_169, 162_999)
