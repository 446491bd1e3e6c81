from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.papers import Reproduction, sc15
from schedlab.workload.swf import write_swf
from schedlab.workload.workload import Workload

THREE_JOBS = {
    "submit_time": [0, 1, 2, 3],
    "run_time": [10, 10, 5, 0],
    "requested_time": [10, 10, 5, 9],
    "requested_processors": [3, 4, 1, 1],
}
"""On four processors; the fourth job never ran. The wide one waits 9 seconds, the last is backfilled at once."""

KTH = sc15.LOGS[0]


@pytest.fixture
def one_log(tmp_path: Path) -> Path:
    """Return a directory in which the first log of the paper is a tiny one and the others are missing."""
    (tmp_path / KTH.file).parent.mkdir(parents=True)
    write_swf(Workload.from_columns(THREE_JOBS, processors=4), tmp_path / KTH.file)
    return tmp_path


def test_sc15_rows_hold_the_jobs_left_by_its_cleaning_and_the_mean_bounded_slowdowns(one_log: Path):
    count, *slowdowns = sc15.rows_of(KTH, one_log)
    assert (count.exact, count.ours) == (28_481, 3)
    assert [row.scheduler for row in slowdowns] == list(sc15.SCHEDULERS)
    by_hand = (1 + (9 + 10) / 10 + 1) / 3
    assert [row.ours for row in slowdowns] == pytest.approx([by_hand] * 4)
    assert slowdowns[0].difference == pytest.approx(by_hand / 92.5765 - 1)


def test_sc15_says_which_logs_are_missing(one_log: Path):
    rows = sc15.reproduce(one_log).rows
    absent = [row for row in rows if row.ours is None]
    assert [row.notes for row in absent] == [(f"trace not found: {log.file}",) for log in sc15.LOGS[1:]]


def test_sc15_without_any_log_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="none of the traces"):
        sc15.reproduce(tmp_path)


def test_sc15_printed_values_are_the_exact_ones_rounded():
    for log in sc15.LOGS:
        for published, exact in zip(log.published, log.exact, strict=True):
            if published is not None and exact is not None:
                assert abs(published - exact) <= 0.051  # 49.8477 is printed as 49.8


@pytest.fixture(scope="module")
def table(traces: Path) -> Reproduction:
    """Return the whole reproduction."""
    return sc15.reproduce(traces)


@pytest.mark.slow
@pytest.mark.parametrize("log", ["KTH-SP2", "CTC-SP2"])
def test_sc15_is_exact_on_the_authors_own_logs(table: Reproduction, log: str):
    count, *slowdowns = [row for row in table.rows if row.experiment == log]
    assert count.ours == count.exact
    for row in slowdowns:
        assert row.ours == pytest.approx(row.exact, abs=0.00005)


@pytest.mark.slow
@pytest.mark.parametrize("log", ["SDSC-SP2", "SDSC-BLUE"])
def test_sc15_is_close_where_the_log_differs_by_a_few_jobs(table: Reproduction, log: str):
    count, *slowdowns = [row for row in table.rows if row.experiment == log]
    assert 0 < abs(count.ours - count.exact) <= 7
    for row in slowdowns:
        assert row.ours == pytest.approx(row.exact, rel=0.002)  # as the requested and clairvoyant numbers are robust to
        assert row.notes == (sc15.ANOTHER_LOG,)


@pytest.mark.slow
def test_sc15_curie_agrees_to_the_printed_digit(table: Reproduction):
    count, *slowdowns = [row for row in table.rows if row.experiment == "Curie"]
    assert count.ours == count.exact
    for row in slowdowns:
        if row.published is not None:
            assert round(row.ours, 1) == row.published


@pytest.mark.slow
def test_sc15_exact_run_times_and_shortest_first_help_on_every_log(table: Reproduction):
    for log in sc15.LOGS:
        easy, sjf, easy_actual, sjf_actual = [row.ours for row in table.rows if row.experiment == log.name][1:]
        assert sjf_actual < easy_actual < easy
        assert sjf_actual < sjf < easy
