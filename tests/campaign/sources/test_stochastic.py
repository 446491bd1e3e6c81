"""Stochastic jobs in a campaign: the fields of the entry, the jobs of each repetition, the hash of their source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from campaign_runs import MODEL, run_here, small, write_log
from pydantic import ValidationError

from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan, task_names
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.stochastic import StochasticEntry
from schedlab.campaign.sources.trace import TraceEntry
from schedlab.errors import InputError
from schedlab.schedule.provenance import input_sha256

LARGE = {"distribution": "uniform(1h,3h)", "jobs": 6, "processors": "half"}
SMALL = {"distribution": "uniform(1m,3m)", "jobs": 4, "processors": 2, "over": "1h", "requests": "exact"}
ENTRY: dict[str, Any] = {"generate": "stochastic", "processors": 10, "applications": [LARGE, SMALL]}


def plan_of(**entry: Any) -> Plan:
    campaign = small(workloads=[ENTRY | entry], schedulers=["laf+conservative,reservations=fixed,requests=classic"])
    return Plan(campaign, find_inputs(campaign, Path()))


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"applications": []}, "the list of applications is empty"),
        ({"applications": [LARGE | {"distribution": "uniform(3h,1h)"}]}, "uniform"),
        ({"applications": [LARGE | {"jobs": 0}]}, "greater than or equal to 1"),
        ({"applications": [LARGE | {"processors": "most"}]}, "full"),
        ({"applications": [LARGE | {"processors": 11}]}, "jobs of 11 processors do not fit a machine of 10"),
        ({"applications": [LARGE | {"over": -1}]}, "greater than or equal to 0"),
        ({"load": 0.7}, "the load"),
        ({"estimates": "exact"}, "Extra inputs"),
    ],
)
def test_what_cannot_be_drawn_is_refused(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        StochasticEntry.model_validate(ENTRY | fields)


def test_each_repetition_draws_other_jobs_and_the_same_ones_again() -> None:
    instances = plan_of(repetitions=3).instances
    prints = [input_sha256(instance.jobs()) for instance in instances]
    assert len(set(prints)) == 3
    assert [input_sha256(instance.jobs()) for instance in plan_of(repetitions=3).instances] == prints


def test_jobs_have_the_distributions_and_requests_of_the_entry() -> None:
    jobs = plan_of(name="mix").instances[0].jobs()
    assert (jobs.name, jobs.processors, len(jobs)) == ("mix", 10, 10)
    assert jobs.distribution is not None
    large = jobs.distribution == 0
    assert set(jobs.job_processors[large]) == {5}
    assert set(jobs.requested_time[large]) == {10_800}
    assert (jobs.requested_time[~large] == jobs.run_time[~large]).all()
    assert jobs.submit_time[~large].max() <= 3_600


def test_the_name_of_a_task_depends_on_every_field_of_the_entry() -> None:
    changes: list[dict[str, Any]] = [{}, {"processors": 20}, {"applications": [LARGE]}]
    changes += [
        {"applications": [LARGE | one, SMALL]}
        for one in ({"jobs": 7}, {"distribution": "uniform(1h,4h)"}, {"over": 60})
    ]
    assert len({plan_of(**change).names[0] for change in changes}) == len(changes)


def test_names_of_tasks_of_older_campaigns_have_not_changed() -> None:
    campaign = small(workloads=[MODEL], schedulers=["fcfs"])
    (model,) = Plan(campaign, find_inputs(campaign, Path())).instances[:1]
    specification = model.specification()
    assert specification["source"] == {"model": "lublin", "jobs": 20, "processors": 16, "estimates": "tsafrir"}
    assert list(specification) == ["workload", "source", "repetition", "seed", "users", "load", "window"]
    assert len(task_names(Plan(campaign, find_inputs(campaign, Path())).settings, model, ["fcfs"])[0]) == 32
    log = Input("w", 0, "x", "ab", jobs=1, processors=8, windows=0)
    assert TraceEntry(trace="x", clean="none", processors=8).specification(log) == {
        "sha256": "ab",
        "clean": "none",
        "processors": 8,
        "requests": None,
    }


def test_the_campaign_runs_and_knows_what_was_reserved(tmp_path: Path) -> None:
    schedulers = [f"laf+conservative,reservations=fixed,requests={method}" for method in ("classic", "toptimal")]
    run = run_here(small(workloads=[ENTRY], schedulers=schedulers), tmp_path)
    frame = run.results()
    assert len(frame) == 2
    assert (frame["mean_reserved_turnaround"] >= frame["mean_turnaround"]).all()


DISTRIBUTIONS = '[[application]]\ndistribution = "uniform(1m,1h)"\nuser = {}\n'
LOG: dict[str, Any] = {"trace": "log.swf", "distributions": "distributions.toml"}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    write_log(tmp_path / "log.swf")
    (tmp_path / "distributions.toml").write_text(DISTRIBUTIONS.format(2))
    return tmp_path


def test_a_log_gives_its_jobs_distributions_also_when_users_are_drawn_anew_and_windows_cut(base: Path) -> None:
    entry = LOG | {"resample": {"weeks": 2}, "windows": {"length": "2h", "count": 3}}
    campaign = small(workloads=[entry], schedulers=["easy,requests=toptimal"])
    for instance in Plan(campaign, find_inputs(campaign, base)).instances:
        jobs = instance.jobs()
        assert jobs.distributions == ("uniform(1m,1h)",)
        assert ((jobs.distribution == 0) == (jobs.user_id == 2)).all()


def names_in(base: Path, **entry: Any) -> set[bytes]:
    campaign = small(workloads=[LOG | entry], schedulers=["easy"])
    return set(Plan(campaign, find_inputs(campaign, base)).names)


def test_the_name_of_a_task_depends_on_the_content_of_its_distributions_and_not_on_their_file(base: Path) -> None:
    before = names_in(base)
    (base / "distributions.toml").rename(base / "moved.toml")
    assert names_in(base, distributions="moved.toml") == before
    (base / "moved.toml").write_text(DISTRIBUTIONS.format(1))
    assert not names_in(base, distributions="moved.toml") & before
    assert not names_in(base, distributions=None) & before


def test_jobs_that_run_longer_than_their_distribution_allows_are_facts_about_the_log(base: Path) -> None:
    """The 15 jobs of user 2 run 100 + 997 n mod 5000 seconds; the distribution ends at 3600."""
    campaign = small(workloads=[LOG], schedulers=["easy,requests=toptimal"])
    (found,) = find_inputs(campaign, base)
    longer = sum(100 + 997 * n % 5_000 > 3_600 for n in range(2, 60, 4))
    assert (found.beyond_distribution, found.with_distribution) == (longer, 15)
    assert f"log: {longer} of 15 jobs run longer than their distribution allows" in found.warning


def test_a_campaign_with_distributions_is_not_run_again_until_they_change(base: Path) -> None:
    campaign = small(workloads=[LOG], schedulers=["easy,requests=classic", "easy,requests=toptimal"])
    for distribution, made in (("uniform(1m,1h)", 2), ("uniform(1m,1h)", 2), ("uniform(1m,2h)", 4)):
        (base / "distributions.toml").write_text(DISTRIBUTIONS.format(2).replace("uniform(1m,1h)", distribution))
        run = run_here(campaign, base / "run", base=base)
        assert len(run.results()) == 2
        assert sum(1 for _ in (base / "run" / "results").iterdir()) == made


def test_distributions_that_change_under_a_campaign_are_noticed(base: Path) -> None:
    campaign = small(workloads=[LOG], schedulers=["easy,requests=toptimal"])
    (instance,) = Plan(campaign, find_inputs(campaign, base)).instances
    (base / "distributions.toml").write_text(DISTRIBUTIONS.format(3))
    with pytest.raises(InputError, match=r"distributions\.toml has changed since the campaign was planned"):
        instance.jobs()


def test_distributions_that_are_not_there_or_fit_no_job_are_refused_before_anything_runs(base: Path) -> None:
    for distributions, what in (("none.toml", "cannot read"), ("distributions.toml", "log: no job has user_id 9")):
        (base / "distributions.toml").write_text(DISTRIBUTIONS.format(9))
        with pytest.raises(InputError, match=what):
            names_in(base, distributions=distributions)


@pytest.mark.parametrize("scheduler", ["easy,requests=toptimal", "easy,speculation=0"])
@pytest.mark.parametrize(
    "entry",
    [
        {"trace": "log.swf"},
        MODEL,
        {"generate": "stochastic", "processors": 10, "applications": [SMALL]},
    ],
)
def test_a_scheduler_that_needs_distributions_is_refused_where_a_workload_has_none(
    entry: dict[str, Any], scheduler: str
) -> None:
    what = r"is for jobs with run-time distributions, and workloads\[1\] has none: give a trace distributions = FILE"
    with pytest.raises(ValidationError, match=what):
        small(workloads=[LOG, entry], schedulers=["easy", scheduler])


def test_fixed_reservations_alone_need_no_distributions() -> None:
    assert small(workloads=[MODEL], schedulers=["conservative,reservations=fixed"]).scheduler_texts()


def test_the_original_of_sc17_knows_no_jobs_that_may_fail() -> None:
    with pytest.raises(ValidationError, match="events=sc17 does not go with requests=toptimal: "):
        small(workloads=[LOG], schedulers=["easy,requests=toptimal"], events="sc17")
