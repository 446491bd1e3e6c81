"""What a campaign is: its fields, what is refused, and what they multiply to."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from campaign_runs import MODEL, small
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.schedulers import SchedulerGrid
from schedlab.campaign.sources.fields import seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90 s", 90), ("1.5 h", 5_400), ("2min", 120), ("15d", 1_296_000), (" 1 w ", 604_800), (7, 7), (None, None)],
)
def test_a_duration_is_seconds_or_a_number_with_a_unit(text: Any, expected: float | None) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["d", "1 month", "1h30", "", "nan s"])
def test_other_texts_are_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"workloads": []}, "has no workload"),
        ({"schedulers": []}, "has no scheduler"),
        ({"schedulers": [{"policy": []}]}, "has no scheduler"),
        ({"schedulers": [{"policy": "fcfs", "backfill": []}]}, "has no scheduler"),
        ({"workloads": [{"trace": []}]}, "the list of traces is empty"),
        ({"name": "a/b"}, "is not a valid name"),
        ({"name": ""}, "is not a valid name"),
        ({"name": ".."}, "is not a valid name"),
        ({"name": "a" * 101}, "is not a valid name"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"repetitions": 0}, "greater than or equal to 1"),
        ({"timeout": 0}, "greater than 0"),
        ({"timeout": "soon"}, "is not a duration"),
        ({"baseline": "saf"}, "the baseline saf is not one of the schedulers"),
        ({"baseline": "nonsense"}, "nonsense"),
        ({"schedulers": ["fcfs+easier"]}, "easier"),
        ({"schedulers": [{"policy": "fcfs", "backfill": "easier"}]}, "unknown backfilling 'easier'; known are none"),
        ({"schedulers": [{"policy": "fcsf"}]}, "fcsf"),
        ({"schedulers": [{"policy": "fcfs", "polcy": "saf"}]}, "Extra inputs"),
        ({"metrics": {"warm_up": -1}}, "greater than or equal to 0"),
        ({"metrics": {"warm_up": float("nan")}}, "greater than or equal to 0"),
        ({"metrics": {"cool_down": float("inf")}}, "finite"),
        ({"metrics": {"tau": 0}}, "greater than or equal to 1"),
        ({"workloads": [{**MODEL, "load": 0}]}, "greater than 0"),
        ({"workloads": [{**MODEL, "load": [0.5, float("inf")]}]}, "finite"),
        ({"workloads": [{**MODEL, "generate": "lublin2"}]}, "lublin"),
        ({"workloads": [{"trace": "a.swf", "clean": "everything"}]}, "everything"),
        ({"workloads": [{"trace": "a.swf", "repetitions": 3}]}, "repetitions of a log would all be equal"),
        ({"workloads": [{"trace": "a.swf", "load": 1, "windows": {"count": "all"}}]}, "cannot be combined"),
        ({"workloads": [{"trace": "a.swf", "resample": True, "windows": {"count": "all"}}]}, "cannot be combined"),
        ({"workloads": [{"trace": "a.swf", "windows": {"count": 0}}]}, "greater than or equal to 1"),
        ({"workloads": [{"trace": "a.swf", "windows": {"length": "0 d"}}]}, "greater than 0"),
        ({"workloads": [{"trace": "a.swf", "dependencies": "all"}]}, "'none' or 'preceding'"),
        ({"workloads": [{"trace": "a.swf", "dependencies": "preceding", "resample": True}]}, "cannot be resampled"),
        (
            {"workloads": [{"trace": "a.swf", "dependencies": "preceding", "windows": {"state": 5}}]},
            "form an initial state",
        ),
        ({"workloads": ["a.swf"]}, "valid dictionary"),
        ({"workloads": [{"trace": "a.swf", "generate": "lublin"}]}, "Extra inputs"),
        ({"workloads": [{"trace": "a.swf", "wiendows": True}]}, "Extra inputs"),
        ({"events": "random"}, "'batched', 'pyss' or 'sc17'"),
    ],
)
def test_wrong_fields_are_refused(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        small(**fields)


def test_nothing_of_a_campaign_changes_after_it_is_made() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        small().seed = 2  # type: ignore[misc]


def test_lists_of_parts_multiply_the_last_one_fastest() -> None:
    grid = SchedulerGrid.model_validate({"policy": ["fcfs", "saf"], "backfill": ["none", "easy"], "starvation": [0, 9]})
    assert grid.texts() == [
        *("fcfs,starvation=0", "fcfs,starvation=9", "fcfs+easy,starvation=0", "fcfs+easy,starvation=9"),
        *("saf,starvation=0", "saf,starvation=9", "saf+easy,starvation=0", "saf+easy,starvation=9"),
    ]


def test_an_order_of_backfilling_concerns_easy_only() -> None:
    grid = {
        "policy": "fcfs",
        "backfill": ["none", "easy", "conservative"],
        "order": ["sjf", "saf"],
        "runtimes": "actual",
    }
    assert small(schedulers=[grid], baseline=None).scheduler_texts() == [
        "fcfs@actual",
        "fcfs+easy:sjf@actual",
        "fcfs+easy:saf@actual",
        "fcfs+conservative@actual",
    ]


def test_schedulers_count_once_however_they_are_written() -> None:
    written = ["easy", "fcfs+easy", {"policy": "fcfs", "backfill": ["none", "easy"]}, "fcfs@requested", "fcfs"]
    assert small(schedulers=written).scheduler_texts() == ["fcfs+easy", "fcfs"]


def test_a_load_that_is_given_twice_counts_once() -> None:
    assert small(workloads=[{**MODEL, "load": [0.9, 0.5, 0.9]}]).workloads[0].load == (0.9, 0.5)


def test_a_single_value_may_stand_for_a_list_of_one() -> None:
    one = small(schedulers="fcfs", workloads=[{"trace": "a.swf", "load": 0.5}])
    assert one == small(schedulers=["fcfs"], workloads=[{"trace": ["a.swf"], "load": [0.5]}])


def test_true_stands_for_the_defaults_of_windows_and_of_resampling() -> None:
    flags = {"trace": "a.swf", "windows": True, "resample": True}
    assert small(workloads=[flags]) == small(workloads=[{"trace": "a.swf", "windows": {}, "resample": {}}])


def test_others_are_compared_with_the_first_scheduler_unless_the_campaign_names_another() -> None:
    assert small().compared_with == "fcfs"
    assert small(baseline="fcfs+easy@requested").compared_with == "fcfs+easy"


DURATIONS = st.one_of(st.integers(1, 10**7), st.sampled_from(["15d", "1.5 h", "30 min"]))
LOADS = st.lists(st.floats(0.01, 3), max_size=3)
WINDOWS = st.none() | st.fixed_dictionaries(
    {"length": DURATIONS, "count": st.integers(1, 20), "state": st.integers(0, 20)},
    optional={"skip": st.lists(st.integers(0, 20), max_size=3)},
)
TRACES = st.fixed_dictionaries(
    {"trace": st.lists(st.sampled_from(["a.swf", "b/*.swf.gz", "~/ü [1].csv"]), min_size=1, max_size=3)},
    optional={
        "name": st.text(max_size=8).filter(lambda name: name.strip() and name.isprintable()),
        "load": LOADS,
        "windows": WINDOWS,
        "clean": st.sampled_from(["default", "none", "flurry:3:0:99"]),
        "processors": st.integers(1, 10**6),
        "requests": st.sampled_from(["enforced", "advisory"]),
        "resample": st.sampled_from([None, True, {"weeks": 4}, {"profile": "span"}]),
    },
)
MODELS = st.fixed_dictionaries(
    {"generate": st.just("lublin"), "jobs": st.integers(1, 10**6), "processors": st.integers(1, 10**6)},
    optional={"load": LOADS, "repetitions": st.integers(1, 9), "windows": WINDOWS},
)
CAMPAIGNS = st.fixed_dictionaries(
    {
        "name": st.from_regex(r"[a-z][a-z0-9._-]{0,20}", fullmatch=True),
        "workloads": st.lists(TRACES | MODELS, min_size=1, max_size=4),
        "schedulers": st.lists(
            st.sampled_from(["easy", "saf", '"p*q"+easy', {"policy": ["spf", "laf"], "starvation": 9, "window": [4]}]),
            min_size=1,
            max_size=4,
        ),
    },
    optional={
        "seed": st.integers(0, 2**63),
        "description": st.text(max_size=30),
        "metrics": st.fixed_dictionaries({}, optional={"warm_up": st.floats(0, 1e6), "cool_down": DURATIONS}),
        "timeout": DURATIONS,
        "events": st.sampled_from(["batched", "pyss"]),
        "schedules": st.booleans(),
    },
)


@given(CAMPAIGNS)
def test_a_campaign_is_the_same_after_it_was_written_and_read(fields: dict[str, Any]) -> None:
    campaign = Campaign.model_validate(fields)
    again = Campaign.model_validate(json.loads(json.dumps(campaign.model_dump(mode="json"))))
    assert again == campaign
    assert again.model_dump(mode="json") == campaign.model_dump(mode="json")
    assert again.scheduler_texts() == campaign.scheduler_texts()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"metrics": {"main": "mean_wiat"}}, "do you mean mean_wait?"),
        ({"metrics": {"warm_up": 0.6, "cool_down": 0.6}}, "leave no job"),
        ({"timeout": "99999999999999 w"}, "is too long"),
        ({"workloads": [{**MODEL, "jobs": 2**63}]}, "less than 9007199254740992"),
        ({"workloads": [{**MODEL, "windows": {"length": "1h", "count": 2**64}}]}, "less than 9223372036854775808"),
        ({"workloads": [{**MODEL, "generate": {}}]}, "unknown generator"),
        ({"timeout": "-1 d"}, "greater than"),
        ({"name": "index.sqlite"}, "is not a valid name"),
        ({"workloads": [{**MODEL, "name": ""}]}, "is not a valid name"),
        ({"workloads": [{**MODEL, "name": "a\nb"}]}, "is not a valid name"),
        ({"schedulers": [{"policy": "fcfs", "order": "sjf"}]}, "needs easy backfilling"),
    ],
)
def test_what_could_not_work_is_refused_before_anything_runs(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        small(**fields)


def test_passes_in_python_stand_in_lists_of_backfillings():
    (grid,) = Campaign(
        name="c", workloads=[MODEL], schedulers=[{"policy": ["fcfs", "saf"], "backfill": ["easy", "math:isfinite"]}]
    ).schedulers
    assert grid.texts() == ["fcfs+easy", "fcfs+math:isfinite", "saf+easy", "saf+math:isfinite"]
