"""What Slurm says at a moment becomes a state of the site: jobs on their nodes, with the priorities that were seen."""

from __future__ import annotations

import numpy as np
import pytest
from site_samples import CONF, MOMENT, NODES, QUEUE, printed, small_site

import schedlab as sl
from schedlab.errors import InputError
from schedlab.when.forks import Forking, simulation_of
from schedlab.when.site_forecast import asked_job, at_site
from schedlab.when.site_state import site_state
from schedlab.when.snapshots import LACKING, read_snapshot

HOUR = 3_600
DOWN = NODES.replace("NodeName=n4 Arch=x86_64\n   CPUTot=8\n   State=ALLOCATED", "NodeName=n4\n   State=IDLE+DRAIN")
MAINTENANCE = (
    "ReservationName=m StartTime=2026-04-01T11:00:00 EndTime=2026-04-01T13:00:00 Nodes=n[1-4] "
    "Flags=MAINT,SPEC_NODES Users=root\n"
)


def state_of(directory, **texts):
    site = small_site(directory)
    return site_state(site, read_snapshot(printed(directory, **texts), MOMENT))


def started(found):
    """Return the seconds from now at which jobs start if all run as long as they ask for."""
    simulation = simulation_of(found.twin, found.state)
    simulation.run()
    start = dict(zip(found.state.jobs.job_id.tolist(), simulation.start_time.tolist(), strict=True))
    return {job: second - found.state.now for job, second in start.items()}


def test_running_jobs_hold_the_nodes_on_which_they_were_seen(tmp_path):
    found = state_of(tmp_path)
    assert found.state.jobs.job_id.tolist() == [7, 8, 9, 10]
    placement = found.state.placement
    on = [
        [placement.nodes[node] for node in placement.node[first:last]]
        for first, last in zip(placement.offsets[:-1], placement.offsets[1:], strict=True)
    ]
    assert on == [["n2", "n3"], ["n1"], [], []]
    assert placement.held_cores.tolist() == [8, 8, 8]


def test_jobs_start_when_the_nodes_of_the_running_ones_become_free(tmp_path):
    # Job 9 wants all nodes, and the last running job ends at 11:10; job 10 fits on n4 before.
    times = started(state_of(tmp_path))
    assert times[7] == -50 * 60
    assert 70 * 60 <= times[9] <= 70 * 60 + 61
    assert 0 <= times[10] <= 31


def test_no_job_starts_on_a_node_that_is_out_of_service(tmp_path):
    found = state_of(tmp_path, nodes=DOWN)
    times = started_on_three_nodes(found)
    assert times[10] >= 30 * 60  # n1 is free at 10:30
    assert any("1 node out of service (n4)" in note for note in found.notes)


def started_on_three_nodes(found):
    simulation = simulation_of(found.twin, found.state)
    simulation.run(until=found.state.now + 24 * HOUR)
    start = dict(zip(found.state.jobs.job_id.tolist(), simulation.start_time.tolist(), strict=True))
    assert start[9] == -1  # it wants four nodes
    return {job: second - found.state.now for job, second in start.items()}


def test_a_maintenance_that_a_job_would_reach_into_makes_it_wait_until_its_end(tmp_path):
    # Job 9 could start at 11:10 at the earliest, within the maintenance, which ends at 13:00.
    times = started(state_of(tmp_path, reservations=MAINTENANCE))
    assert 3 * HOUR <= times[9] <= 3 * HOUR + 61


def test_the_priority_that_was_seen_orders_the_queue(tmp_path):
    # By age alone, job 9 is first; job 10 has a higher priority here, by whatever the model lacks, and n4 for it.
    swapped = QUEUE.replace("(null)|200|", "(null)|900|")
    found = state_of(tmp_path, queue=swapped)
    table = simulation_of(found.twin, found.state).priorities()
    assert found.state.jobs.job_id[table.row].tolist() == [10, 9]
    assert table.priority.tolist() == [900, 300]


