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


TYPED = [
    (lambda: NodeGroup("node1", cores=4), r"names='node1' is one text: use NodeGroup.of\('node1', cores=...\)"),
    (lambda: sl.Cluster("256"), "processors='256' is not a whole number"),
    (lambda: NodeGroup.of("n1", cores="4"), "cores='4' is not a whole number"),
    (lambda: sl.simulate(JOBS, "easy", cluster=128), r"an int is not a cluster: .*Cluster\(128\)"),
    (lambda: sl.simulate(JOBS, "easy", cluster="site.toml"), "a str is not a cluster: .*read_cluster"),
    (lambda: sl.Simulation(JOBS, "easy", cluster=5), "an int is not a cluster"),
    (lambda: sl.Simulation(JOBS, "easy").submit(JOBS[0]), "a Job is not a workload"),
    (lambda: sl.Simulation(JOBS, "easy").observe(5), "5 is not a function: an observer is called with the simulation"),
    (lambda: sl.Simulation(JOBS, "easy").reservation(1), "row 1 is not waiting"),
    (lambda: sl.simulate(JOBS, "easy").explain("1"), "job_id='1' is not a whole number"),
    (lambda: sl.simulate(JOBS.replace(job_id=[7, 7]), "easy").explain(7), "2 jobs have the number 7: simulate them"),
    (lambda: sl.workload.time_window(JOBS, 100, 200), r"no job was submitted .* go from second 0 to 1$"),
    (lambda: sl.workload.time_window(JOBS, "1d", "2d"), "start='1d' is not a whole number"),
    (lambda: JOBS.replace(start_time="2020-01-01"), "start_time='2020-01-01' is not a whole number"),
    (lambda: JOBS.replace(name=5), "an int is not a str: name a workload by a text"),
    (lambda: JOBS.head("3"), "jobs='3' is not a whole number"),
    (lambda: JOBS.replace(run_time=3), "column run_time has 0 dimensions, expected 1: give one value per job"),
    (lambda: sl.Workload.from_frame({"submit_time": [0]}), r"a dict is not a dataframe: .*Workload.from_columns"),
    (lambda: sl.Workload.from_columns(JOBS.to_frame()), r"a DataFrame is not a mapping: .*Workload.from_frame"),
    (lambda: sl.Workload.from_frame(JOBS.to_frame()[["run_time"]]), "no column submit_time; its columns are run_time"),
    (lambda: sl.write_workload("x.swf", JOBS), "write_workload takes the workload first"),
    (lambda: sl.Scheduler("easy"), r"easy is a kind of backfilling, not a policy: put it after one, as in fcfs\+easy"),
    (lambda: sl.simulate(JOBS, "esay"), r"did you mean easy\?"),
    (lambda: sl.simulate(JOBS, "easy+fcfs"), r"fcfs is a policy, which stands first: fcfs\+easy"),
    (lambda: sl.simulate(JOBS, "easy+sjf"), r"or fcfs\+easy:spf for the order of backfilling"),
    (lambda: sl.Scheduler.parse("easy,fcfs"), "give several schedulers one by one"),
    (lambda: sl.compare(JOBS, ["easy"], metrics={"mean_wait": len}), "schedlab has one of that name"),
    (lambda: sl.workload.scale_load(JOBS), "give one of factor= and load="),
]


@pytest.mark.parametrize(("mistake", "sentence"), TYPED)
def test_what_is_of_another_kind_is_named_with_what_to_do(mistake, sentence):
    with pytest.raises(sl.InputError, match=sentence):
        mistake()


def test_what_a_newcomer_gives_in_another_form_is_taken():
    frame = JOBS.replace(job_id=[15, 16]).to_frame().set_index("job_id")
    assert sl.Workload.from_frame(frame).job_id.tolist() == [15, 16]
    assert sl.Cluster.of_nodes(NodeGroup.of("n[1-2]", cores=1)).processors == 2
    assert len(JOBS.head(-1)) == 1
    schedule = sl.simulate(JOBS, "easy")
    assert str(schedule.explain(JOBS[1])) == repr(schedule.explain(2))
    comparison = sl.compare(JOBS, ["easy", "fcfs"], metrics=len)
    assert comparison.to_frame()["len"].tolist() == [2, 2]
    assert len(sl.plot.slowdown_distribution(comparison).lines) == 2


def test_a_function_called_like_a_metric_of_schedlabs_is_taken_under_another_name():
    def mean_wait(schedule):
        return 7

    comparison = sl.compare(JOBS, ["easy"], metrics={"mine": mean_wait})
    assert comparison.to_frame()["mine"].tolist() == [7]
    with pytest.raises(sl.InputError, match="metric mean_wait: schedlab has one of that name"):
        sl.compare(JOBS, ["easy"], metrics=[mean_wait])
