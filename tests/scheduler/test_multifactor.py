"""Slurm's multifactor priority as text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.scheduler.multifactor import HIGHEST, Multifactor

weights = st.integers(0, HIGHEST // 5) | st.floats(0, 1e6, allow_subnormal=False).map(lambda value: round(value, 6))
factors = st.dictionaries(st.integers(0, 10**12 - 1), st.floats(0, 1).map(lambda one: round(one, 8)), min_size=1)


@st.composite
def policies(draw: st.DrawFn) -> Multifactor:
    """Draw any policy; an option is there if its weight is."""
    values: dict[str, object] = {
        "period": draw(st.integers(1, 10**15)),
        "age": draw(weights.filter(bool)),
        "max_age": draw(st.integers(1, 10**15)),
        "accrue": draw(st.sampled_from(["eligible", "always"])),
    }
    if draw(st.booleans()):
        values |= {
            "size": draw(weights.filter(bool)),
            "favor": draw(st.sampled_from(["large", "small"])),
            "relative": draw(st.booleans()),
        }
    if draw(st.booleans()):
        values |= {
            "fairshare": draw(weights.filter(bool)),
            "half_life": draw(st.integers(0, 10**15)),
            "shares": draw(st.sampled_from(["tree", "classic"])),
        }
    for weight, name in (("partition", "partitions"), ("qos", "qoses")):
        if draw(st.booleans()):
            values |= {weight: draw(weights.filter(bool)), name: draw(factors)}
    return Multifactor(**values)


@given(policies())
def test_a_policy_reads_back_from_its_text(policy):
    assert Multifactor.parse(policy.text) == policy
    scheduler = Scheduler(policy, "slurm")
    assert Scheduler.parse(scheduler.text) == scheduler


def test_the_defaults_are_those_of_slurm():
    # PriorityMaxAge 7-0, PriorityDecayHalfLife 7-0, PriorityCalcPeriod 5 min, Fair Tree, in slurm.conf(5).
    policy = Multifactor(age=1)
    assert (policy.max_age, policy.half_life, policy.period) == (7 * 86400, 7 * 86400, 5 * 60)
    assert (policy.favor, policy.relative, policy.shares, policy.accrue) == ("large", False, "tree", "eligible")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("multifactor(age=1000)", "multifactor(age=1000)"),
        (" Multifactor ( Size=0.5, age = 1000.0 ) ", "multifactor(age=1000,size=0.5)"),
        ("multifactor(age=0.00001,max_age=7d,period=5min)", "multifactor(age=0.00001)"),
        ("multifactor(size=1,relative=no,favor=large,age=0)", "multifactor(size=1)"),
        (
            "multifactor(partition=9,partitions=2:1 ; 1:0.1234567)",
            "multifactor(partition=9,partitions=1:0.1234567;2:1)",
        ),
        (
            "multifactor(fairshare=1,half_life=14d,shares=classic)",
            "multifactor(fairshare=1,half_life=1209600,shares=classic)",
        ),
    ],
)
def test_a_text_has_one_canonical_form(text, canonical):
    assert Multifactor.parse(text).text == canonical
    assert Scheduler.parse(f"{text}+slurm").text == f"{canonical}+slurm"


WRITE_FACTORS = "give each factor once with its number, such as 1:0.5;2:1"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("multifactor", "multifactor: give at least one weight: age= size= fairshare= partition= qos= tres="),
        (
            "multifactor(max_age=1d)",
            "multifactor: give at least one weight: age= size= fairshare= partition= qos= tres=",
        ),
        (
            "multifactor(age=4294967296)",
            "age=4294967296: give a number, from 0 to 4294967295; a duration may have a unit (s, min, h, d, w)",
        ),
        (
            "multifactor(age=4294967295,size=1)",
            "multifactor: the weights add up to more than 4294967295, the highest priority of Slurm",
        ),
        (
            "multifactor(age=1,max_age=0)",
            "multifactor: max_age= and period= must be at least 1 second, half_life= at least 0",
        ),
        (
            "multifactor(age=1,period=0)",
            "multifactor: max_age= and period= must be at least 1 second, half_life= at least 0",
        ),
        ("multifactor(age=1,period=0.5)", "period=0.5 is not a whole number"),
        ("multifactor(age=1,favor=wide)", "multifactor: favor=wide; known are large and small"),
        ("multifactor(age=1,relative=true)", "multifactor: relative=true; known are yes and no"),
        ("multifactor(age=1,shares=fair)", "multifactor: shares=fair; known are tree and classic"),
        ("multifactor(age=1,accrue=never)", "multifactor: accrue=never; known are eligible and always"),
        ("multifactor(age=1,favor=small)", "multifactor: favor= has no effect without size=: remove it"),
        ("multifactor(size=1,max_age=1d)", "multifactor: max_age= has no effect without age=: remove it"),
        ("multifactor(age=1,half_life=0)", "multifactor: half_life= has no effect without fairshare=: remove it"),
        (
            "multifactor(partition=1)",
            "multifactor: partition= also needs factors: partitions=1:0.5;2:1",
        ),
        ("multifactor(age=1,qoses=1:1)", "multifactor: qos= also needs factors: qoses=1:0.5;2:1"),
        ("multifactor(qos=1,qoses=1)", f"multifactor: qoses=1: {WRITE_FACTORS}"),
        ("multifactor(qos=1,qoses=1:1;1:0)", f"multifactor: qoses=1:1;1:0: {WRITE_FACTORS}"),
        (
            "multifactor(qos=1,qoses=1:2)",
            "qoses=2: give a number, from 0 to 1; a duration may have a unit (s, min, h, d, w)",
        ),
    ],
)
def test_a_wrong_argument_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(InputError) as error:
        Multifactor.parse(text)
    assert str(error.value) == sentence


def test_arguments_from_python_are_checked_too():
    with pytest.raises(InputError, match=r": weights are numbers of 0 or more$"):
        Multifactor(age=2, size=-1)
    with pytest.raises(InputError, match=r": weights are numbers of 0 or more$"):
        Multifactor(age=float("nan"))
    with pytest.raises(InputError, match=r"^multifactor: favor=tiny; known are large and small$"):
        Multifactor(age=1, favor="tiny")  # type: ignore[arg-type]


def test_multifactor_orders_the_queue_and_not_the_candidates():
    with pytest.raises(InputError, match=r"^fcfs\+easy:multifactor\(age=1\): .* multifactor orders the queue, not"):
        Scheduler.parse("fcfs+easy:multifactor(age=1)")


def test_there_are_no_scores_of_columns():
    with pytest.raises(InputError, match=r"^multifactor priorities depend on users and on the machine: "):
        Multifactor(age=1).scores()


def test_factors_of_partitions_beyond_1_are_refused():
    with pytest.raises(InputError, match="partitions= must be factors from 0 to 1"):
        Multifactor(partition=5, partitions={1: 7.0})


def test_weights_may_be_numbers_of_numpy():
    assert Multifactor(age=np.float64(0.5), size=np.int64(20)).text == "multifactor(age=0.5,size=20)"
