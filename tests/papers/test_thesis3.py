from __future__ import annotations

from pathlib import Path

import pytest
from sequence_samples import STATE, full_width_jobs, write_log

from schedlab.errors import InputError
from schedlab_papers import thesis
from schedlab_papers.published_medians import MedianTable
from schedlab_papers.thesis3 import chapter3
from schedlab_papers.thesis3_tables import NOT_PUBLIC, TABLE_3_3

CTC = TABLE_3_3.logs[-1]


def medians(parts: tuple[object, ...]) -> MedianTable:
    """Return the table of medians."""
    (table,) = (part for part in parts if isinstance(part, MedianTable))
    return table


def test_chapter_3_lists_what_cannot_be_run_and_says_spf(tmp_path: Path):
    write_log(full_width_jobs([10] * (STATE + 1), sequences=CTC.cut, processors=338), tmp_path / CTC.file)
    table = medians(
        thesis.reproduce(
            tmp_path, chapter=3, logs=["model-256", "CTC-SP2"], variant="as-described", directory=tmp_path / "runs"
        ).tables
    )
    assert [(one.log, one.notes) for one in table.experiments if not one.as_described] == 3 * [
        ("model 256", (NOT_PUBLIC,))
    ]
    assert [one.as_described["FCFS"] for one in table.experiments if one.log == "CTC SP2"] == 3 * [17.0]
    assert "SPF" in str(table)
    assert "SPT" not in str(table)


def test_chapter_3_without_any_trace_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="none of the traces"):
        thesis.reproduce(tmp_path, chapter=3)


def test_a_log_that_the_chapter_has_not_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"chapter 3 of the thesis has no log kth-sp2; known are"):
        thesis.reproduce(tmp_path, chapter=3, logs=["KTH SP2"])


@pytest.mark.slow
def test_all_medians_are_those_of_table_3_3_to_the_last_digit(traces: Path, tmp_path: Path):
    table = medians(chapter3(traces, tmp_path, variant="as-published"))
    simulated = [one for one in table.experiments if one.as_published]
    assert len(simulated) >= 15
    for one in simulated:
        for policy, published in one.published.items():
            assert one.as_published[policy] == pytest.approx(published, abs=0.01 + 1e-9), (one.log, one.setting, policy)


WHOLE_QUEUE = {"SPT": 5.23, "F2": 3.65, "SAF": 3.20}
"""Medians of CTC with actual run times that another simulator, in another language, gives with the whole queue."""


@pytest.mark.slow
def test_the_whole_queue_agrees_with_an_independent_simulator(traces: Path, tmp_path: Path):
    table = medians(chapter3(traces, tmp_path, variant="as-described", logs=["CTC-SP2"]))
    (ctc,) = [one for one in table.experiments if (one.log, one.setting) == ("CTC SP2", "actual")]
    for policy, value in WHOLE_QUEUE.items():
        assert ctc.as_described[policy] == pytest.approx(value, abs=0.0051), policy
