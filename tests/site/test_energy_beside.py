"""Energy of a variant over the time of the site as it is, by hand."""

from __future__ import annotations

import pytest

from schedlab.energy import GroupPower, Power, Series
from schedlab.site.energy_beside import in_time_until

TARIFF = Series.from_csv("second,price\n0,0.1\n3600,0.3\n7200,0.5\n36000,\n")
OWN = {
    **{"energy_kwh": 10.0, "energy_of_idle_kwh": 4.0, "mean_power_kw": 5.0, "idle_power_kw": 2.0},
    **{"energy_cost": 3.0, "energy_co2_kg": 4.0, "max_power_kw": 7.0, "mean_wait": 60.0},
}


def test_what_ends_later_takes_no_idle_energy_for_that():
    # From second 3,600 to 7,200, 2 kW are 2 kWh, at 0.3 a kWh and 400 g: 8 kWh are left, of one hour instead of two.
    found = in_time_until(OWN, 7200, 3600, Power((GroupPower(100, 300),), price=TARIFF, intensity=400))
    assert found == pytest.approx(
        {
            **{"energy_kwh": 8.0, "energy_of_idle_kwh": 2.0, "mean_power_kw": 8.0, "idle_power_kw": 2.0},
            **{"energy_cost": 2.4, "energy_co2_kg": 3.2, "max_power_kw": 7.0, "mean_wait": 60.0},
        }
    )


def test_what_ends_sooner_takes_idle_energy_until_the_other_ends():
    # From 7,200 to 9,000, it is 1 kWh at 0.5: 11 kWh in two and a half hours.
    found = in_time_until(OWN, 7200, 9000, Power((GroupPower(100, 300),), price=TARIFF, intensity=400))
    assert found["energy_kwh"] == pytest.approx(11)
    assert found["mean_power_kw"] == pytest.approx(4.4)
    assert found["energy_cost"] == pytest.approx(3.5)
    assert found["energy_co2_kg"] == pytest.approx(4.4)


@pytest.mark.parametrize("metrics", [OWN | {"boots": 3.0}, {"mean_wait": 60.0}])
def test_nodes_that_are_switched_off_and_waits_alone_are_as_they_are(metrics):
    assert in_time_until(metrics, 7200, 3600, Power((GroupPower(100, 300),))) == metrics
