"""The texts of predictors: what they mean, that they read back, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.scheduler.log_regression import LOG_LOSSES, LogRegression
from schedlab.scheduler.own_predictor import OnlinePredictor, PythonPredictor
from schedlab.scheduler.predictor import (
    ATTRIBUTES,
    CHOICES,
    MEANS,
    Actual,
    GroupMean,
    RecentAverage,
    Regression,
    Requested,
    SimilarQuantile,
    UserMean,
    UserQuantile,
)
from schedlab.scheduler.predictor_text import as_predictor, predictor_from_text


class Constant:
    """The least that a predictor of one's own needs."""

    def predict(self, job):
        return 60

    def learn(self, job, run_time):
        pass


class Forgetful:
    def predict(self, job):
        return 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("requested", Requested()),
        (" ACTUAL ", Actual()),
        ("ave2", RecentAverage(2)),
        ("ave", RecentAverage(2)),
        ("ave(5)", RecentAverage(5)),
        ("ave(jobs = 5)", RecentAverage(5)),
        ("mean", UserMean()),
        ("median", UserQuantile(0.5)),
        ("quantile(0.8)", UserQuantile(0.8)),
        ("quantile(0.8, 20)", UserQuantile(0.8, 20)),
        ("quantile(jobs=20, quantile=0.8)", UserQuantile(0.8, 20)),
        ("similar", SimilarQuantile(0.5, 5, 200)),
        ("similar(0.3, 20, 10)", SimilarQuantile(0.3, 20, 10)),
        ("groups", GroupMean("user.request", "geometric", 1.0, 0.95)),
        ("groups(user.executable, mean=arithmetic)", GroupMean("user.executable", "arithmetic")),
        ("groups(account, shrink=0, decay=1)", GroupMean("account", shrink=0.0, decay=1.0)),
        ("nag", Regression()),
        ("log-nag", LogRegression("square", "user.request", 0.1)),
        ("log-nag(pairs, by=processors, step=1)", LogRegression("pairs", "processors", 1.0)),
        ("e-loss", Regression("square", "linear", "area", "code")),
        ("nag(linear, square, wide, paper)", Regression("linear", "square", "wide", "paper")),
        ("e-loss(features=paper)", Regression(features="paper")),
        ("nag(threshold=60, step=1e3, penalty=0)", Regression(threshold=60.0, step=1_000.0, penalty=0.0)),
    ],
)
def test_a_text_means_a_predictor(text, expected):
    assert predictor_from_text(text) == expected


def test_predictors_have_short_texts():
    predictors = [
        RecentAverage(),
        RecentAverage(3),
        UserQuantile(),
        UserQuantile(0.9),
        UserQuantile(0.9, 5),
        UserQuantile(0.5, 5),
        GroupMean(),
        GroupMean("user.processors"),
        GroupMean(mean="arithmetic", shrink=2.0),
        Regression(),
        Regression(over="linear", features="paper"),
        LogRegression(loss="pairs", by="user"),
        PythonPredictor(Constant()),
    ]
    assert [predictor.text for predictor in predictors] == [
        "ave2",
        "ave(3)",
        "median",
        "quantile(0.9)",
        "quantile(0.9,jobs=5)",
        "quantile(jobs=5)",
        "groups",
        "groups(user.processors)",
        "groups(mean=arithmetic,shrink=2)",
        "e-loss",
        "nag(over=linear,features=paper)",
        "log-nag(pairs,by=user)",
        "Constant",
    ]


numbers = st.floats(0, 1e12) | st.integers(0, 10**9).map(float)
predictors = st.one_of(
    st.sampled_from([Requested(), Actual(), UserMean()]),
    st.builds(RecentAverage, st.integers(1, 10**6)),
    st.builds(UserQuantile, st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(1, 10**6)),
    st.builds(
        GroupMean,
        st.lists(st.sampled_from(list(ATTRIBUTES)), min_size=1, unique=True).map(".".join),
        st.sampled_from(MEANS),
        numbers,
        st.floats(0, 1, exclude_min=True),
    ),
    st.builds(LogRegression, st.sampled_from(LOG_LOSSES), st.sampled_from(list(ATTRIBUTES)), st.floats(1e-3, 1e12)),
    st.builds(
        Regression,
        *(st.sampled_from(known) for known in CHOICES.values()),
        numbers,
        numbers.filter(lambda step: step > 0),
        numbers,
    ),
)


