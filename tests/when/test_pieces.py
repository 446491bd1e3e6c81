"""One job in several pieces: by hand, and on an idle machine, where each begins as soon as it may."""

from __future__ import annotations

import numpy as np
import pytest
from site_samples import HEADER, MOMENT, printed, small_site

from schedlab.errors import InputError
from schedlab.when.advice import advice_text, advise
from schedlab.when.forks import Forking
from schedlab.when.pieces import Pieces, asked_pieces, pieces_in
from schedlab.when.snapshots import read_snapshot

FORKS = Forking(forks=12)


def idle_advice(directory, job, options, how=FORKS):
    """Return what is advised where no job runs or waits, by the words of each request."""
    site, snapshot = small_site(directory), read_snapshot(printed(directory, f"{HEADER}\n"), MOMENT)
    return {one.words: one for one in advise(site, snapshot, job, options, user="ann", how=how)}


def test_pieces_take_equal_parts_of_work_and_limit_and_the_result_is_that_of_the_last():
    # 1,000 s in three pieces, each of which begins with 20 s: 334 + 20 s; the limit of an hour and a second is 1,201 s
    # and 20 s each, in full minutes 21.
    pieces = Pieces(3, restart=20)
    assert pieces.last(np.array([1_000, 3_601])).tolist() == [354, 1_221]
    assert pieces.limit(3_601) == 1_260
    waits = np.array([[0, 50, 10], [0, 0, 0]])
    assert pieces.results(waits, np.array([354, 1_261]), 1_260).tolist() == [404, np.inf]


def test_pieces_are_elements_of_an_array_with_its_limit():
    jobs, seconds = asked_pieces(["--nodes=1", "--time=60", "--partition=batch"], "ann", Pieces(4, 2))
    assert (len(jobs), seconds, set(jobs.requested_time.tolist())) == (4, 3_600, {900})
    assert jobs.resources.array.texts() == ["the new job"] * 4
    assert jobs.resources.array_limit.tolist() == [2] * 4


def test_side_by_side_they_need_a_part_of_the_time_and_one_after_the_other_all_of_it(tmp_path):
    split = (["--pieces=4"], ["--pieces=4%1"], ["--pieces=4", "--restart=5:00"])
    found = idle_advice(tmp_path, ["--nodes=1", "--time=120"], split)
    whole = found[()].result
    assert found[("--pieces=4",)].result.tolist() == np.ceil(whole / 4).tolist()
    assert found[("--pieces=4", "--restart=5:00")].result.tolist() == (np.ceil(whole / 4) + 300).tolist()
    chain = found[("--pieces=4%1",)].result
    assert (chain >= whole).all()
    assert (chain <= whole + 3 * 61 + 4).all()  # the next one starts a minute after the last has ended, at the latest


def test_pieces_of_half_the_time_are_killed_as_often_as_the_whole_and_leave_no_result(tmp_path):
    # Without accounting, any share of the two hours is as likely.
    options = (["--time=60"], ["--pieces=4", "--time=60"])
    found = idle_advice(tmp_path, ["--nodes=1", "--time=120"], options, Forking(forks=40))
    whole, split = found[("--time=60",)], found[("--pieces=4", "--time=60")]
    assert split.killed == whole.killed
    assert 0.3 < split.killed < 0.7
    assert (np.isinf(split.result) == np.isinf(whole.result)).all()


def test_a_job_that_is_too_long_for_its_partition_may_start_in_pieces(tmp_path):
    found = idle_advice(tmp_path, ["--nodes=1", "--time=2-0"], [["--pieces=4"]])
    assert [words for words, one in found.items() if not one.refused] == [("--pieces=4",)]
    assert found[()].refused
    text = advice_text(tuple(found.values()), ["--time=2-0"])
    assert text.startswith("With --pieces=4, its result is there in ")
    assert "(median); as it is, it cannot start." in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--pieces=1"], "--pieces is '1': give 2 to 1,000, such as 4, or 4%1 for one at a time"),
        (["--pieces=4%0"], "--pieces is '4%0': give 2 to 1,000"),
        (["--pieces=many"], "--pieces is 'many': give 2 to 1,000"),
        (["--restart=5:00"], "--restart=5:00: that is of a job in pieces, add --pieces=4"),
        (["--pieces=4", "--restart=soon"], "'soon' is not a time limit"),
    ],
)
def test_pieces_that_are_not_understood_are_refused(words, told):
    with pytest.raises(InputError, match=told):
        pieces_in(words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--nodes=1"], "--pieces=2 splits the time of the job, which has none: add --time"),
        (["--time=60", "--array=0-3"], "--pieces=2: the job is an array already, whose elements are its pieces"),
    ],
)
def test_only_a_single_job_with_a_time_can_be_split(words, told):
    with pytest.raises(InputError, match=told):
        asked_pieces(words, None, Pieces(2))
