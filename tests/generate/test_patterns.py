"""What patterns submit, and ScSF's special strings."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.generate.patterns import Burst, Choice, FixedJob, ModelJob, OneWorkflow, Pattern, Sequence
from schedlab.generate.special import special_pattern


def submitted(pattern: Pattern, second: int = 0) -> list[tuple[int, object]]:
    return list(pattern.submit(second, np.random.default_rng(1)))


def drawn(choice: Choice, times: int = 10_000) -> Counter[int]:
    rng = np.random.default_rng(1)
    return Counter(job.processors for _ in range(times) for _, job in choice.submit(0, rng))


def test_a_fixed_job_asks_for_a_minute_more_than_it_needs() -> None:
    assert [FixedJob(10, run_time).requested_time for run_time in (120, 121)] == [180, 240]  # 3 and 4 minutes
    assert FixedJob(10, 121, requested_time=500).requested_time == 500


def test_patterns_can_be_put_together() -> None:
    a, b = FixedJob(1, 10), FixedJob(2, 10)
    pattern = Burst(Sequence(((0, a), (3, b))), count=2, every=10)
    assert submitted(pattern, 100) == [(100, a), (103, b), (110, a), (113, b)]


def test_a_workflow_is_submitted_as_such(long_wide) -> None:
    assert submitted(OneWorkflow(long_wide), 5) == [(5, long_wide)]


def test_a_job_of_the_model_is_one_that_the_model_can_draw(edison) -> None:
    ((second, job),) = submitted(ModelJob(edison), 5)
    assert second == 5
    assert job.processors in (24, 48, 120, 144, 192, 240)  # type: ignore[attr-defined]
    assert job.requested_time % 60 == 0  # type: ignore[attr-defined]


def test_shares_are_those_of_the_draws() -> None:
    counts = drawn(Choice(((0.3, FixedJob(1, 1)), (0.7, FixedJob(2, 1)))))
    assert counts[1] / 10_000 == pytest.approx(0.3, abs=0.02)
    assert counts[1] + counts[2] == 10_000


def test_the_rest_has_the_share_that_is_left() -> None:
    counts = drawn(Choice(((0.2, FixedJob(1, 1)), (0.3, FixedJob(2, 1))), rest=FixedJob(3, 1)))
    assert [counts[size] / 10_000 for size in (1, 2, 3)] == pytest.approx([0.2, 0.3, 0.5], abs=0.02)


def test_nothing_is_drawn_where_there_is_no_choice() -> None:
    rng, untouched = np.random.default_rng(1), np.random.default_rng(1)
    list(Choice(((1.0, FixedJob(1, 1)),)).submit(0, rng))
    assert rng.random() == untouched.random()


@pytest.mark.parametrize(
    ("shares", "message"), [((0.6, 0.6), "at most 1"), ((-0.1, 1.1), "from 0 to 1"), ((0.5, 0.4), "must add up to 1")]
)
def test_shares_that_do_not_add_up_are_refused(shares: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Choice(tuple((share, FixedJob(1, 1)) for share in shares))


def test_thirds_may_be_written_with_few_digits() -> None:
    Choice(tuple((0.3333333, FixedJob(1, 1)) for _ in range(3)))


@pytest.mark.parametrize("wrong", [lambda: FixedJob(0, 1), lambda: Burst(FixedJob(1, 1), 0, 1)])
def test_impossible_patterns_are_refused(wrong) -> None:
    with pytest.raises(InputError):
        wrong()


def test_a_step_cannot_come_before_its_sequence() -> None:
    with pytest.raises(InputError, match="their seconds must be 0 or more"):
        Sequence(((-1, FixedJob(1, 1)),))


def all_of(text: str, end: int) -> list[tuple[int, int, int, int]]:
    """Second, processors, run time and requested minutes of everything, for a generator that begins at second 10."""
    trigger, pattern = special_pattern(text)
    jobs = [job for second in trigger.times(0, end, np.random.default_rng(1)) for job in submitted(pattern, second)]
    return [(10 + second, job.processors, job.run_time, job.requested_time // 60) for second, job in jobs]  # type: ignore[attr-defined]


def test_saturation_bursts_come_at_ScSFs_seconds() -> None:
    first = [(second, 24, 36_000, 601) for second in (11, 13, 15, 17)]
    second = [(second, 24, 36_000, 601) for second in (111, 113, 115, 117)]
    assert all_of("sp-sat-p2-c24-r36000-t4-b100", 110) == first + second


def test_backfill_bursts_come_at_ScSFs_seconds() -> None:
    jobs = all_of("sp-bf-p2-c24-r36000-t4-b10000-g30-lc240-lr1800-wc1024-wr600", 10_001)
    small = [(131 + 2 * n, 24, 36_000, 601) for n in range(4)]
    burst = [(11, 240, 1_800, 31), (71, 1_024, 600, 11), *small]
    assert jobs == burst + [(second + 10_000, *job) for second, *job in burst]


@pytest.mark.parametrize(
    "text", ["sp-sat-p100-c24-r36000-t5576-b30424", "sp-bf-p10-c24-r9-t5-b222-g600-lc240-lr115920-wc133824-wr3600"]
)
def test_bursts_must_not_overlap(text: str) -> None:
    with pytest.raises(InputError, match="the next cannot begin"):
        special_pattern(text)


@pytest.mark.parametrize("text", ["sp-sat", "sp-sat-p1-c1-r1-t1", "sp-xx-p1-c1-r1-t1-b9", "sp-sat-p-1-c1-r1-t1-b9"])
def test_other_strings_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a special pattern"):
        special_pattern(text)