def test_jobs_that_are_held_or_depend_on_what_is_not_there_are_named_with_the_reason(tmp_path):
    queue = QUEUE + "12|eve|batch|PENDING|2026-04-01T09:50:00|N/A|30:00|8|1|Dependency|afterok:3(unfulfilled)|100|\n"
    found = state_of(tmp_path, queue=queue)
    assert found.never[11] == "it is held (JobHeldUser) and waits until it is released"
    assert "depends on a job that is held, has failed or is not in the queue" in found.never[12]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (11, "job 11: it is held"),
        (7, "job 7 does not wait: it runs since 50 min"),
        (99, "job 99 is not in the queue"),
        (
            12,
            r"job 12: it can never start here: it asks for more time than its partitions allow \(PartitionTimeLimit\)",
        ),
    ],
)
def test_a_job_that_does_not_wait_is_refused_with_the_reason(tmp_path, asked, words):
    queue = QUEUE + "12|eve|batch|PENDING|2026-04-01T09:50:00|N/A|3-0|8|1|PartitionTimeLimit|(null)|100|\n"
    snapshot = read_snapshot(printed(tmp_path, queue), MOMENT)
    with pytest.raises(InputError, match=words):
        at_site(small_site(tmp_path), snapshot, [asked])


def test_a_job_on_a_node_whose_state_was_not_seen_counts_and_one_on_a_strange_node_does_not(tmp_path):
    fewer = NODES.replace("NodeName=n3 Arch=x86_64\n   CPUTot=8\n   State=ALLOCATED ThreadsPerCore=1\n", "")
    assert any("jobs run on n3, of which no state was seen" in note for note in state_of(tmp_path, nodes=fewer).notes)
    found = state_of(tmp_path, queue=QUEUE.replace("|n1\n", "|x9\n"))
    assert found.state.jobs.job_id.tolist() == [7, 9, 10]
    assert any("1 running job left out, on nodes that the site's slurm.conf lacks" in note for note in found.notes)


def test_clocks_that_are_far_apart_are_refused_and_near_ones_are_told(tmp_path):
    site, files = small_site(tmp_path), printed(tmp_path)
    with pytest.raises(InputError, match="started 1,200 s after the moment of the snapshot"):
        site_state(site, read_snapshot(files, MOMENT - 50 * 60))
    with pytest.raises(InputError, match=r"all running jobs are beyond their time limits .* by 9 days at least"):
        site_state(site, read_snapshot(files, MOMENT + 10 * 24 * HOUR))
    found = site_state(site, read_snapshot(files, MOMENT - 31 * 60))
    assert any("later than its moment" in note for note in found.notes)


def test_what_was_not_seen_is_named(tmp_path):
    files = printed(tmp_path)._replace(nodes=None, reservations=None, sshare=None)
    notes = read_snapshot(files, MOMENT).notes
    assert [f"not seen: {LACKING[name]}" for name in ("nodes", "reservations", "sshare")] == list(notes)


def test_a_new_job_waits_behind_those_of_higher_priority(tmp_path):
    site, snapshot = small_site(tmp_path), read_snapshot(printed(tmp_path), MOMENT)
    found = at_site(site, snapshot, new=asked_job(["--nodes=4", "--time=60"], "ann"), how=Forking(forks=20))
    assert found.waits_for[0].ahead == 2
    assert found.waits_for[0].own == 1
    early, _, late = found.starts.quantiles()[0]
    # Behind job 9, which runs for some share of its hour, and that behind job 7, which has 70 minutes left at most.
    assert 0 <= early <= late <= 130 * 60 + 120
    assert (found.starts.waits > 0).all()


def test_a_new_job_that_no_partition_holds_is_refused(tmp_path):
    site, snapshot = small_site(tmp_path), read_snapshot(printed(tmp_path), MOMENT)
    with pytest.raises(InputError, match=r"such a job can never start here: .*Resources"):
        at_site(site, snapshot, new=asked_job(["--nodes=5", "--time=60"]))


def test_without_accounting_any_share_of_the_request_is_as_likely(tmp_path):
    site, snapshot = small_site(tmp_path), read_snapshot(printed(tmp_path), MOMENT)
    found = at_site(site, snapshot, [9], how=Forking(forks=200))
    # Job 7 has run for 50 of 120 minutes, and ends at any of the 70 that are left, which job 9 waits for.
    assert found.starts.weeks == 0
    assert abs(np.median(found.starts.waits) / 60 - 35) < 8


def test_a_job_whose_qos_is_not_admitted_is_told_which_are(tmp_path):
    (tmp_path / "slurm.conf").write_text(f"{CONF}PartitionName=other Nodes=n1 AllowQos=debug,long\n")
    site, snapshot = sl.site.import_site(tmp_path / "slurm.conf"), read_snapshot(printed(tmp_path), MOMENT)
    with pytest.raises(InputError, match=r"\(QOSNotAllowed\); partitions here admit debug and long, which a job asks"):
        at_site(site, snapshot, new=asked_job(["--nodes=1", "--time=60", "--partition=other"]), how=Forking(forks=3))
