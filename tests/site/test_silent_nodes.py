"""Nodes that were out of service, inferred from what jobs did meanwhile."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.allocations import STILL_RUNNING, read_allocations
from schedlab.cluster.files import read_cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.errors import InputError
from schedlab.site import import_site
from schedlab.site.silent_nodes import PATIENCE, silences

EPOCH, NODES, CORES = 1_700_000_000, 16, 8
COLUMNS = "JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|ReqTRES|NNodes|NodeList"
CONF = f"""
ClusterName=lab
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-{NODES}] CPUs={CORES}
PartitionName=batch Nodes=ALL Default=YES MaxTime=UNLIMITED
"""


def moment(second: int) -> str:
    return dt.datetime.fromtimestamp(EPOCH + second, dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")


def record(job: int, user: str, submit: int, start: int, end: int | None, minutes: int, cores: int, nodes: str) -> str:
    ended = ("RUNNING", "Unknown") if end is None else ("COMPLETED", moment(end))
    count = len(nodes.split(","))
    columns = (
        job,
        user,
        ended[0],
        moment(submit),
        moment(start),
        ended[1],
        minutes,
        cores,
        f"cpu={cores},node={count}",
    )
    return "|".join(map(str, (*columns, count, nodes)))


def write(directory: Path, records: list[str]) -> Path:
    (directory / "slurm.conf").write_text(CONF)
    (directory / "sacct.txt").write_text("\n".join([COLUMNS, *records, ""]))
    return directory / "sacct.txt"


def recorded(directory: Path, scheduler: str, events: list[NodeEvent]) -> Path:
    """Write what sacct would print of 1,500 simulated jobs, a fifth of them on several nodes."""
    rng, count = np.random.default_rng(3), 1500
    nodes = np.where(rng.random(count) < 0.2, rng.integers(2, 6, count), 1)
    cores = np.where(nodes > 1, nodes * CORES, rng.integers(1, CORES + 1, count))
    run = np.clip(rng.lognormal(8, 1.2, count), 60, 86400).astype(np.int64)
    columns = {
        "submit_time": np.sort(rng.random(count) * (cores * run).sum() / (NODES * CORES * 0.9)).astype(np.int64),
        "run_time": run,
        "requested_time": (60 * np.ceil(run * rng.uniform(1.1, 5, count) / 60)).astype(np.int64),
        "requested_processors": cores,
        "user_id": rng.integers(1, 12, count),
    }
    asked = sl.workload.Resources.of(
        count, nodes=nodes, tasks=np.where(nodes > 1, nodes, cores), cores_per_task=np.where(nodes > 1, CORES, 1)
    )
    jobs = sl.Workload.from_columns(columns, processors=NODES * CORES, resources=asked)
    write(directory, [])
    cluster = read_cluster(directory)
    schedule = sl.simulate(jobs, scheduler, cluster=cluster, node_events=NodeEvents(tuple(events)) if events else None)
    place = schedule.placement
    assert place is not None
    names = [
        ",".join(place.nodes[node] for node in place.node[begin:end])
        for begin, end in zip(place.offsets[:-1], place.offsets[1:], strict=True)
    ]
    start, end, minutes = schedule.start_time.tolist(), schedule.end_time.tolist(), jobs.requested_time // 60
    return write(
        directory,
        [
            record(row + 1, f"u{user}", submit, start[row], end[row], minutes[row], cores[row], names[row])
            for row, (user, submit) in enumerate(zip(jobs.user_id, jobs.submit_time.tolist(), strict=True))
        ],
    )


def closed(events: NodeEvents | None) -> list[tuple[str, int, int]]:
    """Return node, begin and end of each time out of service."""
    begin: dict[str, int] = {}
    found = []
    for event in events or ():
        if event.event == "drain":
            begin[event.nodes[0]] = event.second
        else:
            found.append((event.nodes[0], begin.pop(event.nodes[0]), event.second))
    return found


DAY = 86400
DRAINED = [("n3", DAY, 2 * DAY), ("n7", DAY // 2, DAY), ("n8", 2 * DAY, 3 * DAY)]


@pytest.mark.parametrize("scheduler", ["fcfs+easy", "fcfs+conservative", "multifactor(size=1000)+slurm"])
def test_most_of_a_downtime_is_found_and_hardly_anything_else(tmp_path, scheduler):
    events = [NodeEvent(begin, "drain", (node,)) for node, begin, _ in DRAINED]
    events += [NodeEvent(end, "up", (node,)) for node, _, end in DRAINED]
    found = closed(import_site(tmp_path, recorded(tmp_path, scheduler, events), infer_downtimes=True).node_events)
    overlaps = [
        max(0, min(end, till) - max(begin, since))
        for node, begin, end in found
        for name, since, till in DRAINED
        if name == node
    ]
    inferred, true = sum(end - begin for _, begin, end in found), sum(end - begin for _, begin, end in DRAINED)
    assert sum(overlaps) > 0.95 * inferred
    assert sum(overlaps) > 0.5 * true


@pytest.mark.parametrize("scheduler", ["fcfs+easy", "fcfs+conservative", "multifactor(size=1000)+slurm"])
def test_hardly_anything_is_found_where_all_nodes_were_in_service(tmp_path, scheduler):
    found = closed(import_site(tmp_path, recorded(tmp_path, scheduler, []), infer_downtimes=True).node_events)
    assert sum(end - begin for _, begin, end in found) < 2 * 3600


def hand_made(tmp_path: Path, *more: str, users: tuple[str, ...] = ("ann", "bob", "eve"), wait: int = 2000) -> Path:
    """Write jobs of four cores each that begin on n1 one after the other, while all other nodes are full or silent."""
    full = [record(100 + node, "all", 0, 0, 50_000, 1000, CORES, f"n{node}") for node in range(3, NODES + 1)]
    chain = [record(1, "all", 0, 0, wait, 100, CORES, "n1")]
    for number, user in enumerate(users):
        begin = (number + 1) * wait
        chain.append(record(2 + number, user, begin - wait + 1, begin, begin + wait, 100, CORES, "n1"))
    return write(tmp_path, [*full, *chain, *more])


def test_a_node_is_silent_while_jobs_of_several_users_wait_that_fit(tmp_path):
    site = import_site(tmp_path, hand_made(tmp_path), infer_downtimes=True)
    assert closed(site.node_events) == [("n2", 1, 6000)]
    assert site.settings.notes[-1] == (
        "inferred from jobs: 1 node out of service, for 2 node-hours at least; longest n2, 1.7 h, while 3 jobs of 3 "
        "users waited that fit there"
    )


@pytest.mark.parametrize("users", [("ann", "ann", "ann"), ("ann", "bob", "ann")])
def test_jobs_of_one_or_two_users_may_have_waited_for_limits(tmp_path, users):
    site = import_site(tmp_path, hand_made(tmp_path, users=users), infer_downtimes=True)
    assert site.node_events is None
    assert site.settings.notes[-1] == "inferred from jobs: no node that stood idle while jobs waited for one like it"


def test_jobs_that_begin_when_one_of_their_own_account_ends_may_have_waited_for_its_limit(tmp_path):
    path = hand_made(tmp_path)
    path.write_text(path.read_text().replace("|State|", "|State|Account|").replace("|COMPLETED|", "|COMPLETED|chem|"))
    assert import_site(tmp_path, path, infer_downtimes=True).node_events is None


def test_waits_of_a_scheduling_pass_tell_nothing(tmp_path):
    assert import_site(tmp_path, hand_made(tmp_path, wait=PATIENCE - 10), infer_downtimes=True).node_events is None


def test_a_node_may_have_been_kept_for_a_wide_job_that_waited_too(tmp_path):
    # The three jobs ask for 6,000 s; those that would have run into the wide one's begin tell nothing.
    wide = record(9, "wim", 0, 6001, 7000, 100, 2 * CORES, "n1,n2")
    path = hand_made(tmp_path, wide)
    assert import_site(tmp_path, path, infer_downtimes=True).node_events is None


def test_a_job_that_came_later_explains_nothing(tmp_path):
    late = record(9, "wim", 6000, 6001, 7000, 100, CORES, "n2")
    site = import_site(tmp_path, hand_made(tmp_path, late), infer_downtimes=True)
    assert closed(site.node_events) == [("n2", 1, 6000)]


def test_a_run_that_has_not_ended_holds_its_node(tmp_path):
    running = record(9, "wim", 0, 0, None, 1000, CORES, "n2")
    path = hand_made(tmp_path, running)
    assert read_allocations(path).end[-1] == STILL_RUNNING
    assert import_site(tmp_path, path, infer_downtimes=True).node_events is None


def test_what_is_told_of_a_node_counts_more_than_what_is_inferred(tmp_path):
    events = NodeEvents((NodeEvent(0, "drain", ("n2",)), NodeEvent(9000, "up", ("n2",))))
    events.save(tmp_path / "told.csv")
    site = import_site(tmp_path, hand_made(tmp_path), node_events=[tmp_path / "told.csv"], infer_downtimes=True)
    assert closed(site.node_events) == [("n2", 0, 9000)]
    assert "no node" in site.settings.notes[-1]


def test_silences_say_how_many_jobs_and_users_waited(tmp_path):
    path = hand_made(tmp_path)
    site = import_site(tmp_path, path)
    assert site.jobs is not None
    assert site.jobs.start_time is not None
    (found,) = silences(site.cluster, site.jobs, read_allocations(path).since(site.jobs.start_time))
    assert (found.node, found.witnesses, found.users) == ("n2", 3, 3)


def test_accounting_without_nodes_names_the_command(tmp_path):
    path = hand_made(tmp_path)
    path.write_text(path.read_text().replace("NodeList", "Comment"))
    with pytest.raises(InputError, match=r"sacct.txt: lacks the column NodeList: create the file with: TZ=UTC sacct"):
        import_site(tmp_path, path, infer_downtimes=True)


def test_other_logs_and_no_log_are_refused(tmp_path):
    write(tmp_path, [])
    with pytest.raises(InputError, match="inferred from jobs: give the accounting"):
        import_site(tmp_path, infer_downtimes=True)
    log = tmp_path / "jobs.swf"
    log.write_text("; MaxProcs: 4\n1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(InputError, match=r"jobs.swf: nodes that were down are inferred from what sacct prints"):
        import_site(tmp_path, log, infer_downtimes=True)
