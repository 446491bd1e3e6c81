"""A backtest of a site is kept with it, and its answers say how sure they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from site_samples import CONF
from when_samples import busy_log

import schedlab as sl
from schedlab.errors import InputError
from schedlab.site.site import fingerprint
from schedlab.when.backtest_record import BacktestRecord, ClassScore, KeptLevels, KeptQueues, how_sure, keep, kept
from schedlab.when.methods import FORKED, METHODS, PLAN, RECALIBRATED
from schedlab.when.site_backtests import REPLAYED, backtest_site, record_of
from schedlab.when.start_forecast import StartForecast

ALL = ClassScore(400, 0.79, 0.71, 0.85, 1_200.0, 1_800.0)
SHORT = ClassScore(40, 0.83, 0.7, 0.9, 60.0, 90.0)
RECORD = BacktestRecord(
    schedlab="0.2.0",
    date="2026-11-20T10:00:00+00:00",
    site="digest",
    forks=60,
    truth="the recorded starts",
    all_jobs=ALL,
    plan_error=9_000.0,
    methods={FORKED: ALL},
    classes={"below 10 min, narrow": SHORT},
    edges=(4.0, 16.0),
    chosen={"": RECALIBRATED},
    levels={RECALIBRATED: KeptLevels([0.5], [0], [4], 1_000.0)},
    queues=KeptQueues([[0.0, 1.0]], [600]),
)


def answer(wait, processors):
    jobs = sl.Workload.from_columns({"submit_time": [0], "run_time": [9], "requested_processors": [processors]})
    return StartForecast(0, jobs, np.full((9, 1), wait), 9, 1, 0)


def test_the_class_of_the_answer_counts_where_it_has_jobs_enough():
    assert how_sure(RECORD, "digest", answer(300, 2)) == (
        "On the recorded starts, 83% of such intervals held (70% to 90% by weeks; 80 % is promised), and the median "
        "error was 60 s: 40 jobs of its class (below 10 min, narrow), 2026-11-20."
    )
    assert "79% of such intervals held" in how_sure(RECORD, "digest", answer(300, 8))
    assert "the site was imported again since" in how_sure(RECORD, "other", answer(300, 8))
    assert "never been checked on this site" in how_sure(None, "digest", answer(300, 8))


def test_what_is_kept_is_read_again_and_a_damaged_file_is_refused(tmp_path):
    assert kept(tmp_path) is None
    keep(RECORD, tmp_path)
    assert kept(tmp_path) == RECORD
    (tmp_path / "when.json").write_text("{}")
    with pytest.raises(InputError, match="remove it, and judge"):
        kept(tmp_path)
    keep(replace(RECORD, queues=KeptQueues([[0.0, 1.0]], [600, 700])), tmp_path)
    with pytest.raises(InputError, match="its lists differ in length"):
        kept(tmp_path)


def accounting(count=400):
    """Return lines of sacct for jobs of one hour at most that four nodes cannot hold at times."""
    rng = np.random.default_rng(5)
    begin = np.datetime64("2026-03-01T00:00:00")
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|NNodes|Partition"]
    for number, second in enumerate(np.sort(rng.integers(0, 28 * 86_400, count // 8)).repeat(8).tolist(), 1):
        submit = begin + np.timedelta64(second, "s")
        end = submit + np.timedelta64(int(rng.integers(60, 3_600)), "s")
        cells = [number, f"u{number % 3}", "COMPLETED", submit, submit, end, 60, 8 * int(rng.integers(1, 4))]
        lines.append("|".join(map(str, [*cells, cells[-1] // 8, "batch"])))
    return "\n".join(lines) + "\n"


def test_what_is_kept_of_a_backtest_is_what_it_found(tmp_path):
    judged = sl.when.backtest(sl.simulate(busy_log(2, jobs=200, weeks=6), "fcfs+easy"), jobs=10, forks=3)
    keep(record_of(judged, "digest", 3, REPLAYED), tmp_path)
    record = kept(tmp_path)
    assert record is not None
    assert record.queues.wait == judged.outcomes.outcome.tolist()
    assert record.levels[RECALIBRATED].processors == judged.outcomes.processors.tolist()
    assert record.methods[PLAN].coverage is None  # a point has no interval
    assert record.plan_error == np.median(np.abs(judged.plan - judged.outcomes.outcome)[judged.judged])


@pytest.mark.slow
def test_a_site_is_judged_on_a_replay_of_its_accounting_and_remembers(tmp_path: Path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "sacct.txt").write_text(accounting())
    site = sl.site.import_site(tmp_path / "slurm.conf", tmp_path / "sacct.txt").save(tmp_path / "site")
    judged = backtest_site(site, jobs=12, forks=5)
    record = kept(site)
    assert record is not None
    assert record.all_jobs.jobs == int(judged.judged.sum()) == 12
    assert record.site == fingerprint(site)
    assert record.truth == REPLAYED  # all recorded waits are 0 s
    assert set(record.levels) == set(METHODS) >= set(record.chosen.values())
    assert sum(one.jobs for one in record.classes.values()) == 12
    # Every job waits for others of its burst, which end within an hour each.
    assert 0 <= record.all_jobs.median_error <= 8 * 3_600
