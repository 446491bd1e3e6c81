"""Names that users give to schedulers: in texts, tables, campaigns and reports."""

from __future__ import annotations

import pytest

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.results.comparison import compare
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.imports import named_classes
from schedlab.naming import label_of
from schedlab.report.style import named
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

COLUMNS = {"submit_time": [0, 1, 2], "run_time": [10, 10, 5], "requested_time": [10, 10, 5]}
JOBS = Workload.from_columns({**COLUMNS, "requested_processors": [3, 4, 1]}, processors=4)


@pytest.mark.parametrize(
    ("text", "name", "canonical"),
    [
        ("today=easy", "today", "today=fcfs+easy"),
        (" after the upgrade = saf + easy : sjf ", "after the upgrade", "after the upgrade=saf+easy:sjf"),
        ('v1.2="p*q"+easy,window=5', "v1.2", 'v1.2="p*q"+easy,window=5'),
        ("fcfs,window=5", None, "fcfs,window=5"),
        ("multifactor(age=5)+slurm(depth=9)", None, "multifactor(age=5)+slurm(depth=9)"),
    ],
)
def test_a_text_may_begin_with_a_name(text, name, canonical):
    scheduler = Scheduler.parse(text)
    assert (scheduler.name, scheduler.text) == (name, canonical)
    assert Scheduler.parse(scheduler.text) == scheduler
    assert scheduler.label == (name or canonical)


@pytest.mark.parametrize("text", ["today=", f"{'a' * 41}=fcfs"])
def test_a_name_without_a_scheduler_or_a_page_long_is_refused(text):
    with pytest.raises(InputError, match=r"no scheduler follows the name|cannot name a scheduler"):
        Scheduler.parse(text)


@pytest.mark.parametrize("name", ["a+b", "", "5", "a,b", "a\n", 3, " a"])
def test_a_name_that_no_text_could_hold_is_refused(name):
    with pytest.raises(InputError, match="cannot name a scheduler"):
        Scheduler("fcfs", name=name)


def test_a_name_does_not_hide_that_a_scheduler_is_clairvoyant():
    comparison = compare(JOBS, ["bound=saf@actual+easy", "fcfs"])
    assert list(comparison) == ["bound (@actual)", "fcfs"]
    assert "clairvoyant" in str(comparison)


def test_a_name_does_not_hide_a_class_that_a_file_would_import():
    assert named_classes("today=easy@readme:Last") == ["readme:Last"]
    assert named_classes("today=@agent:a.json") == []
    assert named_classes("x@agent:a.json") == ["agent:a.json"], "that would be a predictor"


def test_tables_say_names_and_below_what_they_stand_for():
    comparison = compare(JOBS, {"today": "fcfs", "tomorrow": Scheduler("fcfs", "easy")})
    text = str(comparison)
    assert "tomorrow: fcfs+easy" in text
    assert comparison.to_frame().index.tolist() == ["today", "tomorrow"]
    assert [price.scheduler for price in comparison.who_pays()] == ["today", "tomorrow"]
    for known in ("tomorrow", "easy", "fcfs+easy", "tomorrow=easy"):
        assert comparison[known].start_time.tolist() == [0, 10, 2]
    with pytest.raises(KeyError, match="did you mean tomorrow"):
        comparison["tomorow"]


def test_two_schedulers_with_one_name_are_refused():
    with pytest.raises(InputError, match="two different schedulers are called today: today=fcfs and today=saf"):
        compare(JOBS, ["today=fcfs", "today=saf"])


def test_the_name_is_kept_with_the_schedule_and_figures_say_it():
    schedule = simulate(JOBS, "today=easy")
    assert schedule.scheduler == "today=fcfs+easy"
    assert list(named(schedule)) == ["today"]
    assert label_of(schedule.scheduler) == "today"
    assert schedule.start_time.tolist() == simulate(JOBS, "easy").start_time.tolist()


def test_results_of_a_campaign_say_names(tmp_path):
    entry = {"generate": "lublin", "jobs": 20, "processors": 16}
    schedulers = {"today": "fcfs", "tomorrow": "easy"}
    campaign = Campaign(name="named", schedulers=schedulers, workloads=[entry], baseline="fcfs")
    assert campaign.scheduler_texts() == ["today=fcfs", "tomorrow=fcfs+easy"]
    assert campaign.compared_with == "today"
    results = run_campaign(campaign, tmp_path / "named", workers=1).results()
    assert results.scheduler.tolist() == ["today", "tomorrow"]
    again = Campaign.model_validate(campaign.model_dump())
    assert again.compared_with == "today"


def test_a_campaign_with_one_name_for_two_or_an_unknown_baseline_is_refused():
    entry = {"generate": "lublin", "jobs": 20, "processors": 16}
    with pytest.raises(ValueError, match="two different schedulers are called a"):
        Campaign(name="x", schedulers=["a=fcfs", "a=saf"], workloads=[entry])
    with pytest.raises(ValueError, match="the baseline saf is not one of the schedulers"):
        Campaign(name="x", schedulers=["a=fcfs"], baseline="saf", workloads=[entry])
