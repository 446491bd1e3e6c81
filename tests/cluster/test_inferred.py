"""A cluster inferred from what jobs held: by hand, and for a real log against what the log itself says."""

from __future__ import annotations

import gzip
from collections import defaultdict

import numpy as np
import pytest

from schedlab.cluster.holdings import read_holdings
from schedlab.cluster.inferred import infer_cluster
from schedlab.errors import InputError

COLUMNS = "JobIDRaw Cluster User Partition State Submit Start End TimelimitRaw AllocCPUS ReqTRES AllocTRES"
HEADER = f"{COLUMNS} NodeList Constraints".replace(" ", "^")  # constraints may hold a bar


def moment(minute):
    return f"2026-04-01T{minute // 60:02}:{minute % 60:02}:00"


def row(number, nodes, cpus, start=0, end=60, **more):
    values = {
        "partition": "batch",
        "limit": "120",
        "req": "",
        "tres": "",
        "constraint": "",
        "state": "COMPLETED",
    } | more
    when = (moment(0), moment(start), moment(end) if end is not None else "Unknown")
    first = (str(number), "lab", "ann", values["partition"], values["state"], *when)
    return "^".join([*first, values["limit"], str(cpus), values["req"], values["tres"], nodes, values["constraint"]])


@pytest.fixture
def infer(tmp_path):
    def inferred(*rows, header=HEADER):
        path = tmp_path / "jobs.txt"
        path.write_text("\n".join([header, *rows, ""]))
        return infer_cluster(read_holdings(path))

    return inferred


def cores(found):
    return {name: group.cores for group in found.cluster.groups for name in group.names}


def test_a_node_has_what_its_jobs_held_at_the_same_time_and_an_end_is_before_a_start(infer):
    found = infer(
        row(1, "a", 4, 0, 60),
        row(2, "a", 3, 30, 90),
        row(3, "a", 5, 60, 70),
        row(4, "b", 2, 0, 60),
        row(5, "b", 2, 60, 90),
    )
    assert cores(found) == {"a": 8, "b": 2}
    assert (found.cluster.name, found.runs) == ("lab", 5)


def test_of_a_job_on_several_nodes_each_can_hold_the_equal_part_and_nothing_is_added_to_it(infer):
    """It may hold 40 of one and 8 of the others: what a job of 16 has beside it does not make nodes of 32."""
    assert cores(infer(row(1, "n[1-4]", 64), row(2, "n1", 16, 10, 20))) == dict.fromkeys(("n1", "n2", "n3", "n4"), 16)
    assert cores(infer(row(1, "n[1-3]", 100))) == dict.fromkeys(("n1", "n2", "n3"), 34)


def test_a_node_that_was_never_full_is_as_large_as_others_of_its_name(infer):
    found = infer(row(1, "n1", 16), row(2, "n2", 16), row(3, "n3", 2), row(4, "big1", 64), row(5, "big2", 3))
    assert cores(found) == {"big1": 64, "big2": 64, "n1": 16, "n2": 16, "n3": 16}
    assert found.lifted == ("big2", "n3")


def test_two_sizes_of_one_name_are_told_apart_if_several_nodes_were_full_several_times(infer):
    rows = [
        row(10 * node + turn, f"n{node}", 8 if node < 3 else 12, 60 * turn, 60 * turn + 50)
        for node in range(1, 5)
        for turn in range(3)
    ]
    found = infer(*rows, row(99, "n5", 6))
    assert cores(found) == {"n1": 8, "n2": 8, "n3": 12, "n4": 12, "n5": 8}


def test_memory_gpus_and_licences_are_the_most_that_was_held(infer):
    found = infer(
        row(1, "g1", 8, tres="billing=8,cpu=8,mem=16G,node=1,gres/gpu=2,gres/gpu:a100=2", req="cpu=8,license/matlab=2"),
        row(2, "g1", 8, tres="cpu=8,mem=16384M,node=1,gres/gpu=2,gres/gpu:a100=2", req="cpu=8,license/matlab=3"),
        row(3, "g2", 16, tres="cpu=16,mem=1.5G,node=1,gres/gpu=1,gres/gpu:a100=1"),
        row(4, "g3", 16, tres="cpu=16,node=1"),
        row(5, "c1", 4, tres="cpu=4,node=1"),
    )
    groups = {name: group for group in found.cluster.groups for name in group.names}
    assert {name: group.memory for name, group in groups.items()} == dict.fromkeys(("c1", "g1", "g2", "g3"), 32768)
    assert {name: group.gpus for name, group in groups.items()} == {
        "c1": (), "g1": (("a100", 4),), "g2": (("a100", 4),), "g3": (),
    }  # fmt: skip
    assert found.cluster.licenses == (("matlab", 5),)


