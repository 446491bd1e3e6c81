"""What schedlab did not write in a run directory is left alone, and named."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from campaign_runs import PLANNED, run_here, same_results, small
from campaign_samples import BATCH, finished_run

from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.own_files import strangers
from schedlab.errors import InputError, OutputError

PARTS = ("results", "failed", "schedules", "inflight")


def everything(directory: Path) -> dict[str, bytes | str]:
    """Return all files and links below a directory with what they hold."""
    return {
        str(path.relative_to(directory)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_files_of_a_user_survive_a_run_wherever_they_lie(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    mine = {}
    for part in (*PARTS, "corrupt", "workflows"):
        for name in ("notes", ".notes", "thesis/chapter.tex", ".git/config", "table.parquet", "a.json", ".a-b.parquet"):
            place = run.path / part / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"mine: {place}")
            mine[f"{part}/{name}"] = place.read_bytes()
    before = run.results()
    again = run_here(small(seed=2), run.path)
    assert again.status().done == PLANNED
    back = run_here(small(), run.path)
    same_results(back.results(), before)
    assert {name: everything(run.path)[name] for name in mine} == mine
    assert back.status().running == 0


def test_what_dead_processes_left_is_removed(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    kept = everything(run.path)
    (run.path / "results" / f".12ab34cd-{BATCH}-0123456789abcdef.parquet").write_bytes(b"half")
    (run.path / "failed" / f".12ab34cd-{BATCH}-0123456789abcdef.json").write_bytes(b"")
    (run.path / "inflight" / f"{BATCH}.node-7.example.org.4711.12ab34cd").write_text(f"{BATCH}\n\0\0Timeout")
    (run.path / "inflight" / f"{BATCH}.node-7.4712.12ab34cd").touch()
    run.sweep()
    assert everything(run.path) == kept


@pytest.mark.parametrize("part", PARTS)
def test_a_link_in_place_of_a_part_is_refused_and_nothing_is_removed_behind_it(tmp_path: Path, part: str) -> None:
    run = run_here(small(), tmp_path / "run")
    elsewhere = tmp_path / "home"
    elsewhere.mkdir()
    for name in ("thesis.tex", ".profile", f"{BATCH}.host.7.12ab34cd", f".12ab34cd-{BATCH}-0123456789abcdef.parquet"):
        (elsewhere / name).write_text(f"{BATCH}\n")
    before = everything(elsewhere)
    (run.path / part).rename(tmp_path / "was")
    (run.path / part).symlink_to(elsewhere)
    with pytest.raises(OutputError, match=rf"{part} is a symbolic link, which schedlab does not follow"):
        run_here(small(), run.path)
    run.sweep()
    assert run.left_alone.endswith(f"left alone in {run.path}: {part} (a symbolic link)")
    assert run.status().planned == PLANNED
    assert everything(elsewhere) == before


def test_links_to_single_files_are_neither_read_nor_written_nor_removed(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    links = [
        run.path / "results" / f"{BATCH}-0123456789abcdef.parquet",
        run.path / "inflight" / f"{BATCH}.host.7.12ab34cd",
        run.path / "failed" / f".12ab34cd-{BATCH}-0123456789abcdef.json",
    ]
    for link in links:
        link.symlink_to(precious)
    run_here(small(seed=2), run.path)
    assert all(link.is_symlink() for link in links)
    assert precious.read_text() == "precious"
    assert run.status().corrupt == 0
    assert len(strangers(run.path)) == len(links)


@pytest.mark.parametrize("name", ["campaign.json", "results/x"])
def test_a_result_is_never_written_through_a_link(tmp_path: Path, name: str) -> None:
    run = run_here(small(), tmp_path / "run")
    precious = tmp_path / "precious"
    precious.write_bytes((run.path / "campaign.json").read_bytes())
    checksum = hashlib.sha256(b"new").hexdigest()[:16]
    link = run.path / name.replace("x", f"{BATCH}-{checksum}.parquet")
    link.unlink(missing_ok=True)
    link.symlink_to(precious)
    before = precious.read_bytes()
    write = {
        "campaign.json": lambda: run_here(small(seed=2), run.path),
        "results/x": lambda: run.store("results", BATCH, ".parquet", b"new"),
    }
    with pytest.raises((InputError, OutputError), match="is a symbolic link"):
        write[name]()
    assert precious.read_bytes() == before


def test_damaged_files_do_not_overwrite_each_other_in_corrupt(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    [file, *_] = run.files("results", ".parquet")
    sound = file.read_bytes()
    for harm in (b"one", b"two", b"three"):
        file.write_bytes(harm)
        run.status()
    assert sorted(path.read_bytes() for path in (run.path / "corrupt").iterdir()) == [b"one", b"three", b"two"]
    file.write_bytes(sound)
    assert run.status().done == PLANNED


@pytest.mark.parametrize("kind", ["file", "link"])
def test_damaged_files_stay_where_they_are_if_corrupt_is_not_a_directory(tmp_path: Path, kind: str) -> None:
    run = run_here(small(), tmp_path / "run")
    (tmp_path / "home").mkdir()
    place = run.path / "corrupt"
    place.write_text("mine") if kind == "file" else place.symlink_to(tmp_path / "home")
    [file, *_] = run.files("results", ".parquet")
    file.write_bytes(b"damaged")
    assert (run.status().done, run.status().corrupt) == (PLANNED - 1, 0)
    assert "corrupt (" in run.left_alone
    assert run_here(small(), run.path).status().done == PLANNED
    assert file.read_bytes() == b"damaged"
    assert list((tmp_path / "home").iterdir()) == []


def test_strangers_are_named_in_one_sentence_however_many_there_are(tmp_path: Path) -> None:
    run = finished_run(tmp_path)
    assert run.left_alone == ""
    for number in range(9):
        (run.path / "results" / f"note-{number}").touch()
    assert run.left_alone == (
        f"not written by schedlab and left alone in {run.path}: results/note-0, results/note-1, results/note-2, "
        "results/note-3, results/note-4 and 4 more"
    )


# Right checksum, wrong content


def stored(run: RunDirectory, part: str, suffix: str, content: bytes) -> Path:
    """Write a file with a right name."""
    return run.store(part, BATCH[::-1], suffix, content)


def test_results_that_are_not_results_are_set_aside_and_their_tasks_are_made_again(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    before = run.results()
    [first, *_] = run.files("results", ".parquet")
    table = pq.read_table(first)
    scheduler = table.column_names.index("scheduler")
    mean_wait = table.column_names.index("mean_wait")
    wrong = [
        table.drop_columns(["task"]),
        table.set_column(scheduler, "scheduler", pa.array(["fcfs+easy@evil.module:Class"])),
        table.set_column(mean_wait, "mean_wait", pa.array(["long"])),
        table.set_column(mean_wait, "mean_wait", pa.array([[1.0, 2.0]])),
        table.set_column(0, "task", pa.array([None], pa.string())),
    ]
    first.unlink()
    for number, one in enumerate(wrong):
        sink = pa.BufferOutputStream()
        pq.write_table(one, sink)
        stored(run, "results", ".parquet", sink.getvalue().to_pybytes())
        again = RunDirectory.open(run.path)
        assert (again.status().done, again.status().corrupt) == (PLANNED - 1, number + 1)
        assert len(again.results()) == PLANNED - 1
    stored(run, "results", ".parquet", b"PAR1 is not enough")
    same_results(run_here(small(), run.path).results(), before)


def a_failure(run: RunDirectory) -> dict[str, object]:
    name, task = run.plan.task(0)
    fields = {"task": name, "kind": "error", "reason": "it rained", "traceback": "", "host": "here", "time": "2026"}
    return fields | {"specification": task.specification()}


@pytest.mark.parametrize(
    "harm",
    [
        lambda one: {name: value for name, value in one.items() if name != "reason"},
        lambda one: one | {"reason": 7},
        lambda one: one | {"specification": {}},
        lambda one: one | {"specification": None},
        lambda one: one | {"task": "\ud800"},
        lambda one: [one],
        lambda one: None,
    ],
)
def test_failures_of_another_form_are_set_aside_and_sound_ones_are_told(
    tmp_path: Path, harm: Callable[[dict[str, object]], object]
) -> None:
    run = finished_run(tmp_path, left_out=[0], failed=[1])
    stored(run, "failed", ".json", json.dumps([harm(a_failure(run))]).encode())
    assert [failure.task for failure in run.failures().values()] == [run.plan.task(1)[0]]
    assert (run.status().failed, run.status().corrupt) == (1, 1)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("inputs", 7, "inputs: input should be a valid list"),
        ("inputs", [{"workload": "x"}], r"inputs: \[0\].entry is missing"),
        ("inputs", [], "the campaign has no simulation"),
        ("definition", {"name": "x"}, "workloads is missing"),
        ("definition", [], "definition: input should be a valid dictionary"),
        ("provenance", {"schedlab": 1}, "provenance.schedlab: input should be a valid string, not 1"),
        ("tasks", "many", "tasks: input should be a valid integer, not 'many'"),
    ],
)
def test_a_campaign_json_of_another_form_is_one_sentence(
    tmp_path: Path, field: str, value: object, message: str
) -> None:
    run = finished_run(tmp_path)
    file = run.path / "campaign.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {field: value}))
    with pytest.raises(InputError, match=message):
        RunDirectory.open(run.path).status()


def test_an_input_of_an_entry_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    run = finished_run(tmp_path)
    file = run.path / "campaign.json"
    document = json.loads(file.read_text())
    document["inputs"][0]["entry"] = 7
    file.write_text(json.dumps(document))
    with pytest.raises(InputError, match="entry 7 of workloads does not exist; remove it and run the campaign again"):
        RunDirectory.open(run.path).status()


def test_a_campaign_json_nested_too_deeply_is_one_sentence(tmp_path: Path) -> None:
    run = finished_run(tmp_path)
    for depth in (100, 100_000):
        (run.path / "campaign.json").write_text("[" * depth + "]" * depth)
        with pytest.raises(InputError, match="nested more than 64 levels deep"):
            RunDirectory.open(run.path)
