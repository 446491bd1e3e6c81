"""Waits as texts: what stands together stands in one unit."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.site.effect_texts import difference_texts
from schedlab.site.effects import Effect
from schedlab.site.wait_text import changes_in_columns, signed_with_interval


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
    assert difference_texts([effect])[0][:2] == ("-1.49 h", "-4.2 to +1.21 h")


def test_the_rows_of_a_table_have_no_minutes_beside_hours_and_say_the_same_numbers() -> None:
    """The unit is that of all jobs: 0.877 h and 24.7 min are -0.877 h and +0.41 h of hours."""
    every = Effect("all", "all jobs", 5_000, 115_200.0, 115_200.0 - 3_157, (-15_120.0, 4_356.0))
    others = [Effect("user", f"u{one}", 50, 9_000.0, 9_000.0 + change, None) for one, change in enumerate((1_482, -60))]
    assert [one[:2] for one in difference_texts([every, *others])] == [
        ("-0.877 h", "-4.2 to +1.21 h"),
        ("+0.412 h", "-"),
        ("-0.02 h", "-"),
    ]
    rng = np.random.default_rng(2)
    changes = [(float(change), (change - 600.0, change + 7_200.0)) for change in rng.uniform(-90_000, 90_000, 50)]
    for (change, _), (text, around) in zip(changes, changes_in_columns(changes), strict=True):
        number, unit = text.split()
        assert unit == around.split()[-1] == "h"
        assert float(number.replace(",", "")) == pytest.approx(change / 3_600, rel=0.006, abs=0.006)
