"""Of several requests of one job, the one whose result is there first is advised, unless it is killed too often."""

from __future__ import annotations

import numpy as np
import pytest
from site_samples import MOMENT, printed, small_site

from schedlab.errors import InputError
from schedlab.when.advice import RequestOption, advice_text, advise
from schedlab.when.forks import Forking
from schedlab.when.snapshots import read_snapshot

HOW = Forking(forks=40)


def option(words, wait, result, killed=0.0):
    return RequestOption(tuple(words), np.full(10, wait), np.array(result, dtype=np.float64), killed)


def test_a_request_that_fits_beside_has_its_result_first_and_the_whole_machine_last(tmp_path):
    # Node 4 is free, and job 10 wants it for 30 minutes; the whole machine is free behind job 9.
    site, snapshot = small_site(tmp_path), read_snapshot(printed(tmp_path), MOMENT)
    found = advise(site, snapshot, ["--nodes=4", "--time=60"], [["--nodes=1", "--time=60"]], user="ann", how=HOW)
    assert [one.words for one in found] == [("--nodes=1", "--time=60"), ()]
    assert found[0].median < found[1].median
    assert (found[1].waits > 0).all()


def test_a_limit_of_half_the_request_kills_about_half_where_nothing_is_known(tmp_path):
    # Without accounting, any share of the hour is as likely.
    site, snapshot = small_site(tmp_path), read_snapshot(printed(tmp_path), MOMENT)
    found = advise(site, snapshot, ["--nodes=1", "--time=60"], [["--time=30"]], how=Forking(forks=60))
    by_words = {one.words: one for one in found}
    assert by_words[()].killed == 0
    assert abs(by_words[("--time=30",)].killed - 0.5) < 0.2
    assert found[0].words == ()


def test_the_sentence_tells_the_gain_or_that_nothing_is_to_be_changed():
    own = option([], 7_200, [10_800] * 10)
    text = advice_text((option(["--partition=short"], 60, [3_600] * 10), own), ["--time=60"])
    assert text.startswith("With --partition=short, its result is there in 60 min (median), 2 h sooner than as it is.")
    assert advice_text((own,), ["--time=60"]).startswith("Submit it as it is: its result is there in 3 h (median).")
    doomed = option([], 60, [np.inf] * 10, killed=1.0)
    assert advice_text((doomed,), ["--time=60"]).startswith("Every request that was asked about is killed")


def test_results_are_compared_in_one_unit_and_waits_in_theirs():
    slow = option([], 3_600, [5_400, 7_200, 90_000], killed=0.3)
    quick = option(["--nodes=1"], 60, [3_600, 5_400, np.inf])
    rows = [line.split("  ") for line in advice_text((quick, slow), ["--time=60"]).splitlines()[-2:]]
    cells = [[text.strip() for text in row if text.strip()] for row in rows]
    assert cells[0] == ["--nodes=1", "1 min", "60 min", "90 min", "killed", "0%", "-"]
    assert cells[1] == ["as it is", "60 min", "90 min", "120 min", "25 h", "30%", "30 min"]


def test_a_request_that_can_never_start_stands_last_with_its_reason(tmp_path):
    site, snapshot = small_site(tmp_path), read_snapshot(printed(tmp_path), MOMENT)
    found = advise(site, snapshot, ["--nodes=1", "--time=60"], [["--nodes=9"], ["--pieces=2"]], user="ann", how=HOW)
    assert [bool(one.refused) for one in found] == [False, False, True]
    assert found[-1].words == ("--nodes=9",)
    assert advice_text(found, ["--time=60"]).splitlines()[-1].startswith("--nodes=9: such a job can never start here")


def test_if_no_request_can_start_the_reason_is_told(tmp_path):
    site, snapshot = small_site(tmp_path), read_snapshot(printed(tmp_path), MOMENT)
    with pytest.raises(InputError, match="no request of the job can start: such a job can never start here"):
        advise(site, snapshot, ["--nodes=9", "--time=60"], [["--nodes=8"]], how=HOW)
