"""Compiled kernels against the same code as plain Python: what holds for the one, holds for the other.

Other tests compare the engine with its reference as plain Python alone, in all combinations of features. Here few are
compiled, each of which takes up to a quarter of a minute.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent / "gym")]

from drawn_cases import Case, drawn_case, found_by_engine  # noqa: E402
from engine_fuzzer import PATIENCE, TIMES, impatient  # noqa: E402
from features import BACKFILLINGS, GROUPS, outcome, random_simulation, setting  # noqa: E402

from schedlab.engine.parts.heterogeneous import numbers  # noqa: E402
from schedlab.engine.parts.preemption import endless  # noqa: E402
from schedlab.engine.simulation import simulate  # noqa: E402
from schedlab.errors import InputError  # noqa: E402

pytestmark = pytest.mark.compiled

DRAWN = 2
"""How many cases of everything; six times as many in the slow tests."""

APART = 3
"""Each feature is compiled under every third backfilling, the next one under the others."""

WORKLOADS = range(5, 9)
"""Seeds of what is simulated with a set of features: that takes no time beside compiling."""

FEATURES = [feature for group in GROUPS for feature in group]


def drawn(number: int) -> Case:
    """Return a case of many jobs on which everything may be combined."""
    seed = 1000 * number
    while (case := drawn_case(seed)) is None or len(case.workload) < 8:
        seed += 1
    return case


def of_case(number: str) -> object:
    """Return what the engine says of a drawn case."""
    return found_by_engine(drawn(int(number)))


def goes(backfilling: str, features: tuple[str, ...]) -> bool:
    """Return whether features go together under a backfilling."""
    try:
        return not setting(backfilling, features).refused
    except InputError:
        return False


def sets_of_features(backfilling: str) -> list[tuple[str, ...]]:
    """Return as few sets as go together, of every third feature that goes with a backfilling: each set is compiled."""
    sets: list[tuple[str, ...]] = []
    for feature in FEATURES[list(BACKFILLINGS).index(backfilling) % APART :: APART]:
        if not goes(backfilling, (feature,)):
            continue
        taken = (place for place, one in enumerate(sets) if apart(one, feature) and goes(backfilling, (*one, feature)))
        place = next(taken, None)
        if place is None:
            sets.append((feature,))
        else:
            sets[place] += (feature,)
    return sets


def apart(features: tuple[str, ...], other: str) -> bool:
    """Return whether a feature is of another group than all of these: those of one group exclude each other."""
    return not any(other in group and set(features) & set(group) for group in GROUPS)


def of_features(backfilling: str) -> object:
    """Return what the engine says of sets of features under a backfilling."""
    found = []
    for features in sets_of_features(backfilling):
        case = setting(backfilling, features)
        for seed in WORKLOADS:
            workload, options = random_simulation(case, seed)
            found.append(outcome(simulate(workload, case.scheduler, **options)))
    return found


KINDS = {"case": of_case, "features": of_features}


def digest(kind: str, what: str) -> str:
    """Return a digest of what the engine says."""
    return hashlib.sha256(repr(KINDS[kind](what)).encode()).hexdigest()


def compare(kind: str, what: str) -> None:
    """Compare the compiled engine with the plain one, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, kind, what],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    with pytest.MonkeyPatch.context() as patch:  # as the other process is: components that never fit wait for minutes
        patch.setattr(numbers, "PATIENCE", PATIENCE)
        patch.setattr(endless, "PATIENCE", TIMES)
        assert done.stdout.strip() == digest(kind, what)


@pytest.mark.parametrize("number", range(DRAWN))
def test_compiled_kernels_do_as_plain_ones(number: int) -> None:
    compare("case", str(number))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(DRAWN, 6 * DRAWN))
def test_compiled_kernels_do_as_plain_ones_in_more_cases(number: int) -> None:
    compare("case", str(number))


@pytest.mark.slow
@pytest.mark.parametrize("backfilling", BACKFILLINGS)
def test_each_feature_does_the_same_compiled_and_plain(backfilling: str) -> None:
    compare("features", backfilling)


def test_each_feature_is_compiled_under_some_backfilling() -> None:
    assert {feature for name in BACKFILLINGS for one in sets_of_features(name) for feature in one} == set(FEATURES)


if __name__ == "__main__":
    impatient()
    print(digest(*sys.argv[1:]))
