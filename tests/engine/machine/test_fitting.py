"""Why jobs can never run on a cluster, in words that name the resource."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from schedlab.cli.app import app
from schedlab.cluster.cluster import Cluster
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.parts.limits.refusal import in_words
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

NODES = {"nodes": "n[1-2]", "cores": 8, "memory": "64 GiB", "gpus": {"a100": 2}}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"memory_per_node": 128 * 1024}, "memory as it asks for: up to 128 GiB per node, 64 GiB on the largest node"),
        ({"memory_per_core": 65 * 1024}, "memory as it asks for: up to 65 GiB per task, 64 GiB on the largest node"),
        ({"gpus_per_node": 3, "nodes": 1}, "GPUs of the type"),
        ({"cores_per_task": 9}, "as many cores as it asks for"),
        ({"constraint": ["ib"]}, "the nodes that it may use are too few"),
        ({"cores_per_task": 9, "memory_per_node": 128 * 1024}, "has the nodes that it asks for"),
    ],
)
def test_the_reason_names_the_resource(asked: dict[str, Any], words: str) -> None:
    cluster = Cluster.from_dict({"groups": [NODES], "partitions": [{"name": "p", "default": True}]})
    columns = {name: values if isinstance(values, list) else [values] for name, values in asked.items()}
    jobs = Workload.from_columns({"submit_time": [0], "run_time": [9], "requested_processors": [1]})
    jobs = jobs.replace(resources=Resources.of(1, **columns))
    (told,) = in_words(jobs, cluster, never_runs(jobs, cluster))
    assert words in told
    assert told.endswith("(Resources)")


def test_other_reasons_are_slurms_and_jobs_that_can_run_have_none() -> None:
    partition = {"name": "p", "default": True, "max_time": "1h"}
    cluster = Cluster.from_dict({"groups": [NODES], "partitions": [partition]})
    jobs = Workload.from_columns(
        {"submit_time": [0, 0], "run_time": [9, 9], "requested_time": [60, 7200], "requested_processors": [1, 1]}
    )
    assert in_words(jobs, cluster, never_runs(jobs, cluster)) == [
        "",
        "it asks for more time than its partitions allow (PartitionTimeLimit)",
    ]


def test_what_is_left_out_is_told_with_numbers_also_if_nothing_remains(tmp_path: Path) -> None:
    machines = tmp_path / "c.machines"
    machines.write_text("0\tc\t2\t16\t1\t67108864\n")
    line = "{} 0 -1 100 4 -1 -1 4 100 {} 1 1 1 1 1 1 -1 -1\n"
    for sizes, code in (((2**36, 1024), 0), ((2**36,), 1)):
        log = tmp_path / "log.swf"
        log.write_text("".join(line.format(number, size) for number, size in enumerate(sizes, 1)))
        said = CliRunner().invoke(app, ["simulate", str(log), "--cluster", str(machines)])
        assert "1 job can never run and is left out (no node that it may use has as much memory" in said.output
        assert "up to 65,536 GiB per task, 64 GiB on the largest node (Resources)): 1" in said.output
        assert said.exit_code == code
