"""What a backtest has taught changes the answer of a site: its levels, and the method that answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from site_samples import CONF, MOMENT, printed
from test_site_backtests import RECORD, accounting

import schedlab as sl
from schedlab.when.backtest_record import KeptLevels, KeptQueues
from schedlab.when.forks import Forking
from schedlab.when.methods import BOTH, METHODS, QUEUE, RECALIBRATED
from schedlab.when.queue_views import COLUMNS, QueueViews
from schedlab.when.site_answers import as_taught, queue_now
from schedlab.when.site_forecast import at_site
from schedlab.when.site_texts import methods_text
from schedlab.when.snapshots import read_snapshot

LONG = 50_000


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The forecast of the job of the small site that has to wait, with 40 past jobs."""
    directory = tmp_path_factory.mktemp("site")
    (directory / "slurm.conf").write_text(CONF)
    (directory / "sacct.txt").write_text(accounting(40))
    site = sl.site.import_site(directory / "slurm.conf", directory / "sacct.txt")
    return at_site(site, read_snapshot(printed(directory), MOMENT), [9], how=Forking(21))


def record(method, low=0.0, high=1.0):
    """Return what is kept of a backtest in which a method was best, and outcomes lay evenly at levels between two."""
    level = np.random.default_rng(1).permutation(np.linspace(low, high, 400)).tolist()
    levels = KeptLevels(level, [1] * 400, [8] * 400, 1e9)
    views = [[0.0] * 31] * 400
    return replace(
        RECORD, chosen={"": method}, levels=dict.fromkeys(METHODS, levels), queues=KeptQueues(views, [LONG] * 400)
    )


def test_without_a_backtest_an_answer_stays_as_it_is(found):
    assert as_taught(found, None) is found


def test_forks_are_read_at_the_levels_of_the_past(found):
    before = found.starts.quantiles()[0]
    for low, high in ((0.0, 1.0), (-1.0, 2.0)):  # forecasts that were right, and too narrow ones
        taught = as_taught(found, record(RECALIBRATED, low, high)).starts
        after = taught.quantiles()[0]
        assert taught.methods == (RECALIBRATED,)
        assert after[1] == pytest.approx(before[1], abs=60)  # the median stays
        if high == 1:
            assert after == pytest.approx(before, rel=0.3)
        else:
            assert after[0] < 0.5 * before[0]
            assert after[2] > 1.5 * before[2]


@pytest.mark.parametrize("method", [QUEUE, BOTH])
def test_the_method_that_was_best_answers(found, method):
    taught = as_taught(found, record(method))
    assert taught.starts.methods == (method,)
    assert "saw a similar queue" in methods_text(taught.starts.methods)
    if method == BOTH:  # all past jobs of the record have waited for so long
        assert (taught.starts.waits == LONG).all()
    else:  # no job of the accounting has ever waited
        assert taught.starts.quantiles()[0] == pytest.approx(found.starts.quantiles()[0], rel=0.3)


def test_jobs_of_the_queue_see_each_other_beside_the_past(found):
    jobs, asked = queue_now(found.state.log, found.state.state, found.starts)
    assert len(jobs.submit) == 40 + 4
    seen = QueueViews(jobs).of(int(asked[0]), found.starts.now)
    # 24 cores run; job 10 waits, which asks for 8 cores for half an hour.
    assert np.expm1(seen[[12, 14, 15, 16]]) == pytest.approx([24, 1, 8 * 1_800, 0])
    assert len(seen) == COLUMNS


def test_several_methods_are_counted():
    assert "(2 jobs)" in methods_text((QUEUE, RECALIBRATED, QUEUE))
