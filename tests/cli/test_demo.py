"""The demo, and the README that shows it."""

from __future__ import annotations

from pathlib import Path

from schedlab.campaign.results.comparison import compare
from schedlab.cli.demo import interpretation
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_demo_prints_what_the_readme_shows(run) -> None:
    result = run("demo")
    assert result.exit_code == 0
    printed = "\n".join(line.rstrip() for line in result.stdout.splitlines())
    assert f"\n$ make demo\n{printed}\n```\n" in README.read_text()
    assert len(read_swf("demo/demo.swf")) == 10_000
    assert len(list(Path("demo").glob("*.png"))) == 5
    assert Path("demo/report.html").stat().st_size < 1_000_000, "a page to send by mail"


def test_the_interpretation_names_the_best_scheduler_its_gain_and_its_price() -> None:
    # One processor, jobs of 10, 100 and 10 s. In order: waits 0, 9, 108 and slowdowns 1, 1.09, 11.8. The shortest
    # first: waits 0, 19, 8 and slowdowns 1, 1.19, 1.8. Means: 13.89 / 3 = 4.63 and 3.99 / 3 = 1.33.
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 1, 2],
            "run_time": [10, 100, 10],
            "requested_time": [10, 100, 10],
            "requested_processors": [1, 1, 1],
        },
        processors=1,
    )
    assert interpretation(compare(jobs, ["fcfs+easy", "spf+easy"])) == (
        "spf+easy has the smallest mean bounded slowdown, 1.3 instead of 4.6 under fcfs+easy; its longest "
        "wait is shorter, 19 s instead of 108 s."
    )
