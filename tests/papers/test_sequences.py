from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sequence_samples import STATE, full_width_jobs, write_log

from schedlab.campaign.run.executors import local_workers
from schedlab.engine.simulation import simulate
from schedlab.errors import SchedlabError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload
from schedlab_papers.sequences import (
    ALL_SETTINGS,
    AS_DESCRIBED,
    AS_PUBLISHED,
    POLICIES,
    SequenceLog,
    Study,
    entry_of,
    run_study,
    scheduler_text,
    variants_of,
)

PUBLISHED = dict.fromkeys(ALL_SETTINGS, (1.0,) * 8)
LOG = SequenceLog("small", "small.swf", 256, PUBLISHED, cut=3, skip=(0,))
STUDY = Study("study", "A study", (LOG,))


def test_as_published_has_the_authors_window_and_the_time_of_a_start():
    texts = [scheduler_text("SAF", setting, AS_PUBLISHED) for setting in ALL_SETTINGS]
    rules = ",window=32,start_delay=0.002610247"
    assert texts == [f"saf@actual{rules}", f"saf{rules}", f"saf+easy{rules}"]
    assert AS_PUBLISHED.events == "sc17"


def test_both_variants_are_asked_for_by_one_word():
    assert variants_of("both") == (AS_PUBLISHED, AS_DESCRIBED)
    assert variants_of("as-described") == (AS_DESCRIBED,)


def test_jobs_without_an_estimate_are_left_out_where_estimates_are_used():
    rules = {known: entry_of(LOG, Path("x"), known, AS_PUBLISHED)["clean"] for known in ("actual", "estimates")}
    assert rules == {"actual": "allocated-processors", "estimates": "allocated-processors,no-request"}


def test_a_log_may_need_estimates_everywhere():
    log = SequenceLog("small", "small.swf", 256, PUBLISHED, estimates_only=True)
    assert entry_of(log, Path("x"), "actual", AS_PUBLISHED)["clean"] == "allocated-processors,no-request"


def test_sequences_are_left_out_by_hand_as_published_and_as_many_are_taken_as_they_come_as_described():
    by_hand, as_they_come = (
        entry_of(LOG, Path("x"), "actual", variant)["windows"] for variant in (AS_PUBLISHED, AS_DESCRIBED)
    )
    assert (by_hand["count"], by_hand["skip"]) == (3, (0,))
    assert (as_they_come["count"], "skip" in as_they_come) == (2, False)


def test_a_scheduler_with_a_window_does_not_see_a_short_job_behind_it():
    jobs = full_width_jobs([10] * STATE + [100] * 32 + [10])
    shortest_first = scheduler_text("SPT", "estimates", AS_DESCRIBED)
    seen, whole = (
        simulate(jobs, text, in_order=STATE).bounded_slowdown[STATE:].mean()
        for text in (f"{shortest_first},window=32", shortest_first)
    )
    # The short job waits for the state and, with the window, for the first of the long ones.
    assert seen == pytest.approx((sum(np.r_[160, 270:3370:100] + 100) / 100 + (260 + 10) / 10) / 33)
    assert whole == pytest.approx((sum(np.arange(170, 3370, 100) + 100) / 100 + (160 + 10) / 10) / 33)


def test_the_coefficients_are_those_of_the_published_policies():
    """The ratio of the coefficients is the constant that the paper prints, cut to three digits."""
    jobs = [np.array([value]) for value in (10, 1, 10, 0)]
    later = [np.array([value]) for value in (10, 1, 1000, 0)]
    at_origin = [np.array([value]) for value in (10, 1, 1, 0)]
    size = {"F1": 1.0, "F2": 10**0.5, "F3": 10.0, "F4": 10.0}
    for name, constant in (("F1", 8.70e2), ("F2", 2.56e4), ("F3", 6.86e6), ("F4", 5.30e5)):
        policy = Scheduler.parse(POLICIES[name]).policy
        per_decade = (policy.scores(*later) - policy.scores(*jobs))[0] / 2
        per_size = policy.scores(*at_origin)[0] / size[name]
        assert per_decade / per_size == pytest.approx(constant, rel=0.004), name


def test_jobs_take_the_processors_they_were_given_and_are_not_killed(tmp_path: Path):
    columns = {
        "submit_time": [0] * 17,
        "run_time": [50] * 17,
        "requested_time": [10] * 17,
        "requested_processors": [1] * 17,
        "allocated_processors": [2] * 17,
    }
    write_log(Workload.from_columns(columns, processors=2), tmp_path / LOG.file)
    log = SequenceLog("small", LOG.file, 2, PUBLISHED, cut=1)
    with local_workers(1) as workers:
        frame = run_study(STUDY, [log], tmp_path, AS_DESCRIBED, tmp_path / "runs", workers)
    assert len(frame) == len(ALL_SETTINGS) * len(POLICIES)
    assert set(frame["setting"]) == set(ALL_SETTINGS)
    assert list(frame.loc[frame["setting"] == "actual", "policy"]) == list(POLICIES)
    assert (frame["mean_bounded_slowdown"] == 17).all()


def test_failed_simulations_are_an_error_and_not_a_hole_in_a_median(tmp_path: Path):
    write_log(full_width_jobs([10] * 17, processors=4), tmp_path / LOG.file)
    too_small = SequenceLog("small", LOG.file, 2, PUBLISHED, cut=1)
    with local_workers(1) as workers, pytest.raises(SchedlabError, match="10 simulations failed: see schedlab"):
        run_study(STUDY, [too_small], tmp_path, AS_DESCRIBED, tmp_path / "runs", workers)
