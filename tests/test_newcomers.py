"""What a newcomer gives in the wrong place is answered with one sentence that says what to do."""

from __future__ import annotations

import pytest

import schedlab as sl
from schedlab.cluster.nodes import NodeGroup

JOBS = sl.Workload.from_columns(
    {"submit_time": [0, 1], "run_time": [9, 9], "requested_time": [9, 9], "requested_processors": [1, 1]}, processors=2
)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: sl.clean("x.swf"), "a str is not a workload: read one with schedlab.read_workload"),
        (lambda: sl.clean(sl.simulate(JOBS)), "a Schedule is not a workload"),
        (lambda: sl.simulate(JOBS.to_frame()), "make one of a table with Workload.from_frame"),
        (lambda: sl.plot.gantt(JOBS), "a Workload is not a schedule: make one with schedlab.simulate"),
        (lambda: sl.plot.utilisation([JOBS]), "a Workload is not a schedule"),
        (lambda: sl.plot.gantt(sl.compare(JOBS, ["easy"])), "a Comparison is not a schedule"),
        (lambda: sl.run_campaign({"name": "a"}), "a dict is not a campaign: make one with schedlab.Campaign"),
        (lambda: JOBS.concat(JOBS), r"a Job is not a workload: give a list of workloads"),
        (
            lambda: JOBS["runtime"],
            r"unknown column 'runtime' \(did you mean run_time\?\); known are job_id, submit_time",
        ),
        (lambda: NodeGroup.of("n[1-4]", cores=16, memory="64GB"), "memory='64GB' is not a whole number"),
        (lambda: sl.model.lublin(1000.0, 256, rng=1), "jobs=1000.0 is not a whole number"),
        (lambda: sl.model.lublin(10, 256, rng=1, load="high"), "load='high' is not a number above 0"),
        (lambda: sl.model.lublin(10, 256, rng=1, load=-1), "load=-1 is not a number above 0"),
        (lambda: sl.compare(JOBS, [lambda job: job.run_time]), r"write Scheduler\(...\) around it for a policy"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(mistake, sentence):
    with pytest.raises(sl.InputError, match=sentence):
        mistake()


def test_a_comparison_has_schedules_by_their_schedulers_not_by_position():
    comparison = sl.compare(JOBS, ["fcfs", "easy"])
    assert comparison[sl.Scheduler.parse("easy")] is comparison["fcfs+easy"]
    with pytest.raises(KeyError, match="'0' was not compared; the schedulers compared are fcfs, fcfs"):
        comparison[0]
