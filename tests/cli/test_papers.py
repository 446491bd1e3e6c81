"""reproduce."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_reproducing_without_traces_is_one_sentence(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCHEDLAB_TRACES", raising=False)
    result = run("reproduce", "sc15")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "SCHEDLAB_TRACES" in result.stderr


def test_a_missing_directory_of_traces_is_named(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDLAB_TRACES", str(tmp_path / "nowhere"))
    assert f"there is no directory {tmp_path}/nowhere" in run("reproduce", "sc17").stderr


@pytest.mark.parametrize(
    ("paper", "option"),
    [
        ("sc17", ["--full"]),
        ("sc15", ["--variant", "as-described"]),
        ("sc15", ["--scores", "x.csv"]),
        ("sc17", ["--chapter", "3"]),
        ("sc17", ["--scenario", "1"]),
        ("thesis", ["--runs", "5"]),
        ("sc20", ["--plot", "x"]),
    ],
)
def test_options_of_one_paper_are_refused_for_the_other(run, tmp_path: Path, paper: str, option: list[str]) -> None:
    result = run("reproduce", paper, "--traces", str(tmp_path), *option)
    assert result.exit_code == 2
    assert f"No such option: {option[0]}" in result.stderr


def test_icpp19_needs_no_traces(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCHEDLAB_TRACES", raising=False)
    result = run("reproduce", "icpp19", "--scenario", "4", "--runs", "1", "-d", str(tmp_path), "--json")
    assert result.exit_code == 0
    assert '"ICPP\'19, scenario 4: change against HPC"' in result.stdout


@pytest.mark.parametrize("words", [["sc17"], ["thesis", "--chapter", "3"]])
def test_a_directory_without_traces_is_one_sentence(run, tmp_path: Path, words: list[str]) -> None:
    result = run("reproduce", *words, "--traces", str(tmp_path))
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "has none of the traces" in result.stderr


def test_a_log_that_the_paper_has_not_is_named(run, tmp_path: Path) -> None:
    result = run("reproduce", "sc15", "--traces", str(tmp_path), "--log", "mira")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "no log mira" in result.stderr
