"""How large pages are, how fast they open, and how smoothly they zoom: 30,000 jobs, a million, and Curie."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from result import Result

import schedlab as sl
from schedlab.report.schedules import write_schedule_report

CURIE = "CEA-Curie-2011-2.1-cln.swf.gz"
MEGABYTE = 1e6
FRAMES = 90

ZOOM = f"""async () => {{
  const {{ view, gantt }} = document.getElementById("schedlab-explorer").explorer;
  view.reset();
  for (let i = 0; i < 20; i++) {{ view.zoom(0.99); await new Promise(requestAnimationFrame); }}
  view.reset();
  await new Promise(resolve => setTimeout(resolve, 500));
  gantt.frames.length = 0;
  const apart = [];
  let last = performance.now();
  for (let i = 0; i < {FRAMES}; i++) {{
    view.zoom(i < {FRAMES} / 2 ? 0.93 : 1 / 0.93);
    await new Promise(requestAnimationFrame);
    apart.push(performance.now() - last);
    last = performance.now();
  }}
  const middle = values => values.sort((a, b) => a - b)[values.length >> 1];
  return {{ drawing: middle([...gantt.frames]), apart: middle(apart), heap: performance.memory.usedJSHeapSize }};
}}"""

STATE = """async () => {
  const { model } = document.getElementById("schedlab-explorer").explorer, decisions = await model.schedule(0);
  let wait = 0;
  for (let job = 0; job < model.count; job++) wait += decisions.wait(job);
  return { jobs: model.count, wait: wait / model.count, busy: decisions.series("utilisation").mean(0, model.length) };
}"""


def reports(traces: Path) -> Iterator[Result]:
    """Pages of one schedule, opened in Chromium where there is one."""
    rng = np.random.default_rng(1)
    small = sl.model.tsafrir_estimates(sl.model.lublin(30_000, 256, rng=rng, load=0.95), rng=rng)
    large = sl.model.tsafrir_estimates(sl.model.lublin(1_000_000, 1_024, rng=rng, load=0.9), rng=rng)
    # Lublin's model has no users; 500 of them, a few with most jobs.
    jobs = {
        "30,000 jobs": (with_users(small, rng), 2.0, 1.0),
        "1 M jobs": (with_users(large, rng), 20.0, 10.0),
    }
    if (traces / CURIE).is_file():
        jobs["Curie"] = (sl.clean(sl.read_swf(traces / CURIE)), 10.0, 4.0)
    with tempfile.TemporaryDirectory() as directory:
        for name, (workload, megabytes, seconds) in jobs.items():
            schedule = sl.simulate(workload, "fcfs+easy")
            begin = time.perf_counter()
            path = write_schedule_report(schedule, Path(directory) / "page.html")
            took = time.perf_counter() - begin
            size = path.stat().st_size / MEGABYTE
            found = in_browser(path)
            metrics = schedule.metrics()
            yield Result(
                f"report of {name}",
                f"{size:.1f} MB, written in {took:.1f} s",
                f"{megabytes:g} MB",
                size <= megabytes,
                "jobs and mean wait in the page as in the schedule",
                found is None
                or (found["jobs"] == len(schedule) and bool(np.isclose(found["wait"], metrics["mean_wait"]))),
            )
            if found is None:
                print("report in Chromium: skipped, there is no Chromium or playwright")
                continue
            yield Result(
                f"report of {name} in Chromium",
                f"opens in {found['open']:.2f} s ({found['computed']:.2f} s of processor time), "
                f"{found['heap'] / MEGABYTE:.0f} MB of heap",
                f"{seconds:g} s",
                found["open"] <= seconds,
                f"utilisation {found['busy']:.4f}, of the schedule {metrics['utilisation']:.4f}",
                bool(np.isclose(found["busy"], metrics["utilisation"])),
            )
            yield Result(
                f"zooming {name}",
                f"{1_000 / found['apart']:.0f} frames/s, {found['frame']:.1f} ms of processor time for each, "
                f"{found['drawing']:.1f} ms to draw",
                "60 frames/s",
                found["apart"] <= 1_000 / 59,
                "no complaint in the console",
                found["complaints"] == [],
            )


def with_users(jobs: sl.Workload, rng: np.random.Generator) -> sl.Workload:
    """Return jobs of 500 users."""
    return jobs.replace(user_id=rng.zipf(1.5, len(jobs)) % 500, partition_id=rng.integers(1, 6, len(jobs)))


def busy_seconds(session: Any) -> float:
    """Return the processor time of the page's main thread: what a busy machine does not stretch much."""
    metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def in_browser(path: Path) -> dict[str, Any] | None:
    """Open a page in a headless Chromium, without a graphics card; None if there is none."""
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if executable is None:
        return None
    switches = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=switches)
        page = browser.new_page(viewport={"width": 1_280, "height": 900})
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        # A reader's browser is running and has its fonts.
        page.set_content("<p>Text, <b>bold</b> <code>code</code></p>")
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        begin, before = time.perf_counter(), busy_seconds(session)
        page.goto(path.as_uri())
        page.wait_for_selector(".sl-ready", state="attached", timeout=120_000)
        opened, computed = time.perf_counter() - begin, busy_seconds(session) - before
        page.evaluate("document.getElementById('look').scrollIntoView()")
        before = busy_seconds(session)
        found = page.evaluate(ZOOM)
        found["frame"] = (busy_seconds(session) - before) / (FRAMES + 20) * 1_000
        found |= page.evaluate(STATE) | {"open": opened, "computed": computed, "complaints": complaints}
        browser.close()
    return found
