from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workflow.files import read_workflow, write_workflow
from schedlab.workflow.workflow import Task, Workflow

PAIR = Workflow("pair", (Task("a", 2, 10.0, 60.0, name="a"), Task("b", 1, 5.5, 70.0, (0,), name="b")))


@pytest.mark.parametrize("format", ["wfformat", "manifest"])
@pytest.mark.parametrize("name", ["pair.json", "pair.json.gz"])
def test_what_is_written_is_read_again(tmp_path: Path, format, name: str):
    write_workflow(PAIR, tmp_path / name, format=format)
    again = read_workflow(tmp_path / name)
    assert (again.name, again.tasks) == ("pair", PAIR.tasks)


def test_the_content_says_the_format_whatever_the_name_is(tmp_path: Path):
    (tmp_path / "x.json").write_bytes(gzip.compress(b'\n  <adag><job id="a" runtime="5"/></adag>'))
    assert read_workflow(tmp_path / "x.json").length == 5.0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "this is neither JSON .* nor XML"),
        (b"1 2 3", "this is neither JSON .* nor XML"),
        (b"{", "this is not JSON"),
        (b'{"a": 1}', "neither a manifest .* nor WfFormat"),
        (b'{"tasks": [{"id": "a", "cores": 1, "rtime": NaN}]}', "rtime must be a number, not nan"),
        (b'{"tasks": []}', "has no task"),
        (b"\x1f\x8b\x08\x00", "is truncated"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"[" * 9, "this is neither JSON"),
        (b'{"a":' * 100_000, "nested too deeply|not JSON"),
    ],
)
def test_other_files_are_refused_with_their_name(tmp_path: Path, content: bytes, words: str):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        read_workflow(path)
    assert str(caught.value).startswith(f"{path}")
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_are_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"none\.json: the file does not exist"):
        read_workflow(tmp_path / "none.json")
    with pytest.raises(InputError, match="this is a directory, not a file"):
        read_workflow(tmp_path)


def test_a_manifest_cannot_say_what_was_executed(tmp_path: Path):
    with pytest.raises(InputError, match="the format png cannot store"):
        write_workflow(PAIR, tmp_path / "x.json", format="png")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_every_published_description_is_read_or_refused_for_its_defect(workflow_files: Path):
    with open(workflow_files / "catalogue.csv") as stream:
        catalogue = list(csv.DictReader(stream))
    assert len(catalogue) == 73
    for told in catalogue:
        path = workflow_files / told["file"]
        if "negative runtimes" in told["notes"]:
            with pytest.raises(InputError, match="job ID00028: its runtime is negative"):
                read_workflow(path)
            continue
        workflow = read_workflow(path)
        measured = {
            "tasks": len(workflow),
            "edges": workflow.edges,
            "roots": len(workflow.roots),
            "levels": len(workflow.levels),
            "max_width": max(len(level) for level in workflow.levels),
            "critical_path_s": f"{workflow.length:.3f}",
            "peak_cores_asap": workflow.peak_processors,
            "max_task_cores": workflow.widest,
            "core_hours": f"{workflow.work / 3600:.3f}",
        }
        assert {name: str(value) for name, value in measured.items()} == {name: told[name] for name in measured}, path
        remarks = " ".join(workflow.remarks())
        assert ("peak of" in remarks) == ("differs from ASAP peak" in told["notes"]), path
        assert ("killed there" in remarks) == ("above runtime_limit" in told["notes"]), path
        assert ("decimal commas" in remarks) == ("decimal comma" in told["notes"]), path
        assert json.loads(json.dumps(workflow.to_dict()))["workflow"] == workflow.name
