"""How many nodes a minute are switched off and booted: cases worked out by hand, and random ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_power_saving_by_hand import drawn, jobs_of

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.files import read_cluster, write_cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.cluster.power_saving import PowerSaving
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError

OLD = "fcfs+slurm(interval=0,delay=0,version=22.05)"
NEW = "fcfs+easy"


def machine(suspend_rate: int, resume_rate: int, nodes: int = 3) -> Cluster:
    """Return nodes of one core that are switched off after 20 s, and boot for 15 s."""
    group = NodeGroup.of(f"n[1-{nodes}]", cores=1)
    saving = PowerSaving(20, 15, suspend_rate=suspend_rate, resume_rate=resume_rate)
    return replace(Cluster.of_nodes([group]), power_saving=saving)


def sleeps(schedule):
    """Return node, kind, begin and end of each span, the nodes in turn."""
    assert schedule.placement is not None
    return schedule.placement.sleeps.tolist()


# n2 and n3 are off from 20 on, n1, which had a job until 1, from 21 on. One a minute boots: at 100, 160 and 220. The
# last is ready at 235.
ONE_BY_ONE = [(0, 0, 21, 100), (0, 1, 100, 115), (1, 0, 20, 160), (1, 1, 160, 175), (2, 0, 20, 220), (2, 1, 220, 235)]


def test_nodes_boot_one_after_the_other_as_the_rate_says():
    jobs = jobs_of([0, 100], [1, 10], [1, 3])
    schedule = simulate(jobs, NEW, cluster=machine(0, 1))
    assert schedule.start_time.tolist() == [0, 235]
    assert sleeps(schedule) == ONE_BY_ONE


def test_a_sixth_of_the_rate_boots_at_once():
    # Twelve a minute: two at once, one more every five seconds, the seventh at 125.
    schedule = simulate(jobs_of([0, 100], [1, 10], [1, 7]), NEW, cluster=machine(0, 12, nodes=7))
    assert schedule.start_time.tolist() == [0, 140]
    assert sorted(begin for _, kind, begin, _ in sleeps(schedule) if kind) == [100, 100, 105, 110, 115, 120, 125]


def test_jobs_have_their_nodes_booted_in_the_order_in_which_they_got_them():
    # n1 boots at 100; n2, for the second job, at 160, and n3, for the third, at 220. The fourth waits for n1 alone.
    jobs = jobs_of([0, 100, 101, 102, 103], [1, 30, 30, 30, 5], [1, 1, 1, 1, 1])
    schedule = simulate(jobs, NEW, cluster=machine(0, 1))
    assert schedule.start_time.tolist() == [0, 115, 175, 235, 145]


def test_nodes_are_switched_off_one_after_the_other_and_those_that_are_on_need_no_boot():
    # One a minute, of those that are due the first: n2 at 20, as n1 has a job until 1, and n1 at 80. n3 would be next
    # at 140, but has a job until 120, as they have: n1 is off at 140, and n2 would be at 200.
    jobs = jobs_of([0, 100, 200], [1, 5, 1], [1, 3, 3])
    schedule = simulate(jobs, NEW, cluster=machine(1, 0))
    assert schedule.start_time.tolist() == [0, 115, 215]
    spans = [(0, 0, 80, 100), (0, 1, 100, 115), (0, 0, 140, 200), (0, 1, 200, 215), (1, 0, 20, 100), (1, 1, 100, 115)]
    assert sleeps(schedule) == spans


def test_a_node_that_is_not_taken_for_long_is_off_at_the_end_as_its_turn_says():
    # The second job has n1 until 250: n2 is switched off at 20, and n3 at 80. Both stay off until the end.
    jobs = jobs_of([0, 1], [1, 249], [1, 1])
    assert sleeps(simulate(jobs, NEW, cluster=machine(1, 0))) == [(1, 0, 20, 250), (2, 0, 80, 250)]


def test_in_slurm_22_05_a_sixtieth_of_the_count_is_forgotten_each_second():
    # After one node, the count is below a half when (59/60)**t is, after 42 s; then 1.494 (59/60)**t, after 66 s.
    schedule = simulate(jobs_of([0, 120], [1, 10], [1, 3]), OLD, cluster=machine(0, 1))
    assert sorted(begin for _, kind, begin, _ in sleeps(schedule) if kind) == [120, 162, 228]
    # Two at once; the count is below 1.5 when 2 (59/60)**t is, after 18 s.
    schedule = simulate(jobs_of([0, 120], [1, 10], [1, 3]), OLD, cluster=machine(0, 2))
    assert sorted(begin for _, kind, begin, _ in sleeps(schedule) if kind) == [120, 120, 138]


@pytest.mark.parametrize("scheduler", [NEW, OLD, "saf+easy", "fcfs+slurm"])
def test_engine_and_reference_agree_on_random_rates(scheduler):
    rng, changed = np.random.default_rng(40), 0
    for seed in range(8):
        jobs, cluster = drawn(seed)
        assert cluster.power_saving is not None
        rates = dict(zip(("suspend_rate", "resume_rate"), rng.integers(0, [9, 9]).tolist(), strict=True))
        rated = replace(cluster, power_saving=replace(cluster.power_saving, **rates))
        found, plain = simulate(jobs, scheduler, cluster=rated), replay(prepare(jobs, scheduler, cluster=rated))
        assert found.start_time.tolist() == plain.start_time.tolist(), seed
        changed += found.start_time.tolist() != simulate(jobs, scheduler, cluster=cluster).start_time.tolist()
    assert changed >= 3


def test_a_rate_that_no_minute_reaches_changes_nothing():
    for seed in range(6):
        jobs, cluster = drawn(seed)
        assert cluster.power_saving is not None
        many = replace(cluster, power_saving=replace(cluster.power_saving, suspend_rate=6000, resume_rate=6000))
        one, other = simulate(jobs, NEW, cluster=cluster), simulate(jobs, NEW, cluster=many)
        assert one.start_time.tolist() == other.start_time.tolist()
        assert sleeps(one) == sleeps(other)


def test_cluster_files_have_rates(tmp_path):
    write_cluster(machine(60, 300), tmp_path / "site.toml")
    assert read_cluster(tmp_path / "site.toml") == machine(60, 300)


def test_a_rate_below_zero_is_refused():
    with pytest.raises(InputError, match="suspend_rate must be a number of nodes a minute of 0 or more, not -1"):
        machine(-1, 0)
