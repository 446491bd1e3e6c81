"""Figures for papers: their width, their letters, and formats."""

from __future__ import annotations

import shutil

import pytest

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.report.figures import plot_utilisation
from schedlab.report.style import paper, save_figure
from schedlab.workload.workload import Workload

JOBS = Workload.from_columns(
    {"submit_time": [0], "run_time": [9], "requested_time": [9], "requested_processors": [1]}, processors=4
)


def test_a_figure_for_a_paper_is_as_wide_as_asked_with_its_letters_and_the_next_is_as_ever():
    schedule = simulate(JOBS, "fcfs")
    with paper(width=3.3, family="serif", size=7):
        axes = plot_utilisation(schedule)
        assert axes.xaxis.label.get_fontsize() == 7
        assert axes.xaxis.label.get_fontfamily() == ["serif"]
    usual = plot_utilisation(schedule)
    assert axes.figure.get_figwidth() == 3.3
    assert axes.figure.get_figheight() / 3.3 == usual.figure.get_figheight() / usual.figure.get_figwidth()
    assert usual.xaxis.label.get_fontfamily() == ["sans-serif"]


def test_a_pdf_holds_letters_as_truetype(tmp_path):
    file = save_figure(plot_utilisation(simulate(JOBS, "fcfs")), tmp_path / "a.pdf")
    content = file.read_bytes()
    assert b"/Type3" not in content
    assert b"/CIDFontType2" in content


def test_pgf_without_latex_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(
        InputError, match=r"a\.pgf: PGF needs LaTeX \(xelatex, lualatex, pdflatex\), which is not instal"
    ):
        save_figure(plot_utilisation(simulate(JOBS, "fcfs")), tmp_path / "a.pgf")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"width": 0}, "width=0 is not a number above 0"),
        ({"size": "big"}, "size='big' is not a number"),
        ({"family": 3}, "family=3 is not a text"),
    ],
)
def test_what_is_no_look_is_told(given, told):
    with pytest.raises(InputError, match=told), paper(**given):
        pass
