"""Forecasts are held against what Slurm foretold, of the same jobs at the same moments of a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from site_samples import small_site

import schedlab as sl
from schedlab.errors import InputError
from schedlab.slurm.results import SlurmRun
from schedlab.slurm.start_audit import StartEstimates
from schedlab.when.against_slurm import beside_slurm, beside_text, joined_runs
from schedlab.when.forks import Forking

HALF_HOUR, HOUR, JOBS = 1_800, 3_600, 12
FEW = Forking(forks=9, arrivals=False)


def jobs_of_half_their_requests():
    """Return jobs of the whole machine that come at once, ask for an hour and take half of it."""
    return sl.Workload.from_columns(
        {
            "submit_time": np.arange(JOBS),
            "run_time": [HALF_HOUR] * JOBS,
            "requested_time": [HOUR] * JOBS,
            "requested_processors": [32] * JOBS,
            "user_id": [7] * JOBS,
        },
        processors=32,
    )


@pytest.fixture
def site(tmp_path):
    return replace(small_site(tmp_path), jobs=jobs_of_half_their_requests())


def run_of(site):
    """Return a run as a laboratory would leave it, made by the twin."""
    schedule = sl.simulate(site.jobs, site.scheduler, cluster=site.cluster)
    return SlurmRun(schedule, pd.DataFrame({"row": np.arange(JOBS)}), {}, (), {}, {})


def planned(schedule, moments):
    """Return what a plan with requested times says at some moments: an hour for each job before, counted by hand."""
    rows = []
    for moment in moments:
        ended = int((schedule.end_time <= moment).sum())
        running_since = int(schedule.start_time[ended])
        rows += [
            (0, row, moment, running_since + HOUR * (row - ended), int(schedule.start_time[row]))
            for row in range(ended + 1, JOBS)
        ]
    return StartEstimates(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))


def test_forecasts_know_what_jobs_of_a_user_use_of_their_requests_once_some_have_ended(site):
    one = run_of(site)
    found = beside_slurm(one, planned(one.schedule, [3 * HOUR]), site, how=FEW)
    ahead = found.slurm.row - found.slurm.row.min() + 1
    slurm_wrong = found.slurm.said - found.slurm.started
    assert (slurm_wrong > HALF_HOUR * (ahead - 1)).all()
    assert np.abs(found.median - found.slurm.started).max() < HALF_HOUR
    assert found.held.all()


def test_before_anything_has_ended_forecasts_know_less(site):
    one = run_of(site)
    early, late = (
        beside_slurm(one, planned(one.schedule, [moment]), site, how=FEW).median[-1] for moment in (60, 3 * HOUR)
    )
    start = int(one.schedule.start_time[-1])
    assert abs(early - start) > 2 * abs(late - start)


def test_one_moment_of_so_many_is_taken_and_the_first_answers_about_a_job_are_told_apart(site):
    one = run_of(site)
    said = planned(one.schedule, [60, HOUR, 2 * HOUR, 3 * HOUR])
    found = beside_slurm(one, said, site, every=3, how=FEW)
    assert (found.moments, set(found.slurm.asked.tolist())) == (1, {HOUR})
    assert not found.first.any()
    assert beside_slurm(one, said, site, every=2, how=FEW).moments == 2


def test_the_text_names_both_errors_and_runs_are_put_together(site):
    one = run_of(site)
    found = beside_slurm(one, planned(one.schedule, [3 * HOUR]), site, how=FEW)
    both = joined_runs([found, found])
    assert len(both.median) == 2 * len(found.median)
    text = beside_text(both)
    assert text.startswith("At 2 moments, the median error of forecasts was ")
    assert "Of the 80 % intervals, 100% held." in text
    assert "first of a job" in text


def test_a_site_with_other_jobs_or_none_is_refused(site):
    one = run_of(site)
    said = planned(one.schedule, [HOUR])
    with pytest.raises(InputError, match="the site has other jobs than the run"):
        beside_slurm(one, said, replace(site, jobs=site.jobs[:5]))
    with pytest.raises(InputError, match="the site has no jobs"):
        beside_slurm(one, said, replace(site, jobs=None))
    with pytest.raises(InputError, match="every=0"):
        beside_slurm(one, said, site, every=0)
