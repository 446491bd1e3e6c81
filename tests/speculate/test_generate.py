"""Jobs whose run times follow distributions: numbers, distributions, allocations, requests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.speculate.generate import Application, stochastic_jobs

UNIFORM = "uniform(1h,3h)"


def draw(*applications: Application, processors: int = 100, seed: int = 1):
    return stochastic_jobs(applications, processors, rng=np.random.default_rng(seed))


def test_run_times_follow_the_distribution():
    hours = draw(Application(UNIFORM, 4_000)).run_time / 3_600
    # Mean 2, variance 1/3: four standard errors.
    assert hours.mean() == pytest.approx(2, abs=4 * np.sqrt(1 / 3 / 4_000))
    assert 1 <= hours.min() < 1.01
    assert 2.99 < hours.max() <= 3


@pytest.mark.parametrize(("allocation", "mean", "variance"), [("beta", 0.5, 0.05), ("truncnorm", 0.505, 0.0568)])
def test_drawn_allocations_have_the_mean_of_their_distribution_and_fill_the_machine(
    allocation: str, mean: float, variance: float
):
    share = draw(Application(UNIFORM, 4_000, allocation), processors=1_000).job_processors / 1_000
    # Beta(2, 2) has variance 1/20; the normal distribution cut to [0, 1] is wider. Rounding up adds half a processor.
    assert share.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 4_000) + 0.005)
    assert share.min() > 0
    assert 0.9 < share.max() <= 1


@pytest.mark.parametrize(("allocation", "expected"), [("full", 7), ("half", 3), (2, 2)])
def test_fixed_allocations(allocation: int | str, expected: int):
    assert set(draw(Application(UNIFORM, 5, allocation), processors=7).job_processors) == {expected}


@given(
    st.integers(1, 40),
    st.sampled_from(["full", "half", "truncnorm", "beta", 1]),
    st.integers(0, 10_000),
    st.sampled_from(["method", "longest", "exact"]),
    st.integers(1, 500),
)
@settings(max_examples=50)
def test_every_job_fits_and_asks_for_what_it_needs(jobs, allocation, over, requests, processors):
    drawn = draw(Application("exponential(0s,90s,mean=20s)", jobs, allocation, over, requests), processors=processors)
    assert len(drawn) == jobs
    assert (drawn.job_processors >= 1).all()
    assert (drawn.job_processors <= processors).all()
    assert (drawn.run_time >= 1).all()
    assert (drawn.requested_time >= drawn.run_time).all()
    assert (np.diff(drawn.submit_time) >= 0).all()
    assert drawn.submit_time.max() <= over
    assert set(drawn.distribution) == {0 if requests == "method" else -1}


def test_applications_of_one_distribution_share_it_and_are_told_apart():
    drawn = draw(Application(UNIFORM, 2), Application("uniform(1s,2s)", 1, requests="exact"), Application(UNIFORM, 3))
    assert drawn.distributions == (UNIFORM,)
    assert drawn.distribution.tolist() == [0, 0, -1, 0, 0, 0]
    assert drawn.executable_id.tolist() == [1, 1, 2, 3, 3, 3]


@pytest.mark.parametrize(
    ("application", "what"),
    [
        (Application(UNIFORM, 0), "at least one"),
        (Application(UNIFORM, 1, 101), "101 processors do not fit on a machine of 100"),
        (Application(UNIFORM, 1, "most"), "unknown allocation 'most'"),
        (Application("unifrom(1h,2h)", 1), "uniform"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(application: Application, what: str):
    with pytest.raises(InputError, match=what):
        draw(application)


def test_no_application_is_refused():
    with pytest.raises(InputError, match="no application"):
        draw()
