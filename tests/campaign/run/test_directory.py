"""Run directories: what is complete and unharmed counts, whatever else happened to the files."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from campaign_runs import MODEL, PLANNED, run_here, same_results, small
from campaign_samples import campaign, finished_run, metrics_by_load, result_row, store_rows

from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.results.archive import archive
from schedlab.campaign.run.contents import results_in
from schedlab.campaign.run.directory import RunDirectory
from schedlab.errors import InputError, OutputError


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def rename(path: Path) -> None:
    path.rename(path.with_name(f"{path.stem[:-1]}{'0' if path.stem[-1] != '0' else '1'}.parquet"))


def swap_contents(path: Path) -> None:
    """Put the unharmed content of another batch under this one's name."""
    other = next(file for file in path.parent.iterdir() if file != path)
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize("harm", [truncate, empty, flip_a_bit, rename, swap_contents])
def test_a_harmed_file_is_moved_aside_and_its_tasks_are_done_again(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    run = run_here(small(), tmp_path / "run")
    before = run.results()
    files = run.files("results", ".parquet")
    assert len(files) == PLANNED
    harm(files[0])
    assert run.status().done == PLANNED - 1
    assert (run.status().corrupt, len(run.results())) == (1, PLANNED - 1)
    again = run_here(small(), tmp_path / "run")
    assert (again.status().done, again.status().corrupt) == (PLANNED, 1)
    same_results(again.results(), before)


def test_results_are_the_same_bits_whoever_computes_them(tmp_path: Path) -> None:
    runs = [run_here(small(), tmp_path / name).results() for name in ("a", "b")]
    same_results(*runs)
    assert runs[0].columns[:6].tolist() == ["task", "workload", "load", "repetition", "window", "scheduler"]
    assert runs[0].columns[-2:].tolist() == ["seconds", "specification"]


def test_results_stand_in_the_order_of_the_plan_whatever_order_they_came_in(tmp_path: Path) -> None:
    definition = campaign(schedulers=["saf", "fcfs", "easy"])
    run = finished_run(tmp_path, definition, left_out=range(100))
    for position in np.random.default_rng(1).permutation(len(run.plan)).tolist():
        name, task = run.plan.task(position)
        store_rows(run, [result_row(name, task, metrics_by_load(task))])
    assert run.results()["task"].tolist() == [name.decode() for name in run.plan.names]
    assert run.results()["scheduler"].tolist() == ["saf", "fcfs", "fcfs+easy"] * 4


def test_a_task_that_was_done_twice_counts_once(tmp_path: Path) -> None:
    run = finished_run(tmp_path)
    name, task = run.plan.task(3)
    for seconds in (1.0, 2.0):
        store_rows(run, [result_row(name, task, metrics_by_load(task)) | {"seconds": seconds}] * 2)
    assert run.results()["task"].tolist() == [name.decode() for name in run.plan.names]
    assert run.status().done == len(run.plan)


def test_metrics_that_only_some_files_have_are_missing_elsewhere(tmp_path: Path) -> None:
    run = finished_run(tmp_path, left_out=[1])
    name, task = run.plan.task(1)
    store_rows(run, [result_row(name, task, {"fairness": 0.5})])
    assert run.results()["fairness"].notna().tolist() == [position == 1 for position in range(8)]
    assert run.results()["mean_wait"].isna().tolist() == [position == 1 for position in range(8)]


def test_results_that_no_longer_belong_to_the_campaign_are_kept_aside(tmp_path: Path) -> None:
    before = run_here(small(), tmp_path / "run").results()
    changed = run_here(small(schedulers=["easy", "saf"], seed=1), tmp_path / "run")
    assert changed.results()["scheduler"].unique().tolist() == ["fcfs+easy", "saf"]
    assert changed.status().planned == changed.status().done == PLANNED
    back = run_here(small(), tmp_path / "run", progress=lambda *_: pytest.fail("something was run again"))
    same_results(back.results(), before)


def test_without_results_one_is_told_so(tmp_path: Path) -> None:
    run = finished_run(tmp_path, left_out=range(8))
    with pytest.raises(InputError, match="not enough data: no simulation of this campaign has finished yet"):
        run.results()
    assert run.status().done == 0
    run_here(small(), tmp_path / "run")
    other = Plan(small(seed=2), run.plan.inputs)
    moved = RunDirectory(tmp_path / "run")
    moved.write_facts(other, tmp_path, {}, "")
    with pytest.raises(InputError, match="not enough data"):
        moved.results()


def test_temporary_files_are_no_results(tmp_path: Path) -> None:
    run = finished_run(tmp_path)
    for part in ("results", "failed", "schedules"):
        (run.path / part / ".abcd-half.parquet").write_bytes(b"half")
        (run.path / part / ".abcd-half.json").write_bytes(b"half")
    assert (len(run.results()), run.status().corrupt) == (8, 0)


def test_the_name_of_each_file_ends_with_the_checksum_of_its_content(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.create()
    # printf abc | sha256sum
    assert run.store("results", "batch", ".parquet", b"abc").name == "batch-ba7816bf8f01cfea.parquet"


def test_each_file_says_where_it_comes_from(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    for file in run.files("results", ".parquet"):
        facts = json.loads(pq.read_schema(file).metadata[b"schedlab"])
        assert {"schema", "schedlab", "python", "numpy", "numba", "host", "time"} <= set(facts)


def test_a_specification_tells_what_the_task_was(tmp_path: Path) -> None:
    results = run_here(small(workloads=[{**MODEL, "load": 0.5}]), tmp_path / "run").results()
    specification = json.loads(results["specification"][0])
    assert specification["source"] == {"model": "lublin", "jobs": 20, "processors": 16, "estimates": "tsafrir"}
    assert (specification["load"], specification["scheduler"]) == (0.5, "fcfs")


# Directories that are not right


def test_a_directory_of_another_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    file = run.path / "campaign.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"schema": 99}))
    before = {path: path.stat().st_mtime_ns for path in run.path.rglob("*")}
    for attempt in (lambda: RunDirectory.open(run.path), lambda: run_here(small(), run.path)):
        with pytest.raises(InputError, match="has schema version 99, but this schedlab reads version 1"):
            attempt()
    assert {path: path.stat().st_mtime_ns for path in run.path.rglob("*")} == before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": "small"}', "null"])
def test_a_harmed_campaign_json_is_refused_with_the_way_out(tmp_path: Path, content: str) -> None:
    run = run_here(small(), tmp_path / "run")
    (run.path / "campaign.json").write_text(content)
    for attempt in (lambda: RunDirectory.open(run.path), lambda: run_here(small(), run.path)):
        with pytest.raises(InputError, match=r"campaign\.json cannot be read .* remove it and run the campaign again"):
            attempt()
    (run.path / "campaign.json").unlink()
    again = run_here(small(), run.path, progress=lambda *_: pytest.fail("something was run again"))
    assert again.status().done == PLANNED


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a run directory \(no campaign\.json\)"):
        RunDirectory.open(tmp_path)


def test_a_run_directory_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match=r"cannot create the run directory .*: Not a directory"):
        run_here(small(), tmp_path / "file" / "run")
    with pytest.raises(OutputError, match=r"cannot create the run directory .*: (Not a directory|File exists)"):
        run_here(small(), tmp_path / "file")


def test_a_run_directory_that_one_may_only_read_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_here(small(), tmp_path / "run")
    flip_a_bit(run.files("results", ".parquet")[0])
    # The superuser may write anywhere: permissions alone would prove nothing.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    monkeypatch.setattr("os.replace", _refused)
    assert RunDirectory.open(run.path).status().done == PLANNED - 1
    with pytest.raises(OutputError, match="is not writable"):
        run_here(small(), tmp_path / "run")


def _refused(*paths: object) -> None:
    raise PermissionError(13, "Permission denied")


# Schedules


def test_schedules_are_kept_where_they_are_asked_for_and_harmed_ones_are_made_again(tmp_path: Path) -> None:
    without = run_here(small(), tmp_path / "run")
    name = without.plan.names[0].decode()
    assert without.schedule_file(name) is None
    run = run_here(small(schedules=True), tmp_path / "run")
    same_results(run.results(), without.results())
    file = run.schedule_file(name)
    assert file is not None
    assert len(pd.read_parquet(file)) == 20
    content = file.read_bytes()
    flip_a_bit(file)
    assert run.schedule_file(name) is None
    assert (run.status().done, run.status().corrupt) == (PLANNED - 1, 1)
    again = run_here(small(schedules=True), tmp_path / "run").schedule_file(name)
    assert again is not None
    pd.testing.assert_frame_equal(pd.read_parquet(again), _frame(content))


def _frame(content: bytes) -> pd.DataFrame:
    import io

    return pd.read_parquet(io.BytesIO(content))


def test_a_schedule_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    campaign = small(schedules=True)
    run = run_here(campaign, tmp_path)
    [first, *others] = run.files("schedules", ".parquet")
    first.write_bytes(first.read_bytes()[:300])
    run_here(campaign, tmp_path)
    # A schedule says when it was made: the new file may have another checksum in its name.
    assert len(run.files("schedules", ".parquet")) == 1 + len(others)
    assert all(run.schedule_file(run.plan.task(position)[0]) for position in range(len(run.plan)))


def test_a_resumed_campaign_has_one_schedule_of_each_simulation_whatever_a_killed_process_left(tmp_path: Path) -> None:
    campaign = small(schedules=True)
    run = run_here(campaign, tmp_path / "run")
    tasks = [name.decode() for name in run.plan.names]
    [lost, *_] = run.files("results", ".parquet")
    [unfinished] = pq.read_table(lost).column("task").to_pylist()
    lost.unlink()  # as if its process had been killed between the schedule and the result
    finished = next(task for task in tasks if task != unfinished)
    of_result = run.schedule_file(finished)
    earlier = [run.store("schedules", task, ".parquet", b"of a killed process") for task in (unfinished, finished)]
    for path in earlier:
        os.utime(path, (0, 0))

    with zipfile.ZipFile(archive(RunDirectory.open(run.path), tmp_path / "small.zip")) as opened:
        archived = [Path(name).name[:32] for name in opened.namelist() if name.startswith("run/schedules/")]
    assert sorted(archived) == sorted(set(tasks) - {unfinished})

    again = run_here(campaign, tmp_path / "run")
    assert sorted(path.name[:32] for path in again.files("schedules", ".parquet")) == sorted(tasks)
    assert not any(path.exists() for path in earlier)
    assert again.schedule_file(finished) == of_result
    assert (again.status().done, again.status().corrupt) == (PLANNED, 0)


def test_schedules_of_an_earlier_plan_are_kept(tmp_path: Path) -> None:
    before = run_here(small(schedules=True), tmp_path / "run").files("schedules", ".parquet")
    after = run_here(small(schedules=True, seed=2), tmp_path / "run").files("schedules", ".parquet")
    assert (len(after), set(before) - set(after)) == (2 * PLANNED, set())


def test_a_plan_without_tasks_is_refused(tmp_path: Path) -> None:
    skipped = [{**MODEL, "windows": {"length": "1h", "count": 1, "skip": [0]}}]
    with pytest.raises(InputError, match="the campaign has no simulation"):
        run_here(small(workloads=skipped), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_with_a_column_of_an_impossible_name_is_no_table_of_results(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path)
    table = pq.read_table(run.files("results", ".parquet")[0])
    sink = io.BytesIO()
    pq.write_table(table.append_column("\0", table["seconds"]), sink)
    with pytest.raises(ValueError, match="a column has an impossible name"):
        results_in(sink.getvalue(), run.plan)


def test_a_file_with_integers_that_no_float_holds_is_moved_aside(tmp_path: Path) -> None:
    run = finished_run(tmp_path, left_out=[1])
    name, task = run.plan.task(1)
    store_rows(run, [result_row(name, task, {"mean_wait": 2**60})])
    assert (len(run.results()), run.status().corrupt) == (7, 1)
