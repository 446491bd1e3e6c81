"""Every pair of features under every backfilling: the engine against its reference, and what always holds.

Pairs and larger sets are run with the engine as plain Python, and each feature by itself in `make test`: the same code
without compilation, which would take an hour for all the combinations of types.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from features import BACKFILLINGS, GROUPS, check_invariants, outcome, random_simulation, setting
from plain_process import number_printed
from random_seeds import one_in

from schedlab.engine.reference.simulate import simulate_plain
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError

SINGLE = [(feature,) for group in GROUPS for feature in group]
PAIRS = [(a, b) for one, other in combinations(GROUPS, 2) for a in one for b in other]
SETS = 60


def check(backfilling, features, seeds):
    """Simulate random workloads with the engine and its reference; they agree, and what always holds does."""
    try:
        case = setting(backfilling, features)
    except InputError:
        return
    if case.refused:
        return
    for seed in seeds:
        workload, options = random_simulation(case, seed)
        schedule = simulate(workload, case.scheduler, **options)
        check_invariants(schedule, workload)
        plain = simulate_plain(workload, case.scheduler, **options)
        assert outcome(schedule) == outcome(plain), f"{case.scheduler}, {options.keys()}, seed {seed}"


@pytest.mark.parametrize("features", [(), *SINGLE], ids=lambda features: " & ".join(features) or "nothing")
def test_each_feature_goes_with_each_backfilling_as_in_the_twin(features):
    for backfilling in BACKFILLINGS:
        check(backfilling, features, seeds=range(8))


@pytest.mark.parametrize("backfilling", one_in(2, BACKFILLINGS))
def test_each_pair_of_features_goes_together_as_in_the_twin(backfilling):
    assert number_printed(__file__, backfilling) > 200


def run_pairs(backfilling):
    """Check all pairs once, and random larger sets; print how many sets were checked."""
    rng = np.random.default_rng(sorted(BACKFILLINGS).index(backfilling))
    sets = list(PAIRS)
    for _ in range(SETS):
        groups = rng.choice(len(GROUPS), rng.integers(3, 6), replace=False)
        sets.append(tuple(str(rng.choice(list(GROUPS[group]))) for group in groups))
    for number, features in enumerate(sets):
        check(backfilling, features, seeds=[number % 4])
    print(len(sets))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    run_pairs(sys.argv[1])
