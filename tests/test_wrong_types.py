"""Arguments of a wrong type are told in one sentence."""

from __future__ import annotations

import pytest

import schedlab as sl
from schedlab.errors import InputError

NODES = sl.Cluster.of_nodes(sl.cluster.NodeGroup.of("n[1-4]", cores=4))
JOBS = sl.Workload.from_columns({"submit_time": [0], "run_time": [1], "requested_processors": [1]}, processors=4)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: sl.backfilling.Easy(order="sjf"), "a str is not a policy: give one, such as SPF(), or write"),
        (lambda: sl.backfilling.Easy(order=3), "an int is not a policy"),
        (lambda: sl.Scheduler.parse(3), "an int is not a str: a scheduler text is written like"),
        (lambda: sl.Scheduler.parse("fcfs+reservations(k=3)"), "unknown backfilling 'reservations'; known are easy"),
        (lambda: sl.policies.FormulaPolicy(3), "an int is not a str: a formula is a text"),
        (lambda: sl.policies.Multifactor(age="x"), "multifactor: age='x': weights are numbers of 0 or more"),
        (lambda: sl.compare(JOBS, schedulers=3), "3 names no schedulers: give texts such as"),
        (lambda: sl.compare(JOBS, schedulers=None), "None names no schedulers: give texts such as"),
        (
            lambda: sl.cluster.NodeEvents.drawn(NODES, mtbf=[1], mttr=1, until=9, rng=1),
            "mtbf=[1]: must be greater than",
        ),
        (lambda: sl.cluster.NodeEvents.drawn(NODES, mtbf="often", mttr=1, until=9, rng=1), "'often' is not a duration"),
    ],
)
def test_an_argument_of_a_wrong_type_is_told_in_one_sentence(call, told):
    with pytest.raises(InputError) as error:
        call()
    assert told in str(error.value)


def test_times_between_failures_are_seconds_or_durations():
    by_text = sl.cluster.NodeEvents.drawn(NODES, mtbf="1d", mttr="1h", until=10**6, rng=1)
    assert by_text == sl.cluster.NodeEvents.drawn(NODES, mtbf=86400, mttr=3600, until=10**6, rng=1)


def test_a_formula_may_still_end_in_a_function():
    assert sl.Scheduler.parse("p+sqrt(q)").text == '"p+sqrt(q)"'
