"""A bounded run of the fuzzer of engine and reference; `make fuzz` is the long one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import drawn_cases
import drawn_laws
import pytest
from drawn_cases import Case, between, differences, drawn_case
from drawn_laws import broken_laws
from random_seeds import seeds
from test_laws import NODES, schedule_of_two

from schedlab.cluster.cluster import Cluster

FEW, CASES = 4, 29
"""Cases of the quick run, and of each of the four slow ones that follow it."""

PROGRAM = Path(__file__).with_name("engine_fuzzer.py")


@pytest.mark.parametrize("number", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 5))])
def test_engine_and_twin_agree_on_drawn_cases(number: int) -> None:
    first, cases = seeds(1)[0], FEW
    if number:
        first, cases = first + FEW + (number - 1) * CASES, CASES
    done = subprocess.run(
        [sys.executable, "-W", "ignore", PROGRAM, "--cases", str(cases), "--first", str(first), "--workers", "1"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert f"{cases} cases from seed {first} on: " in done.stdout
    assert "0 findings" in done.stdout


def test_a_seed_gives_the_same_case() -> None:
    one, other = drawn_case(3), drawn_case(3)
    assert one is not None
    assert other is not None
    assert one.document == other.document
    assert one.described == other.described
    assert one.workload.submit_time.tolist() == other.workload.submit_time.tolist()


def test_differences_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    case = drawn_case(3)
    assert case is not None
    monkeypatch.setattr(drawn_cases, "found_by_engine", lambda _: {"start_time": [1]})
    monkeypatch.setattr(drawn_cases, "found_by_twin", lambda _: {"start_time": [2]})
    monkeypatch.setattr(drawn_cases, "interrupted", lambda *_: "never ends")
    assert differences(case, 3) == [
        "the engine differs from the reference in start_time",
        "the engine: a schedule; itself, interrupted, never ends",
    ]
    assert between("the reference", "refused", "refused") == []


def test_a_law_that_does_not_hold_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(schedule_of_two().workload, "fcfs", {"cluster": Cluster.of_nodes(NODES)}, {})
    assert broken_laws(case) == []

    def fails(*_: object, **__: object) -> None:
        raise AssertionError("two runs of a job overlap")

    monkeypatch.setattr(drawn_laws, "assert_laws_hold", fails)
    assert broken_laws(case) == ["a law does not hold: two runs of a job overlap"]
