"""What the tests of figures share: schedules of the same jobs by different schedulers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from schedlab.campaign.results.blocks import weekly_blocks
from schedlab.durations import DAY
from schedlab.engine.simulation import simulate
from schedlab.model.lublin_feitelson import lublin
from schedlab.report.html import Evidence
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload

MACHINE = 64

SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium, the one of this machine."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra test)")
    names = ("chromium", "google-chrome", "chromium-browser")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is on the PATH")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=executable, args=list(SWITCHES))
        yield chromium
        chromium.close()


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page, wait for its view, and at the end see that nothing has complained."""
    contexts, complaints = [], []

    def opened(
        path: Path,
        fragment: str = "",
        *,
        width: int = 1_280,
        scheme: str = "light",
        ready: str = ".sl-ready",
        **options: Any,
    ) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        # A busy machine is slow, not wrong.
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector(ready, state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def workload() -> Workload:
    """300 jobs of all sizes over some weeks."""
    random = np.random.default_rng(5)
    run = np.exp(random.uniform(0, 11, 300)).astype(np.int64)
    return Workload.from_columns(
        {
            "submit_time": np.sort(random.integers(0, 40 * 86_400, 300)),
            "run_time": run,
            "requested_time": run * random.integers(1, 5, 300),
            "requested_processors": random.choice([1, 2, 3, 8, 12, 20, MACHINE], 300),
            "user_id": random.integers(0, 9, 300),
        },
        name="sample",
        processors=MACHINE,
        start_time=0,
    )


@pytest.fixture(scope="session")
def schedules(workload: Workload) -> dict[str, Schedule]:
    """Ten schedules, more than there are colours: each starts the waiting jobs in an order of its own."""
    random = np.random.default_rng(6)
    return {
        f"scheduler {number}": greedy(workload, random.random(len(workload)), f"scheduler {number}")
        for number in range(10)
    }


@pytest.fixture(scope="session")
def examples() -> dict[str, dict[str, Schedule]]:
    """The schedules of two generated workloads of eight days under three schedulers, by workload."""
    texts = ("fcfs+easy", "saf+easy", "log10(p)*q + 870*log10(r)+easy")
    result = {}
    for name, seed in (("north", 1), ("south", 2)):
        rng = np.random.default_rng(seed)
        jobs = lublin(400, MACHINE, rng=rng)
        # In order and evenly spread: on each of the eight days there are jobs.
        submit = np.linspace(0, 8 * DAY, len(jobs)).astype(np.int64)
        jobs = jobs.replace(
            submit_time=submit,
            requested_time=jobs.run_time * rng.integers(1, 5, len(jobs)),
            user_id=rng.integers(0, 9, len(jobs)),
            name=name,
        )
        result[name] = {text: simulate(jobs, text) for text in texts}
    return result


@pytest.fixture(scope="session")
def results(examples: dict[str, dict[str, Schedule]]) -> pd.DataFrame:
    """A results frame: each day of the examples is an instance."""
    return pd.concat([weekly_blocks(schedules) for schedules in examples.values()], ignore_index=True)


@pytest.fixture(scope="session")
def evidence(results: pd.DataFrame, examples: dict[str, dict[str, Schedule]]) -> Evidence:
    """All that a report can show."""
    return Evidence(
        name="order of the queue",
        description="Which order should the queue have?",
        frame=results,
        baseline="fcfs+easy",
        command="schedlab campaign run order.toml",
        definition='name = "order"\nseed = 7\n',
        planned=50,
        failures=[
            {
                "task": "0123456789abcdef" * 2,
                "workload": "north",
                "scheduler": "fcfs",
                "reason": "job 17 is too large",
                "command": "schedlab campaign task order 0123456789ab",
            }
        ],
        provenance={"schedlab": "0.1", "git_commit": "6ea7ce4"},
        inputs=[{"workload": "north", "source": "sample.swf", "sha256": "ab" * 32, "jobs": 400, "processors": 64}],
        example=examples["north"],
        example_name="north, all of it",
    )


def greedy(workload: Workload, priority: np.ndarray, scheduler: str) -> Schedule:
    """Return the schedule in which, at each event, the waiting jobs that fit start by priority."""
    submit, run, needed = workload.submit_time, workload.run_time, workload.job_processors
    start = np.full(len(workload), -1)
    overtook = np.zeros(len(workload), dtype=bool)
    waiting: list[int] = []
    running: list[tuple[int, int]] = []
    arrivals = list(range(len(workload)))
    while arrivals or waiting:
        now = min([end for end, _ in running] + [int(submit[job]) for job in arrivals[:1]])
        running = [(end, job) for end, job in running if end > now]
        while arrivals and submit[arrivals[0]] <= now:
            waiting.append(arrivals.pop(0))
        for job in sorted(waiting, key=lambda job: priority[job]):
            if needed[job] <= MACHINE - sum(needed[other] for _, other in running):
                overtook[job] = job != waiting[0]
                waiting.remove(job)
                start[job] = now
                running.append((now + int(run[job]), job))
    return Schedule(
        workload,
        start_time=start,
        end_time=start + run,
        backfilled=overtook,
        killed=run == workload.requested_time,
        predicted_run_time=workload.requested_time,
        corrections=np.zeros(len(workload), dtype=np.int64),
        scheduler=scheduler,
        processors=MACHINE,
    )
