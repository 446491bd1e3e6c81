"""What people at a prompt or in a notebook meet: frames, tables, seeds, the first compilation."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import schedlab as sl
from schedlab import display
from schedlab.errors import InputError
from schedlab.kernels.numba_versions import pipeline
from schedlab.kernels.while_compiling import Notice, message

JOBS = sl.Workload.from_columns(
    {
        "submit_time": [0, 1, 2],
        "run_time": [10, 10, 5],
        "requested_time": [10, 10, 5],
        "requested_processors": [3, 4, 1],
    },
    processors=4,
)


def test_the_frame_of_a_schedule_gives_the_jobs_back() -> None:
    jobs = JOBS.replace(wait_time=[5, -1, 7], user_id=[1, 2, 2])
    again = sl.Workload.from_frame(sl.simulate(jobs, "easy").to_frame(), processors=4)
    assert again.to_frame().equals(jobs.to_frame())


def test_a_frame_remembers_the_machine_until_another_is_named() -> None:
    jobs = JOBS.replace(name="april", start_time=1_000, requests_enforced=False)
    frame = sl.simulate(jobs, "easy").to_frame()
    again = sl.Workload.from_frame(frame[frame.job_id > 1])
    assert (again.name, again.processors, again.start_time, again.requests_enforced) == ("april", 4, 1_000, False)
    other = sl.Workload.from_frame(frame, processors=8, name="may", requests_enforced=True)
    assert (other.name, other.processors, other.start_time, other.requests_enforced) == ("may", 8, 1_000, True)


def test_workloads_are_concatenated_on_one_clock() -> None:
    later = JOBS.replace(start_time=1_000, submit_time=[0, 50, 100])
    both = sl.Workload.concat([later, JOBS.replace(start_time=940)])
    assert (both.start_time, both.submit_time.tolist()) == (940, [0, 1, 2, 60, 110, 160])
    unknown = sl.Workload.concat([JOBS, later])
    assert unknown.submit_time.tolist() == [0, 0, 1, 2, 50, 100]
    with pytest.raises(InputError, match="machines of 4, 8 processors"):
        sl.Workload.concat([JOBS, JOBS.replace(processors=8)])
    with pytest.raises(InputError, match="no workloads to concatenate"):
        sl.Workload.concat([])


def test_a_comparison_is_indexed_by_any_text_of_its_schedulers() -> None:
    comparison = sl.compare(JOBS, ["fcfs", "fcfs+easy"])
    assert comparison["easy"] is comparison["fcfs+easy"] is comparison.schedules["fcfs+easy"]
    assert (list(comparison), len(comparison)) == (["fcfs", "fcfs+easy"], 2)
    with pytest.raises(KeyError, match="was not compared"):
        comparison["saf"]


HOSTILE = "<script>alert(1)</script>"
NAMED = JOBS.replace(name=HOSTILE)
SHOWN = {
    "workload": lambda: NAMED,
    "schedule": lambda: sl.simulate(NAMED, "easy"),
    "scheduler": lambda: sl.Scheduler.parse('"p * q"+easy'),
    "comparison": lambda: sl.compare(NAMED, ["fcfs", *(f'"p + {number}"' for number in range(60))]),
    "explanation": lambda: sl.simulate(NAMED, "easy").explain(1),
    "summary": lambda: sl.workload.summarise(NAMED),
    "cleaning report": lambda: sl.workload.clean_with_report(NAMED)[1],
    "workflow": lambda: sl.workflow.Workflow(
        HOSTILE, (sl.workflow.Task("a", 1, 5.0, 9.0), sl.workflow.Task("b<", 2, 5.0, 9.0, (0,)))
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_notebooks_show_short_html_in_which_names_are_escaped(name: str) -> None:
    subject = SHOWN[name]()
    has_bundle = hasattr(subject, "_repr_mimebundle_")
    page = subject._repr_mimebundle_()["text/html"] if has_bundle else subject._repr_html_()  # type: ignore[attr-defined]
    assert re.match("<(pre|table|code)>", page)
    assert "<script" not in page
    assert len(page) < (25_000 if name == "comparison" else 5_000)


def test_a_long_table_in_a_notebook_says_how_many_rows_it_leaves_out() -> None:
    page = display.html_table(["a"], [[str(row)] for row in range(45)], ["a note"])
    assert page.count("<tr>") == 1 + 40
    assert page.endswith("<p>and 5 more</p><p>a note</p>")
    assert "x" * 99 + "…" in display.html_table(["x" * 101], [])


@pytest.mark.parametrize("drawn", [lambda jobs: sl.plot.gantt(sl.simulate(jobs, "easy")), sl.plot.workload])
def test_notebooks_show_axes_and_figures_without_pyplot(drawn: Callable[[sl.Workload], Any]) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    shown, _ = formatters.DisplayFormatter().format(drawn(JOBS))
    assert shown["image/png"].startswith(b"\x89PNG")


def test_a_workflow_is_shown_in_one_line_and_as_a_graph() -> None:
    workflow = sl.workflow.Workflow(
        "two", (sl.workflow.Task("a", 1, 5.0, 9.0), sl.workflow.Task("b", 2, 5.0, 9.0, (0,)))
    )
    assert repr(workflow) == "<Workflow two: 2 tasks, 1 edge>"
    pytest.importorskip("networkx")
    graph = workflow.to_networkx()
    assert (list(graph.edges), graph.nodes["b"]["processors"]) == ([("a", "b")], 2)


def test_a_seed_is_as_good_as_its_generator() -> None:
    one, other = (sl.model.lublin(50, 64, rng=rng) for rng in (7, np.random.default_rng(7)))
    assert one.to_frame().equals(other.to_frame())
    one, other = (sl.model.tsafrir_estimates(JOBS, rng=rng) for rng in (7, np.random.default_rng(7)))
    assert one.requested_time.tolist() == other.requested_time.tolist()


def test_the_first_long_compilation_is_told_once_to_who_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def begins(module: str) -> SimpleNamespace:
        return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})

    screen, log = Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    notice = Notice()
    notice.on_start(begins("schedlab.engine.loop"))
    monkeypatch.setattr("sys.stderr", screen)
    notice.on_start(begins("mine.kernels"))
    assert (log.getvalue(), screen.getvalue()) == ("", "")
    notice.on_start(begins("schedlab.engine.loop"))
    notice.on_start(begins("schedlab.engine.queue.operations"))
    assert screen.getvalue() == f"{message(pipeline())}\n"
