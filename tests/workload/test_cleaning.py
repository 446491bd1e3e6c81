"""Cleaning rules, each by hand, and the rule sets on the logs whose published counts they must give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.workload.cleaning import (
    RULE_SETS,
    RULES,
    Flurry,
    clean,
    clean_with_report,
    find_flurries,
    remove_flurry,
)
from schedlab.workload.cleaning_report import CleaningReport
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

SOUND = {
    "submit_time": 0,
    "run_time": 60,
    "allocated_processors": 4,
    "requested_processors": 4,
    "requested_time": 600,
    "status": 1,
    "user_id": 1,
}


def log_of(*jobs: dict[str, int], processors: int | None = 8) -> Workload:
    """A log of jobs that are sound but for what is given."""
    columns = {field: [{**SOUND, **job}[field] for job in jobs] for field in SOUND}
    return Workload.from_columns(columns, name="log", processors=processors)


def touched_by(report: CleaningReport) -> dict[str, tuple[int, int]]:
    """Jobs dropped and changed by each rule that did something."""
    return {step.rule: (step.dropped, step.changed) for step in report.steps if step.dropped or step.changed}


@pytest.mark.parametrize(
    ("rule", "job", "dropped"),
    [
        ("never-ran", {"run_time": -1}, True),
        ("never-ran", {"run_time": 0, "status": 5}, True),
        ("never-ran", {"run_time": 0}, False),
        ("never-ran", {"run_time": 9, "status": 5}, False),
        ("no-run-time", {"run_time": 0}, True),
        ("no-run-time", {"run_time": 1}, False),
        ("no-processors", {"allocated_processors": -1, "requested_processors": 0}, True),
        ("no-processors", {"allocated_processors": -1}, False),
        ("allocated-too-wide", {"allocated_processors": 9}, True),
        ("allocated-too-wide", {"allocated_processors": 8, "requested_processors": 9}, False),
        ("requested-too-wide", {"requested_processors": 9}, True),
        ("requested-too-wide", {"requested_processors": 8, "allocated_processors": 9}, False),
        ("no-request", {"requested_time": 0}, True),
        ("no-request", {"requested_time": 1}, False),
        ("negative-submit", {"submit_time": -1}, True),
        ("flurry:1:0:100", {"submit_time": 0}, True),
        ("flurry:1:0:100", {"submit_time": 100}, False),
        ("flurry:2:0:100", {"submit_time": 0}, False),
    ],
)
def test_a_rule_drops_only_its_jobs(rule, job, dropped):
    kept = clean(log_of(job, {"submit_time": 500}), [rule])
    assert len(kept) == (1 if dropped else 2)


@pytest.mark.parametrize(
    ("rule", "job", "changes"),
    [
        ("fill-processors", {"allocated_processors": -1}, {"allocated_processors": 4}),
        ("fill-processors", {"requested_processors": 0}, {"requested_processors": 4}),
        ("fill-processors", {"requested_processors": 2}, {}),
        ("allocated-processors", {"requested_processors": 2}, {"requested_processors": 4}),
        ("allocated-processors", {"allocated_processors": -1}, {"requested_processors": -1}),
        ("fill-request", {"requested_time": -1}, {"requested_time": 60}),
        ("fill-request", {"requested_time": 0, "run_time": 0}, {"requested_time": 1}),
        ("fill-request", {"requested_time": 5}, {}),
        ("cut-at-request", {"run_time": 700}, {"run_time": 600}),
        ("cut-at-request", {"run_time": 700, "requested_time": -1}, {}),
    ],
)
def test_a_rule_changes_only_what_it_is_about(rule, job, changes):
    cleaned, report = clean_with_report(log_of(job), [rule])
    expected = {**SOUND, **job, **changes}
    assert {field: int(getattr(cleaned, field)[0]) for field in SOUND} == expected
    assert report.steps[0].changed == bool(changes)
    assert report.steps[0].dropped == 0


def test_parts_of_a_checkpointed_job_are_dropped_for_the_line_of_the_whole():
    log = Workload.from_columns(
        {
            "job_id": [1, 1, 1, 2, 3, 3],
            "submit_time": [0, 0, -1, 110, 120, -1],
            "run_time": [300, 100, 200, 50, 30, 30],
            "requested_processors": [4, 4, 4, 8, 1, 1],
            "status": [1, 2, 3, 1, 0, 4],
        }
    )
    cleaned, report = clean_with_report(log)
    assert cleaned.job_id.tolist() == [1, 2, 3]
    assert cleaned.run_time.tolist() == [300, 50, 30]
    assert touched_by(report)["partial-executions"] == (3, 0)
    assert "negative-submit" not in touched_by(report)


def test_parts_without_a_line_of_the_whole_are_kept():
    log = log_of({"status": 2}, {"status": 3}, {"status": 1}).replace(job_id=[1, 1, 2])
    assert clean(log, "partial-executions").job_id.tolist() == [1, 1, 2]


def test_every_set_consists_of_known_rules():
    assert {name for names in RULE_SETS.values() for name in names} <= set(RULES)


def test_without_a_machine_size_no_job_is_too_wide():
    log = log_of({"requested_processors": 10**6}, processors=None)
    assert len(clean(log, "default")) == len(clean(log, "sc15")) == 1


def test_no_rules_change_nothing():
    log = log_of({"run_time": -1}, {})
    cleaned, report = clean_with_report(log, "none")
    assert cleaned is log
    assert report.steps == ()


def test_the_default_judges_the_width_by_the_processors_a_job_needs():
    only_allocated = {"requested_processors": -1, "allocated_processors": 9}
    narrow_request = {"requested_processors": 8, "allocated_processors": 9}
    assert clean(log_of(only_allocated, narrow_request)).job_id.tolist() == [2]


def test_sc15_counts_a_job_at_the_first_rule_that_it_breaks():
    everything = {"allocated_processors": 9, "run_time": 0, "requested_time": 0, "submit_time": -1}
    without_processors = {**everything, "allocated_processors": -1, "requested_processors": -1}
    times = {"run_time": 0, "requested_time": 0, "submit_time": -1}
    request = {"requested_time": 0, "submit_time": -1}
    cut_first = {"run_time": 700, "submit_time": -1}
    _, report = clean_with_report(log_of(everything, without_processors, times, request, cut_first, {}), "sc15")
    dropping = ["allocated-too-wide", "no-processors", "no-run-time", "no-request", "negative-submit"]
    assert [step.rule for step in report.steps if step.dropped] == dropping
    assert [step.rule for step in report.steps if step.changed] == ["cut-at-request"]


@pytest.mark.parametrize("rules", ["default,flurry:7:0:10", ["default", "flurry:7:0:10"]])
def test_sets_and_rules_combine_as_text_and_as_a_sequence(rules):
    cleaned, report = clean_with_report(log_of({"user_id": 7}, {"run_time": -1}, {}), rules)
    assert cleaned.job_id.tolist() == [3]
    assert [step.rule for step in report.steps] == [*RULE_SETS["default"], "flurry:7:0:10"]


def test_an_unknown_rule_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"unknown cleaning rule 'tidy'; .*sc15.*never-ran.*flurry:USER"):
        clean(log_of({}), "tidy")


@pytest.mark.parametrize("text", ["flurry:7", "flurry:a:0:1", "flurry:1:2:3:4", "flurry:"])
def test_a_flurry_that_cannot_be_read_is_refused(text):
    with pytest.raises(InputError, match="is not flurry:USER:START:END"):
        clean(log_of({}), [text])


def test_a_log_without_a_job_to_keep_names_the_rule_that_dropped_most():
    log = log_of({"run_time": -1}, {"requested_processors": 9}, {"requested_processors": 9})
    with pytest.raises(InputError, match=r"log: no jobs are left .* requested-too-wide .* dropped 2 of 3"):
        clean(log)


def test_an_empty_log_is_refused():
    with pytest.raises(InputError, match="no jobs to clean"):
        clean(log_of({})[:0], "none")


def test_the_report_counts_jobs_values_and_long_runs():
    log = log_of({"run_time": -1}, {"requested_time": -1}, {"run_time": 601}).replace(rounded=3)
    _, report = clean_with_report(log)
    assert (report.jobs_before, report.jobs_after, report.rounded, report.above_request) == (3, 2, 3, 1)
    touched = touched_by(report)
    assert touched == {"never-ran": (1, 0), "fill-request": (0, 1)}
    assert {step["rule"]: step["dropped"] for step in report.to_dict()["steps"]}["never-ran"] == 1
    lines = str(report).splitlines()
    assert len(lines) == 1 + len(report.steps) + 3
    assert lines[-3:] == [
        "3 jobs before, 2 after",
        "3 values with fractions were rounded to whole numbers",
        "1 jobs run longer than they asked for",
    ]


numbers = st.integers(-2, 12)
messy_jobs = st.fixed_dictionaries(
    dict.fromkeys(("submit_time", "run_time", "allocated_processors", "requested_processors"), numbers)
    | {"requested_time": numbers, "status": st.integers(-1, 5), "user_id": st.integers(-1, 3)}
)


@given(st.lists(messy_jobs, min_size=1, max_size=20), st.sampled_from(["default", "sc15"]))
def test_cleaned_jobs_can_be_simulated_and_need_no_more_cleaning(jobs, rules):
    log = log_of(*jobs, {})  # the sound one is always left
    cleaned, report = clean_with_report(log, rules)
    assert len(cleaned) == len(log) - sum(step.dropped for step in report.steps)
    assert (cleaned.submit_time >= 0).all()
    assert (cleaned.run_time >= (1 if rules == "sc15" else 0)).all()
    assert (cleaned.requested_time >= 1).all()
    assert ((cleaned.job_processors >= 1) & (cleaned.job_processors <= 8)).all()
    again = clean_with_report(cleaned, rules)[1]
    assert all(step.dropped == step.changed == 0 for step in again.steps)


def test_sc15_gives_the_jobs_that_the_authors_simulated_on_kth(traces: Path):
    log = read_swf(traces / "variants/predictsim/KTH-SP2/swf_unfiltered/log.swf.gz")
    cleaned, report = clean_with_report(log, "sc15")
    touched = touched_by(report)
    assert (report.jobs_before, report.jobs_after) == (28_489, 28_481)
    assert touched == {"no-run-time": (8, 0), "cut-at-request": (0, 475)}
    published = read_swf(traces / "variants/predictsim/KTH-SP2_log.swf.gz")
    for field in ("job_id", "submit_time", "run_time", "requested_time", "requested_processors"):
        assert np.array_equal(getattr(cleaned, field), getattr(published, field))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "jobs"), [("CTC-SP2-1996-3.1-cln", 77_199), ("CEA-Curie-2011-2.1-cln", 295_540)])
def test_sc15_gives_the_number_of_jobs_that_the_authors_simulated(traces: Path, name, jobs):
    assert len(clean(read_swf(traces / f"{name}.swf.gz"), "sc15")) == jobs


def test_removing_a_flurry_leaves_other_users_and_times():
    log = log_of({"submit_time": 5}, {"submit_time": 5, "user_id": 2}, {"submit_time": 10})
    assert remove_flurry(log, 1, 0, 10).job_id.tolist() == [2, 3]


def test_a_burst_over_two_days_is_found_as_one_flurry_and_its_rule_removes_it():
    quiet = [{"submit_time": day * 86_400, "user_id": day % 3} for day in range(20)]
    burst = [{"submit_time": 7 * 86_400 + second * 3600, "user_id": 9} for second in range(48)]
    unknown = [{"submit_time": 3 * 86_400 + second, "user_id": -1} for second in range(40)]
    log = log_of(*quiet, *burst, *unknown)
    assert find_flurries(log) == [Flurry(user_id=9, start=7 * 86_400, end=9 * 86_400, jobs=48)]
    assert 9 not in clean(log, find_flurries(log)[0].rule).user_id


def test_an_even_log_and_an_empty_one_have_no_flurries():
    log = log_of(*({"submit_time": day * 86_400} for day in range(20)))
    assert find_flurries(log) == []
    assert find_flurries(log[:0]) == []


def test_a_window_without_length_is_refused():
    with pytest.raises(InputError, match="at least 1 s"):
        find_flurries(Workload.from_columns({"submit_time": [0]}), window=0)
