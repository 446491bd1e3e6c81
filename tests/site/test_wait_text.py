"""Waits as texts: what stands together stands in one unit."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.site.effect_texts import difference_text
from schedlab.site.effects import Effect
from schedlab.site.wait_text import signed_with_interval


def test_a_change_stands_in_the_unit_of_its_interval_and_says_the_same_number() -> None:
    seconds = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}
    rng = np.random.default_rng(1)
    for _ in range(300):
        change = float(rng.choice([-1, 1]) * 10 ** rng.uniform(1, 6))
        around = abs(change) * rng.uniform(0.1, 20)
        text, interval = signed_with_interval(change, (change - around, change + around))
        number, unit = text.split()
        assert unit == interval.split()[-1]
        assert float(number.replace(",", "")) * seconds[unit] == pytest.approx(change, rel=0.006), "three digits"


def test_a_row_of_a_table_has_no_minutes_beside_hours() -> None:
    effect = Effect("all", "all jobs", 5_000, 115_200.0, 115_200.0 - 5_376, (-15_120.0, 4_356.0))
    assert difference_text(effect)[:2] == ("-1.49 h", "-4.2 to +1.21 h")
