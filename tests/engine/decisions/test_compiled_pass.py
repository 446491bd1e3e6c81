"""Compiled passes: they decide as the same passes do in plain Python, and what goes wrong in them is told."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from laws import assert_laws_hold
from own_passes import Reserving
from random_workloads import workloads
from test_own_pass import THREE, jobs_of, starts

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, Limits, QosLimits
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine import simulate
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.schedule.runs import NODE_FAILED
from schedlab.scheduler import Pass, Scheduler
from schedlab.workload.resources import Resources

pytestmark = [pytest.mark.compiled, pytest.mark.slow]  # each combination of parts is compiled


class Four(Reserving):
    """EASY with several reservations, compiled."""

    compiled = True


class Plain(Pass):
    """Each user has at most so many runs; some reservations are cancelled; it is woken a few times."""

    def __init__(self, most=2, runs=2, share=1.5):
        self.most, self.runs, self.share = most, runs, share
        self.left = np.array([5])
        self.used = np.zeros(100, dtype=np.int64)

    def decide(self, view):
        held = np.zeros(100, dtype=np.int64)
        jobs, run_times = view.ended()
        for i in range(len(jobs)):
            self.used[view.user[jobs[i]] + 1] += run_times[i]
        for job in view.running:
            held[view.user[job] + 1] += 1
        reserved = 0
        for job in view.waiting:
            user = view.user[job] + 1
            allowance = self.runs - (self.used[user] > 20 * self.runs)  # whoever has used much has a run less
            if held[user] >= max(1, allowance) or not view.allowed(job):
                continue
            begins = view.earliest(job)
            if begins == view.now and view.fits(job):
                view.start(job)
                held[user] += 1
            elif begins is not None and reserved < self.most and begins < view.now + self.share * view.predicted[job]:
                view.reserve(job)
                reserved += 1
                if (job + view.now) % 3 == 0:
                    view.cancel(job)
        if self.left[0] > 0 and reserved > 0:
            self.left[0] -= 1
            view.wake_at(view.now + 1 + view.processors[view.waiting[0]] + view.free % 2)


class Compiled(Plain):
    """The same, compiled."""

    compiled = True


class Says(Pass):
    """Does one thing."""

    compiled = True

    def __init__(self, what):
        self.what = what

    def decide(self, view):
        if self.what == 0:
            view.start(9)
        if self.what == 1:
            view.start(view.waiting[0])
            view.start(view.waiting[0])
        if self.what == 2:
            view.wake_at(view.now)
        if self.what == 3:
            view.wake_at(view.now + 1)


@given(workload=workloads(enforced=True))
@settings(max_examples=60, deadline=None)
def test_easy_in_compiled_python_is_easy(workload):
    ours, easy = (simulate(workload, Scheduler("fcfs", backfill)) for backfill in (Four(1), "easy"))
    np.testing.assert_array_equal(ours.start_time, easy.start_time)
    np.testing.assert_array_equal(ours.backfilled, easy.backfilled)


@pytest.mark.parametrize("policy", ["fcfs", "saf"])
@pytest.mark.parametrize(("compiled", "plain"), [(Four, Reserving), (Compiled, Plain)], ids=["several", "everything"])
@given(workload=workloads())
@settings(max_examples=40, deadline=None)
def test_a_compiled_pass_starts_what_the_same_pass_starts_in_plain_python(policy, compiled, plain, workload):
    for most in (0, 2, 5):
        ours, same = (simulate(workload, Scheduler(policy, decider(most))) for decider in (compiled, plain))
        np.testing.assert_array_equal(ours.start_time, same.start_time)
        np.testing.assert_array_equal(ours.backfilled, same.backfilled)
        assert ours.specification["decisions"] == same.specification["decisions"]


def test_with_scores_that_change_partitions_licences_and_nodes_that_fail_too():
    rng = np.random.default_rng(4)
    rows = zip(rng.integers(0, 300, 60).cumsum() // 9, rng.integers(1, 90, 60), rng.integers(1, 99, 60), strict=True)
    workload = jobs_of(*[(s, r, q, 1 + i % 7) for i, (s, r, q) in enumerate(rows)], user_id=[i % 3 for i in range(60)])
    asked = Resources.of(
        60,
        tasks=workload.requested_processors,
        partition=["a" if i % 4 == 0 else "b" for i in range(60)],
        licenses=["L" if i % 3 == 0 else "" for i in range(60)],
    )
    parts = [Partition("a", ("n1", "n2"), default=True), Partition("b")]
    cluster = Cluster.of_nodes(NodeGroup.of("n[1-3]", cores=4), parts, licenses={"L": 1})
    what = ((200, "down", "n3"), (400, "up", "n3"), (700, "drain", "n1"), (900, "up", "n1"))
    events = NodeEvents(tuple(NodeEvent(second, kind, (node,)) for second, kind, node in what))
    compiled, plain = (
        simulate(workload.replace(resources=asked), Scheduler("wfp3", decider(2)), cluster=cluster, node_events=events)
        for decider in (Compiled, Plain)
    )
    assert compiled.start_time.tolist() == plain.start_time.tolist()
    assert (plain.runs["cause"] == NODE_FAILED).any()
    assert "Licenses" in plain.waited_for


def test_limits_of_users_and_accounts_are_kept_as_in_plain_python_and_in_the_reference():
    rng = np.random.default_rng(5)
    rows = zip(rng.integers(0, 300, 60).cumsum() // 9, rng.integers(1, 90, 60), rng.integers(1, 99, 60), strict=True)
    workload = jobs_of(*[(s, r, q, 1 + i % 5) for i, (s, r, q) in enumerate(rows)], user_id=[i % 3 for i in range(60)])
    asked = Resources.of(60, tasks=workload.requested_processors, account=["ab"[i % 2] for i in range(60)])
    workload = workload.replace(resources=asked)
    accounts = [("a", Limits(grp_tres=(("cpu", 5),))), ("b", Limits(grp_tres_run_mins=(("cpu", 8),)))]
    accounting = Accounting(
        (QosLimits("normal", limits=Limits(max_jobs_per_user=1)),),
        (Account("root", ""), *(Account(name, limits=limits) for name, limits in accounts)),
        tuple(AccountUser(str(user), name, default=name == "a") for user in range(3) for name in "ab"),
    )
    cluster = Cluster.of_nodes(NodeGroup.of("n[1-3]", cores=4), accounting=accounting)
    compiled, plain = (
        simulate(workload, Scheduler("saf", decider(2)), cluster=cluster) for decider in (Compiled, Plain)
    )
    assert compiled.start_time.tolist() == plain.start_time.tolist()
    for reason, seconds in plain.waited_for.items():
        np.testing.assert_array_equal(compiled.waited_for[reason], seconds)
    again = replay(prepare(workload, Scheduler("saf", Plain(2)), cluster=cluster))
    assert again.start_time.tolist() == plain.start_time.tolist()
    assert {"QOSMaxJobsPerUserLimit", "AssocGrpCpuLimit", "AssocGrpCPURunMinutesLimit"} <= set(plain.waited_for)
    assert_laws_hold(compiled, cluster)


def test_columns_of_ones_own_are_seen_and_arrays_on_the_pass_are_those_of_one_simulation():
    class Teams(Pass):
        compiled = True

        def __init__(self):
            self.seen = np.zeros(9, dtype=np.int64)

        def decide(self, view):
            for job in view.waiting:
                team = view.column("team")[job]
                self.seen[team] += 1
                if self.seen[team] > 1 and view.fits(job):  # each team waits for its second look
                    view.start(job)
            view.wake_at(view.now + 10)

    workload = jobs_of((5, 1, 1, 1), (0, 1, 1, 1), (20, 1, 1, 1)).with_columns(team=[7, 8, 8])
    decider = Teams()
    assert starts(workload, decider) == starts(workload, decider) == [6, 5, 20]
    assert not decider.seen.any()


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (0, "second 0: there is no job 9: jobs are numbered from 0 to 3"),
        (1, "second 0: job 1 (number 0) cannot start: it does not wait, or does not fit"),
        (2, "second 0: decide raised an error; without `compiled`, the same pass says which"),
        (3, "it was called 10,000 times in a row, and nothing has started or ended; 4 jobs wait"),
        (4, "4 jobs never started"),
    ],
)
def test_what_a_compiled_pass_does_wrong_is_told(what, told):
    with pytest.raises(InputError) as error:
        starts(THREE, Says(what))
    assert told in str(error.value)


def test_what_does_not_compile_is_told_with_the_reason():
    class Unknown(Pass):
        compiled = True

        def decide(self, view):
            view.ask_somebody()

    class Ended(Pass):
        compiled = True

        def decide(self, view):
            view.start(view.column("run_time")[0])

    class Imports(Pass):
        compiled = True

        def decide(self, view):
            import collections

            collections.deque(view.waiting)

    class Starts(Pass):
        compiled = True

        def decide(self, view):
            view.start("the first")

    for own, said in (
        (Unknown(), "the view has no ask_somebody"),
        (Ended(), "there is no run_time; there are job_id, submit_time, "),
        (Imports(), "Use of unsupported opcode (IMPORT_NAME)"),
        (Starts(), "start(view, "),
    ):
        with pytest.raises(InputError) as error:
            starts(THREE, own)
        told = str(error.value)
        assert re.match(rf"pass <\w+> does not compile: {Path(__file__).name}, line \d+: {re.escape(said)}", told)
        assert "without `compiled`, the pass is plain Python" in told
        assert len(told) < 500
    with pytest.raises(InputError, match=r"^pass <Says\(what='all'\)>: what is a str; a compiled pass has numbers and"):
        starts(THREE, Says("all"))


def test_a_simulation_in_steps_forks_and_grows_with_its_compiled_pass():
    workload = jobs_of(*[(second, 20, 30, 2) for second in range(12)], user_id=[1, 2] * 6)
    scheduler = Scheduler("fcfs", Compiled(1, 1))
    whole = simulate(workload, scheduler).start_time.tolist()
    simulation = Simulation(workload[:8], scheduler)
    simulation.run(7)
    simulation.submit(workload[8:])
    fork = simulation.fork()
    assert simulation.run()
    assert fork.run()
    assert simulation.schedule().start_time.tolist() == fork.schedule().start_time.tolist() == whole
    assert whole == simulate(workload, Scheduler("fcfs", Plain(1, 1))).start_time.tolist()