@given(predictors)
def test_every_predictor_reads_back_from_its_text(predictor):
    assert predictor_from_text(predictor.text) == predictor


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unknown run times '@'; known are @requested @actual @ave2"),
        ("tomorrow", "unknown run times '@tomorrow'"),
        ("ave(", "unknown run times"),
        ("ave()", "jobs='' is not a whole number"),
        ("ave(0)", "jobs=0 must be a whole number of at least 1"),
        ("ave(2.5)", "jobs='2.5' is not a whole number"),
        ("ave(2,3)", "unknown parameter '3'; known are jobs"),
        ("ave(2,jobs=3)", "jobs is given twice"),
        ("mean(3)", "unknown parameter '3'; it has none"),
        ("quantile(0)", "quantile=0.0 is not between 0 and 1"),
        ("quantile(1)", "is not between 0 and 1"),
        ("quantile(nan)", "is not between 0 and 1"),
        ("quantile(half)", "quantile='half' is not a number"),
        ("groups(user.colour)", "by='user.colour' must be different attributes"),
        ("groups(user.user)", "by='user.user' must be different attributes"),
        ("groups(by=)", "known are user, account, executable, queue, partition, request, processors"),
        ("groups(mean=harmonic)", "mean='harmonic' is unknown; known are geometric, arithmetic"),
        ("groups(shrink=-1)", "shrink=-1.0 must be a number of 0 or more"),
        ("groups(decay=0)", "decay=0.0 must be above 0 and at most 1"),
        ("nag(over=cubic)", "over='cubic' is unknown; known are square, linear"),
        ("nag(wieght=area)", "unknown parameter 'wieght=area'; known are over, under, weight"),
        ("nag(step=0)", "step=0 never learns"),
        ("nag(penalty=-1)", "penalty=-1.0 must be a number of 0 or more"),
        ("log-nag(cubic)", "loss='cubic' is unknown; known are square, linear, pairs"),
        ("log-nag(by=user.colour)", "by='user.colour' must be different attributes"),
        ("log-nag(step=0)", "step=0.0 is not a positive number"),
        ("nag(threshold=inf)", "threshold=inf must be a number of 0 or more"),
    ],
)
def test_a_wrong_text_is_refused_in_one_sentence(text, reason):
    with pytest.raises(InputError, match=reason.replace("(", r"\(")) as caught:
        predictor_from_text(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=30) | st.text(alphabet="avenagmdiqutl(),.=0123456789- ", max_size=30))
def test_any_text_is_a_predictor_or_refused(text):
    try:
        predictor = predictor_from_text(text)
    except InputError:
        return
    assert predictor_from_text(predictor.text) == predictor


def test_a_predictor_of_ones_own_needs_both_methods():
    assert isinstance(Constant(), OnlinePredictor)
    with pytest.raises(InputError, match=r"it is a class: make one with Constant\(\)"):
        as_predictor(Constant)
    for wrong in (Forgetful(), 60, None):
        with pytest.raises(InputError, match=r"it needs methods predict\(job\) and learn\(job, run_time\)"):
            as_predictor(wrong)


def test_whatever_stands_for_a_predictor_becomes_one():
    own = Constant()
    assert as_predictor("ave2") == RecentAverage()
    assert as_predictor(UserMean()) == UserMean()
    assert as_predictor(own).predictor is own  # type: ignore[attr-defined]


def test_only_learned_run_times_change_while_a_simulation_runs():
    assert [as_predictor(text).learns for text in ("requested", "actual", "ave2", "mean", "median", "nag")] == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]
