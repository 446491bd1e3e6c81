"""Families of policies: formulas that the scheduler can read, that begin near known policies."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_samples import small_windows

from schedlab.engine.simulation import simulate
from schedlab.learn.families import Family, JobSample, expected_families, form_families, linear_families, power_families
from schedlab.learn.training import prepare_training
from schedlab.model.lublin_feitelson import lublin
from schedlab.scheduler.formula import Formula
from schedlab.scheduler.policy import F1, F2, F3, F4, SAF, Policy
from schedlab.workload.cleaning import clean


def _sample(seed: int = 1) -> JobSample:
    rng = np.random.default_rng(seed)
    return JobSample(rng.integers(1, 50_000, 300), rng.integers(1, 65, 300), np.sort(rng.integers(0, 900_000, 300)))


SAMPLE = _sample()
FORMS = {family.name: family for family in form_families(SAMPLE)}
OTHERS = {
    family.name: family
    for families in (power_families, linear_families, expected_families)
    for family in families(SAMPLE)
}


def test_there_are_400_forms_each_with_all_signs() -> None:
    # 144 of one term with 2 signs, 96 + 96 of two with 4, 64 of three with 8.
    assert len(FORMS) == 144 * 2 + 192 * 4 + 64 * 8
    assert len({name for name in FORMS if " - " not in name and not name.startswith("form -")}) == 400


@pytest.mark.parametrize("policy", [F1(), F2(), F3(), F4()], ids=lambda policy: policy.name)
def test_the_policies_of_sc17_are_among_the_forms(policy: Policy) -> None:
    product, constant = policy.formula.split(" + ")
    weight, term = constant.split("*")
    family = FORMS[f"form {product} + {term}"]
    unit = family.rounded(np.zeros(1))["c2"]
    formula = family.formula(np.array([np.log10(float(weight) / unit)]))
    jobs = (SAMPLE.p, SAMPLE.q, SAMPLE.r)
    assert np.allclose(Formula(formula).scores(*jobs), policy.scores(*jobs, np.zeros_like(SAMPLE.p)), rtol=1e-3)


@pytest.mark.parametrize("name", OTHERS)
def test_a_search_begins_with_the_order_of_smallest_area_first(name: str) -> None:
    formula = Formula(OTHERS[name].formula(np.array(OTHERS[name].start)))
    p, q, _ = (values[:50] for values in (SAMPLE.p, SAMPLE.q, SAMPLE.r))
    # Submitted at once and not waiting yet, nobody has aged.
    now = np.zeros_like(p)
    assert np.argsort(formula.scores(p, q, now, now)).tolist() == np.argsort(SAF().scores(p, q, now, now)).tolist()


@given(st.sampled_from([*OTHERS.values(), *list(FORMS.values())[::97]]), st.integers(0, 2**32))
def test_whatever_the_vector_the_formula_can_be_read_and_is_short(family: Family, seed: int) -> None:
    text = family.formula(np.random.default_rng(seed).normal(family.start, 2 * np.array(family.spread)))
    Formula(text)
    assert len(text) < 150
    figures = [
        re.sub("e.*|[.]", "", figure).strip("0") for figure in re.findall(r"(?<![a-z])\d[\d.]*(?:e-?\d+)?", text)
    ]
    assert max(map(len, figures), default=0) <= 4


@pytest.mark.parametrize("name", [*OTHERS, "form log10(p) + log10(q) - r"])
@pytest.mark.parametrize("size", [-1e3, 1e3])
def test_far_out_there_is_still_a_text_which_may_have_no_score(name: str, size: float) -> None:
    family = (OTHERS | FORMS)[name]
    training = prepare_training(small_windows(count=1))
    assert not np.isnan(training.losses(family.formula(np.full(len(family.start), size)), [0])).any()


def _powers(family: Family, vector: list[float]) -> list[float]:
    rounded = family.rounded(np.array(vector))
    return [rounded[name] for name in ("a", "b", "c") if name in rounded]


def test_powers_stay_where_formulas_tell_all_jobs_apart() -> None:
    far = [9.0, -9.0]
    assert _powers(OTHERS["power"], [*far, 7.0]) == [2, -2]
    assert _powers(OTHERS["power-sum"], [*far, 0.0, 7.0])[:2] == [2, -2]
    for name, rest in (("power-age", [4.0]), ("power-stretch", [])):
        assert _powers(OTHERS[name], [0.0, 9.0, *rest]) == [1.414, 0, 3], "the power of WFP3's ageing"
        assert _powers(OTHERS[name], [0.0, -9.0, *rest])[2] == 0, "waiting does not set back"
    assert OTHERS["power-stretch"].formula(np.array([np.pi / 4, -9.0])) == "p*q"


def test_coefficients_are_those_in_the_formula() -> None:
    vector = np.array([0.51234, 1.2, 6.0])
    numbers = OTHERS["power"].rounded(vector)
    assert numbers["a"] == 0.5123
    assert OTHERS["power"].formula(vector) == f"p**0.5123*q**1.2 + {numbers['d']:.4g}*r"


def test_areas_of_expected_run_times_age_and_are_drawn_to_the_request() -> None:
    family = OTHERS["expected"]
    assert family.formula(np.array([1.0, 0.0, np.log10(43_200)])) == "log(p) + log(q) + r/4.32e4"
    assert family.formula(np.array([9.0, -0.3, 5.0])) == "log(p) + 2*log(q) - 0.3*log(R) + r/1e5"


def test_waiting_time_with_a_weight_orders_as_submit_time_does() -> None:
    jobs = clean(lublin(300, 64, rng=np.random.default_rng(2), load=1.2))
    waiting, submitted = (simulate(jobs, f'"{text}"+easy') for text in ("p*q - 50*w", "p*q + 50*r"))
    assert waiting.start_time.tolist() == submitted.start_time.tolist()
    assert waiting.start_time.tolist() != simulate(jobs, "saf+easy").start_time.tolist()


def test_jobs_without_a_request_are_known_by_their_run_time() -> None:
    jobs = lublin(100, 64, rng=np.random.default_rng(1))
    sample = JobSample.of([jobs])
    assert sample.p.tolist() == np.maximum(jobs.run_time, 1).tolist()
    assert sample.r[0] == 0


def test_the_spread_is_that_of_the_jobs_with_a_score() -> None:
    sample = JobSample(np.array([1, 10, 100]), np.array([1, 1, 1]), np.array([0, 5, 10]))
    assert sample.spread_of("log10(p)") == pytest.approx(np.sqrt(2 / 3))
    assert sample.spread_of("1/r") == pytest.approx(0.05)
    assert sample.spread_of("q") == 1.0
    assert sample.spread_of("1/log10(q)") == 1.0
