"""The interactive view in a real browser: zoom, click, search, difference, links, keyboard, and odd inputs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedlab.campaign.results.comparison import compare
from schedlab.engine.simulation import simulate
from schedlab.report.evidence import evidence_of_comparison
from schedlab.report.html import Evidence, write_report
from schedlab.report.schedules import write_schedule_report
from schedlab.schedule.placement import CLOSURE, MAINTENANCE, OUT, Placement
from schedlab.schedule.runs import BY_ITSELF, NODE_FAILED, PREEMPTED, RUN
from schedlab.schedule.schedule import Schedule
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

EXPLORER = "document.getElementById('schedlab-explorer').explorer"

NAMES = ("<script>alert(1)</script>", "عمر الخيام", "🦊 fox", "a" * 200, "</script><img src=x onerror=alert(2)>")


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    """800 jobs of seven users, some with names that a page must not believe."""
    rng = np.random.default_rng(3)
    run = np.exp(rng.uniform(2, 9, 800)).astype(np.int64)
    jobs = Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 9 * 86_400, 800)),
            "run_time": run,
            "requested_time": run * rng.integers(1, 4, 800),
            "requested_processors": rng.choice([1, 2, 4, 16, 40], 800),
            "user_id": rng.integers(1, 8, 800),
            "partition_id": rng.integers(1, 3, 800),
        },
        name="odd <b>names</b>",
        processors=64,
        start_time=1_700_000_000,
        header=tuple(f" User: {number} {name}" for number, name in enumerate(NAMES, start=1)),
    )
    return simulate(jobs, "fcfs+easy")


@pytest.fixture(scope="module")
def single(schedule: Schedule, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_schedule_report(schedule, tmp_path_factory.mktemp("page") / "single.html", command="schedlab simulate")


@pytest.fixture(scope="module")
def double(evidence: Evidence, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(evidence, tmp_path_factory.mktemp("page") / "double.html")


@pytest.fixture(scope="module")
def gpu_schedule() -> Schedule:
    """Four jobs on a node of 4 cores and one of 2 cores and 2 GPUs, as a real Slurm could have run them."""
    jobs = Workload.from_columns(
        {
            "submit_time": np.array([0, 0, 1, 2]),
            "run_time": np.array([20, 10, 10, 20]),
            "requested_time": np.array([20, 20, 20, 20]),
            "requested_processors": np.array([2, 4, 2, 4]),
        },
        processors=6,
    )
    start = np.array([0, 10, 20, 20])
    return Schedule(
        jobs,
        start_time=start,
        end_time=start + np.array([20, 10, 10, 20]),
        backfilled=np.zeros(4, bool),
        killed=np.zeros(4, bool),
        predicted_run_time=np.full(4, 20),
        corrections=np.zeros(4, int),
        scheduler="slurm",
        processors=6,
        placement=Placement(
            ("n1", "<b>g1</b>"),
            np.array([4, 2]),
            np.array([0, 2]),
            offsets=np.array([0, 1, 3, 4, 5]),
            node=np.array([0, 0, 1, 1, 0]),
            held_cores=np.array([2, 2, 2, 2, 4]),
            held_gpus=np.array([0, 0, 1, 1, 0]),
        ),
    )


@pytest.fixture(scope="module")
def broken_schedule() -> Schedule:
    """Job 1 is interrupted by node n1 and comes back, job 2 is preempted and lost, job 3 ends at its requested time."""
    jobs = Workload.from_columns(
        {
            "submit_time": np.array([0, 0, 0]),
            "run_time": np.array([50, 50, 50]),
            "requested_time": np.array([50, 50, 30]),
            "requested_processors": np.array([2, 1, 1]),
        },
        processors=4,
    )
    rows = [(0, 0, 10, 50, False, False, NODE_FAILED, 0, 0), (1, 0, 20, 50, False, False, PREEMPTED, 0, 0)]
    rows += [(2, 0, 30, 30, False, False, BY_ITSELF, 0, 0), (0, 40, 90, 50, False, True, BY_ITSELF, 0, 0)]
    return Schedule(
        jobs,
        start_time=np.array([40, 0, 0]),
        end_time=np.array([90, 20, 30]),
        backfilled=np.zeros(3, bool),
        killed=np.array([False, True, True]),
        predicted_run_time=np.array([50, 50, 30]),
        corrections=np.zeros(3, int),
        scheduler="fcfs+easy",
        processors=4,
        runs=np.array(rows, dtype=RUN),
        placement=Placement(
            ("n1", "n2"),
            np.array([2, 2]),
            np.array([0, 0]),
            offsets=np.arange(5),
            node=np.array([0, 1, 1, 0]),
            held_cores=np.array([2, 1, 1, 2]),
            held_gpus=np.zeros(4, np.int64),
            closures=np.array([(0, OUT, 10, 40), (1, MAINTENANCE, 60, 80)], dtype=CLOSURE),
        ),
    )


def window(page: Any) -> list[float]:
    return page.evaluate(f"(({{begin, end, low, high}}) => [begin, end, low, high])({EXPLORER}.view)")


def test_the_wheel_zooms_around_the_pointer_once_the_chart_has_the_focus(
    look: Callable[..., Any], single: Path
) -> None:
    page = look(single)
    chart = page.locator(".sl-canvas")
    chart.scroll_into_view_if_needed()
    before = window(page)
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(100)
    assert window(page) == before
    chart.focus()
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.wait_for_timeout(50)
    under = page.evaluate(f"{EXPLORER}.gantt.time(300)")
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"{EXPLORER}.view.end - {EXPLORER}.view.begin < {0.9 * (before[1] - before[0])}")
    assert page.evaluate(f"{EXPLORER}.gantt.time(300)") == pytest.approx(under, abs=(before[1] - before[0]) / 800)


def test_keys_move_zoom_and_go_from_job_to_job(look: Callable[..., Any], single: Path, schedule: Schedule) -> None:
    page = look(single)
    page.locator(".sl-canvas").focus()
    whole = window(page)
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert window(page)[1] - window(page)[0] == pytest.approx((whole[1] - whole[0]) / 4)
    begin = window(page)[0]
    page.keyboard.press("ArrowRight")
    assert window(page)[0] > begin
    page.keyboard.press("Shift+ArrowUp")
    assert window(page)[3] - window(page)[2] == schedule.processors / 2
    page.keyboard.press("Home")
    assert window(page) == whole
    page.keyboard.press(".")
    page.keyboard.press(".")
    order = np.lexsort((np.arange(len(schedule)), schedule.start_time))
    assert page.locator(".sl-job h3").inner_text() == f"Job {schedule.workload.job_id[order[1]]}"
    page.keyboard.press("Escape")
    assert page.locator(".sl-job").is_hidden()


def test_a_click_on_a_job_tells_why_it_waited_and_what_made_room(
    look: Callable[..., Any], single: Path, schedule: Schedule
) -> None:
    page = look(single)
    ended_when_it_began = np.isin(schedule.start_time, schedule.end_time) & (schedule.run_time > 0)
    row = int(np.argmax(np.where(ended_when_it_began, schedule.wait_time, 0)))
    page.evaluate(
        f"{EXPLORER}.view.look({schedule.start_time[row] - schedule.workload.submit_time.min() - 60}, "
        f"{schedule.end_time[row] - schedule.workload.submit_time.min() + 60})"
    )
    page.wait_for_timeout(300)
    point = page.evaluate(
        f"""(() => {{ const gantt = {EXPLORER}.gantt, pane = gantt.panes[1], {{ pieces }} = pane;
        const i = pieces.job.indexOf({row}), [low, high] = gantt.lanes(pane);
        return [gantt.x((pieces.start[i] + pieces.end[i]) / 2),
                pane.top + (high - (pieces.low[i] + pieces.high[i]) / 2) / (high - low) * pane.height]; }})()"""
    )
    page.locator(".sl-canvas").click(position={"x": point[0], "y": point[1]})
    text = page.locator(".sl-job").inner_text()
    assert f"Job {schedule.workload.job_id[row]}" in text
    assert "fewer than its" in text or "kept it for other jobs" in text
    enders = np.flatnonzero(schedule.end_time == schedule.start_time[row])
    made_room = page.locator(".sl-job dd").last.inner_text()
    assert any(f"job {schedule.workload.job_id[other]}" in made_room for other in enders)


def test_waits_are_split_as_a_plain_loop_over_seconds_splits_them(
    look: Callable[..., Any], single: Path, schedule: Schedule
) -> None:
    page = look(single)
    rows = np.flatnonzero(schedule.wait_time > 0)[::97]
    for row in rows.tolist():
        found = page.evaluate(
            f"""(() => {{ const e = {EXPLORER}; e.choose({row});
            return document.querySelector('.sl-job').innerText; }})()"""
        )
        seconds = np.arange(schedule.workload.submit_time[row], schedule.start_time[row])
        busy = np.zeros(len(seconds), dtype=np.int64)
        for job in range(len(schedule)):
            inside = (schedule.start_time[job] <= seconds) & (seconds < schedule.end_time[job])
            busy[inside] += schedule.workload.job_processors[job]
        enough = schedule.processors - busy >= schedule.workload.job_processors[row]
        assert ("fewer than its" in found) == bool((~enough).any())
        assert ("enough was free, but" in found) == bool(enough.any())


def test_the_search_finds_counts_and_colours(look: Callable[..., Any], single: Path, schedule: Schedule) -> None:
    page = look(single)
    search = page.get_by_role("searchbox", name="Search")
    search.fill("size>10 wait>10min")
    search.press("Enter")
    matching = int(((schedule.workload.job_processors > 10) & (schedule.wait_time > 600)).sum())
    assert page.locator(".sl-found").inner_text() == f"{matching} jobs found."
    search.fill("user:7")
    search.press("Enter")
    mine = int((schedule.workload.user_id == 7).sum())
    assert page.locator(".sl-found").inner_text() == f"{mine} jobs found."
    search.fill("user:nobody")
    search.press("Enter")
    assert "no user is called “nobody”" in page.locator(".sl-found").inner_text()
    search.fill(str(schedule.workload.job_id[5]))
    search.press("Enter")
    assert page.locator(".sl-job h3").inner_text() == f"Job {schedule.workload.job_id[5]}"


def test_names_are_shown_as_they_are(look: Callable[..., Any], single: Path) -> None:
    page = look(single)
    legend = page.locator(".sl-pictures .sl-legend").inner_text()
    for name in NAMES:
        assert name in legend
    assert page.locator("h1").inner_text().startswith("odd <b>names</b>")
    assert page.locator("img[src=x]").count() == 0


def test_a_link_leads_to_the_same_view(look: Callable[..., Any], double: Path) -> None:
    page = look(double)
    page.get_by_label("Compare with").select_option(label="saf+easy")
    page.get_by_role("combobox", name="Colour").select_option(label="Wait")
    page.evaluate(f"{EXPLORER}.view.look(100000, 200000, 8, 40)")
    page.locator(".sl-difference").scroll_into_view_if_needed()
    page.get_by_label("Who won, who paid, by").select_option(label="User")
    page.locator(".sl-jobs").scroll_into_view_if_needed()
    page.locator(".sl-jobs").get_by_role("button", name="Size", exact=True).click()
    page.evaluate(f"{EXPLORER}.choose(17)")
    for _ in range(100):  # the link follows the view a moment later
        if "job=" in page.evaluate("location.hash"):
            break
        page.wait_for_timeout(100)
    fragment = "#" + page.evaluate("location.hash.slice(1)")
    state = page.evaluate(f"JSON.stringify({EXPLORER}.view.state())")
    again = look(double, fragment)
    assert again.evaluate(f"JSON.stringify({EXPLORER}.view.state())") == state
    assert ("paid=user" in fragment, "sort=-size" in fragment) == (True, True)
    again.locator(".sl-jobs").scroll_into_view_if_needed()
    assert again.locator(".sl-jobs th[aria-sort=descending]").inner_text().startswith("Size")
    assert again.locator(".sl-job h3").inner_text() == page.locator(".sl-job h3").inner_text()


@pytest.mark.parametrize(
    "fragment", ["#v=1&begin=x&end=NaN&a=99&b=-7&job=123456789&colour=none", "#v=1&a=1.5&low=1e99&high=-4", "#look"]
)
def test_a_damaged_link_shows_something(look: Callable[..., Any], double: Path, fragment: str) -> None:
    page = look(double, fragment)
    begin, end, low, high = window(page)
    assert begin < end
    assert low < high
    assert page.locator(".sl-job").is_hidden()


def test_the_difference_adds_up(look: Callable[..., Any], double: Path, evidence: Evidence) -> None:
    page = look(double)
    page.get_by_label("Compare with").select_option(label="saf+easy")
    page.locator(".sl-difference").scroll_into_view_if_needed()
    page.wait_for_selector(".sl-difference .sl-answer")
    first, second = evidence.example["fcfs+easy"], evidence.example["saf+easy"]
    change = second.wait_time - first.wait_time
    sentence = page.locator(".sl-answer").inner_text()
    assert ("shorter" if change.mean() < 0 else "longer") in sentence
    sooner = re.search(r"([\d.]+)% of the jobs start sooner, ([\d.]+)% later", sentence)
    assert sooner is not None
    assert float(sooner[1]) == pytest.approx(100 * (change < 0).mean(), abs=0.06)
    assert float(sooner[2]) == pytest.approx(100 * (change > 0).mean(), abs=0.06)
    moved = page.locator(".sl-difference table").last.locator("tbody tr")
    changes = [
        float(value)
        for value in moved.locator("td:last-child").evaluate_all("cells => cells.map(cell => cell.dataset.value)")
    ]
    largest = np.sort(np.abs(change))[::-1][:10]
    assert [abs(value) for value in changes] == largest[largest > 0].tolist()
    moved.first.get_by_role("button").click()
    assert "Chain of causes" in page.locator(".sl-job").inner_text()


def test_series_have_the_means_of_the_schedule(look: Callable[..., Any], single: Path, schedule: Schedule) -> None:
    page = look(single)
    metrics = schedule.metrics()
    begin, end = 0, int(schedule.end_time.max() - schedule.workload.submit_time.min())
    mean = f"async key => (await {EXPLORER}.model.schedule(0)).series(key).mean({begin}, {end})"
    assert page.evaluate(mean, "queue_length") == pytest.approx(metrics["mean_queue_length"])
    assert page.evaluate(mean, "utilisation") == pytest.approx(metrics["utilisation"])
    times = np.arange(int(schedule.workload.submit_time.min()), int(schedule.end_time.max()))[::61]
    waiting = (schedule.workload.submit_time[:, None] <= times) & (times < schedule.start_time[:, None])
    running = (schedule.start_time[:, None] <= times) & (times < schedule.end_time[:, None])
    busy = (running * schedule.workload.job_processors[:, None]).sum(axis=0)
    idle = np.where(waiting.any(axis=0), 1 - busy / schedule.processors, 0)
    users = [len(set(schedule.workload.user_id[running[:, i]].tolist())) for i in range(0, len(times), 50)]
    series = f"(await {EXPLORER}.model.schedule(0)).series(key)"
    at = f"async ([key, times]) => {{ const series = {series}; return times.map(time => series.at(time)); }}"
    origin = int(schedule.workload.submit_time.min())
    elapsed = (times - origin).tolist()
    assert page.evaluate(at, ["idle_while_waiting", elapsed]) == pytest.approx(idle.tolist())
    assert page.evaluate(at, ["running_users", elapsed[::50]]) == users


def test_one_cursor_stands_over_all_charts(look: Callable[..., Any], single: Path) -> None:
    page = look(single)
    page.locator(".sl-series").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    page.locator(".u-over").first.hover(position={"x": 200, "y": 30})
    readouts = page.locator(".sl-readout").all_inner_texts()
    moments = {text.split(": ")[0] for text in readouts if text}
    assert len(moments) == 1
    assert "UTC" in moments.pop()


def test_every_term_has_its_definition_one_click_away(look: Callable[..., Any], single: Path) -> None:
    page = look(single)
    page.get_by_role("button", name="Idle while jobs wait").click()
    assert "at least one job waits" in page.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0


def test_tables_sort_filter_and_copy(look: Callable[..., Any], single: Path, schedule: Schedule) -> None:
    page = look(single)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    jobs = page.locator(".sl-jobs")
    jobs.scroll_into_view_if_needed()
    page.wait_for_selector(".sl-jobs table")
    jobs.get_by_role("button", name="Size", exact=True).click()
    sizes = [int(text) for text in jobs.locator("tbody tr td:nth-child(4)").all_inner_texts()]
    assert sizes == sorted(schedule.workload.job_processors.tolist(), reverse=True)[:50]
    jobs.get_by_role("button", name="Copy as CSV").click()
    page.wait_for_timeout(200)
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert len(lines) == 1 + len(schedule)
    assert lines[0].startswith("job,user,submit,size,requested,wait,run,bsld,partition,start")
    users = page.locator("table", has_text="Jobs by user")
    users.scroll_into_view_if_needed()
    users.get_by_role("button", name="Jobs", exact=True).click()
    counts = [int(text) for text in users.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert counts == sorted(counts)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1_280])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    look: Callable[..., Any], double: Path, scheme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra test)")
    page = look(double, width=width, scheme=scheme, bypass_csp=True)
    page.get_by_label("Compare with").select_option(label="saf+easy")
    page.evaluate(f"{EXPLORER}.choose(17)")
    for part in (".sl-difference", ".sl-distributions", ".sl-jobs"):
        page.locator(part).scroll_into_view_if_needed()
        page.wait_for_selector(f"{part} table")
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    found = axe.Axe().run(page).response["violations"]
    shown, available = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert [(entry["id"], entry["nodes"][0]["html"][:200]) for entry in found] == []
    assert shown <= available


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_before_a_job_is_chosen_and_where_nodes_are_known(
    look: Callable[..., Any], single: Path, gpu_schedule: Schedule, tmp_path: Path, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra test)")
    for path in (single, write_schedule_report(gpu_schedule, tmp_path / "nodes.html")):
        page = look(path, scheme=scheme, bypass_csp=True)
        found = axe.Axe().run(page).response["violations"]
        assert [(entry["id"], entry["nodes"][0]["html"][:200]) for entry in found] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_definition_a_search_and_a_view_by_gpu(
    look: Callable[..., Any], single: Path, gpu_schedule: Schedule, tmp_path: Path, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra test)")
    page = look(single, "#v=1&query=user%3A7&colour=wait", scheme=scheme, bypass_csp=True)
    page.get_by_role("button", name="Queue length", exact=True).click()
    nodes = write_schedule_report(
        gpu_schedule, tmp_path / "nodes.html", changes=["2 jobs are left out: they never ran (never-ran)."]
    )
    by_gpu = look(nodes, "#v=1&rows=GPU&job=2", scheme=scheme, bypass_csp=True)
    by_gpu.get_by_text("What was changed or left out in this log").click()
    for shown in (page, by_gpu):
        found = axe.Axe().run(shown).response["violations"]
        assert [(entry["id"], entry["nodes"][0]["html"][:200]) for entry in found] == []


def test_touch_drags_the_chart_and_two_fingers_zoom(look: Callable[..., Any], single: Path) -> None:
    page = look(single, width=375, has_touch=True)
    page.evaluate(f"{EXPLORER}.view.look(100000, 300000)")
    chart = page.locator(".sl-canvas")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *xs: float) -> None:
        points = [{"x": box["x"] + x, "y": box["y"] + 250, "id": i} for i, x in enumerate(xs)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 200)
    touch("touchMove", 180)
    touch("touchMove", 140)
    touch("touchEnd")
    moved = window(page)
    assert moved[0] > 100_000
    touch("touchStart", 150, 200)
    touch("touchMove", 120, 240)
    touch("touchMove", 90, 280)
    touch("touchEnd")
    zoomed = window(page)
    assert zoomed[1] - zoomed[0] < 0.6 * (moved[1] - moved[0])


def test_on_paper_figures_stand_where_the_view_was(look: Callable[..., Any], double: Path) -> None:
    page = look(double)
    assert page.get_by_role("heading", name="One instance over time").is_hidden()
    page.emulate_media(media="print")
    assert page.get_by_role("heading", name="One instance over time").is_visible()
    assert page.locator(".sl-gantt").is_hidden()


@pytest.mark.parametrize(("jobs", "processors"), [(1, 1), (2, 300_000), (1, 300_000)])
def test_odd_sizes_are_shown(look: Callable[..., Any], tmp_path: Path, jobs: int, processors: int) -> None:
    workload = Workload.from_columns(
        {
            "submit_time": np.arange(jobs),
            "run_time": np.full(jobs, 60),
            "requested_time": np.full(jobs, 60),
            "requested_processors": np.full(jobs, processors),
        },
        processors=processors,
    )
    page_file = write_schedule_report(simulate(workload, "fcfs+easy"), tmp_path / "odd.html")
    page = look(page_file)
    page.evaluate(f"{EXPLORER}.choose({jobs - 1})")
    text = page.locator(".sl-job").inner_text()
    assert f"{processors:,} processor" in text
    assert "100% of the machine" in text
    assert ("did not wait" in text) == (jobs == 1)


def test_a_machine_with_nodes_is_shown_by_processor_node_and_gpu(
    look: Callable[..., Any], tmp_path: Path, gpu_schedule: Schedule
) -> None:
    waited_for = {"Priority": np.array([120, 0, 0, 0]), "Resources": np.array([60, 0, 0, 0])}
    told = replace(gpu_schedule, waited_for=waited_for)
    page = look(write_schedule_report(told, tmp_path / "nodes.html"))
    rows = page.get_by_role("combobox", name="Rows")
    assert rows.locator("option").all_inner_texts() == ["processor", "node", "GPU"]
    pieces = f"""(() => {{ const {{ pieces }} = {EXPLORER}.gantt.panes[1];
        return Array.from(pieces.job, (job, i) => [job, pieces.low[i], pieces.high[i]]).sort(); }})()"""
    rows.select_option("processor")
    assert page.evaluate(pieces) == [[0, 0, 2], [1, 2, 4], [1, 4, 6], [2, 4, 6], [3, 0, 4]]
    rows.select_option("node")
    # The first node has 4 cores, the second one 2: a row is a node, whatever it has.
    assert page.evaluate(pieces) == [[0, 0, 0.5], [1, 0.5, 1], [1, 1, 2], [2, 1, 2], [3, 0, 1]]
    rows.select_option("GPU")
    assert page.evaluate(pieces) == [[1, 0, 1], [2, 0, 1]]
    assert window(page)[2:] == [0, 2]
    page.wait_for_timeout(600)  # the link follows the view a moment later
    assert "rows=GPU" in page.evaluate("location.hash")
    page.evaluate(f"{EXPLORER}.choose(1)")
    text = page.locator(".sl-job").inner_text()
    assert "n1 (2 processors), <b>g1</b> (2 processors)" in text
    assert "<b>g1</b> (1 GPU)" in text
    page.evaluate(f"{EXPLORER}.choose(0)")
    titles = page.locator(".sl-series h3 .sl-term").all_inner_texts()
    assert {"Utilisation of processors", "Utilisation of GPUs", "Utilisation of nodes"} <= set(titles)
    assert {"Free in partly used nodes", "Fragmentation of GPUs", "GPUs without a free processor"} <= set(titles)
    assert "Fragmentation of processors" not in titles
    at = f"async ([key, times]) => {{ const series = (await {EXPLORER}.model.schedule(0)).series(key); \
        return times.map(time => series.at(time)); }}"
    times = [0, 10, 25, 35, 45]
    assert page.evaluate(at, ["utilisation_gpus", times]) == pytest.approx([0, 0.5, 0.5, 0, 0])
    assert page.evaluate(at, ["utilisation_nodes", times]) == pytest.approx([0.5, 1, 1, 0.5, 0])
    assert page.evaluate(at, ["partly_used", times]) == pytest.approx([2 / 6, 0, 0, 0, 0])
    # From 10 to 30, both processors of the node with GPUs are held, and one of its two GPUs.
    assert page.evaluate(at, ["stranded_gpus", times]) == pytest.approx([0, 0.5, 0.5, 0, 0])


def test_memory_is_shown_where_it_is_counted(look: Callable[..., Any], gpu_schedule: Schedule, tmp_path: Path) -> None:
    # Job 0 runs from 0 to 20, job 1 on both nodes from 10 to 20, job 2 from 20 to 30, job 3 from 20 to 40.
    memory = np.array([1024, 1024, 512, 2048, 4096])
    placement = replace(gpu_schedule.placement, memory=np.array([4096, 2048]), held_memory=memory)
    page = look(write_schedule_report(replace(gpu_schedule, placement=placement), tmp_path / "memory.html"))
    at = f"async times => {{ const series = (await {EXPLORER}.model.schedule(0)).series('utilisation_memory'); \
        return times.map(time => series.at(time)); }}"
    assert page.evaluate(at, [5, 15, 25, 35, 45]) == pytest.approx([1 / 6, 2.5 / 6, 1, 4 / 6, 0])
    assert "Utilisation of memory" in page.locator(".sl-series h3 .sl-term").all_inner_texts()
    page.evaluate(f"{EXPLORER}.choose(1)")
    assert "Memory\n1.5 GiB" in page.locator(".sl-job").inner_text()


def test_gpus_are_fragmented_while_jobs_wait_for_more_than_are_free(
    look: Callable[..., Any], tmp_path: Path, gpu_schedule: Schedule
) -> None:
    # Job 2, submitted at 1 and started at 20, now holds both GPUs; job 1 holds one of them from 10 to 20.
    placement = replace(gpu_schedule.placement, held_gpus=np.array([0, 0, 1, 2, 0]))
    # Of the processors enough is free all the time.
    jobs = gpu_schedule.workload.replace(requested_processors=np.array([2, 2, 2, 4]))
    page = look(
        write_schedule_report(replace(gpu_schedule, workload=jobs, placement=placement), tmp_path / "gpus.html")
    )
    at = f"async times => {{ const series = (await {EXPLORER}.model.schedule(0)).series('fragmentation_gpus'); \
        return times.map(time => series.at(time)); }}"
    assert page.evaluate(at, [0, 5, 10, 19, 20, 30]) == pytest.approx([0, 0, 0.5, 0.5, 0, 0])
    page.evaluate(f"{EXPLORER}.choose(2)")
    why = "Of its wait of 19 s, for 10 s fewer than its 2 processors and 2 GPUs were free, and for 9 s enough was free"
    assert why in page.locator(".sl-job").inner_text()


def test_jobs_that_share_a_gpu_hold_parts_of_it(
    look: Callable[..., Any], tmp_path: Path, gpu_schedule: Schedule
) -> None:
    # Jobs 1 (10 to 20) and 2 (20 to 30) hold half a GPU each.
    asked = Resources.of(4, gpus=[0, 1, 1, 0], gpu_share=[1000, 500, 500, 1000])
    shared = replace(gpu_schedule, workload=gpu_schedule.workload.replace(resources=asked))
    page = look(write_schedule_report(shared, tmp_path / "shared.html"), "#v=1&rows=GPU&job=2")
    at = f"async times => {{ const series = (await {EXPLORER}.model.schedule(0)).series('utilisation_gpus'); \
        return times.map(time => series.at(time)); }}"
    assert page.evaluate(at, [5, 10, 25, 30]) == pytest.approx([0, 0.25, 0.25, 0])
    rows = f"(({{ pieces }}) => [...pieces.low].map((low, i) => [low, pieces.high[i]]))({EXPLORER}.gantt.panes[1])"
    assert page.evaluate(rows) == [[0, 0.5], [0, 0.5]]
    assert "<b>g1</b> (0.5 GPUs)" in page.locator(".sl-job").inner_text()


@pytest.mark.parametrize("place", ["panel", "jobs", "difference", "report"])
def test_every_head_and_every_fact_has_its_definition(
    look: Callable[..., Any], single: Path, double: Path, place: str
) -> None:
    page = look(double if place in ("difference", "report") else single)
    if place == "panel":
        page.evaluate(f"{EXPLORER}.choose(17)")
        undefined = "[...document.querySelectorAll('.sl-job dt')].filter(each => !each.querySelector('[data-term]'))"
    else:
        if place == "difference":
            page.get_by_label("Compare with").select_option(label="saf+easy")
        part = {"jobs": ".sl-jobs", "difference": ".sl-difference", "report": "main > section"}[place]
        page.locator(part).first.scroll_into_view_if_needed()
        page.wait_for_selector(f"{part} thead th" if place == "report" else f"{part} table")
        # The metric of the heat map has its definition where it is chosen.
        numbers = f"document.querySelectorAll('{part} table:not(.sl-heat-map) thead th.number')"
        undefined = f"[...{numbers}].filter(each => !each.querySelector('[data-term]'))"
    assert page.evaluate(f"{undefined}.map(each => each.textContent)") == []
    known = page.evaluate("Object.keys(JSON.parse(document.getElementById('schedlab-definitions').textContent))")
    asked = page.evaluate("[...document.querySelectorAll('[data-term]')].map(each => each.dataset.term)")
    assert set(asked) <= set(known)


def test_an_open_page_follows_a_campaign_that_runs(
    look: Callable[..., Any], evidence: Evidence, tmp_path: Path
) -> None:
    path = tmp_path / "watched.html"
    nothing = replace(evidence, frame=evidence.frame.iloc[:0], example={}, failures=(), running="0 of 9 have ended.")
    write_report(nothing, path)
    page = look(path, ready=".sl-script")
    assert "There is no result to compare yet. 0 of 9 have ended." in page.locator(".answer").inner_text()
    some = replace(evidence, example={}, failures=(), running="4 of 9 have ended.")
    write_report(some, path)
    page.get_by_text("4 of 9 have ended.").wait_for()
    assert page.locator(".comparison tbody tr").count() > 0
    write_report(replace(evidence, failures=()), path)
    page.wait_for_selector("#distributions", state="attached")
    assert "have ended." not in page.locator(".answer").inner_text()
    # The last page stays as it is.
    page.evaluate("window.stays = true")
    page.wait_for_timeout(6_000)
    assert page.evaluate("window.stays") is True


def test_reasons_of_slurm_stand_in_the_panel(look: Callable[..., Any], tmp_path: Path, gpu_schedule: Schedule) -> None:
    waited_for = {"Resources": np.array([0, 0, 60, 0]), "Priority": np.array([0, 0, 120, 0])}
    told = replace(gpu_schedule, waited_for=waited_for)
    page = look(write_schedule_report(told, tmp_path / "reasons.html"))
    page.evaluate(f"{EXPLORER}.choose(2)")
    assert "Priority for 2 min, Resources for 60 s" in page.locator(".sl-job").inner_text()


def test_fragmentation_is_what_no_waiting_job_could_use(
    look: Callable[..., Any], single: Path, schedule: Schedule
) -> None:
    page = look(single)
    origin = int(schedule.workload.submit_time.min())
    times = np.arange(origin, int(schedule.end_time.max()), 977)
    processors = schedule.workload.job_processors
    expected = []
    for now in times:
        waiting = (schedule.workload.submit_time <= now) & (now < schedule.start_time)
        busy = processors[(schedule.start_time <= now) & (now < schedule.end_time)].sum()
        free = schedule.processors - busy
        stuck = waiting.any() and processors[waiting].min() > free
        expected.append(free / schedule.processors if stuck else 0)
    at = f"async times => {{ const series = (await {EXPLORER}.model.schedule(0)).series('fragmentation'); \
        return times.map(time => series.at(time)); }}"
    assert max(expected) > 0
    assert page.evaluate(at, (times - origin).tolist()) == pytest.approx(expected)


@pytest.mark.slow
def test_a_million_jobs_stay_within_their_limits(look: Callable[..., Any], tmp_path: Path) -> None:
    from schedlab.model.lublin_feitelson import lublin
    from schedlab.model.tsafrir import tsafrir_estimates

    rng = np.random.default_rng(1)
    jobs = tsafrir_estimates(lublin(1_000_000, 1_024, rng=rng, load=0.9), rng=rng)
    jobs = jobs.replace(user_id=rng.integers(0, 500, len(jobs)))
    path = write_schedule_report(simulate(jobs, "fcfs+easy"), tmp_path / "million.html")
    assert path.stat().st_size <= 20_000_000
    page = look(path)
    page.evaluate(
        f"""async () => {{ const view = {EXPLORER}.view;
        for (let i = 0; i < 200; i++) {{
            view.zoom(i % 40 < 20 ? 0.8 : 1.25);
            await new Promise(requestAnimationFrame);
        }} }}"""
    )
    assert page.evaluate("performance.memory.usedJSHeapSize") < 1_000_000_000


def test_interrupted_runs_and_closed_nodes_look_as_in_charts(
    look: Callable[..., Any], broken_schedule: Schedule, tmp_path: Path
) -> None:
    page = look(write_schedule_report(broken_schedule, tmp_path / "broken.html", command="schedlab simulate"))
    page.evaluate(f"{EXPLORER}.view.set({{ colour: 'end' }}, 'colour')")
    page.wait_for_timeout(500)
    entries = page.locator("[aria-label='Colours'] li").all_inner_texts()
    assert [re.sub(r"\s+", " ", text).strip() for text in entries] == [
        "done 1",
        "ended at its requested time 1",
        "interrupted 2",
        "out of service",
        "maintenance",
    ]
    colours = page.evaluate(
        """() => {
            const { gantt } = document.getElementById('schedlab-explorer').explorer;
            const pane = gantt.panes.find(({ kind }) => kind === 'machine');
            const context = gantt.canvas.getContext('2d'), { begin, end, low, high } = gantt.view;
            const { width, height } = gantt.canvas;
            const all = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
            const at = (time, lane) => [
                Math.round((pane.left + pane.width * (time - begin) / (end - begin)) * gantt.ratio),
                Math.round((pane.top + pane.height * (high - lane) / (high - low)) * gantt.ratio),
            ];
            const colours = (time, lane, size) => {
                const [x, y] = at(time, lane), found = new Set();
                for (let i = 0; i < size * size; i++)
                    found.add(all[(y + Math.floor(i / size)) * width + x + i % size] & 0xffffff);
                return found.size;
            };
            const one = (time, lane) => {
                const [x, y] = at(time, lane), pixel = all[y * width + x];
                return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
            };
            return {
                interrupted: one(8, 1.8), again: one(85, 1.8), lost: one(15, 2.8), ended: one(25, 3.8),
                down: colours(20, 1.8, 30), open: colours(42, 3.8, 30), maintenance: colours(62, 3.8, 30),
            };
        }"""
    )
    (red, green, blue), (lost_red, _, lost_blue) = colours["interrupted"], colours["lost"]
    assert blue > red > green, "violet"
    assert lost_blue > lost_red, "violet"
    assert colours["again"][2] > 1.5 * colours["again"][0], "blue: it was done then"
    assert colours["ended"][0] > 1.3 * colours["ended"][2], "red"
    assert colours["down"] > 1
    assert colours["maintenance"] > 1
    assert colours["open"] == 1
    page.evaluate(f"{EXPLORER}.choose(0)")
    assert "interrupted" in page.locator(".sl-job").inner_text()
    page.evaluate(f"{EXPLORER}.view.set({{ query: 'interrupted' }}, 'query')")
    assert page.locator(".sl-found").inner_text() == "2 jobs found."


def test_the_machine_ends_where_it_ends_unless_the_schedule_shown_has_more(
    look: Callable[..., Any], tmp_path: Path
) -> None:
    # One job after another on 64 processors; as recorded, two of 40 ran together.
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 1],
            "run_time": [100, 100],
            "requested_time": [100, 100],
            "requested_processors": [40, 40],
            "wait_time": [0, 0],
        },
        name="booked twice",
        processors=64,
    )
    evidence = evidence_of_comparison(compare(jobs, ["fcfs", "fcfs+easy"]))
    page = look(write_report(evidence, tmp_path / "page.html"))
    shown = f"[{EXPLORER}.view.low, {EXPLORER}.view.high]"
    assert page.evaluate(shown) == [0, 64]
    page.locator("label", has_text=re.compile("^Schedule")).locator("select").select_option("as recorded")
    assert page.evaluate(shown) == [0, 80]
    page.locator("label", has_text=re.compile("^Schedule")).locator("select").select_option("fcfs+easy")
    assert page.evaluate(shown) == [0, 64]
    page.locator("label", has_text="Compare with").locator("select").select_option("as recorded")
    assert page.evaluate(shown) == [0, 80]
