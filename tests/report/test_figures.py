"""Writing figures to files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import matplotlib.image
import pytest

from schedlab.errors import InputError, OutputError
from schedlab.report import figures
from schedlab.report.figures import plot_utilisation, plot_workload, save_comparison_figures, save_figure
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


def test_a_comparison_writes_every_figure(schedules: Mapping[str, Schedule], tmp_path: Path) -> None:
    files = save_comparison_figures(schedules, tmp_path / "new" / "figures")
    assert [file.name for file in files] == [f"{name}.png" for name in figures.COMPARISON_FIGURES]
    assert sorted(os.listdir(tmp_path / "new" / "figures")) == sorted(file.name for file in files)
    # 8 inches at 150 dots per inch.
    assert all(matplotlib.image.imread(file).shape[1] == 1_200 for file in files)


def test_a_directory_that_cannot_be_made_is_an_output_error(schedules: Mapping[str, Schedule], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot create"):
        save_comparison_figures(schedules, tmp_path / "file" / "figures")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_suffix_decides_the_format(schedules: Mapping[str, Schedule], tmp_path: Path, suffix: str) -> None:
    file = save_figure(plot_utilisation(schedules), tmp_path / f"utilisation.{suffix}")
    marks = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert file.read_bytes().startswith(marks[suffix])


def test_a_whole_page_can_be_saved_too(workload: Workload, tmp_path: Path) -> None:
    assert save_figure(plot_workload(workload), tmp_path / "page.png").stat().st_size > 10_000


def test_an_unknown_format_is_refused_and_leaves_no_file(schedules: Mapping[str, Schedule], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="xyz"):
        save_figure(plot_utilisation(schedules), tmp_path / "utilisation.xyz")
    assert os.listdir(tmp_path) == []


def test_a_missing_directory_is_an_output_error(schedules: Mapping[str, Schedule], tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        save_figure(plot_utilisation(schedules), tmp_path / "nowhere" / "utilisation.png")


def test_every_public_figure_can_be_imported_from_here() -> None:
    assert all(callable(getattr(figures, name)) for name in figures.__all__)
