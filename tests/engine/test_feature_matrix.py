"""Every pair of features under every backfilling: the compiled engine against its plain twin, and what always holds."""

from __future__ import annotations

from itertools import combinations

import pytest
from features import BACKFILLINGS, GROUPS, check_invariants, outcome, random_simulation, setting
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.engine.simulation import simulate
from schedlab.engine.twin import simulate_plain
from schedlab.errors import InputError

SINGLE = [(feature,) for group in GROUPS for feature in group]
PAIRS = [(a, b) for one, other in combinations(GROUPS, 2) for a in one for b in other]
FEATURES = [(), *SINGLE, *PAIRS]


@st.composite
def combinations_of_features(draw: st.DrawFn) -> list[str]:
    """Draw at most one feature of each group."""
    groups = draw(st.lists(st.sampled_from(range(len(GROUPS))), max_size=6, unique=True))
    return [draw(st.sampled_from(list(GROUPS[group]))) for group in groups]


def check(backfilling, features, seeds, engines=(simulate, simulate_plain)):
    """Simulate random workloads with all engines; they agree, and what always holds does."""
    try:
        case = setting(backfilling, features)
    except InputError:
        return
    if case.refused:
        return
    for seed in seeds:
        workload, options = random_simulation(case, seed)
        schedules = [engine(workload, case.scheduler, **options) for engine in engines]
        check_invariants(schedules[0], workload)
        for other in schedules[1:]:
            assert outcome(schedules[0]) == outcome(other), f"{case.scheduler}, {options.keys()}, seed {seed}"


@pytest.mark.parametrize("features", FEATURES, ids=lambda features: " & ".join(features) or "nothing")
def test_each_pair_of_features_goes_together_under_each_backfilling_as_in_the_twin(features):
    for number, backfilling in enumerate(BACKFILLINGS):
        check(backfilling, features, seeds=[100 * len(features) + number])


@pytest.mark.slow
@pytest.mark.parametrize("backfilling", BACKFILLINGS)
@pytest.mark.parametrize("features", FEATURES, ids=lambda features: " & ".join(features) or "nothing")
def test_each_pair_of_features_equals_the_twin_on_many_workloads(features, backfilling):
    check(backfilling, features, seeds=range(20))


@given(
    backfilling=st.sampled_from(sorted(BACKFILLINGS)), features=combinations_of_features(), seed=st.integers(0, 10**6)
)
@settings(max_examples=200, deadline=None)
def test_any_set_of_features_equals_the_twin(backfilling, features, seed):
    check(backfilling, features, seeds=[seed])


@given(
    backfilling=st.sampled_from(sorted(BACKFILLINGS)), features=combinations_of_features(), seed=st.integers(0, 10**6)
)
@settings(max_examples=100, deadline=None)
def test_the_twin_itself_keeps_what_always_holds(backfilling, features, seed):
    check(backfilling, features, seeds=[seed], engines=[simulate_plain])
