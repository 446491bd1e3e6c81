"""Where there is no room for a result, or nobody may write, a command ends in one sentence and leaves no half file."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import Result

WRITERS = (
    "generate lublin --jobs 30 --processors 8 -o OUT/x.swf",
    "convert TRACE OUT/x.parquet",
    "convert TRACE OUT/x.csv",
    "simulate TRACE -s easy -o OUT/x.parquet",
    "simulate TRACE -s easy -o OUT/x.csv",
    "compare TRACE -s easy -s fcfs --csv OUT/x.csv",
    "compare TRACE -s easy -s fcfs --report OUT/x.html",
    "compare TRACE -s easy -s fcfs --plot OUT/figures",
    "inspect TRACE --plot OUT/figures",
    "gantt SCHEDULE -o OUT/x.svg",
    "report SCHEDULE -o OUT/x.html",
    "predict TRACE --predictor ave2 --save OUT/model.json",
    "deploy saf -o OUT/deployment",
    "cluster convert CLUSTER -o OUT/x.toml",
    "cluster failures CLUSTER --mtbf 30d --mttr 4h --until 9d -o OUT/x.csv",
    "workflow convert FLOW -o OUT/x.json",
    "workflow submit TRACE FLOW -o OUT/x.parquet",
    "slurm run TRACE -o OUT/x.parquet",
)
"""What writes, and needs no more than moments to come so far."""

CLUSTER = """\
format = "schedlab cluster"
version = 1
name = "four"
[[groups]]
nodes = "n[1-4]"
cores = 8
"""


@pytest.fixture
def files(run, trace: Path, tmp_path: Path) -> dict[str, Path]:
    """Return what commands read."""
    schedule, cluster, flow = tmp_path / "s.parquet", tmp_path / "c.toml", tmp_path / "flow.json"
    assert run("simulate", trace, "-o", schedule).exit_code == 0
    cluster.write_text(CLUSTER)
    flow.write_text('{"tasks": [{"id": "a", "number_of_cores": 1, "runtime_sim": 10, "runtime_limit": 20}]}')
    return {"TRACE": trace, "SCHEDULE": schedule, "CLUSTER": cluster, "FLOW": flow}


def write(run, command: str, files: dict[str, Path], place: Path) -> Result:
    for name, path in {**files, "OUT": place}.items():
        command = command.replace(name, str(path))
    return run(*shlex.split(command))


def assert_one_sentence(result: Result) -> None:
    told = [line for line in result.stderr.splitlines() if line.startswith("schedlab: ")]
    assert result.exit_code == 1, result.output
    assert len(told) == 1
    assert "cannot" in told[0]
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_is_named_and_no_half_file_is_left(run, files, full_disk: Path, command: str) -> None:
    result = write(run, command, files, full_disk)
    assert_one_sentence(result)
    assert "the disk is full" in result.stderr
    assert [path for path in full_disk.rglob("*") if path.is_file() and path.stat().st_size == 0] == []


@pytest.mark.parametrize("command", WRITERS)
def test_a_directory_that_nobody_may_write_to_is_named(run, files, read_only_disk: Path, command: str) -> None:
    result = write(run, command, files, read_only_disk)
    assert_one_sentence(result)
    assert str(read_only_disk) in result.stderr
