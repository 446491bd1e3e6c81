"""Makes the pictures of the interactive report in docs/images: python docs/screenshots.py

Needs Chromium and playwright (extra `test`). The jobs are generated, so that anybody gets the same pictures.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import schedlab as sl
from schedlab.campaign.definition.campaign_file import read_campaign
from schedlab.report.evidence import evidence_of_campaign, evidence_of_comparison
from schedlab.report.html import write_report
from schedlab.report.schedules import write_schedule_report

IMAGES = Path(__file__).parent / "images"

CAMPAIGN = """
name = "order"
description = "Which order should the queue have?"
seed = 7
schedulers = ["fcfs+easy", "saf+easy", "wfp3+easy", "fcfs"]
[[workloads]]
generate = "lublin"
jobs = 1000
processors = 128
load = [0.8, 0.9, 1.0]
repetitions = 8
"""

SLURM_CONF = """
ClusterName=example
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_continue
PriorityType=priority/multifactor
GresTypes=gpu
NodeName=c[1-5] CPUs=8 CoresPerSocket=8 RealMemory=1000
NodeName=g[1-3] CPUs=8 CoresPerSocket=8 RealMemory=1000 Gres=gpu:4
PartitionName=batch Nodes=ALL Default=YES State=UP
"""

LAB_CONF = """
ClusterName=lab
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=120
NodeName=n[1-8] CPUs=16
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0
"""

EXPLORER = "document.getElementById('schedlab-explorer').explorer"


def main() -> int:
    """Make all pictures; return an exit code."""
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    if executable is None:
        print("there is no Chromium")
        return 1
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as directory, sync_playwright() as driver:
        single, double, campaign = pages(Path(directory))
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        shoot(browser, single, "report-single", height=1_000)
        moved = f"""async () => {{
          const explorer = {EXPLORER};
          explorer.view.set({{ b: 1, colour: "change" }});
          await new Promise(resolve => setTimeout(resolve, 800));
          const rows = [...Array(explorer.model.count).keys()];
          const change = job => explorer.decisions[1].wait(job) - explorer.decisions[0].wait(job);
          explorer.choose(rows.reduce((best, job) => (change(job) > change(best) ? job : best)));
          document.getElementById("look").scrollIntoView();
        }}"""
        shoot(browser, double, "report-double", height=1_250, before=moved)
        cluster = gpu_cluster(Path(directory))
        if cluster is None:
            print("report-nodes.png is not made: Slurm is not installed")
        else:
            by_node = f"""async () => {{
              const explorer = {EXPLORER}, [decisions] = explorer.decisions;
              explorer.view.setRows("node");
              await new Promise(resolve => setTimeout(resolve, 800));
              const withGpus = [...Array(explorer.model.count).keys()].filter(job => decisions.placedGpus.count[job]);
              const longest = (best, job) => (decisions.wait(job) > decisions.wait(best) ? job : best);
              explorer.choose(withGpus.reduce(longest));
              explorer.view.reset();
              document.getElementById("look").scrollIntoView();
            }}"""
            shoot(browser, cluster, "report-nodes", height=1_000, before=by_node)
        shoot(browser, answer(Path(directory)), "answer", height=900)
        shoot(browser, demo(Path(directory)), "report-demo", height=900)
        grid = "async () => document.getElementById('grid').scrollIntoView()"
        shoot(browser, campaign, "report-campaign", height=560, before=grid)
        browser.close()
    return 0


def pages(directory: Path) -> tuple[Path, Path, Path]:
    """Write the three pages."""
    rng = np.random.default_rng(7)
    jobs = sl.model.tsafrir_estimates(sl.model.lublin(1_500, 128, rng=rng, load=0.9), rng=rng)
    jobs = jobs.replace(user_id=rng.zipf(1.7, len(jobs)) % 20, name="jobs")
    comparison = sl.compare(jobs, ["fcfs+easy", "saf+easy"])
    command = "schedlab simulate jobs.swf -s fcfs+easy --report one.html"
    single = write_schedule_report(comparison.schedules["fcfs+easy"], directory / "one.html", command=command)
    double = write_report(evidence_of_comparison(comparison), directory / "two.html")
    (directory / "order.toml").write_text(CAMPAIGN, encoding="utf-8")
    run = sl.run_campaign(read_campaign(directory / "order.toml"), directory / "run", workers=1)
    return single, double, write_report(evidence_of_campaign(run), directory / "campaign.html")


def answer(directory: Path) -> Path:
    """Write the page of a what-if: the site of the tutorial, three variants."""
    place = directory / "answer"
    (place / "conf").mkdir(parents=True)
    (place / "conf" / "slurm.conf").write_text(LAB_CONF, encoding="utf-8")
    rng = np.random.default_rng(4)
    drawn = sl.model.tsafrir_estimates(sl.model.lublin(300, 128, rng=rng, load=0.95), rng=rng)
    drawn = drawn.replace(requested_time=-(-drawn.requested_time // 60) * 60)
    past = sl.simulate(drawn, "fcfs+slurm(interval=120,version=22.05)")
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for row, job in enumerate(drawn):
        seconds = (job.submit_time, past.start_time[row], past.end_time[row])
        times = [np.datetime64("2026-04-01", "s") + np.timedelta64(int(second), "s") for second in seconds]
        user = ("ann", "bob", "eve")[row % 3]
        fields = [row + 1, user, "COMPLETED", *times, job.requested_time // 60, drawn.job_processors[row], "batch"]
        lines.append("|".join(map(str, fields)))
    (place / "jobs.txt").write_text("\n".join(lines), encoding="utf-8")
    changes = ["--over", "SchedulerParameters.bf_interval=30,600", "--set", "2 more nodes like n[1-8]"]
    for command in (
        ["import", "--conf", "conf", "--sacct", "jobs.txt", "-o", "site"],
        ["calibrate", "site", "--processors-only"],
        ["what-if", "site", *changes, "--processors-only", "--report", "answer.html"],
    ):
        subprocess.run([sys.executable, "-m", "schedlab", "site", *command], cwd=place, check=True, capture_output=True)
    return place / "answer.html"


def demo(directory: Path) -> Path:
    """Write the page of the demo."""
    command = [sys.executable, "-m", "schedlab", "demo", "--directory", "demo"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    return directory / "demo" / "report.html"


def gpu_cluster(directory: Path) -> Path | None:
    """Write the page of a small GPU cluster under a real Slurm; None where there is none."""
    rng = np.random.default_rng(7)
    drawn = sl.model.lublin(160, 64, rng=rng, load=1.1)
    jobs = sl.model.tsafrir_estimates(drawn.replace(run_time=np.minimum(drawn.run_time, 14_400)), rng=rng)
    jobs = jobs.replace(user_id=rng.zipf(1.7, len(jobs)) % 6, name="GPU cluster")
    small = jobs.job_processors <= 8
    gpus = np.where(small & (rng.random(len(jobs)) < 0.4), rng.integers(1, 4, len(jobs)), 0)
    site = directory / "example"
    site.mkdir()
    (site / "slurm.conf").write_text(SLURM_CONF, encoding="utf-8")
    options = [("-N", "1", f"--gres=gpu:{count}") if count else () for count in gpus.tolist()]
    try:
        run = sl.slurm.run(sl.slurm.from_workload(jobs, options=options), conf=site, observe=900)
    except sl.InputError as error:
        print(error)
        return None
    return write_schedule_report(run.schedule, directory / "cluster.html")


def shoot(browser: Any, path: Path, name: str, *, height: int, before: str | None = None) -> None:
    """Write one picture."""
    page = browser.new_page(viewport={"width": 1_280, "height": height})
    page.goto(path.as_uri())
    page.wait_for_selector(".sl-ready", state="attached")
    if before is not None:
        page.evaluate(before)
    page.wait_for_timeout(1_000)
    page.screenshot(path=IMAGES / f"{name}.png")
    page.close()


if __name__ == "__main__":
    sys.exit(main())
