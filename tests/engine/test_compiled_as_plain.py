"""Compiled kernels against the same code as plain Python: what holds for the one, holds for the other.

Other tests compare the engine with its twin as plain Python alone, in all combinations of features. Here few are
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
"""Each feature is compiled under every third backfilling, the next one under the others: eight take half a minute."""

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


def of_feature(feature: str) -> object:
    """Return what the engine says of a feature under some of the backfillings that it goes with."""
    found = []
    for backfilling in list(BACKFILLINGS)[FEATURES.index(feature) % APART :: APART]:
        try:
            case = setting(backfilling, (feature,))
        except InputError:
            continue
        if not case.refused:
            workload, options = random_simulation(case, 5)
            found.append(outcome(simulate(workload, case.scheduler, **options)))
    return found


KINDS = {"case": of_case, "feature": of_feature}


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
@pytest.mark.parametrize("feature", FEATURES)
def test_each_feature_does_the_same_compiled_and_plain(feature: str) -> None:
    compare("feature", feature)


if __name__ == "__main__":
    impatient()
    print(digest(*sys.argv[1:]))
