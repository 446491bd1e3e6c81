"""Clusters from what sinfo prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.cluster.files import read_cluster
from schedlab.errors import InputError

HEADER = "NODELIST|CPUS|MEMORY|GRES|AVAIL_FEATURES|WEIGHT|S:C:T|PARTITION|TIMELIMIT|STATE"
LINES = [
    "n1|12|48000|(null)|ib,slow|2|2:6:1|batch*|1-12:00:00|idle",
    "n1|12|48000|(null)|ib,slow|2|2:6:1|debug|30:00|idle",
    "n2|12|48000|(null)|ib,slow|2|2:6:1|batch*|1-12:00:00|drain*",
    "g1|24|96000|gpu:a100:4(S:0-1),gpu:v100:1,lustre:1|(null)|1|2:6:2|batch*|1-12:00:00|mix",
]


def written(directory: Path, *lines: str, name: str = "site.sinfo") -> Path:
    path = directory / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_nodes_partitions_and_states_are_read(tmp_path: Path) -> None:
    site = read_cluster(written(tmp_path, HEADER, *LINES))
    slow, fast = site.groups
    assert (slow.names, slow.cores, slow.memory, slow.sockets, slow.weight) == (("n1", "n2"), 12, 48_000, 2, 2)
    assert slow.features == {"ib", "slow"}
    assert (fast.names, fast.threads, dict(fast.gpus)) == (("g1",), 2, {"a100": 4, "v100": 1})
    batch, debug = site.partitions
    assert (batch.name, batch.default, batch.nodes, batch.max_time) == ("batch", True, ("n1", "n2", "g1"), 129_600)
    assert (debug.default, debug.nodes, debug.max_time) == (False, ("n1",), 1_800)
    assert [(line.text, line.where) for line in site.ignored] == [("n2 is drain*", f"{tmp_path}/site.sinfo:4")]


def test_lines_of_several_nodes_are_read(tmp_path: Path) -> None:
    site = read_cluster(written(tmp_path, "NODELIST|CPUS", "n[1-3]|8", name="site.txt"))
    assert (site.groups[0].names, site.processors, site.partitions) == (("n1", "n2", "n3"), 24, ())


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["NODELIST CPUS", "n1 12"], "the column NODELIST or CPUS is missing; create the file with: sinfo -N -o"),
        (["NODELIST|CPUS", "n1"], r"sinfo:2: 1 cells under 2 column names"),
        (["NODELIST|CPUS", "n1|many"], r"sinfo:2: CPUS is 'many', not a whole number"),
        (["NODELIST|CPUS", "n1|0"], r"sinfo:2: nodes n1 have no cores"),
        (["NODELIST|CPUS|PARTITION|TIMELIMIT", "n1|1|a|soon"], r"sinfo:2: .*soon"),
        ([], "the column NODELIST or CPUS is missing"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_cluster(written(tmp_path, *lines))


def test_json_of_old_and_new_versions_is_read(tmp_path: Path) -> None:
    old = {"name": "n1", "cpus": 8, "real_memory": 16000, "gres": "gpu:2", "features": "ib", "partitions": ["all"]}
    new = {
        "name": "n2",
        "cpus": {"set": True, "infinite": False, "number": 8},
        "real_memory": 16000,
        "gres": "gpu:2",
        "features": ["ib"],
        "state": ["IDLE"],
        "partitions": ["all"],
    }
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps({"meta": {}, "errors": [], "nodes": [old, new]}))
    site = read_cluster(path)
    assert [(group.names, group.cores, group.memory, group.gpu_count) for group in site.groups] == [
        (("n1", "n2"), 8, 16_000, 2)
    ]
    assert site.partitions[0].nodes == ("n1", "n2")
    path.write_text(json.dumps({"meta": {}, "sinfo": []}))
    with pytest.raises(InputError, match="scontrol show nodes --json"):
        read_cluster(path)
