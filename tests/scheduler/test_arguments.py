"""Arguments in brackets, numbers and durations of a scheduler text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.scheduler.arguments import arguments_of, number, plain, whole
from schedlab.scheduler.scheduler import Scheduler


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("slurm", ("slurm", {})),
        ("slurm()", ("slurm", {})),
        (" Slurm ( Depth = 50 , window=2D,) ", ("slurm", {"depth": "50", "window": "2d"})),
    ],
)
def test_arguments_are_texts_by_name(text, expected):
    assert arguments_of(text, ["depth", "window"]) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slurm(depth=50", "'slurm(depth=50': the bracket is not closed"),
        ("slurm(dept=50)", "slurm: unknown argument 'dept=50'; known are depth= window= (did you mean depth?)"),
        ("slurm(depth)", "slurm: unknown argument 'depth'; known are depth= window="),
        ("slurm(depth=)", "slurm: unknown argument 'depth='; known are depth= window="),
        ("slurm(depth=1,depth=2)", "slurm: depth= is given twice"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(text, sentence):
    with pytest.raises(InputError) as error:
        arguments_of(text, ["depth", "window"])
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("12", 12), ("12s", 12), ("5min", 300), ("5 m", 300), ("1.5h", 5400), ("2d", 172800), ("0.25", 0.25)],
)
def test_a_number_may_have_a_unit_of_time(text, value):
    assert number("x", text) == value


@pytest.mark.parametrize("text", ["", "-1", "1e3", "inf", "nan", "1 week", "1,5", ".5", "5.", "0x1", "٣", "9" * 17])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(InputError) as error:
        number("age", text)
    assert str(error.value) == f"age={text}: give a number, at least 0; a duration may have a unit (s, min, h, d, w)"


def test_bounds_are_named():
    with pytest.raises(InputError) as error:
        number("age", "4294967296", low=1, high=2**32 - 1)
    assert str(error.value).startswith("age=4294967296: give a number, from 1 to 4294967295; ")


def test_a_whole_number_has_no_fraction():
    assert whole("depth", "1.5min") == 90
    with pytest.raises(InputError, match=r"^depth=1.5 is not a whole number$"):
        whole("depth", "1.5")


@given(st.floats(0, 1e14, allow_subnormal=False).filter(lambda value: value == 0 or value > 1e-4))
def test_a_number_reads_back_from_its_text(value):
    assert number("x", plain(value)) == value


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("fcfs+slurm(bf_interval=60,bf_max_job_test=100)", "fcfs+slurm(interval=60,depth=100)"),
        ("fcfs+slurm(bf_window=2880,OverTimeLimit=5)", "fcfs+slurm(window=172800,overtime=300)"),
        (
            "multifactor(PriorityWeightJobSize=9,PriorityWeightAge=1,PriorityMaxAge=60)",
            "multifactor(size=9,age=1,max_age=1h)",
        ),
        ("multifactor(PriorityWeightFairshare=9,PriorityDecayHalfLife=1-0)", "multifactor(fairshare=9,half_life=1d)"),
        ("fcfs+slurm(window=1-12:00:00)", "fcfs+slurm(window=36h)"),
        ("fcfs+slurm(window=1w)", "fcfs+slurm(window=7d)"),
        ("fcfs+easy,starvation=1d", "fcfs+easy,starvation=86400"),
        ("fcfs+easy,starvation=1-12:00:00", "fcfs+easy,starvation=129600"),
    ],
)
def test_names_of_slurm_with_its_units_and_durations_mean_the_same(text, same):
    assert Scheduler.parse(text) == Scheduler.parse(same)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fcfs+slurm(depth=5,bf_max_job_test=6)", "depth= and bf_max_job_test= are the same"),
        ("fcfs+slurm(bf_intervall=6)", r"unknown argument 'bf_intervall=6'.*\(did you mean bf_interval\?\)"),
        ("fcsf+easy", r"unknown policy 'fcsf'.*\(did you mean fcfs\?\)"),
        ("saf+eazy", r"unknown backfilling 'eazy'.*\(did you mean easy\?\)"),
        ("saf+easy@simular", r"unknown run times '@simular'.*\(did you mean similar\?\)"),
        ("saf+easy@ave2/doublin", r"unknown correction /doublin.*\(did you mean doubling\?\)"),
        ("saf+easy,starvatio=3", r"unknown option 'starvatio=3'.*\(did you mean starvation\?\)"),
    ],
)
def test_what_is_nearly_right_is_guessed(text, sentence):
    with pytest.raises(InputError, match=sentence):
        Scheduler.parse(text)
