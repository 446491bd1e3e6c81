"""Work that is lost while a site is simulated: jobs that others cancel."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.schedule.runs import BY_ITSELF, PREEMPTED, RUN
from schedlab.schedule.schedule import Schedule
from schedlab.site import import_site
from schedlab.site.lost_work import LostWork, cancelled, lost_work, sentences
from schedlab.site.what_if import what_if
from schedlab.workload.workload import Workload


def schedule(runs):
    """Return a schedule of three jobs of one, two and four cores that ask to run for an hour."""
    jobs = Workload.from_columns(
        {
            "submit_time": [0] * 3,
            "run_time": [3600] * 3,
            "requested_time": [3600] * 3,
            "requested_processors": [1, 2, 4],
        }
    )
    no = np.zeros(3, dtype=bool)
    start, end = (np.array([one[at] for one in sorted({run[0]: run for run in runs}.values())]) for at in (1, 2))
    records = np.array(
        [(job, begin, end, 3600, False, done, why, 0, 0) for job, begin, end, done, why in runs], dtype=RUN
    )
    zeros = np.zeros(3, dtype=np.int64)
    columns = {"backfilled": no, "killed": no, "predicted_run_time": zeros + 3600, "corrections": zeros}
    return Schedule(jobs, start, end, scheduler="fcfs", processors=8, runs=records, **columns)


def test_a_cancelled_job_loses_all_its_work_and_a_requeued_one_the_run_that_was_broken_off():
    """The job of four cores is cancelled after half an hour; that of two begins again after a quarter of one."""
    found = schedule(
        [
            (0, 0, 3600, True, BY_ITSELF),
            (1, 0, 900, False, PREEMPTED),
            (2, 0, 1800, False, PREEMPTED),
            (1, 2000, 5600, True, BY_ITSELF),
        ]
    )
    assert cancelled(found).tolist() == [False, False, True]
    assert lost_work([found]) == LostWork(1, 4, 0.5, 7)
    whole = schedule([(job, 0, 3600, True, BY_ITSELF) for job in range(3)])
    assert lost_work([whole]) == LostWork(0, 0, 0, 7)
    assert lost_work([whole, found]).undone_hours == 2
    assert lost_work([found]).exceeds(lost_work([whole]))
    assert not lost_work([whole]).exceeds(lost_work([found]))
    told = sentences(lost_work([whole]), lost_work([found]), "x")
    assert told[0].endswith("1 job (57.1% of the work) under x, 0 jobs (0.0% of the work) as it is")
    assert told[1] == "broken off and begun again: 0 core-hours under x, 0 as it is"
    assert sentences(lost_work([whole]), lost_work([whole]), "x") == []


CONF = """ClusterName=lab
PreemptType=preempt/partition_prio
PreemptMode={mode}
NodeName=n1 CPUs=4
PartitionName=low Nodes=n1 Default=YES PriorityTier=1
PartitionName=high Nodes=n1 PriorityTier=2
"""


@pytest.fixture
def site(tmp_path):
    """Forty jobs of the low tier take the node for an hour each; every fourth hour, one of the high tier comes."""
    (tmp_path / "slurm.conf").write_text(CONF.format(mode="REQUEUE"))
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number in range(40):
        begin = np.datetime64("2026-04-01", "s") + 3700 * number
        lines.append(f"{number + 1}|ann|COMPLETED|{begin}|{begin}|{begin + 3600}|90|4|low")
        if number % 4 == 1:
            begin += 1800
            lines.append(f"{number + 101}|bob|COMPLETED|{begin}|{begin}|{begin + 600}|20|4|high")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt")


def test_a_variant_that_cancels_jobs_does_not_win_by_what_it_does_not_do(site):
    """Cancelled instead of requeued, ten of forty jobs of an hour are not done: of 40 h and ten times 10 minutes."""
    found = what_if(site, ["PreemptMode=CANCEL"], workers=1)
    best = found.ranking.best
    assert best.lost.jobs == 10
    assert best.lost_before.jobs == 0
    assert best.lost_before.again_hours > 0
    assert not best.same_work
    assert best.effects[0].verdict in ("less work", "pays")
    told = " ".join(found.sentences())
    assert "10 jobs (24.0% of the work) under PreemptMode=CANCEL, 0 jobs (0.0% of the work) as it is" in told
    assert "is not ranked: more work is lost on the way than at the site as it is" in told
