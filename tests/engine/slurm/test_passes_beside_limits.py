"""When Slurm's passes come while jobs wait at a limit that falls with time: by hand, for engine and reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, Limits
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.schedule.schedule import Schedule
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

# What the running jobs of the account have to go, with a job that starts, is below two minutes of a processor: 119 s.
LAB = Account("lab", limits=Limits(grp_tres_run_mins=(("cpu", 1),)))
CLUSTER = replace(
    Cluster.of_nodes([NodeGroup.of("n1", cores=4)]), accounting=Accounting(accounts=(Account("root", ""), LAB))
)
AT_LIMIT = "AssocGrpCPURunMinutesLimit"


def in_both(jobs: list[tuple[int, int, int]], scheduler: str, **options: int) -> Iterator[Schedule]:
    """Yield the schedules of engine and reference; jobs are submit time, run time and processors."""
    submit, run, processors = zip(*jobs, strict=True)
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": processors}
    workload = Workload.from_columns(columns).replace(resources=Resources.of(len(jobs), account=["lab"] * len(jobs)))
    yield simulate(workload, scheduler, cluster=CLUSTER, **options)
    yield replay(prepare(workload, scheduler, cluster=CLUSTER, **options))


def test_a_job_that_the_pass_of_a_full_minute_starts_is_followed_by_a_backfill_pass():
    # Backfill passes at 25 and 50 change nothing, so they rest; the main pass at 60 starts job 1, as 40 + 75 s are
    # below 120. Job 2 (32 s) waits for all cores: at 25, it is below the limit (75 + 32), at 60 not (115 + 32), and in
    # the pass that follows at 75 it is again (25 + 60 + 32), long before the next event, the end of job 0.
    # Job 3 (80 s) is before it from 100 on (35 + 80), and runs from 135 on.
    for schedule in in_both([(0, 100, 1), (2, 75, 1), (2, 8, 4), (30, 20, 4)], "laf+slurm(interval=25,version=22.05)"):
        assert schedule.start_time.tolist() == [0, 60, 155, 135]
        assert schedule.waited_for is not None
        assert schedule.waited_for[AT_LIMIT].tolist() == [0, 58, 23 + 15, 70]
        assert schedule.waited_for["Resources"].tolist() == [0, 0, 35 + 25 + 20, 35]
        assert schedule.waited_for["Priority"].tolist() == [0, 0, 35, 0]


def test_reasons_change_at_the_interval_also_while_jobs_start_in_order():
    # Job 1 (40 s) is below the limit from 21 on; 30 is the first multiple of the interval.
    for schedule in in_both([(0, 100, 1), (0, 10, 4)], "saf+slurm(interval=10,version=22.05)", in_order=2):
        assert schedule.start_time.tolist() == [0, 100]
        assert schedule.waited_for is not None
        assert schedule.waited_for[AT_LIMIT].tolist() == [0, 30]
        assert schedule.waited_for["Resources"].tolist() == [0, 70]
