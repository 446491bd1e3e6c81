"""The pages about a site in a real browser: no table is cut off on a usual screen, and no number is out of place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedlab.engine.simulation import simulate
from schedlab.report.calibration import write_calibration
from schedlab.report.capacity import write_capacity
from schedlab.report.maintenance import write_maintenance
from schedlab.report.site_months import write_months
from schedlab.report.site_waits import write_explanation
from schedlab.report.variants import write_ranking
from schedlab.site import Goal, MaintenancePlan, Sweep, calibrate, capacity, explain, import_site, maintenance, months
from schedlab.site.variants import Variant
from schedlab.site.what_if import what_if
from schedlab.workload.workload import Workload

pytestmark = pytest.mark.slow  # it simulates for every page of a site: minutes as plain Python

CONF = """ClusterName=university
NodeName=node-of-the-old-rack[001-004] CPUs=4 Feature=CPU-Gold-6130,OmniPath
NodeName=node-of-the-new-rack[001-004] CPUs=4 Feature=CPU-Gold-6230,InfiniBand
PartitionName=general-compute-and-more Nodes=ALL Default=YES MaxTime=3-0
PartitionName=debug Nodes=node-of-the-old-rack001 MaxTime=1:00:00
"""
HOUR = 3600


def past(count: int, cores: int, machine: int, length: int, rest: str) -> Iterator[str]:
    """Give lines of sacct: jobs that came within four days, and waited as on a machine of their own."""
    rng = np.random.default_rng(count)
    columns = {"submit_time": np.sort(rng.integers(0, 96 * HOUR, count)), "requested_processors": [cores] * count}
    jobs = Workload.from_columns(columns | dict.fromkeys(("run_time", "requested_time"), [length] * count))
    start = simulate(jobs.replace(processors=machine), "fcfs").start_time
    for number, (submit, begin) in enumerate(zip(jobs.submit_time.tolist(), start.tolist(), strict=True)):
        times = [str(np.datetime64("2026-04-01", "s") + one) for one in (submit, begin, begin + length)]
        who = f"member{number % 7:02d}-of-the-group|institute-of-physics-{number % 7}"
        yield f"{count * 1000 + number}|{who}|COMPLETED|{'|'.join(times)}|{rest}"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Four days of jobs that want whole nodes of one kind and wait for hours, and of others that hardly wait."""
    where = tmp_path_factory.mktemp("site")
    (where / "slurm.conf").write_text(CONF)
    lines = ["JobIDRaw|User|Account|State|Submit|Start|End|TimelimitRaw|AllocCPUS|NNodes|Partition|Constraints"]
    lines += [
        *past(160, 4, 16, 8 * HOUR, "4320|4|1|general-compute-and-more|CPU-Gold-6230"),
        *past(80, 1, 4, 600, "60|1|1|debug|"),
    ]
    (where / "jobs.txt").write_text("\n".join(lines))
    site = import_site(where / "slurm.conf", where / "jobs.txt").save(where / "site")
    nodes = capacity(site, Goal.parse("p95_wait=1m"), most=2, prices=0.9, currency="EUR", anyway=True, workers=1)
    sweep = Sweep(site, anyway=True)
    drained = maintenance(sweep, MaintenancePlan(hours=4, every=12 * HOUR), workers=1)
    asked = ["10 more nodes like node-of-the-old-rack[001-004]", "SchedulerParameters.bf_interval=60"]
    asked.append("PartitionName=general-compute-and-more MaxTime=4:00:00")
    changed = what_if(site, variants=[Variant.of([one]) for one in asked], workers=1, anyway=True)
    return {
        "what-if": write_ranking(changed.sweep, changed.ranking, where / "what-if.html"),
        "explain": write_explanation(explain(site), where / "explain.html"),
        "months": write_months(months(site), where / "months.html"),
        "calibration": write_calibration(calibrate(site), where / "calibration.html"),
        "capacity": write_capacity(nodes, where / "capacity.html"),
        "maintenance": write_maintenance(sweep, drained, where / "maintenance.html"),
    }


ENDS = """[...document.querySelectorAll('.scroll:has(table)')].filter(box => {
    box.scrollIntoView({block: 'center'});
    const at = box.getBoundingClientRect(), middle = (Math.max(at.top, 0) + Math.min(at.bottom, innerHeight)) / 2;
    return at.width && [at.left + 2, at.right - 2].some(x => !box.contains(document.elementFromPoint(x, middle)));
}).map(box => box.ariaLabel)"""
"""Tables of which an end is not to be seen, as what they stand in cuts them."""

NAMES = ("what-if", "explain", "months", "calibration", "capacity", "maintenance")


@pytest.mark.parametrize("name", NAMES)
def test_no_table_is_cut_off_on_a_screen_of_1280_pixels(
    pages: dict[str, Path], look: Callable[..., Any], name: str
) -> None:
    page = look(pages[name], ready="main")
    cut = page.evaluate(
        "[...document.querySelectorAll('.scroll:has(table)')].filter(box => box.scrollWidth > box.clientWidth + 1)"
        ".map(box => `${box.ariaLabel}: ${box.scrollWidth} in ${box.clientWidth}`)"
    )
    assert cut == []
    beyond = page.evaluate(ENDS)
    assert beyond == []


def test_a_table_wider_than_the_text_does_not_stand_out_of_its_section_which_would_cut_it_off(
    pages: dict[str, Path], look: Callable[..., Any]
) -> None:
    page = look(pages["months"], ready="main")
    inner, outer = page.evaluate(
        "() => { const table = document.querySelector('main > section .scroll > table');"
        " table.style.width = '90rem';"
        " return [table.parentElement, table.closest('main > section')].map(one => one.getBoundingClientRect())"
        ".map(({ left, right }) => [left, right]) }"
    )
    assert inner[1] - inner[0] > 1_000  # of 1280 pixels
    assert inner[0] >= outer[0] - 1
    assert inner[1] <= outer[1] + 1


@pytest.mark.parametrize("name", NAMES)
def test_no_wait_is_a_fraction_of_a_second_and_every_column_has_a_heading(
    pages: dict[str, Path], look: Callable[..., Any], name: str
) -> None:
    page = look(pages[name], ready="main")
    cells = page.evaluate("[...document.querySelectorAll('table td, table th')].map(cell => cell.textContent)")
    assert [text for text in cells if re.search(r"\b0\.\d+ s\b", text)] == []
    heads = page.evaluate("[...document.querySelectorAll('thead th:not(:last-child)')].map(one => one.textContent)")
    assert heads
    assert "" not in [text.strip() for text in heads]


@pytest.mark.parametrize("name", NAMES)
def test_the_first_sentence_says_on_what_it_stands(pages: dict[str, Path], look: Callable[..., Any], name: str) -> None:
    first = look(pages[name], ready="main").inner_text(".answer")
    assert re.match("The replay is |By the record, |An? (.* )?twin (that .* )?says: ", first)
