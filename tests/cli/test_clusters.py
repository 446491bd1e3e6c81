"""`schedlab cluster`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from schedlab.cluster.files import read_cluster

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


def test_failures_are_drawn_and_simulated(conf: Path, run, tmp_path: Path):
    conf.write_text(CONF.replace("Nodes=ALL", "Nodes=ALL Default=YES"))
    words = ("--mtbf", "2h", "--mttr", "10m", "--until", "1d", "--seed", "3", "-o", "events.csv")
    drawn = run("cluster", "failures", str(conf), *words)
    assert drawn.exit_code == 0, drawn.output
    lines = (tmp_path / "events.csv").read_text().splitlines()
    assert lines[0] == "second,event,nodes,end,announced"
    assert f"{(len(lines) - 1) // 2} failures" in drawn.stderr
    (tmp_path / "jobs.csv").write_text(
        "submit_time,run_time,requested_processors,requested_time\n"
        + "".join(f"{60 * i},3000,16,3600\n" for i in range(40))
    )
    words = ("simulate", "jobs.csv", "-s", "fcfs+easy", "--cluster", str(conf))
    simulated = run(*words, "--node-events", "events.csv")
    assert simulated.exit_code == 0, simulated.output
    assert "failed runs" in simulated.stdout
    refused = run("simulate", "jobs.csv", "--node-events", "events.csv")
    assert refused.exit_code == 1
    assert "give --cluster FILE" in refused.stderr
    assert run(*words, "--node-events", "events.csv", "--interrupted", "kept").exit_code == 1


def test_failures_of_gpus_are_drawn_alone_and_halves_are_refused(conf: Path, run, tmp_path: Path):
    until = ("--until", "10d", "-o", "events.csv")
    drawn = run("cluster", "failures", str(conf), "--gpu-mtbf", "2d", "--gpu-mttr", "1h", *until)
    assert drawn.exit_code == 0, drawn.output
    lines = (tmp_path / "events.csv").read_text().splitlines()
    assert lines[0] == "second,event,nodes,end,announced,gpus"
    assert {line.split(",")[1] for line in lines[1:]} == {"gpu-down", "gpu-up"}
    for words, reason in (
        (("--gpu-mtbf", "2d"), "--gpu-mtbf and --gpu-mttr go together: give both"),
        (("--mttr", "2d", "--gpu-mtbf", "2d", "--gpu-mttr", "1h"), "--mtbf and --mttr go together: give both"),
        ((), "give --mtbf and --mttr, --gpu-mtbf and --gpu-mttr, or all four"),
    ):
        refused = run("cluster", "failures", str(conf), *words, *until)
        assert refused.exit_code == 1
        assert reason in refused.stderr


def test_reservations_of_a_site_are_simulated_and_who_may_not_use_them_is_left_out(conf: Path, run, tmp_path: Path):
    conf.write_text(CONF.replace("Nodes=ALL", "Nodes=ALL Default=YES"))
    (tmp_path / "reservations.txt").write_text(
        "ReservationName=course StartTime=2026-01-05T09:00:00 EndTime=2026-01-05T12:00:00 Nodes=n[1-2]\n   Users=7\n"
    )
    words = ("--epoch", "1767571200", "-o", "events.csv")
    written = run("cluster", "reservations", "reservations.txt", *words)
    assert written.exit_code == 0, written.output
    assert "1 reservation" in written.stderr
    (tmp_path / "jobs.csv").write_text(
        "submit_time,run_time,requested_processors,requested_time,user_id,reservation\n"
        "0,60,16,600,7,course\n1,60,16,600,8,course\n2,60,16,600,8,\n"
    )
    words = ("simulate", "jobs.csv", "-s", "fcfs+easy", "--cluster", str(conf), "--node-events", "events.csv")
    simulated = run(*words)
    assert simulated.exit_code == 0, simulated.output
    assert "1 job left out: it asks for the reservation 'course', which its user" in simulated.stderr
    assert "Reservation 100.0%" in simulated.stdout
    refused = run(*words, "--clean", "none")
    assert refused.exit_code == 1
    assert "job 2 asks for the reservation 'course'" in refused.stderr
