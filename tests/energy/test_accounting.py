"""What schedules draw, to the joule: small cases worked out by hand, and random ones second by second."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup
from schedlab.energy.accounting import JOULES, account
from schedlab.energy.measures import metric_names_of, metrics
from schedlab.energy.power import GroupPower, Power
from schedlab.energy.series import Series
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.metrics import metric_names
from schedlab.schedule.recorded import recorded
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

NODES = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=4), NodeGroup.of("g1", cores=2, gpus=2)])
ON_NODES = Power((GroupPower.of(idle=100, busy=300, nodes="n[1-2]"), GroupPower(200, 260, gpu=250)))


def jobs_of(**columns) -> Workload:
    given = {"requested_time": columns["run_time"], "requested_processors": [1] * len(columns["run_time"])}
    return Workload.from_columns(given | columns)


def test_processors_draw_their_share_of_a_node():
    # 8 processors of nodes with 4: 2 x 100 W idle. Job 0 holds 4 from 0 to 10, job 1 2 from 5 to 25.
    jobs = jobs_of(submit_time=[0, 5], run_time=[10, 20], requested_processors=[4, 2])
    found = account(simulate(jobs, "fcfs", processors=8), Power((GroupPower(100, 300, cores=4),)))
    assert found.power.times.tolist() == [0, 5, 10, 25]
    assert found.power.values.tolist() == [400, 500, 300, 300]
    assert found.joules == {
        "jobs": 300 * 10 + 150 * 20,
        "idle": 200 * 25 - 100 * 10 - 50 * 20,
        "base": 0,
        "overhead": 0,
    }
    assert found.kwh == 9_000 / JOULES
    assert found.of_jobs.tolist() == [3_000 / JOULES, 3_000 / JOULES]


def test_nodes_draw_by_the_cores_that_are_held_and_gpus_add_theirs():
    # Idle: 100 + 100 + 200. Job 0 has a core and both GPUs of g1 (130 + 500 W in all), job 1 the whole of n1.
    jobs = jobs_of(submit_time=[0, 0], run_time=[10, 20], requested_processors=[1, 4]).replace(
        resources=Resources.of(2, gpus=[2, 0])
    )
    found = account(simulate(jobs, "fcfs", cluster=NODES), ON_NODES)
    assert found.power.times.tolist() == [0, 10, 20]
    assert found.power.values.tolist() == [400 + (130 - 100) + 500 + 200, 600, 600]
    assert found.joules["jobs"] == 630 * 10 + 300 * 20
    assert found.joules["idle"] == 400 * 20 - 100 * 10 - 100 * 20


def test_what_jobs_were_measured_to_draw_takes_the_place_of_the_model():
    jobs = jobs_of(submit_time=[0, 0, 0], run_time=[10, 10, 10]).with_columns(watts=[70.0, np.nan, 0.0])
    found = account(simulate(jobs, "fcfs", processors=4), Power((GroupPower(100, 300, cores=4),)))
    assert found.joules["jobs"] == (70 + 75 + 0) * 10
    assert found.joules["idle"] == 25 * 10  # the core that no job holds
    assert found.estimated == 1


def test_base_and_cooling_are_on_top():
    jobs = jobs_of(submit_time=[0], run_time=[10])
    found = account(simulate(jobs, "fcfs", processors=1), Power((GroupPower(100, 300),), base=50, pue=1.5))
    assert found.joules == {"jobs": 3_000, "idle": 0, "base": 500, "overhead": 1_750}
    assert found.power.values.tolist() == [525, 525]
    assert found.of_jobs.tolist() == [4_500 / JOULES]


def test_money_and_co2_follow_their_series():
    # 200 W for 10 s, 100 W for 10 s: at 1 per kWh until 5, then 3; at 10 g per kWh until 15, then 20.
    power = Power(
        (GroupPower(100, 200),),
        price=Series.from_csv("second,price\n0,1\n5,3\n100,3\n"),
        intensity=Series.from_csv("second,g\n0,10\n15,20\n100,3\n"),
        currency="EUR",
    )
    jobs = jobs_of(submit_time=[0, 10], run_time=[10, 10], requested_processors=[1, 1])
    whole = account(simulate(jobs, "fcfs", processors=1), power, end=10)
    assert whole.cost == pytest.approx((200 * 5 * 1 + 200 * 5 * 3) / JOULES)
    later = account(simulate(jobs[:1], "fcfs", processors=1), power, end=20)
    assert later.joules == {"jobs": 2_000, "idle": 1_000, "base": 0, "overhead": 0}
    assert later.co2 == pytest.approx((2_000 * 10 + 500 * 10 + 500 * 20) / JOULES / 1_000)


def test_seconds_above_the_cap_are_counted():
    jobs = jobs_of(submit_time=[0, 5], run_time=[10, 10])
    cap = Series.from_csv("second,watts\n0,100\n7,500\n9,250\n100,0\n")
    # 200 W until 5, 400 W until 10, 200 W until 15: above the cap from 0 to 7, and in second 9.
    found = account(simulate(jobs, "fcfs", processors=2), Power((GroupPower(0, 200),), cap=cap))
    assert found.above_cap == 7 + 1


def test_runs_that_a_node_takes_with_it_have_drawn_their_power():
    jobs = jobs_of(submit_time=[0], run_time=[60], requested_processors=[4])
    events = NodeEvents((NodeEvent(20, "down", ("n1",)), NodeEvent(500, "up", ("n1",))))
    schedule = simulate(jobs, "fcfs", cluster=NODES, node_events=events)
    found = account(schedule, ON_NODES)
    assert found.joules["jobs"] == 300 * 20 + 300 * 60
    assert found.of_jobs.tolist() == [300 * 80 / JOULES]


def test_jobs_that_stand_still_draw_nothing():
    from schedlab.cluster.nodes import Partition
    from schedlab.cluster.preemption import Preemption

    site = Cluster.of_nodes(
        [NodeGroup.of("n1", cores=2)],
        [Partition("low", default=True), Partition("high", priority_tier=2)],
        preemption=Preemption("partition", "suspend"),
    )
    jobs = jobs_of(submit_time=[0, 10], run_time=[30, 20], requested_processors=[2, 2])
    jobs = jobs.replace(resources=Resources.of(2, partition=["low", "high"]))
    found = account(simulate(jobs, "fcfs", cluster=site), Power((GroupPower(10, 100),)))
    assert found.joules["jobs"] == 100 * 30 + 100 * 20
    assert found.power.values[:-1].tolist() == [100.0] * (len(found.power.values) - 1)


def test_a_recorded_log_has_energy_too():
    jobs = jobs_of(submit_time=[0, 0], run_time=[10, 10], wait_time=[0, 10]).replace(processors=2)
    assert account(recorded(jobs), Power((GroupPower(0, 100, cores=2),))).joules["jobs"] == 50 * 20


def test_random_schedules_agree_with_a_count_second_by_second():
    rng = np.random.default_rng(7)
    for seed in range(6):
        jobs = jobs_of(
            submit_time=np.sort(rng.integers(0, 40, 12)).tolist(),
            run_time=rng.integers(1, 20, 12).tolist(),
            requested_processors=rng.integers(1, 5, 12).tolist(),
        )
        power = Power(
            ON_NODES.groups,
            base=13,
            pue=1.2,
            price=Series.from_csv("second,price\n0,1\n7,3\n11,-2\n", repeats=True),
        )
        schedule = simulate(jobs, "fcfs+easy", cluster=NODES)
        first, last = int(jobs.submit_time.min()), int(schedule.end_time.max())
        place = schedule.placement
        assert place is not None
        watts = np.zeros(last - first)
        for second in range(first, last):
            held = np.zeros(3)
            for job in range(12):
                if schedule.start_time[job] <= second < schedule.end_time[job]:
                    for part in range(place.offsets[job], place.offsets[job + 1]):
                        held[place.node[part]] += place.held_cores[part]
            nodes = [100 + 200 * held[0] / 4, 100 + 200 * held[1] / 4, 200 + 60 * held[2] / 2]
            watts[second - first] = 1.2 * (sum(nodes) + 13)
        found = account(schedule, power)
        assert found.kwh * JOULES == pytest.approx(watts.sum()), seed
        assert found.power.integral() == pytest.approx(watts.sum(), abs=0.1)
        assert power.price is not None
        assert found.cost == pytest.approx((watts * power.price.at(np.arange(first, last))).sum() / JOULES)
        assert found.metrics()["max_power_kw"] == pytest.approx(watts.max() / 1_000)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda jobs: jobs.with_columns(watts=[-1.0]), "job 1 draws -1 W, which is below 0"),
        (lambda jobs: jobs.with_columns(watts=["many"]), "the column watts holds texts"),
        (lambda jobs: jobs[:0], "there are no jobs"),
    ],
)
def test_jobs_without_energy_are_refused(change, told):
    jobs = change(jobs_of(submit_time=[0], run_time=[10]).replace(processors=1))
    with pytest.raises(InputError) as error:
        account(recorded(jobs), Power((GroupPower(1, 2),)))
    assert told in str(error.value)


def test_the_names_of_the_metrics_are_known_before_anything_is_simulated():
    power = Power((GroupPower(1, 2),), price=1, intensity=2, cap=3)
    jobs = jobs_of(submit_time=[0], run_time=[10])
    found = account(simulate(jobs, "fcfs", processors=1), power)
    assert set(metric_names_of(power)) == set(found.metrics())
    assert not set(metric_names_of(power)) & set(metric_names())
    assert [one.__name__ for one in metrics(power)] == list(metric_names_of(power))