def test_partitions_have_the_nodes_of_their_jobs_and_the_longest_of_their_requests(infer):
    found = infer(
        *(row(number, f"n{number}", 4) for number in range(1, 5)),
        *(row(10 + number, f"n{number}", 4, 60, 90, partition="half", limit="60") for number in range(1, 3)),
        row(20, "n3", 4, 60, 90, partition="one", limit="Partition_Limit"),
        row(30, "m1", 4, 0, 60, limit="2880"),
    )
    partitions = {one.name: (one.nodes, one.max_time) for one in found.cluster.partitions}
    assert partitions == {"batch": ((), 172_800), "half": (("n1", "n2", "n3", "n4"), 3600), "one": (("n3",), None)}
    assert not any(one.default for one in found.cluster.partitions)


def test_nodes_have_the_features_that_jobs_found_there(infer):
    found = infer(
        row(1, "a1", 4, constraint="ib&avx"),
        row(2, "b1", 4, constraint="[opa|ib]"),
        row(3, "a1", 4, 60, 90, constraint="opa|avx"),
        row(4, "c1", 4),
    )
    features = {name: group.features for group in found.cluster.groups for name in group.names}
    assert features == {"a1": {"ib", "avx"}, "b1": {"opa", "ib"}, "c1": set()}


def test_a_run_that_is_there_twice_counts_once_and_one_that_goes_on_holds_to_the_end(infer):
    found = infer(row(1, "a", 4), row(1, "a", 4), row(2, "a", 2, 30, None, state="RUNNING"), row(3, "a", 3, 90, 95))
    assert (cores(found), found.runs) == ({"a": 6}, 3)


def test_a_file_without_nodes_or_without_jobs_that_ran_is_refused(infer):
    with pytest.raises(InputError, match="lacks the column NodeList"):
        infer(
            "1|COMPLETED|2026-04-01T00:00:00|2026-04-01T00:00:00|2026-04-01T00:01:00|1",
            header="JobID|State|Submit|Start|End|NCPUS",
        )
    with pytest.raises(InputError, match="no job has nodes"):
        infer(row(1, "None assigned", 0, state="CANCELLED"))


def first_fit(sizes, jobs, rng):
    """Yield rows of jobs that begin in order on the first nodes with room, as sacct has them."""
    free, running, now = dict(sizes), [], 0
    for number in range(jobs):
        nodes, cpus = (2, 8) if rng.random() < 0.1 else (1, int(rng.choice([1, 2, 4, 8])))
        while len(chosen := [name for name, room in free.items() if room >= cpus][:nodes]) < nodes:
            now, held = running.pop(0)
            for name, part in held:
                free[name] += part
        for name in chosen:
            free[name] -= cpus
        end = now + int(rng.integers(1, 30))
        running = sorted([*running, (end, [(name, cpus) for name in chosen])])
        memory = f"cpu={cpus * nodes},mem={cpus * nodes * 2}G,node={nodes}"
        yield row(number, ",".join(chosen), cpus * nodes, now, end, tres=memory)


def test_a_machine_that_is_kept_busy_is_found_as_it_is_and_never_larger(infer):
    sizes = {f"n{node:02}": 16 for node in range(1, 9)} | {f"m{node}": 24 for node in range(1, 5)}
    rows = list(first_fit(sizes, 400, np.random.default_rng(1)))
    found = infer(*rows)
    assert cores(found) == sizes
    assert {group.memory for group in found.cluster.groups} == {16 * 2048, 24 * 2048}
    assert all(size <= sizes[name] for name, size in cores(infer(*rows[:40])).items())


def test_no_node_of_a_real_log_is_smaller_than_what_the_log_holds_there(traces):
    """11,285 runs of one day: counted again, event by event, for every node."""
    path = traces / "modern" / "xdmod-sacct-2017" / "pozidriv.sacct.txt.gz"
    found = infer_cluster(read_holdings(path))
    events = defaultdict(list)
    with gzip.open(path, "rt") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("|")
            start, end, count, cpus, node = cells[12], cells[13], int(cells[17]), int(cells[18]), cells[24]
            if count == 1 and node != "None assigned" and start < end:
                events[node] += [(start, 1, cpus), (end, 0, -cpus)]
    size = {name: group.cores for group in found.cluster.groups for name in group.names}
    assert len(size) == 105
    held = {node: max(np.cumsum([change for *_, change in sorted(mine)])) for node, mine in events.items()}
    assert all(size[node] >= most for node, most in held.items())
    assert sum(size[node] > most for node, most in held.items()) <= len(found.lifted) + 5  # jobs on several nodes
    assert {one.name for one in found.cluster.partitions} == {
        "bannock", "barm", "black", "brioche", "chapti", "cornbread", "croutons",
    }  # fmt: skip
