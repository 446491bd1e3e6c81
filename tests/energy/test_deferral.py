"""Jobs that wait for cheap energy: when they are released, what that costs in waits, and the Pareto curve."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.energy.deferral import defer, release_times, tolerant, undominated
from schedlab.energy.power import GroupPower, Power
from schedlab.energy.series import Series
from schedlab.errors import InputError
from schedlab.report.pareto import plot_pareto
from schedlab.workload.workload import Workload

PRICE = "second,price\n0,3\n100,1\n200,3\n1000,3\n"


def jobs_of(submit: list[int], run: list[int], **more) -> Workload:
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": [1] * len(run)}
    return Workload.from_columns(columns | more)


@pytest.mark.parametrize(
    ("submit", "length", "tolerance", "released"),
    [
        (0, 50, 500, 100),  # the whole run is cheap
        (0, 50, 80, 80),  # 30 of its 50 s are
        (0, 50, 40, 0),  # no second of it can be: at once
        (120, 50, 500, 120),  # it is cheap already
        (120, 100, 500, 120),  # later, fewer of its seconds would be
        (0, 150, 500, 50),  # of all releases that have the 100 cheap seconds, the first
        (300, 50, 500, 300),  # it never becomes cheap again
    ],
)
def test_a_job_is_released_where_its_energy_is_cheapest(submit, length, tolerance, released):
    assert release_times(jobs_of([submit], [length]), Series.from_csv(PRICE), tolerance).tolist() == [released]


def test_jobs_say_themselves_for_how_long_they_can_wait():
    jobs = jobs_of([0, 0, 0], [50, 50, 50]).with_columns(tolerance=[500, np.nan, 0])
    assert release_times(jobs, Series.from_csv(PRICE), "80s").tolist() == [100, 80, 0]


def test_releases_agree_with_trying_every_second():
    rng = np.random.default_rng(5)
    for _ in range(60):
        times = np.cumsum(rng.integers(1, 20, 8))
        series = Series(times, rng.integers(-3, 9, 8).astype(float), int(times[-1]) + 7, repeats=True)
        submit, length, tolerance = (
            int(number) for number in (rng.integers(0, 90), rng.integers(1, 40), rng.integers(1, 60))
        )
        tried = np.arange(submit, submit + tolerance + 1)
        costs = [series.at(np.arange(one, one + length)).sum() for one in tried]
        assert release_times(jobs_of([submit], [length]), series, tolerance)[0] == tried[int(np.argmin(costs))]


def test_waits_count_from_the_submission_and_energy_costs_less():
    # Alone on a processor that draws 1 kW when it is held: 50 s at 3 or at 1 per kWh. The second job has to queue.
    model = Power((GroupPower(0, 1000),), price=Series.from_csv(PRICE))
    at_once, later = defer(jobs_of([0, 0], [50, 50]), "fcfs", model, ["0s", "500s"], processors=1)
    assert at_once.schedule.wait_time.tolist() == [0, 50]
    assert later.schedule.wait_time.tolist() == [100, 150]
    assert later.held_back.tolist() == [100, 100]
    assert at_once.account.cost == pytest.approx(1000 * 100 * 3 / 3.6e6)
    assert later.account.cost == pytest.approx(1000 * 100 * 1 / 3.6e6)
    assert undominated([at_once, later], "mean_wait", "energy_cost") == [True, True]
    assert undominated([at_once, later], "mean_wait", "makespan") == [True, False]


def test_a_pareto_curve_has_a_point_for_each_tolerance():
    model = Power((GroupPower(0, 1000),), price=Series.from_csv(PRICE), intensity=3)
    found = defer(jobs_of([0, 0], [50, 50]), "fcfs", model, [0, 80, 500], processors=2)
    axes = plot_pareto(found)
    assert [text.get_text() for text in axes.texts] == ["at once", "80s", "500s"]
    with pytest.raises(InputError, match="unknown metric 'beauty'"):
        plot_pareto(found, cost="beauty")


def test_a_share_of_the_jobs_is_drawn():
    jobs = tolerant(jobs_of([0] * 1_000, [50] * 1_000), 0.3, rng=1)
    held = release_times(jobs, Series.from_csv(PRICE), 500) > 0
    assert 250 < held.sum() < 350


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tolerances": [-1]}, "tolerance=-1: jobs can be held back for 0 seconds or more"),
        ({"tolerances": ["soon"]}, "'soon' is not a duration"),
        ({"tolerances": [5_000]}, "add rows, or let the series repeat"),
        ({"by": "intensity"}, "does not say the intensity of energy"),
        ({"power": Power((GroupPower(0, 1),), price=3)}, "the price of the power model never changes"),
        ({"jobs": jobs_of([0], [9]).with_columns(tolerance=[-5])}, "job 1 may wait for -5 s: must be 0 or more"),
        ({"jobs": jobs_of([0], [9]).with_columns(tolerance=["x"])}, "the column tolerance holds texts"),
    ],
)
def test_waits_without_sense_are_refused(given, told):
    usual = {"jobs": jobs_of([0], [9]), "power": Power((GroupPower(0, 1),), price=Series.from_csv(PRICE))}
    usual |= {"scheduler": "fcfs", "tolerances": [10], "processors": 1}
    with pytest.raises(InputError) as error:
        defer(**usual | given)
    assert told in str(error.value)


def test_shares_without_sense_are_refused():
    with pytest.raises(InputError, match=r"share=1\.5: must be a share"):
        tolerant(jobs_of([0], [9]), 1.5, rng=1)
