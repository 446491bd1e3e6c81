"""What people at a prompt or in a notebook meet: frames, tables, seeds, the first compilation."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest

import schedlab as sl
from schedlab import compiling
from schedlab.errors import InputError

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


def test_workloads_are_concatenated_on_one_clock() -> None:
    later = JOBS.replace(start_time=1_000, submit_time=[0, 50, 100])
    both = sl.Workload.concat([later, JOBS.replace(start_time=940)])
    assert (both.start_time, both.submit_time.tolist()) == (940, [0, 1, 2, 60, 110, 160])
    unknown = sl.Workload.concat([JOBS, later])
    assert unknown.submit_time.tolist() == [0, 0, 1, 2, 50, 100]
    with pytest.raises(InputError, match="machines of 4, 8 processors"):
        sl.Workload.concat([JOBS, JOBS.replace(processors=8)])
    with pytest.raises(InputError, match="there are no workloads"):
        sl.Workload.concat([])


def test_a_comparison_is_indexed_by_any_text_of_its_schedulers() -> None:
    comparison = sl.compare(JOBS, ["fcfs", "fcfs+easy"])
    assert comparison["easy"] is comparison["fcfs+easy"] is comparison.schedules["fcfs+easy"]
    assert (list(comparison), len(comparison)) == (["fcfs", "fcfs+easy"], 2)
    with pytest.raises(KeyError, match="was not compared"):
        comparison["saf"]


@pytest.mark.parametrize(
    "subject",
    [
        sl.workload.summarise(JOBS),
        sl.workload.clean_with_report(JOBS)[1],
        sl.Scheduler.parse("saf+easy"),
        sl.workflow.Workflow("two", (sl.workflow.Task("a", 1, 5.0, 9.0), sl.workflow.Task("b<", 2, 5.0, 9.0, (0,)))),
    ],
)
def test_notebooks_show_html(subject: object) -> None:
    page = subject._repr_html_()  # type: ignore[attr-defined]
    assert re.match("<(pre|table|code)>", page)
    assert len(page) < 5_000


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
    notice = compiling.Notice()
    notice.on_start(begins("schedlab.engine.loop"))
    monkeypatch.setattr("sys.stderr", screen)
    notice.on_start(begins("mine.kernels"))
    assert (log.getvalue(), screen.getvalue()) == ("", "")
    notice.on_start(begins("schedlab.engine.loop"))
    notice.on_start(begins("schedlab.engine.queue"))
    assert screen.getvalue() == f"{compiling.MESSAGE}\n"
