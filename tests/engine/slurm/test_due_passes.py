"""Which passes come in seconds in which two things meet: by hand, for engine and reference."""

from __future__ import annotations

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


def in_both(jobs: list[tuple[int, int, int]], scheduler: str, **options: object) -> list[Schedule]:
    """Return the schedules of engine and reference; jobs are submit time, run time and processors."""
    submit, run, processors = zip(*jobs, strict=True)
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": processors}
    workload = Workload.from_columns(columns)
    return [simulate(workload, scheduler, **options), replay(prepare(workload, scheduler, **options))]


def test_the_backfill_pass_in_the_second_that_ends_starts_in_order_looks_at_jobs():
    # Job 0 ends at 29. The main pass of job 3's submission was at 27, so the next one is at 30: it starts job 1, the
    # last one in order. Backfill passes come each second: that of 30 starts job 3, which ends before job 2 can begin.
    jobs = [(0, 29, 2), (0, 10, 3), (0, 10, 4), (27, 5, 1)]
    for schedule in in_both(jobs, "fcfs+slurm(interval=1,delay=3,resolution=1)", processors=4, in_order=2):
        assert schedule.start_time.tolist() == [0, 30, 40, 30]


@pytest.mark.parametrize("policy", ["fcfs", "multifactor(age=1000,max_age=1000,accrue=always)"])
@pytest.mark.parametrize(("down", "back"), [(100, 240), (200, 360), (235, 360)])
def test_a_job_that_comes_back_waits_for_the_next_full_minute_whatever_was_computed_meanwhile(policy, down, back):
    # It may begin 121 s after its node has failed, when nothing else happens. Three times slurmctld (22.05) started it
    # in these seconds, with intervals of 1 and 30 s, with priorities and without. They are computed at 300.
    events = NodeEvents((NodeEvent(down, "down", ("n1",)), NodeEvent(down + 10, "up", ("n1",))), requeue_delay=121)
    cluster = Cluster.of_nodes([NodeGroup.of("n1", cores=1)])
    for interval in (1, 30):
        for schedule in in_both(
            [(5, 900, 1)], f"{policy}+slurm(interval={interval})", cluster=cluster, node_events=events
        ):
            assert schedule.start_time.tolist() == [back]
