from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab_papers import Reproduction, Row
from schedlab_papers.reproduction import missing, require_some


def test_the_difference_is_taken_from_the_exact_value_where_it_is_known():
    assert Row("a", "b", published=2.0, ours=3.0).difference == pytest.approx(0.5)
    assert Row("a", "b", published=2.0, exact=4.0, ours=3.0).difference == pytest.approx(-0.25)


def test_there_is_no_difference_to_nothing():
    assert Row("a", "b", ours=3.0).difference is None
    assert Row("a", "b", published=3.0).difference is None


def test_ours_is_printed_with_as_many_digits_as_theirs_and_counts_without():
    rows = (Row("log", "jobs", exact=1_000, ours=999), Row("log", "easy", 9.5, 9.4811, ours=9.48109, alternative=2.0))
    lines = str(Reproduction("Title", "batched", rows)).splitlines()
    assert lines[0] == "Title"
    assert lines[-2].split() == ["log", "jobs", "-", "1,000", "999", "-0.10%", "-"]
    assert lines[-1].split() == ["log", "easy", "9.5", "9.4811", "9.4811", "+0.00%", "2.0000"]


def test_a_column_of_exact_values_appears_only_if_there_are_some():
    assert "exact" not in str(Reproduction("Title", "batched", (Row("log", "easy", 9.5, ours=9.5),)))


def test_equal_notes_are_printed_once_below_the_table():
    rows = (Row("a", "x", notes=("first", "second")), Row("b", "y", notes=("second",)))
    lines = str(Reproduction("Title", "batched", rows)).splitlines()
    assert lines[-2:] == ["1  first", "2  second"]
    assert [line.split("  ")[-1].strip() for line in lines if line.startswith(("a ", "b "))] == ["1 2", "2"]


def test_what_the_other_column_is_stands_below_the_table_where_there_is_one():
    rows = (Row("KTH", "easy", 92.6, ours=92.5766, alternative=92.6877), Row("CTC", "easy", 1.0, ours=1.0))
    assert str(Reproduction("Means", "batched", rows, "all at once")).endswith("\n\nours, batched: all at once")
    assert "all at once" not in str(Reproduction("Means", "batched", rows[1:], "all at once"))


def test_the_dictionary_holds_every_number_and_the_difference():
    (row,) = Reproduction("Title", "batched", (Row("log", "easy", 2.0, ours=3.0),)).to_dict()["rows"]
    assert (row["experiment"], row["published"], row["exact"], row["ours"], row["difference"]) == (
        "log",
        2.0,
        None,
        3.0,
        0.5,
    )


def test_a_missing_trace_is_named():
    assert missing("KTH", "kth.swf").notes == ("trace not found: kth.swf",)


def test_one_trace_is_enough_and_none_is_refused_in_one_sentence(tmp_path: Path):
    (tmp_path / "b.swf").touch()
    require_some(tmp_path, ["a.swf", "b.swf"])
    with pytest.raises(InputError, match=r"has none of the traces this paper needs: a\.swf, c\.swf$"):
        require_some(tmp_path, ["a.swf", "c.swf"])
