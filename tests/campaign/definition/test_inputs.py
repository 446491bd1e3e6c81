"""The sources of a campaign: found, read and fingerprinted before anything runs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from campaign_runs import MODEL, run_here, small, write_log

from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.sources import trace as trace_module
from schedlab.campaign.sources.input import Input
from schedlab.errors import InputError


def inputs(base: Path, *entries: dict[str, Any]) -> list[Input]:
    return find_inputs(small(workloads=list(entries)), base)


def test_all_missing_traces_are_named_at_once_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "broken.swf").write_text("this is no log")
    entries = [{"trace": ["a.swf", "broken.swf"]}, {"trace": "logs/*.swf"}, {"trace": "/nowhere/b.swf"}]
    with pytest.raises(InputError, match=r"these 3 files are missing .*: a.swf, logs/\*.swf, /nowhere/b.swf$"):
        inputs(tmp_path, *entries)
    with pytest.raises(InputError, match=r"this file is missing .*: a.swf$"):
        inputs(tmp_path, {"trace": "a.swf"})


def test_a_campaign_with_a_missing_trace_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing"):
        run_here(small(workloads=[{"trace": "a.swf"}, MODEL]), tmp_path / "run", base=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_pattern_stands_for_the_files_that_it_matches_in_order(tmp_path: Path) -> None:
    for name in ("c.swf", "a.swf.gz", "b.swf", "d.txt"):
        write_log(tmp_path / "logs" / name)
    (tmp_path / "logs" / "dir.swf").mkdir()
    found = inputs(tmp_path, {"trace": ["logs/*.swf*", "logs/b.swf"]})
    assert [item.workload for item in found] == ["a", "b", "c"]
    assert [item.path for item in found] == [str(tmp_path / "logs" / name) for name in ("a.swf.gz", "b.swf", "c.swf")]


def test_home_and_environment_are_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOGS", str(tmp_path / "logs"))
    write_log(tmp_path / "home" / "a.swf")
    write_log(tmp_path / "logs" / "b.swf")
    found = inputs(tmp_path / "elsewhere", {"trace": ["~/a.swf", "$LOGS/b.swf", "${LOGS}/*.swf"]})
    assert [item.workload for item in found] == ["a", "b"]


def test_brackets_may_stand_in_the_names_of_files_and_directories(tmp_path: Path) -> None:
    base = tmp_path / "tests [1]"
    write_log(base / "a[1].swf")
    write_log(base / "b.swf")
    assert [item.workload for item in inputs(base, {"trace": "a[1].swf"})] == ["a[1]"]
    assert [item.workload for item in inputs(base, {"trace": "*.swf"})] == ["a[1]", "b"]
    assert [item.workload for item in inputs(base, {"trace": "[b].swf"})] == ["b"]


def test_what_is_found_are_facts_about_the_jobs_that_are_left_after_cleaning(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.swf", jobs=50, gap=600)
    [found] = inputs(tmp_path, {"trace": "a.swf", "clean": "flurry:1:0:29999", "windows": {"length": "2h", "count": 2}})
    # One job in four is of user 1; all 50 are submitted before second 29,999; 50 jobs leave 4 * 12 + 2.
    assert (found.jobs, found.processors, found.windows) == (50 - 13, 16, 2)
    assert found.sha256 == hashlib.sha256(log.read_bytes()).hexdigest()


def test_an_entry_names_its_workload_or_begins_the_names_of_several(tmp_path: Path) -> None:
    for name in ("a.swf", "b.swf"):
        write_log(tmp_path / name)
    found = inputs(tmp_path, {"trace": "a.swf", "name": "first"}, {"trace": "?.swf", "name": "all"}, MODEL)
    assert [item.workload for item in found] == ["first", "all/a", "all/b", "lublin"]
    assert [item.entry for item in found] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    "entries",
    [
        [{"trace": "*/a.swf"}],
        [{"trace": "x/a.swf"}, {"trace": "y/a.swf"}],
        [{"trace": "x/a.swf"}, {"trace": "x/a.swf", "load": 0.5}],
        [{**MODEL, "name": "a"}, {"trace": "x/a.swf"}],
    ],
)
def test_two_workloads_of_the_same_name_are_refused(tmp_path: Path, entries: list[dict[str, Any]]) -> None:
    write_log(tmp_path / "x" / "a.swf")
    write_log(tmp_path / "y" / "a.swf")
    with pytest.raises(InputError, match="two workloads are called a; give their entries different names"):
        inputs(tmp_path, *entries)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        # 60 jobs, one every 10 minutes: a window of 3 hours has 19 jobs (the ends count), so there are 4.
        ({"windows": {"length": "3h", "count": 5}}, "a: 5 windows requested, but only 4 exist: lower count"),
        ({"windows": {"length": "3h", "count": 2, "skip": [1, 0]}}, "a: no window is left: skip"),
        ({"windows": {"length": "3h", "count": "all", "skip": [0, 1, 2, 3]}}, "a: no window is left"),
        ({"clean": ",".join(f"flurry:{user}:0:99999" for user in range(4))}, r"a\.swf: "),
    ],
)
def test_windows_that_are_not_there_and_rules_that_leave_nothing_are_refused(
    tmp_path: Path, entry: dict[str, Any], message: str
) -> None:
    write_log(tmp_path / "a.swf")
    with pytest.raises(InputError, match=message):
        inputs(tmp_path, {"trace": "a.swf", **entry})


def test_windows_may_be_as_many_as_there_are(tmp_path: Path) -> None:
    write_log(tmp_path / "a.swf")
    assert inputs(tmp_path, {"trace": "a.swf", "windows": {"length": "3h", "count": "all"}})[0].windows == 4
    assert inputs(tmp_path, {"trace": "a.swf", "windows": {"length": "3h", "count": 4}})[0].windows == 4
    with pytest.raises(InputError, match="lublin: the jobs of a model differ in each repetition: set count"):
        inputs(tmp_path, {**MODEL, "windows": {"count": "all"}})


def test_windows_of_a_log_that_is_drawn_anew_or_scaled_are_not_counted_beforehand(tmp_path: Path) -> None:
    write_log(tmp_path / "a.swf")
    windows = {"length": "2d", "count": 3}
    for changes in ({"resample": {"weeks": 4}}, {"load": 0.01}):
        assert inputs(tmp_path, {"trace": "a.swf", "windows": windows, **changes})[0].windows == 3
    with pytest.raises(InputError, match="3 windows requested, but only 1 exist"):
        inputs(tmp_path, {"trace": "a.swf", "windows": windows})


def test_a_log_without_the_size_of_its_machine_needs_processors(tmp_path: Path) -> None:
    write_log(tmp_path / "a.swf", machine=None)
    with pytest.raises(InputError, match=r"a\.swf: the size of the machine is unknown; give processors in the entry"):
        inputs(tmp_path, {"trace": "a.swf"})
    assert inputs(tmp_path, {"trace": "a.swf", "processors": 32})[0].processors == 32


@pytest.mark.parametrize(
    ("name", "content"), [("a.swf", b"this is no log\n"), ("a.swf.gz", b"\x1f\x8b damaged"), ("a.parquet", b"PAR1")]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        inputs(tmp_path, {"trace": name})


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.swf.gz")
    log.write_bytes(log.read_bytes()[:-50])
    with pytest.raises(InputError, match=r"a\.swf\.gz"):
        inputs(tmp_path, {"trace": "a.swf.gz"})


def test_a_log_is_read_again_only_if_the_file_or_its_entry_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    original = trace_module.read_trace

    def recording(path: str, *arguments: Any) -> Any:
        read.append(Path(path).name)
        return original(path, *arguments)

    def unrecorded(entry: trace_module.TraceEntry, item: Input, *_: Any) -> Any:
        return original(item.path, entry.clean, entry.processors, entry.requests)

    monkeypatch.setattr(trace_module, "read_trace", recording)
    monkeypatch.setattr(trace_module.TraceEntry, "workload", unrecorded)  # workers read for themselves
    for name in ("a.swf", "b.swf"):
        write_log(tmp_path / name)

    def reads(**entry: Any) -> list[str]:
        read.clear()
        run_here(small(workloads=[{"trace": "a.swf"}, {"trace": "b.swf", **entry}]), tmp_path / "run", base=tmp_path)
        return list(read)

    assert reads() == ["a.swf", "b.swf"]
    assert reads() == []
    assert reads(windows={"length": "3h", "count": 2}) == ["b.swf"]
    assert reads(windows={"length": "3h", "count": 3}) == ["b.swf"]
    assert reads(windows={"length": "3h", "count": 3}) == []
    write_log(tmp_path / "a.swf", jobs=61)
    assert reads(windows={"length": "3h", "count": 3}) == ["a.swf"]


def test_a_campaign_that_asks_for_more_windows_later_gets_them(tmp_path: Path) -> None:
    write_log(tmp_path / "a.swf")
    for count in (1, 3, 2):
        campaign = small(schedulers="fcfs", workloads=[{"trace": "a.swf", "windows": {"length": "3h", "count": count}}])
        run = run_here(campaign, tmp_path / "run", base=tmp_path)
        assert run.results()["window"].tolist() == list(range(count))
