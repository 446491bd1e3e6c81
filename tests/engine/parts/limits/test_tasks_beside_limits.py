"""Reservations for tasks of workflows beside limits, against the reference."""

from __future__ import annotations

from drawn_cases import differences, drawn_case


def test_a_task_whose_parent_starts_in_a_pass_has_a_reservation_in_it_if_limits_have_all_looked_at_anew():
    # Drawn by engine_fuzzer: an array with a limit, under EASY, of which an element starts that others depend on.
    seed = 77025411
    case = drawn_case(seed)
    assert case is not None
    assert "+easy" in case.scheduler
    assert case.workload.dependencies is not None
    assert differences(case, seed) == []
