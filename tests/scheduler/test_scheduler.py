"""The scheduler text: what it means, and that it reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.scheduler import POLICIES, FormulaPolicy, Scheduler, policy_from_text
from schedlab.scheduler.predictor import CORRECTIONS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fcfs", Scheduler(policy_from_text("fcfs"))),
        ("easy", Scheduler(policy_from_text("fcfs"), "easy")),
        ("conservative", Scheduler(policy_from_text("fcfs"), "conservative")),
        ("easy:sjf@actual", Scheduler(policy_from_text("fcfs"), "easy", policy_from_text("spf"), "actual")),
        ("saf+easy", Scheduler(policy_from_text("saf"), "easy")),
        ("saf+easy:saf", Scheduler(policy_from_text("saf"), "easy")),
        (
            "wfp3+easy,starvation=3600,window=32",
            Scheduler(policy_from_text("wfp3"), "easy", None, "requested", 3600, 32),
        ),
        ('"log10(p)*q + 870*log10(r)"+easy', Scheduler(FormulaPolicy("log10(p)*q + 870*log10(r)"), "easy")),
        ("log10(p)*q + 870*log10(r)+easy", Scheduler(FormulaPolicy("log10(p)*q + 870*log10(r)"), "easy")),
        ("p+q", Scheduler(FormulaPolicy("p+q"))),
        ("max(p,q)+easy,window=3", Scheduler(FormulaPolicy("max(p,q)"), "easy", window=3)),
        ('fcfs+easy:"p+q"', Scheduler(policy_from_text("fcfs"), "easy", FormulaPolicy("p+q"))),
        ("easy@ave2", Scheduler(policy_from_text("fcfs"), "easy", None, "ave2", correction="incremental")),
        ("saf@median/doubling", Scheduler(policy_from_text("saf"), runtimes="median", correction="doubling")),
        ("easy++", Scheduler.parse("fcfs+easy:sjf@ave2/incremental")),
        ("E-LOSS , starvation=60", Scheduler.parse("fcfs+easy:sjf@e-loss/incremental,starvation=60")),
        ("easy@nag(over=linear, under=square) / requested", Scheduler.parse("easy@nag(linear,square)/requested")),
        ("  SAF + EASY : SJF @ ACTUAL , window = 4 ", Scheduler.parse("saf+easy:sjf@actual,window=4")),
    ],
)
def test_a_text_means_a_scheduler(text, expected):
    assert Scheduler.parse(text) == expected


policies = st.sampled_from(
    [policy() for policy in POLICIES.values()] + [FormulaPolicy("max(p,q) + r@1".replace("@", "*"))]
)
sizes = st.none() | st.integers(1, 10**9)


@given(
    policies,
    st.sampled_from(["none", "easy"]),
    policies | st.none(),
    st.sampled_from(["requested", "actual", "ave2", "ave(3)", "quantile(0.9,jobs=7)", "nag(weight=wide)"]),
    sizes,
    sizes,
    st.sampled_from(CORRECTIONS),
)
def test_every_scheduler_reads_back_from_its_text(policy, backfill, order, runtimes, starvation, window, correction):
    order = order if backfill == "easy" else None
    correction = None if runtimes in ("requested", "actual") else correction
    scheduler = Scheduler(policy, backfill, order, runtimes, starvation, window, correction)
    assert Scheduler.parse(scheduler.text) == scheduler


def test_the_texts_of_the_documentation_are_canonical():
    for text in (
        "fcfs",
        "fcfs+easy",
        "saf+easy",
        "fcfs+easy:sjf@actual",
        "fcfs+easy:sjf@e-loss/incremental",
        "fcfs+conservative",
    ):
        assert str(Scheduler.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no policy is named"),
        ("+easy", "no policy is named"),
        ("nonsense", "unknown policy 'nonsense'; known are fcfs"),
        ("nonsense+easy", "unknown policy 'nonsense'"),
        ("fcfs+magic", "unknown backfilling 'magic'; known are easy conservative"),
        ("fcfs+easy:", "unknown policy ''"),
        ("fcfs+conservative:sjf", "easy backfilling only"),
        ("fcfs+easy@tomorrow", "unknown run times '@tomorrow'; known are @requested @actual"),
        ("fcfs+easy@", "unknown run times"),
        ("fcfs+easy@actual@actual", "only once"),
        ("fcfs+easy@actual/doubling", "@actual is never corrected: leave /doubling out"),
        ("fcfs+easy@ave2/guessing", "unknown correction /guessing; known are /requested /incremental /doubling"),
        ("fcfs+easy@ave2/", "unknown correction /;"),
        ("fcfs+easy@nag(over=cubic)/doubling", "over='cubic' is unknown"),
        ("fcfs+easy,window=3@actual", "must stand before the options"),
        ("fcfs+easy,patience=3", "unknown option 'patience=3'; known are starvation= window="),
        ("fcfs+easy,window", "unknown option 'window'"),
        ("fcfs+easy,window=", "not a whole number"),
        ("fcfs+easy,window=1.5", "not a whole number"),
        ("fcfs+easy,window=-1", "not a whole number"),
        ("fcfs+easy,window=0", "at least 1 job"),
        ("fcfs+easy,window=3,window=4", "given twice"),
        ("fcfs+conservative,window=3", "neither with window= nor starvation="),
        ('"p+easy', "quotation mark is not closed"),
        ('"p*"+easy', "syntax error"),
        ('"p*z"+easy', "'z' is not allowed"),
    ],
)
def test_a_wrong_text_is_refused_in_one_sentence(text, reason):
    with pytest.raises(InputError, match=reason) as caught:
        Scheduler.parse(text)
    assert "\n" not in str(caught.value)


def test_parts_of_the_wrong_kind_are_refused():
    with pytest.raises(InputError, match=r"'saf\+easy' is not a policy; Scheduler.parse reads a text"):
        Scheduler("saf+easy")
    with pytest.raises(InputError, match=r"window=2\.5 is not a whole number"):
        Scheduler(policy_from_text("saf"), window=2.5)


@given(st.text(max_size=50) | st.text(alphabet="fcsaespqrwvmd+:@,=\"'()*/0123456789 ", max_size=50))
def test_any_text_is_a_scheduler_or_refused(text):
    try:
        scheduler = Scheduler.parse(text)
    except InputError:
        return
    assert Scheduler.parse(str(scheduler)) == scheduler
