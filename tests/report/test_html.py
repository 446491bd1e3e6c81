"""The report as a file: complete, self-contained, and safe against hostile names."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schedlab.campaign.results.ranking import ranking
from schedlab.errors import InputError, OutputError
from schedlab.report.html import Evidence, render, write_report

HOSTILE = '<script>alert("x")</script>'

VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """Collect the elements, and complain about any that is not closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.inline = False
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inline = tag == "span"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.inline = tag == "span"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            # A term inside a sentence is no word of its own.
            self.words[-1:] = [self.words[-1] + data] if self.inline and self.words else [*self.words[-1:], data]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def report(evidence: Evidence) -> str:
    return render(evidence)


def test_the_page_has_every_part(evidence: Evidence, report: str) -> None:
    page = Page(report)
    for part in (
        "The answer",
        "What was asked",
        "The comparison",
        "Distributions",
        "By job size",
        "By user group",
        "One instance over time",
        "Failures",
        "To get these results again",
    ):
        assert part in page.text
    for fact in (
        evidence.command,
        "seed = 7",
        "6ea7ce4",
        "sample.swf",
        "ab" * 32,
        "job 17 is too large",
        "48 of 50 tasks",
    ):
        assert fact in page.text
    # Ratios, heat map, boxes, curves, twice two classes, utilisation, queue, two excerpts.
    assert len(page.all("img")) == 12


def test_the_table_has_the_numbers_of_the_statistics(evidence: Evidence, report: str) -> None:
    text = Page(report).text
    for row in ranking(evidence.frame, "fcfs+easy").rows:
        if row.paired:
            assert f"{row.paired.ratio:.3f}" in text
            assert f"{row.paired.wins} of {row.paired.pairs}" in text
            assert row.paired.verdict in text


def test_the_page_refers_to_nothing_outside(report: str) -> None:
    page = Page(report)
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy
    # One script is run, and the policy has its hash; the others are data.
    assert [script for script in page.all("script") if "type" not in script] == [{}, {}]
    for _, attributes in page.elements:
        for name in ("src", "href"):
            assert (attributes.get(name) or "data:").startswith("data:")
    # A pattern of the legend is drawn by the page itself, as data; a figure refers to its own parts (%23 is #).
    assert not re.search(r"url\((?!\$\{[^}]*toDataURL\(\)\}\)|%23)", report)


def test_the_page_can_be_read_without_eyes(report: str) -> None:
    page = Page(report)
    assert page.all("html")[0]["lang"] == "en"
    assert page.all("title")
    assert all((image["alt"] or "").endswith(".") for image in page.all("img"))
    assert all(head.get("scope") in {"col", "row"} for head in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {section["aria-labelledby"] for section in page.all("section")} <= set(ids)


def test_hostile_names_are_text(evidence: Evidence) -> None:
    frame = evidence.frame.assign(workload=evidence.frame.workload.replace("north", HOSTILE))
    failure = dict.fromkeys(("task", "workload", "scheduler", "reason", "command"), HOSTILE)
    hostile = dataclasses.replace(
        evidence,
        frame=frame,
        name=HOSTILE,
        description=HOSTILE,
        command=HOSTILE,
        definition=HOSTILE,
        caveat=HOSTILE,
        failures=[failure],
        provenance={HOSTILE: HOSTILE},
        inputs=[{"workload": HOSTILE, "source": HOSTILE, "sha256": HOSTILE, "jobs": 1, "processors": 1}],
        example_name=HOSTILE,
    )
    hostile = dataclasses.replace(hostile, example={HOSTILE: evidence.example["fcfs+easy"]})
    page = Page(render(hostile))
    assert [script for script in page.all("script") if "type" not in script] == [{}, {}]
    assert page.text.count(HOSTILE) >= 12


def test_the_same_evidence_gives_the_same_file(evidence: Evidence) -> None:
    small = dataclasses.replace(evidence, example={})
    assert render(small) == render(small)


def test_little_data_is_said_to_be_little(evidence: Evidence, results: pd.DataFrame) -> None:
    few = results[(results.window < 3) & (results.workload == "north")]
    page = Page(render(dataclasses.replace(evidence, frame=few, example={}, failures=(), planned=None)))
    assert "There is not enough data for an answer: schedulers share 3 instances, and an interval needs 6." in page.text
    assert "Failures" not in page.text
    assert page.text.count("not enough data") >= 2


def test_one_scheduler_alone_is_no_comparison(evidence: Evidence, results: pd.DataFrame) -> None:
    alone = results[results.scheduler == "fcfs+easy"]
    page = Page(render(dataclasses.replace(evidence, frame=alone, example={})))
    assert "only one scheduler, fcfs+easy, and nothing to compare it with" in page.text


def test_many_failures_are_counted_and_not_all_listed(evidence: Evidence) -> None:
    page = Page(render(dataclasses.replace(evidence, failures=[evidence.failures[0]] * 60, example={})))
    assert "The first 50 of 60." in page.text
    assert page.text.count("job 17 is too large") == 50


def test_results_without_classes_or_examples_have_no_such_sections(evidence: Evidence, results: pd.DataFrame) -> None:
    plain = results[[column for column in results if not re.search("_users|serial|narrow|medium|wide", column)]]
    text = Page(render(dataclasses.replace(evidence, frame=plain, example={}))).text
    assert "By job size" not in text
    assert "over time" not in text


def test_the_file_is_small_enough_for_a_mail(evidence: Evidence, results: pd.DataFrame, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    many = [
        results[results.scheduler == "fcfs+easy"].assign(scheduler=f"{number}*log10(p)*q + 870*log10(r)+easy")
        for number in range(9)
    ]
    frame = pd.concat([results[results.scheduler == "fcfs+easy"], *many], ignore_index=True)
    noise = rng.lognormal(0, 1, len(frame))
    report = write_report(
        dataclasses.replace(
            evidence, frame=frame.assign(mean_bounded_slowdown=frame.mean_bounded_slowdown * noise), example={}
        ),
        tmp_path / "report.html",
    )
    assert report.stat().st_size < 2_000_000


def test_a_bad_path_is_found_before_the_work_begins(evidence: Evidence, tmp_path: Path) -> None:
    without_results = dataclasses.replace(evidence, frame=evidence.frame.iloc[:0])
    with pytest.raises(OutputError, match="does not exist"):
        write_report(without_results, tmp_path / "nowhere" / "report.html")


def test_no_results_are_refused_and_leave_no_file(evidence: Evidence, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no results yet"):
        write_report(dataclasses.replace(evidence, frame=evidence.frame.iloc[:0]), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
