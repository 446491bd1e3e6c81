"""Jobs of a site as they might have been: from a model of them, and with their users' reaction."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.durations import DAY, HOUR
from schedlab.engine import simulate
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.errors import InputError
from schedlab.site import import_site
from schedlab.site.modelled import model_of_jobs, with_think_times
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep
from schedlab.site.variant_task import variant_task
from schedlab.site.variants import AS_IT_IS, Variant
from schedlab.workload.workload import Workload

MINUTE = 60


def log(**columns) -> Workload:
    jobs = len(columns["submit_time"])
    usual = {
        "requested_processors": [1] * jobs,
        "requested_time": [900] * jobs,
        "wait_time": [0] * jobs,
        "user_id": [1] * jobs,
    }
    return Workload.from_columns(usual | columns)


def test_a_job_follows_the_last_end_of_its_user_within_the_time():
    jobs = log(
        submit_time=[0, 0, 700, 5000, 5100],
        run_time=[600, 650, 100, 10, 10],
        user_id=[1, 1, 1, 1, 2],
    )
    found = with_think_times(jobs, 1200)
    # The third comes 50 s after the second; 4,200 s behind its end is no reaction, and user 2 has nothing before.
    assert [found.dependencies.parents_of(row).tolist() for row in range(5)] == [[], [], [1], [], []]
    assert found.dependencies.delay.tolist() == [50]
    assert found.submit_time.tolist() == [0, 0, 0, 5000, 5100]
    assert with_think_times(jobs, 5000).dependencies.parents_of(3).tolist() == [2]


def test_a_sitting_comes_as_a_whole_where_its_jobs_end_earlier():
    # Each was recorded to wait ten minutes, and comes a minute after the one before; nobody waits in the simulation.
    jobs = log(submit_time=[0, 1260, 2520], run_time=[600] * 3, wait_time=[600] * 3)
    found = with_think_times(jobs, 1200).replace(processors=1)
    for schedule in (simulate(found, "fcfs+easy"), replay(prepare(found, "fcfs+easy"))):
        assert schedule.start_time.tolist() == [0, 660, 1320]
        assert schedule.wait_time.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [({"wait_time": [-1, 0]}, "recorded starts and users"), ({"user_id": [-1, -1]}, "recorded starts and users")],
)
def test_think_times_need_starts_and_users(columns, sentence):
    with pytest.raises(InputError, match=sentence):
        with_think_times(log(submit_time=[0, 9], run_time=[5, 5], **columns), 60)
    twice = with_think_times(log(submit_time=[0, 9], run_time=[5, 5]), 60)
    with pytest.raises(InputError, match="already wait for others"):
        with_think_times(twice, 60)


def test_a_model_has_the_gaps_and_the_jobs_of_the_log():
    jobs = log(submit_time=[0, 10, 30, 70], run_time=[1, 2, 3, 4])
    drawn = model_of_jobs(jobs, 5)
    assert len(drawn) == 4
    assert set(np.diff(drawn.submit_time).tolist()) <= {10, 20, 40}
    assert set(drawn.run_time.tolist()) <= {1, 2, 3, 4}
    assert model_of_jobs(jobs, 5).to_frame().equals(drawn.to_frame())
    with pytest.raises(InputError, match="nothing to model"):
        model_of_jobs(log(submit_time=[5, 5], run_time=[1, 2]), 1)


def test_a_model_of_days_has_their_busy_hours():
    # A job a minute from 9 to 10 each day, one an hour otherwise.
    submit = [day * DAY + 9 * HOUR + minute * MINUTE for day in range(20) for minute in range(60)]
    submit += [day * DAY + hour * HOUR for day in range(20) for hour in range(24) if hour != 9]
    jobs = log(submit_time=sorted(submit), run_time=[9] * len(submit))
    drawn = model_of_jobs(jobs, 3).submit_time
    busy = (drawn % DAY // HOUR == 9).mean()
    assert abs(busy - 60 / 83) < 0.05


CONF = """ClusterName=lab
NodeName=n[1-2] CPUs=1
PartitionName=batch Nodes=n1 Default=YES MaxTime=1-0
"""


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    # bob's job holds the node for ten minutes; ann's first waits for it, her second follows her first by a minute.
    lines += ["1|bob|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:00:00|2026-04-01T10:10:00|20|1|batch"]
    lines += ["2|ann|COMPLETED|2026-04-01T10:01:00|2026-04-01T10:10:00|2026-04-01T10:20:00|20|1|batch"]
    lines += ["3|ann|COMPLETED|2026-04-01T10:21:00|2026-04-01T10:21:00|2026-04-01T10:31:00|20|1|batch"]
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt").save(tmp_path / "site")


def test_with_a_second_node_ann_comes_back_earlier(directory):
    sweep = Sweep(directory)
    larger = Variant("larger", ("PartitionName=batch Nodes=n[1-2]",))
    reacting = SiteSample(think=1200)
    sweep.run([larger], [SiteSample(), reacting], workers=1)
    assert not sweep.failures
    starts = {}
    for sample in (SiteSample(), reacting):
        for variant in (Variant(AS_IT_IS), larger):
            answer = sweep.answer(variant, sample)
            starts[sample.think, variant.name] = answer.schedule.start_time - 0
            assert answer.metric("mean_wait") == pytest.approx(answer.schedule.wait_time.mean())
    first = starts[None, AS_IT_IS][0]
    assert starts[None, "larger"][2] - first == pytest.approx(1260, abs=5)
    assert starts[1200, AS_IT_IS][2] - first == pytest.approx(1260, abs=10)
    assert starts[1200, "larger"][2] - first == pytest.approx(60 + 660, abs=10)
    assert reacting.text == "the log, with think times"


def test_engine_and_twin_agree_on_jobs_with_think_times(directory):
    rng = np.random.default_rng(8)
    jobs = log(
        submit_time=np.sort(rng.integers(0, 4000, 40)),
        run_time=rng.integers(1, 900, 40),
        requested_time=[900] * 40,
        wait_time=rng.integers(0, 300, 40),
        user_id=rng.integers(0, 4, 40),
        requested_processors=rng.integers(1, 4, 40),
    ).replace(processors=4)
    found = with_think_times(jobs, 1200)
    assert len(found.dependencies.parents) > 5
    text = "fcfs+slurm(user_depth=2,wf_plan=ready)"
    assert simulate(found, text).start_time.tolist() == replay(prepare(found, text)).start_time.tolist()


def test_jobs_that_are_not_there_yet_are_not_planned(directory):
    sweep = Sweep(directory)
    schedule, *_ = variant_task(sweep.site, SiteSample(think=1200).of(sweep.jobs), Variant(AS_IT_IS)).simulate()
    assert "wf_plan=ready" in schedule.scheduler
