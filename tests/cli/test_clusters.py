"""`schedlab cluster`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from schedlab.cluster import read_cluster

CONF = "ClusterName=site\nSlurmctldPort=6817\nNodeName=n[1-4] CPUs=16 Gres=gpu:a100:2\nPartitionName=p Nodes=ALL\n"


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    return path


def test_show_prints_tables_and_says_what_is_not_used(conf: Path, run):
    result = run("cluster", "show", str(conf))
    assert result.stdout.startswith("site: 4 nodes, 64 cores, 8 GPUs (8 a100)\n")
    assert "2 lines not used" in result.stderr
    shown = run("cluster", "show", str(conf), "--ignored").stdout
    assert "slurm.conf:2: SlurmctldPort=6817 (does not describe the machine)" in shown


def test_show_as_json_is_a_cluster_file_with_sums(conf: Path, run):
    document = json.loads(run("cluster", "show", str(conf), "--json").stdout)
    assert document["groups"][0]["nodes"] == "n[1-4]"
    assert document["sums"]["cores"] == 64


def test_convert_writes_a_cluster_file(conf: Path, run, tmp_path: Path):
    run("cluster", "convert", str(conf), "-o", str(tmp_path / "site.toml"))
    assert read_cluster(tmp_path / "site.toml") == read_cluster(conf)


def test_the_drawing_has_a_box_for_every_node_and_gpu(conf: Path, run, tmp_path: Path):
    run("cluster", "show", str(conf), "--drawing", str(tmp_path / "site.svg"))
    boxes = ElementTree.parse(tmp_path / "site.svg").getroot().findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == 1 + 4 + 8
