"""Heterogeneous jobs in the engine, against its reference and by hand.

The comparison runs as plain Python: the same code without compilation.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from cluster_cases import random_cluster, random_events, random_jobs
from features import outcome
from laws import assert_laws_hold
from plain_process import number_printed
from random_seeds import one_in, seeds
from test_nodes_against_twin import replayed
from test_nodes_against_twin import simulate as on_nodes

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.cluster.preemption import Preemption
from schedlab.engine.parts.heterogeneous import numbers
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.parts.preemption import endless
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.reference.slurm_backfill import BackfillPass
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

TOGETHER = (
    "saf+slurm(hetjob_prio=min)",
    "multifactor(size=1000,favor=small)+slurm(hetjob_prio=avg,interval=0,reserve_priority=850)",
    "wfp3+slurm(hetjob_prio=max,starts=2,hetjob_immediate=yes)",
    "saf+slurm(hetjob_immediate=yes)",
)
"""With the components of a job side by side."""

ON_PROCESSORS = (
    *("fcfs", "saf", "fcfs,starvation=40", "fcfs+slurm", "saf+slurm(interval=0)"),
    *TOGETHER,
)
ON_NODES = (
    *("fcfs", "saf", "fcfs+slurm", "fcfs+slurm(interval=0,reserve=1)", "saf+slurm"),
    *TOGETHER,
)
PREEMPTING = (
    *("fcfs+slurm(interval=5)", "saf+slurm(interval=5,hetjob_prio=min)", "sqf+slurm(interval=0,reserve=1)"),
    "multifactor(size=1000,favor=small)+slurm(hetjob_prio=avg,interval=4)",
    "wfp3+slurm(interval=5,hetjob_prio=max,starts=2,hetjob_immediate=yes)",
)
FEWER = 4
WITH_MORE = (7, 46)  # a pass makes room for a job and then plans a component; it calls several jobs off
ENDLESS = 500
"""Seconds after the last submission: then, components and others are taken to preempt each other for ever."""

SEEDS, IN_ORDER = 8, 5
WORTH_IT = 18  # a component starts on nodes on which the plan of the pass has a job behind it
MORE = 40
"""How many workloads without backfilling on nodes, where heads start at limits."""


def with_het_jobs(jobs, random):
    """Return a workload of which some jobs that follow each other are components of one, submitted together."""
    submit, names, row = jobs.submit_time.copy(), [""] * len(jobs), 0
    while row < len(jobs):
        count = min(random.choice([1, 1, 2, 2, 3]), len(jobs) - row)
        if count > 1:
            submit[row : row + count] = submit[row]
            names[row : row + count] = [f"h{row}"] * count
        row += count
    asked = jobs.resources or Resources.of_processors(jobs.job_processors)
    return jobs.replace(submit_time=submit, resources=replace(asked, het_job=Labels.of(names)))


def without_wide_ones(jobs, scheduler, cluster):
    """Return a workload in which components that never fit, or never can be submitted, together are jobs alone."""
    while True:
        try:
            prepare(jobs, scheduler, cluster=cluster)
            return jobs
        except InputError as error:
            names = np.array(jobs.resources.het_job.texts())
            if not names[error.row]:
                raise
            names[names == names[error.row]] = ""
            jobs = jobs.replace(resources=replace(jobs.resources, het_job=Labels.of(names)))


def random_rows(random):
    """Return jobs on eight processors, and that of some components no more are needed at once."""
    rows = sorted((random.randint(0, 200), random.randint(0, 90), random.randint(0, 30), 0) for _ in range(16))
    submit, run, more, _ = map(np.array, zip(*rows, strict=True))
    columns = {"submit_time": submit, "run_time": run, "requested_time": np.maximum(run + more, 1)}
    columns["requested_processors"] = [random.choice([1, 1, 2, 2]) for _ in rows]
    return Workload.from_columns(columns, processors=random.choice([6, 8]))


def answer(play, *arguments, **options):
    """Return a schedule, or why there is none."""
    try:
        return play(*arguments, **options)
    except InputError as error:
        return str(error)


def check_processors(scheduler, seed):
    """Compare on processors; return whether the simulation can be done."""
    random = Random(seed)
    jobs = with_het_jobs(random_rows(random), random)
    in_order = IN_ORDER if random.random() < 0.2 else 0
    if random.random() < 0.3:
        pairs = [(child, random.randrange(child - 3)) for child in range(6, len(jobs), 4)]
        jobs = jobs.replace(dependencies=Dependencies.from_pairs(*zip(*pairs, strict=True), jobs=len(jobs)))
    schedule = answer(simulate, jobs, scheduler, in_order=in_order)
    plain = answer(lambda: replay(prepare(jobs, scheduler, in_order=in_order)))
    what = f"{scheduler}, seed {seed}"
    if isinstance(schedule, str):
        assert schedule == plain, what
        return False
    assert outcome(schedule) == outcome(plain), what
    assert_together(schedule)
    return True


def check_nodes(scheduler, seed):
    """Compare on nodes with partitions and limits, some with node events; return whether the simulation can be done."""
    random = Random(seed)
    cluster = random_cluster(random)
    jobs = random_jobs(random, cluster)
    accounts = Labels.of([random.choice(["a", "a", ""]) for _ in range(len(jobs))])
    jobs = jobs.replace(resources=replace(jobs.resources, account=accounts))
    jobs = with_het_jobs(jobs, random)
    events = random_events(random, random_cluster(random)) if seed % 3 == 0 else None

    jobs = without_wide_ones(jobs, scheduler, cluster)

    def prepared():
        return prepare(jobs, scheduler, cluster=cluster, node_events=events, in_order=in_order)

    own = Random(f"in order, {seed}")  # the other draws are what they are without it
    in_order = own.randint(1, len(jobs)) if own.random() < 0.3 else 0
    found, plain = (answer(lambda play=play: play(prepared())) for play in (on_nodes, replayed))
    what = f"{scheduler}, seed {seed}"
    if isinstance(found, str):
        assert found == plain, what
        return False
    assert outcome(found[0]) == outcome(plain[0]), what
    assert found[1] == plain[1], what
    assert_laws_hold(found[0], cluster, events)
    if events is None:
        assert_together(found[0])
        assert_apart(found[0])
    return True


def in_tiers(random):
    """Return a cluster with two tiers, and jobs in them; the components of a job are mostly in the same."""
    names = tuple(f"n{number}" for number in range(1, 6))
    high = random.choice([names, names[:4]])
    graces = [random.choice([0, 0, 3, 20]) for _ in "lh"]
    partitions = [
        Partition("low", names, default=True, grace_time=graces[0]),
        Partition("high", high, priority_tier=2, grace_time=graces[1]),
    ]
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=2), NodeGroup.of("n[4-5]", cores=4)], partitions)
    rows = sorted((random.randint(0, 100), random.randint(5, 80), random.randint(0, 30)) for _ in range(24))
    submit, run, more = map(np.array, zip(*rows, strict=True))
    tasks = [random.choice([1, 2, 3, 5, 8]) for _ in rows]
    columns = {"submit_time": submit, "run_time": run, "requested_time": run + more, "requested_processors": tasks}
    jobs = with_het_jobs(Workload.from_columns(columns, processors=cluster.processors), random)
    where, before = [], ""
    for name in jobs.resources.het_job.texts():
        apart = not name or name != before or random.random() < 0.1
        where.append(random.choice(["low", "low", "low", "high", "high,low"]) if apart else where[-1])
        before = name
    jobs = jobs.replace(resources=replace(jobs.resources, partition=Labels.of(where)))
    return cluster, jobs[np.flatnonzero(never_runs(jobs, cluster).codes < 0)]


def check_preemption(scheduler, seed):
    """Compare where jobs preempt others; return how many runs gave way."""
    random = Random(seed)
    cluster, jobs = in_tiers(random)
    preemption = Preemption(
        "partition",
        random.choice(["requeue", "requeue", "cancel"]),
        exempt_time=random.choice([0, 0, 5, 30]),
        requeue_delay=random.choice([1, 5, 50]),
        youngest_first=random.random() < 0.2,
        reorder=random.randint(0, 2),
    )
    cluster = replace(cluster, preemption=preemption)
    jobs = without_wide_ones(jobs, scheduler, cluster)
    events = NodeEvents((NodeEvent(40, "down", ("n4",)), NodeEvent(70, "up", ("n4",)))) if seed % 4 == 0 else None

    def prepared():
        return prepare(jobs, scheduler, cluster=cluster, node_events=events)

    until = int(jobs.submit_time.max()) + ENDLESS
    found = answer(lambda: on_nodes(prepared(), until))
    if isinstance(found, str) or found[0] is None:
        return 0
    plain = replayed(prepared())
    what = f"{scheduler}, preemption, seed {seed}"
    assert outcome(found[0]) == outcome(plain[0]), what
    assert found[1] == plain[1], what
    return len(found[0].runs) - len(found[0])


def assert_together(schedule):
    names = np.array(schedule.workload.resources.het_job.texts())
    for name in set(names.tolist()) - {""}:
        assert len(set(schedule.start_time[names == name].tolist())) == 1


def assert_apart(schedule):
    names, offsets = schedule.workload.resources.het_job.texts(), schedule.placement.offsets
    for name in set(names) - {""}:
        nodes = [
            node
            for row, other in enumerate(names)
            if other == name
            for node in schedule.placement.node[offsets[row] : offsets[row + 1]]
        ]
        assert len(nodes) == len(set(nodes))


@pytest.mark.parametrize("scheduler", one_in(3, ON_PROCESSORS))
def test_on_processors_the_engine_equals_its_twin_and_components_start_together(scheduler):
    assert number_printed(__file__, f"processors {scheduler}") >= SEEDS / 3, "hardly anything was compared"


@pytest.mark.parametrize("scheduler", one_in(3, PREEMPTING))
def test_where_jobs_preempt_others_the_engine_equals_its_twin(scheduler):
    assert number_printed(__file__, f"preemption {scheduler}") >= 3, "hardly anybody gave way"


@pytest.mark.parametrize("scheduler", one_in(3, ON_NODES))
def test_on_nodes_the_engine_equals_its_twin_and_components_share_no_node(scheduler):
    assert number_printed(__file__, f"nodes {scheduler}") >= SEEDS / 4, "hardly anything was compared"


def on_machine(rows, names, **asked):
    """Return jobs given as submission, run time, processors; they ask for the time that they run."""
    submit, run_time, processors = zip(*rows, strict=True)
    columns = {"submit_time": submit, "run_time": run_time, "requested_time": run_time}
    resources = Resources.of(len(rows), tasks=processors, het_job=names, **asked)
    return Workload.from_columns(columns | {"requested_processors": processors}, processors=4, resources=resources)


def starts_of(jobs, scheduler, **options):
    """Return when jobs start, by the plain engine."""
    return replay(prepare(jobs, scheduler, **options)).start_time.tolist()


def test_the_head_starts_when_all_its_components_fit():
    # Three of four processors until 10; components of 1 and 2 fit from then on, beside them one processor is left.
    jobs = on_machine(
        [(0, 10, 3), (1, 10, 1), (1, 10, 2), (2, 5, 1), (3, 50, 1), (3, 50, 1)], [None, "h", "h", *[None] * 3]
    )
    assert starts_of(jobs, "fcfs") == [0, 10, 10, 10, 15, 20]


def test_in_a_warm_up_components_that_fit_do_not_overtake_others_that_wait_for_their_partition():
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=4)], [Partition("all", ("n1", "n2"), default=True)])
    rows = [
        (0, 10, 2),
        (1, 10, 4),
        (1, 10, 4),
        (2, 10, 1),
        (2, 10, 1),
    ]  # the second pair would fit beside the first job
    jobs = on_machine(rows, [None, "a", "a", "b", "b"]).replace(processors=None)
    assert starts_of(jobs, "fcfs+slurm", cluster=cluster, in_order=5)[3:] == [20, 20]


def test_a_warm_up_may_end_with_a_heterogeneous_job_in_the_middle_of_a_pass():
    jobs = on_machine([(0, 10, 1), (0, 10, 1), (0, 5, 2), (0, 5, 2)], ["h", "h", None, None])
    assert starts_of(jobs, "fcfs+slurm(hetjob_prio=min)", in_order=2) == [0, 0, 0, 5]


@pytest.mark.parametrize("order", ["", "hetjob_prio=min,", "hetjob_prio=avg,", "hetjob_immediate=yes,"])
def test_components_side_by_side_take_no_reservation_from_a_job_of_high_priority(order):
    # A job of priority 1000 waits for all four processors, and jobs of priority 500 stream past; at 60, the first ends.
    stream = [(2 + 5 * number, 120, 2) for number in range(9)]
    jobs = on_machine([(0, 60, 2), (1, 60, 4), *stream, (1, 5, 2), (1, 5, 2)], [None] * 11 + ["h", "h"])
    jobs = jobs.replace(queue_id=np.array([1, 2] + [1] * 11))
    passes = f"slurm({order}interval=5,resolution=1,reserve_priority=600)"
    assert starts_of(jobs, f"multifactor(qos=1000,qoses=1:0.5;2:1)+{passes}")[1] == 60


@pytest.mark.parametrize("order", ["own", "min"])
def test_in_the_pass_of_the_last_warm_up_job_the_others_are_sorted_without_it(order):
    jobs = on_machine([(0, 10, 1), (0, 10, 1), (0, 10, 1)], [None, "h", "h"])
    assert starts_of(jobs, f"saf+slurm(hetjob_prio={order})", in_order=1) == [0, 0, 0]


def test_components_wait_for_each_others_parents_and_each_ends_by_itself():
    jobs = on_machine([(0, 10, 1), (1, 10, 1), (1, 30, 2), (1, 5, 1)], [None, "h", "h", None])
    jobs = jobs.replace(dependencies=Dependencies.from_pairs([1, 3], [0, 1], jobs=4))
    schedule = replay(prepare(jobs, "fcfs"))
    assert schedule.start_time.tolist() == [0, 10, 10, 40]
    assert schedule.end_time.tolist() == [10, 20, 40, 45]


def test_components_are_within_a_limit_together():
    # Two jobs of an account may run at a time: each component alone would be within that at 1, but not both.
    cluster = Cluster.from_dict(
        {
            "groups": [{"nodes": "n[1-4]", "cores": 1}],
            "qos": [{"name": "normal"}],
            "accounts": [
                {"name": "root", "parent": "", "qos": ["normal"], "default_qos": "normal"},
                {"name": "a", "limits": {"grp_jobs": 2}},
            ],
            "users": [{"user": "1", "account": "a", "default": True}],
        }
    )
    jobs = on_machine([(0, 10, 1), (1, 10, 1), (1, 10, 1), (2, 10, 1)], [None, "h", "h", None], account=["a"] * 4)
    jobs = jobs.replace(processors=None, user_id=np.ones(4, dtype=np.int64))
    assert starts_of(jobs, "fcfs", cluster=cluster) == [0, 12, 12, 2]


def test_components_that_wait_for_each_other_are_named():
    jobs = on_machine([(0, 10, 1), (0, 10, 1), (0, 10, 1)], [None, "h", "h"])
    jobs = jobs.replace(dependencies=Dependencies.from_pairs([2], [1], jobs=3))
    with pytest.raises(InputError, match=r"heterogeneous job 'h': the component in row 2 waits for the one in row 1"):
        prepare(jobs, "fcfs")


@pytest.mark.parametrize(
    ("names", "submit", "why"),
    [
        (
            ["h", None, "h"],
            [0, 0, 0],
            "heterogeneous job 'h': its components are not in consecutive rows, from row 2 on",
        ),
        (
            [None, "h", "h"],
            [0, 0, 1],
            "heterogeneous job 'h': its components have different submissions, from row 2 on",
        ),
        ([None, "h", "h"], [0, 0, 0], "heterogeneous job 'h' never fits"),
    ],
)
def test_jobs_that_cannot_be_heterogeneous_are_named(names, submit, why):
    jobs = on_machine([(second, 10, 3) for second in submit], names)
    with pytest.raises(InputError, match=why):
        prepare(jobs, "fcfs")


def test_licences_on_a_number_of_processors_need_nodes_for_components():
    jobs = on_machine([(0, 10, 1), (0, 10, 1)], ["h", "h"], licenses=["m", ""])
    with pytest.raises(InputError, match="get nodes of their own, so with licences or limits they need"):
        prepare(jobs, "fcfs", cluster=Cluster(4, licenses=(("m", 1),)))


@pytest.mark.parametrize(
    ("scheduler", "seconds"),
    [
        ("saf+slurm(interval=1)", 2 * 60),
        ("saf+slurm(interval=7,resolution=40,reserve_age=5)", 2 * 7 * 120 + 5),
        ("multifactor(age=10,max_age=1d,period=300)+slurm", 2 * 60 + 86400 + 300),
        ("multifactor(age=10,fairshare=5)+slurm", 8 * 86400),
        ("wfp3+slurm", 8 * 86400),
    ],
)
def test_components_wait_in_vain_once_passes_have_decided_alike_unless_time_changes_priorities(scheduler, seconds):
    # Passes decide alike after a common multiple of interval, resolution and full minutes; twice that is waited for.
    assert numbers.patience_of(Scheduler.parse(scheduler)) == seconds


@pytest.mark.parametrize("cluster", [Cluster(4), Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=1)])])
@pytest.mark.parametrize("policy", ["fcfs", "saf", "multifactor(size=10)"])
def test_a_job_whose_components_wait_for_a_long_run_starts_after_it(policy, cluster):
    # Nothing happens for longer than passes alone are waited for, but the run still ends: at its second, or at the
    # next pass of Slurm, one comes each 30 s.
    jobs = on_machine([(0, 1000, 4), (10, 100, 2), (10, 100, 2)], [None, "h", "h"]).replace(processors=None)
    found = simulate(jobs, f"{policy}+slurm(interval=30)", cluster=cluster).start_time.tolist()
    assert found == starts_of(jobs, f"{policy}+slurm(interval=30)", cluster=cluster)
    assert found[1] == found[2]
    assert 1000 < found[1] <= 1031


def test_two_jobs_that_keep_each_other_waiting_are_told_without_days_of_passes(monkeypatch):
    # Under saf, the small components hold what the large ones of the other job need, as on the real slurmctld. With a
    # pass in each second, eight days are 691,200 passes.
    passes = []
    plain = BackfillPass.run
    monkeypatch.setattr(BackfillPass, "run", lambda *given: passes.append(1) or plain(*given))
    rows = [(0, 100, 4), (10, 100, 1), (10, 100, 3), (10, 100, 2), (10, 100, 2)]
    jobs = on_machine(rows, [None, "a", "a", "b", "b"])
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=1)])
    with pytest.raises(InputError, match="heterogeneous job 'a' never starts: its components do not fit at the same"):
        replay(prepare(jobs.replace(processors=None), "saf+slurm(interval=1)", cluster=cluster))
    assert len(passes) < 300


def test_two_jobs_that_come_back_before_components_do_go_on_for_ever_as_on_the_real_slurm(monkeypatch):
    monkeypatch.setattr(endless, "PATIENCE", 40)  # it is 10,000, for which the reference takes minutes
    nodes = ("n1", "n2", "n3", "n4")
    cluster = Cluster.of_nodes(
        NodeGroup.of("n[1-4]", cores=1),
        [Partition("low", nodes), Partition("high", nodes, priority_tier=2)],
        preemption=Preemption("partition"),
    )
    rows = [(0, 600, 2), (1, 600, 2), (50, 100, 2), (50, 100, 2)]
    jobs = on_machine(rows, [None, None, "h", "h"], partition=["low", "low", "high", "high"]).replace(processors=None)
    with pytest.raises(InputError, match="preemption never ends"):
        replay(prepare(jobs, "fcfs+slurm", cluster=cluster))


@pytest.mark.parametrize(
    ("mode", "scheduler", "why"),
    [
        ("requeue", "fcfs", "only Slurm's backfill pass makes room for components"),
        ("suspend", "fcfs+slurm", "components would stand still, and go on, one by one"),
    ],
)
def test_preemption_that_does_not_go_with_components_is_refused_with_the_reason(mode, scheduler, why):
    partitions = [Partition("low", ("n1", "n2")), Partition("high", ("n1", "n2"), priority_tier=2)]
    cluster = Cluster.of_nodes(NodeGroup.of("n[1-2]", cores=2), partitions, preemption=Preemption("partition", mode))
    jobs = on_machine([(0, 10, 1), (0, 10, 1)], ["h", "h"], partition=["low", "low"]).replace(processors=None)
    with pytest.raises(InputError, match=why):
        prepare(jobs, scheduler, cluster=cluster)


@pytest.mark.parametrize("backfilling", ["+easy", "+conservative"])
def test_backfilling_other_than_slurms_is_refused_with_the_reason(backfilling):
    jobs = on_machine([(0, 10, 1), (0, 10, 1)], ["h", "h"])
    with pytest.raises(InputError, match=rf"with heterogeneous jobs does not go with \{backfilling}: reservations of"):
        prepare(jobs, f"fcfs{backfilling}")


if __name__ == "__main__":
    numbers.PATIENCE = 7200
    where, text = sys.argv[1].split(" ")
    checks = {"processors": check_processors, "nodes": check_nodes, "preemption": check_preemption}
    usual = MORE if where == "nodes" and "+" not in text else FEWER if where == "preemption" else SEEDS
    count = int(sys.argv[2]) if len(sys.argv) > 2 else usual
    more = WITH_MORE if where == "preemption" else (WORTH_IT,)
    print(sum(checks[where](text, seed) for seed in (*seeds(count), *more)))
