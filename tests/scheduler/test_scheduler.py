"""The scheduler text: what it means, and that it reads back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.policies import SAF
from schedlab.scheduler import (
    POLICIES,
    Conservative,
    Easy,
    FormulaPolicy,
    FunctionPolicy,
    Retries,
    Scheduler,
    Slurm,
    policy_from_text,
)
from schedlab.scheduler.predictor import CORRECTIONS
from schedlab.scheduler.scheduler import as_schedulers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fcfs", Scheduler(policy_from_text("fcfs"))),
        ("easy", Scheduler(policy_from_text("fcfs"), "easy")),
        ("conservative", Scheduler(policy_from_text("fcfs"), "conservative")),
        ("easy:sjf@actual", Scheduler("fcfs", Easy(policy_from_text("spf")), runtimes="actual")),
        ("saf+easy", Scheduler(policy_from_text("saf"), "easy")),
        ("saf+easy:saf", Scheduler(policy_from_text("saf"), "easy")),
        (
            "wfp3+easy,starvation=3600,window=32",
            Scheduler(policy_from_text("wfp3"), "easy", starvation=3600, window=32),
        ),
        ('"log10(p)*q + 870*log10(r)"+easy', Scheduler(FormulaPolicy("log10(p)*q + 870*log10(r)"), "easy")),
        ("log10(p)*q + 870*log10(r)+easy", Scheduler(FormulaPolicy("log10(p)*q + 870*log10(r)"), "easy")),
        ("p+q", Scheduler(FormulaPolicy("p+q"))),
        ("max(p,q)+easy,window=3", Scheduler(FormulaPolicy("max(p,q)"), "easy", window=3)),
        ('fcfs+easy:"p+q"', Scheduler("fcfs", Easy(FormulaPolicy("p+q")))),
        ("fcfs+easy:p+q", Scheduler("fcfs", Easy(FormulaPolicy("p+q")))),
        ("p+q+easy:p+r", Scheduler("p+q", Easy(FormulaPolicy("p+r")))),
        ("easy@ave2", Scheduler(policy_from_text("fcfs"), "easy", runtimes="ave2", correction="incremental")),
        ("saf@median/doubling", Scheduler(policy_from_text("saf"), runtimes="median", correction="doubling")),
        ("easy++", Scheduler.parse("fcfs+easy:sjf@ave2/incremental")),
        ("E-LOSS , starvation=60", Scheduler.parse("fcfs+easy:sjf@e-loss/incremental,starvation=60")),
        ("easy@nag(over=linear, under=square) / requested", Scheduler.parse("easy@nag(linear,square)/requested")),
        ("  SAF + EASY : SJF @ ACTUAL , window = 4 ", Scheduler.parse("saf+easy:sjf@actual,window=4")),
        ("saf@similar+easy@requested", Scheduler("saf", "easy", order_runtimes="similar")),
        ("saf@similar+easy", Scheduler("saf", "easy", order_runtimes="similar")),
        ("saf@actual+easy:sjf@ave2/doubling", Scheduler.parse(" SAF @ ACTUAL + EASY : SJF @ AVE2 / DOUBLING ")),
        ("saf@requested+easy@ave2", Scheduler("saf", "easy", runtimes="ave2", order_runtimes="requested")),
        ("saf@ave2+easy@ave2", Scheduler("saf", "easy", runtimes="ave2")),
        (
            "p+q@nag(step=5e+3)+easy:p+R@actual",
            Scheduler("p+q", "easy:p+R", runtimes="actual", order_runtimes="e-loss"),
        ),
        ("saf@similar+conservative", Scheduler("saf", Conservative(), order_runtimes="similar")),
        ("saf@similar+slurm(depth=5)", Scheduler("saf", Slurm(depth=5), order_runtimes="similar")),
        ("saf@similar", Scheduler("saf", order_runtimes="similar")),
        ("laf+conservative,reservations=fixed", Scheduler("laf", Conservative(fixed=True))),
        ("easy,requests=given,speculation=0.5", Scheduler("fcfs", "easy", retries=Retries("given", speculation=0.5))),
    ],
)
def test_a_text_means_a_scheduler(text, expected):
    assert Scheduler.parse(text) == expected


KNOWN_0_1 = json.loads(Path(__file__).with_name("texts_of_0_1.json").read_text(encoding="utf-8"))
"""What the code of version 0.1 made of many texts: canonical texts, and parts that are not as usual."""


@pytest.mark.parametrize("known", KNOWN_0_1, ids=[known["text"] for known in KNOWN_0_1])
def test_a_text_of_version_0_1_keeps_its_meaning(known):
    scheduler = Scheduler.parse(known["text"])
    assert scheduler.text == known["canonical"]
    assert scheduler.order_runtimes is None
    backfill, retries = scheduler.backfill, scheduler.retries
    name = (backfill.text or "none").partition(":")[0]
    order = scheduler.order and scheduler.order.text
    assert (scheduler.policy.text, name, order) == (known["policy"], known.get("backfill", "none"), known.get("order"))
    assert scheduler.runtimes.text == known.get("runtimes", "requested")
    for option in ("correction", "starvation", "window", "start_delay"):
        assert getattr(scheduler, option) == known.get(option)
    assert backfill == Conservative(fixed=True) if "reservations" in known else not getattr(backfill, "fixed", False)
    if {"requests", "speculation"} & set(known):
        assert retries == Retries(known.get("requests"), known.get("exhausted", 1.5), known.get("speculation"))
    else:
        assert retries is None


policies = st.sampled_from([policy() for policy in POLICIES.values()] + [FormulaPolicy("max(p,q) + r*R")])
sizes = st.none() | st.integers(1, 10**9)
predictors = st.sampled_from(["requested", "actual", "ave2", "ave(3)", "quantile(0.9,jobs=7)", "nag(weight=wide)"])
backfills = st.sampled_from(["none", "easy", "conservative", "slurm(depth=7)", Conservative(fixed=True)]) | st.builds(
    Easy, policies
)
retries = st.none() | st.sampled_from([Retries("given"), Retries("toptimal", 0.0), Retries("classic", 2.5)])


@given(policies, backfills, predictors, predictors | st.none(), st.sampled_from(CORRECTIONS), sizes, sizes, retries)
def test_every_scheduler_reads_back_from_its_text(
    policy, backfill, runtimes, order_runtimes, correction, starvation, window, retries
):
    assumed = order_runtimes if backfill == "none" and order_runtimes else runtimes
    if "slurm" in str(backfill):  # which knows none of these
        starvation = window = None
        retries = None if retries is None else replace(retries, speculation=None)
    scheduler = Scheduler(
        policy,
        backfill,
        runtimes=runtimes,
        order_runtimes=order_runtimes,
        correction=None if assumed in ("requested", "actual") else correction,
        starvation=starvation,
        window=window,
        retries=retries,
    )
    assert Scheduler.parse(scheduler.text) == scheduler
    assert replace(scheduler) == scheduler


def test_the_texts_of_the_documentation_are_canonical():
    for text in (
        "fcfs",
        "fcfs+easy",
        "saf+easy",
        "fcfs+easy:sjf@actual",
        "fcfs+easy:sjf@e-loss/incremental",
        "fcfs+conservative",
        "saf@similar+easy@requested",
        "saf@similar+easy:sjf@ave2/doubling,starvation=60",
    ):
        assert str(Scheduler.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no policy is named"),
        ("+easy", "no policy is named"),
        ("nonsense", "unknown policy 'nonsense'; known are fcfs"),
        ("nonsense+easy", "unknown policy 'nonsense'"),
        ("eaf+easy", r"eaf is a whole scheduler \(saf@groups\+easy@requested\): write it alone, or that text"),
        ("e-loss+easy", r"e-loss is a whole scheduler \(fcfs\+easy:sjf@e-loss/incremental\): write it alone"),
        ("EASY++:sjf", r"EASY\+\+ is a whole scheduler \(fcfs\+easy:sjf@ave2/incremental\): write it alone"),
        ("eaf@actual", "eaf is a whole scheduler"),
        ("saf+easy:eaf", r"eaf is a whole scheduler \(saf@groups\+easy@requested\), not a policy"),
        ("fcfs+magic", "unknown backfilling 'magic'; known are easy conservative"),
        ("fcfs+easy:", "unknown policy ''"),
        ("fcfs+conservative:sjf", r":spf does not go with \+conservative: only EASY tries candidates"),
        ("fcfs+slurm(depth=3):sjf", r":spf does not go with \+slurm\(depth=3\): only EASY"),
        ("fcfs@ave2+conservative:sjf", r":spf does not go with \+conservative: only EASY"),
        ("fcfs+easy,reservations=fixed", r"reservations=fixed does not go with \+easy: only conservative"),
        ("fcfs,reservations=fixed", "reservations=fixed does not go with no backfilling: only conservative"),
        ("fcfs+conservative,reservations=loose", r"reservations=loose: the only value is fixed \(without"),
        ("fcfs,speculation=0.5", "speculation=0.5 does not go with no backfilling: speculative runs use gaps"),
        ("fcfs+easy,exhausted=3", r"exhausted= needs a method of requests"),
        ("saf@similar/doubling+easy", "run times of the order are never corrected: write /doubling"),
        ("saf@tomorrow+easy", "unknown run times '@tomorrow'"),
        ("saf@similar+magic", "unknown backfilling 'magic'; known are easy conservative"),
        ("saf@similar+", "unknown backfilling ''"),
        ("saf+easy@similar+easy", "two backfillings are named"),
        ("saf@similar+easy@actual@ave2", "'@ave2' must come before the options, and only once"),
        ("z@similar+easy@requested", "unknown policy 'z'"),
        ("fcfs+easy@tomorrow", "unknown run times '@tomorrow'; known are @requested @actual"),
        ("fcfs+easy@", "unknown run times"),
        ("fcfs+easy@actual@actual", "only once"),
        ("fcfs+easy@actual/doubling", "@actual is never corrected: remove /doubling"),
        ("fcfs+easy@ave2/guessing", "unknown correction /guessing; known are /requested /incremental /doubling"),
        ("fcfs+easy@ave2/", "unknown correction /;"),
        ("fcfs+easy@nag(over=cubic)/doubling", "over='cubic' is unknown"),
        ("fcfs+easy,window=3@actual", "must come before the options"),
        ("fcfs+easy,patience=3", "unknown option 'patience=3'; known are starvation= window="),
        ("fcfs+easy,window", "unknown option 'window'"),
        ("fcfs+easy,window=", "not a whole number"),
        ("fcfs+easy,window=1.5", "not a whole number"),
        ("fcfs+easy,window=-1", "not a whole number"),
        ("fcfs+easy,window=0", "at least 1 job"),
        ("fcfs+easy,window=3,window=4", "given twice"),
        ('"p+easy', "quotation mark is not closed"),
        ('"p*"+easy', "syntax error"),
        ('"p*z"+easy', "'z' is not allowed"),
    ],
)
def test_a_wrong_text_is_refused_in_one_sentence(text, reason):
    with pytest.raises(InputError, match=reason) as caught:
        Scheduler.parse(text)
    assert "\n" not in str(caught.value)


def test_a_function_is_a_policy():
    def widest_first(q):
        return -q

    assert Scheduler(widest_first, "easy") == Scheduler(FunctionPolicy(widest_first), "easy")


def test_parts_of_the_wrong_kind_are_refused():
    with pytest.raises(InputError, match=r"'saf\+easy' is not a policy; Scheduler.parse reads the text"):
        Scheduler("saf+easy")
    for wrong in (3, int):
        with pytest.raises(InputError, match=f"{wrong} is not a policy"):
            Scheduler(wrong)
    with pytest.raises(InputError, match="unknown backfilling 3; known are easy conservative slurm"):
        Scheduler("saf", 3)
    with pytest.raises(InputError, match=r"retries=0\.5: give Retries"):
        Scheduler("saf", retries=0.5)
    with pytest.raises(InputError, match="give one of the two"):
        Retries()
    with pytest.raises(InputError, match=r"window=2\.5 is not a whole number"):
        Scheduler(policy_from_text("saf"), window=2.5)


words = ["saf", "p*R", "easy", "slurm(depth=2)", "conservative", "@", "+", ":", ",", "/", "ave2", "actual", "doubling"]
pieces = st.lists(st.sampled_from(words))


@given(
    st.text(max_size=50)
    | st.text(alphabet="fcsaespqrRwvmd+:@,=\"'()*/0123456789 ", max_size=50)
    | st.builds("".join, pieces)
)
def test_any_text_is_a_scheduler_or_refused(text):
    try:
        scheduler = Scheduler.parse(text)
    except InputError:
        return
    assert Scheduler.parse(str(scheduler)) == scheduler


@pytest.mark.parametrize("policy", ["saf", SAF, SAF()])
@pytest.mark.parametrize("backfill", ["easy", Easy, Easy()])
def test_policies_and_backfilling_are_given_as_texts_classes_or_objects(policy: Any, backfill: Any) -> None:
    assert Scheduler(policy, backfill).text == "saf+easy"


def test_a_class_that_needs_arguments_says_so() -> None:
    with pytest.raises(InputError, match=r"FormulaPolicy needs arguments: give FormulaPolicy\(\.\.\.\)"):
        Scheduler(FormulaPolicy)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (SAF(), r"SAF\(\) is a policy, not a whole scheduler: write Scheduler\(SAF\(\)\)"),
        (SAF, r"SAF is not a scheduler: write Scheduler\(SAF\) for a policy"),
        (3, "3 is not a scheduler: give a text such as 'saf\\+easy', or a Scheduler"),
    ],
)
def test_what_is_not_a_scheduler_is_refused_by_name(wrong: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        as_schedulers([wrong])
