"""Variants of a site on the real Slurm, beside the twin's answers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from schedlab.cli import main
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay, simulate_plain
from schedlab.errors import InputError
from schedlab.report.variants import render_ranking
from schedlab.site import import_site
from schedlab.site.confirmation import (
    Confirmation,
    ConfirmedEffect,
    ConfirmedVariant,
    MeanChange,
    differences_in_columns,
)
from schedlab.site.ranking import rank_variants
from schedlab.site.real_slurm import confirm, worth_running
from schedlab.site.samples import SiteSample
from schedlab.site.site import read
from schedlab.site.sweep import Sweep
from schedlab.site.variants import AS_IT_IS, Variant
from schedlab.slurm.installation import PREFIX_VARIABLE, installed_version
from schedlab.slurm.results import SlurmRun

CONF = """ClusterName=lab
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-4] CPUs=1 RealMemory=1000
PartitionName=batch Nodes=n[1-4] Default=YES MaxTime=60
"""
JOBS = [(0, 20, 4, 30), (1, 30, 4, 50), (2, 5, 4, 10)]
"""Minute of submission, minutes, processors, minutes asked for: one after the other, in whatever order."""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(CONF)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number, (minute, length, size, limit) in enumerate(JOBS, 1):
        times = f"2026-04-01T10:{minute:02d}:25|2026-04-01T10:{minute:02d}:25|2026-04-01T10:{minute + length:02d}:25"
        lines.append(f"{number}|ann|COMPLETED|{times}|{limit}|{size}|batch")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt").save(tmp_path / "site")


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of one core are processors, and nothing has to be compiled for these."""
    monkeypatch.setattr(
        "schedlab.slurm.validation.simulate",
        lambda jobs, scheduler, cluster, node_events: simulate_plain(
            jobs.replace(processors=cluster.processors), replace(scheduler, placement=None)
        ),
    )


@pytest.mark.usefixtures("plain")
def test_a_site_with_heterogeneous_jobs_is_confirmed_component_by_component(tmp_path: Path):
    try:
        installed_version()
    except InputError as error:
        pytest.skip(str(error))
    (tmp_path / "slurm.conf").write_text(CONF)
    lines = ["JobID|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for name, minute, length, size in (("1", 0, 20, 4), ("2+0", 1, 30, 1), ("2+1", 1, 30, 2), ("4", 2, 5, 4)):
        times = f"2026-04-01T10:{minute:02d}:25|2026-04-01T10:{minute:02d}:25|2026-04-01T10:{minute + length:02d}:25"
        lines.append(f"{name}|ann|COMPLETED|{times}|50|{size}|batch")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    site = import_site(tmp_path, tmp_path / "jobs.txt").save(tmp_path / "site")
    found = confirm(Sweep(site).site, [Variant("longer", ("PartitionName=batch MaxTime=90",))], phases=2)
    assert (len(found.jobs), found.failures) == (4, ())
    assert "mean wait is 21.9 min on Slurm and 21.9 min in the twin" in found.sentences()[0]


@pytest.mark.usefixtures("plain")
def test_the_answers_of_twin_and_real_slurm_stand_side_by_side(directory: Path):
    try:
        version = installed_version()
    except InputError as error:
        pytest.skip(str(error))
    sweep = Sweep(directory)
    more = Variant("more nodes", ("NodeName=n[5-12] CPUs=1 RealMemory=1000", "PartitionName=batch Nodes=n[1-12]"))
    saf, whole = Variant("saf", policy="saf"), Variant("whole", policy="saf+easy")
    found = confirm(sweep.site, [more, saf, whole], phases=2)
    assert (found.slurm, found.phases, len(found.jobs)) == (version, 2, 3)
    assert [one.variant.name for one in found.failures] == ["whole"]
    assert "Slurm has its own passes" in found.failures[0].reason
    # One after the other: 0, 19 and 48 minutes; all at once; the short one before the long one: 0, 24 and 18 minutes.
    for one, minutes in zip(found.confirmed, ([0, 19, 48], [0, 0, 0], [0, 24, 18]), strict=True):
        for waits in (one.twin, one.real):
            assert waits.shape == (2, 3)
            assert np.all((waits >= 60 * np.array(minutes)) & (waits <= 60 * np.array(minutes) + 40)), one.variant
    assert [(one.variant, one.verdict) for one in found.effects()] == [
        ("more nodes", "both shorter"),
        ("saf", "both shorter"),
    ]
    assert "whole was not run on Slurm" in str(found)


def hand_made(directory: Path, twin: list[list[float]], real: list[list[float]]) -> Confirmation:
    """Return two phases of the site as it is, where nobody waits, and of a variant."""
    jobs = Sweep(directory, nodes=False).jobs
    zero = np.zeros((2, len(jobs)))
    base = ConfirmedVariant(Variant(AS_IT_IS), zero, zero)
    other = ConfirmedVariant(Variant("saf", policy="saf"), np.array(twin), np.array(real))
    return Confirmation("22.05.8", jobs, 4, (base, other), (), ())


@pytest.mark.parametrize(
    ("twin", "real", "verdict"),
    [
        ([[6, 0, 0], [3, 0, 0]], [[9, 0, 0], [12, 0, 0]], "both longer"),
        ([[6, 0, 0], [3, 0, 0]], [[-9, 0, 0], [-12, 0, 0]], "differ"),
        ([[6, 0, 0], [3, 0, 0]], [[-9, 0, 0], [12, 0, 0]], "unsure"),
        ([[0, 0, 0], [0, 0, 0]], [[9, 0, 0], [12, 0, 0]], "unsure"),
        ([[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]], "no effect"),
        ([[3, -3, 0], [0, 0, 0]], [[0, 2, 0], [0, 0, 0]], "no effect"),
        ([[6, 0, 0], [3, 0, 0]], [[2, 0, 0], [1, 0, 0]], "unsure"),
    ],
)
def test_the_verdict_is_about_the_sign_in_all_phases(directory: Path, twin, real, verdict):
    (effect,) = hand_made(directory, twin, real).effects()
    assert effect.verdict == verdict
    change = effect.real
    assert (change.before, change.after) == (0, pytest.approx(np.mean(real)))
    assert (change.lowest, change.highest) == (np.mean(real, axis=1).min(), np.mean(real, axis=1).max())


def test_a_difference_is_printed_with_its_phases():
    assert str(MeanChange(60.0, 75.0, 10.0, 20.0)) == "+15 s (+10 to +20 s)"
    assert str(MeanChange(600.0, 720.0, 60.0, 180.0)) == "+2 min (+1 to +3 min)"
    assert str(MeanChange(60.0, 60.0, 0.0, 0.0)) == "none"
    assert str(MeanChange(60.0, 75.0, 15.0, 15.0)) == "+15 s"


def test_differences_of_a_table_are_in_one_unit_on_both_sides():
    small, large = MeanChange(0.0, 90.0, 90.0, 90.0), MeanChange(0.0, 7_200.0, 3_600.0, 10_800.0)
    rows = [
        ConfirmedEffect("v", "partition", name, 9, twin, real)
        for name, twin, real in (("a", large, small), ("b", large, large))
    ]
    assert differences_in_columns(rows) == [
        ("+0.03 h", "+2 h (+1 to +3 h)"),
        ("+2 h (+1 to +3 h)", "+2 h (+1 to +3 h)"),
    ]


def test_the_page_has_the_answer_of_the_real_slurm(directory: Path):
    sweep = Sweep(directory, nodes=False)
    saf = Variant("saf", policy="saf")
    sweep.run([saf], workers=1)
    ranking = rank_variants(sweep, [saf], [SiteSample()])
    page = render_ranking(sweep, ranking, hand_made(directory, [[3, 0, 0]] * 2, [[-3, 0, 0]] * 2))
    assert "slurmctld 22.05.8 beside the twin" in page
    assert "disagree" in page
    assert "slurmctld" not in render_ranking(sweep, ranking)


def test_without_slurm_nothing_is_simulated(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv(PREFIX_VARIABLE, str(tmp_path))
    monkeypatch.setattr(
        "sys.argv", ["schedlab", "site", "what-if", str(directory), "--policy", "saf", "--confirm", "1"]
    )
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    said = capsys.readouterr().err
    assert "no slurmctld under" in said
    assert "apt-get install" in said
    assert not (directory / "what-if").exists()


def test_what_happened_to_the_nodes_is_on_both_sides(directory: Path, monkeypatch: pytest.MonkeyPatch):
    try:
        installed_version()
    except InputError as error:
        pytest.skip(str(error))

    def plain_on_nodes(jobs, scheduler, cluster, node_events):
        jobs = jobs if cluster is None else jobs.replace(processors=None)
        return replay(prepare(jobs, scheduler, cluster=cluster, node_events=node_events))

    monkeypatch.setattr("schedlab.slurm.validation.simulate", plain_on_nodes)
    site, four = read(directory), ("n1", "n2", "n3", "n4")
    booked = NodeEvent(5000, "reservation", four, 5060, None, "r", ("bob",))
    events = NodeEvents((NodeEvent(300, "drain", ("n1",)), NodeEvent(2400, "up", ("n1",)), booked), requeue_delay=121)
    found = confirm(replace(site, node_events=events), [], phases=2)
    assert found.notes[-1] == "on neither side: 1 node event (reservation)"
    (one,) = found.confirmed
    for waits in (one.twin, one.real):
        assert waits.shape == (2, 3)
        assert waits.max(axis=1).min() > 3500  # those behind the first wait until 2400
    assert np.abs(one.twin.mean() - one.real.mean()) < 60
    as_processors = confirm(replace(site, node_events=events), [], phases=1, nodes=False)
    assert "what happened to the nodes, as the twin is a number of processors" in as_processors.notes[-1]


def test_a_part_of_the_log_is_read_and_named():
    assert SiteSample.parse("0-12.5%") == SiteSample(0, 0.125)
    for text in ("50-25", "0-101", "first", "-3-5"):
        with pytest.raises(InputError, match="per cent"):
            SiteSample.parse(text)


def test_a_null_effect_is_said(directory: Path):
    none = [[0, 0, 0], [0, 0, 0]]
    assert "saf: no effect on either side" in str(hand_made(directory, none, none))


def test_a_twin_that_is_far_from_slurm_on_the_site_as_it_is_is_not_to_be_trusted(directory: Path):
    """313 s on Slurm, 2 s in the twin; a quarter more, or a minute, is what a rough twin may be off."""
    found = hand_made(directory, [[2, 2, 2]], [[313, 313, 313]])
    base = replace(found.confirmed[0], twin=np.full((1, 3), 2.0), real=np.full((1, 3), 313.0))
    told = replace(found, confirmed=(base, *found.confirmed[1:])).sentences()
    assert told[0].startswith(
        "The twin and Slurm are far apart on the site as it is already: do not trust the twin here"
    )
    near = replace(base, twin=np.full((1, 3), 260.0))
    assert "far apart" not in " ".join(replace(found, confirmed=(near, *found.confirmed[1:])).sentences())


def test_what_slurm_tells_is_said_where_the_twin_shows_nothing(directory: Path):
    """The mean of three jobs: 14 s longer on Slurm in both phases."""
    found = hand_made(directory, [[0, 0, 0]] * 2, [[39, 0, 0], [45, 0, 0]])
    assert "saf: Slurm: longer in all phases; the twin: no effect; Slurm +14 s (+13 to +15 s)" in str(found)
    unsure = hand_made(directory, [[6, 0, 0], [3, 0, 0]], [[-9, 0, 0], [12, 0, 0]])
    assert "saf: Slurm: its phases do not agree; the twin: longer in all phases" in str(unsure)


def ranked(name: str, verdict: str, *, unchanged: bool = False, unsimulated: bool = False) -> SimpleNamespace:
    """A variant of a ranking, with what its row of the table says."""
    return SimpleNamespace(
        variant=Variant(name), difference=("", "", verdict), unchanged=unchanged, unsimulated=unsimulated
    )


def test_real_time_goes_to_variants_that_change_something():
    null = ranked("null", "no effect", unchanged=True)
    little, unseen = ranked("little", "negligible"), ranked("rpc", "not simulated", unchanged=True, unsimulated=True)
    open_ = ranked("open", "cannot be told")
    ranking = SimpleNamespace(changed=(null, little, unseen, open_))
    assert [one.name for one in worth_running(ranking, 1)] == ["open"]
    assert [one.name for one in worth_running(ranking, 9)] == ["open", "little", "rpc"]
    with pytest.raises(InputError, match="all jobs start and end as before"):
        worth_running(SimpleNamespace(changed=(null,)), 1)


class FakeSlurm:
    """Stands for the laboratory: each run ends at once, or is interrupted, and the jobs wait as in the twin."""

    def __init__(self, stop_at: int | None = None, seconds: float = 0.0) -> None:
        self.runs, self.stop_at, self.seconds = 0, stop_at, seconds

    def __call__(self, jobs, *, progress, **_):
        self.runs += 1
        if self.runs == self.stop_at:
            raise KeyboardInterrupt
        for still_open in (len(jobs), 1, 0):
            time.sleep(self.seconds / 3)
            progress(still_open, 0.0)
        schedule = simulate_plain(jobs.replace(processors=4), "fcfs")
        return SlurmRun(schedule, pd.DataFrame({"row": np.arange(len(jobs))}), {}, (), {}, {})


SAME = Variant("same", ("PriorityWeightAge=0",))
SHORT = "PartitionName=batch MaxTime=15"


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(("stop_at", "phases"), [(4, 1), (5, 2), (None, 3)])
def test_an_interrupted_confirmation_gives_the_runs_that_have_ended(
    directory: Path, monkeypatch: pytest.MonkeyPatch, stop_at, phases
):
    monkeypatch.setattr("schedlab.site.real_slurm.run", FakeSlurm(stop_at))
    monkeypatch.setattr("schedlab.site.real_slurm.installed_version", lambda *_: "22.05.8")
    seen = []
    found = confirm(read(directory), [SAME], phases=3, progress=seen.append)
    assert found.phases == phases
    assert ("interrupted" in " ".join(found.notes)) is (stop_at is not None)
    assert [one.run for one in seen] == sorted(one.run for one in seen)
    assert seen[0].left is None
    assert seen[-1].runs == 6
    assert all(one.left >= 0 for one in seen[3:])


@pytest.mark.usefixtures("plain")
def test_without_one_run_of_a_variant_there_is_nothing_to_compare(directory: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("schedlab.site.real_slurm.run", FakeSlurm(2))
    monkeypatch.setattr("schedlab.site.real_slurm.installed_version", lambda *_: "22.05.8")
    with pytest.raises(InputError, match=r"interrupted after .*: 1 of 6 runs .* take a smaller --part"):
        confirm(read(directory), [SAME], phases=3)


@pytest.mark.usefixtures("plain")
def test_when_the_time_is_up_what_has_run_counts(directory: Path, monkeypatch: pytest.MonkeyPatch):
    slurm = FakeSlurm(seconds=0.3)
    monkeypatch.setattr("schedlab.site.real_slurm.run", slurm)
    monkeypatch.setattr("schedlab.site.real_slurm.installed_version", lambda *_: "22.05.8")
    late = Variant("late", ("PriorityWeightAge=1",))
    found = confirm(read(directory), [SAME, late], phases=50, seconds=1.1)
    assert slurm.runs < 150
    assert "the time was up after" in found.notes[-1]
    assert all(1 <= len(one.real) == len(one.twin) <= 50 for one in found.confirmed)


class SlowSlurm:
    """Stands for a laboratory whose every run takes eight minutes by a clock of its own; most jobs end late."""

    DONE = (0.02, 0.15, 0.3, 1.0)
    """Shares of the jobs that have ended after each quarter."""

    def __init__(self) -> None:
        self.now, self.runs, self.jobs = 0.0, 0, 100

    def __call__(self, jobs, *, progress, **_):
        self.runs += 1
        for done in self.DONE:
            self.now += 120
            progress(round((1 - done) * len(jobs)), 0.0)
        return FakeSlurm()(jobs, progress=lambda *_: None)


def slow_slurm(monkeypatch: pytest.MonkeyPatch) -> SlowSlurm:
    slurm = SlowSlurm()
    monkeypatch.setattr("schedlab.site.real_slurm.run", slurm)
    monkeypatch.setattr("schedlab.site.real_slurm.time.monotonic", lambda: slurm.now)
    monkeypatch.setattr("schedlab.site.real_slurm.installed_version", lambda *_: "22.05.8")
    return slurm


@pytest.fixture
def many(directory: Path) -> Path:
    """A site with a hundred short jobs."""
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number in range(100):
        at = f"2026-04-01T{10 + number // 60}:{number % 60:02d}"
        lines.append(f"{number + 1}|ann|COMPLETED|{at}:10|{at}:10|{at}:40|5|1|batch")
    (directory.parent / "many.txt").write_text("\n".join(lines))
    return import_site(directory.parent / "slurm.conf", directory.parent / "many.txt").save(directory.parent / "many")


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("minutes", "stopped", "runs"),
    [
        (5, 4, 1),  # 15 % after 4 minutes: 27 in all, if not a quarter of that; two of these are 13
        (12, 4, 1),
        (14, 10, 2),  # the first one has taken 8 minutes, and another one of 6.4 ends after 14 ...
        (17, None, 2),  # ... but not after 17
    ],
)
def test_runs_are_given_up_as_soon_as_no_two_of_them_can_end(many: Path, monkeypatch, minutes, stopped, runs):
    slurm = slow_slurm(monkeypatch)
    site = read(many)
    if stopped is None:
        assert confirm(site, [SAME], phases=1, seconds=60 * minutes).phases == 1
    else:
        with pytest.raises(InputError, match=rf"no two runs .* within {minutes} min, .*--confirm-for \d+m may do"):
            confirm(site, [SAME], phases=1, seconds=60 * minutes)
        assert slurm.now == 60 * stopped
    assert slurm.runs == runs


@pytest.mark.usefixtures("plain")
def test_time_left_is_not_guessed_from_the_first_jobs(many: Path, monkeypatch: pytest.MonkeyPatch):
    """At 2 % and 2 minutes, that would be 100 minutes a run, and at 15 % and 4 minutes it is 27; one takes 8."""
    slow_slurm(monkeypatch)
    seen = []
    confirm(read(many), [SAME], phases=1, progress=seen.append)
    assert [one.done for one in seen[:4]] == pytest.approx(SlowSlurm.DONE)
    assert seen[0].left is None
    assert seen[1].left == pytest.approx(240 / 0.15 * 2 - 240)


@pytest.mark.usefixtures("plain")
def test_a_confirmation_that_did_not_come_about_is_told_on_the_page_and_to_programs_and_schedules_are_written(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("schedlab.site.real_slurm.run", FakeSlurm(1))  # Ctrl-C in the first run
    for module in ("schedlab.site.real_slurm", "schedlab.slurm.installation"):
        monkeypatch.setattr(f"{module}.installed_version", lambda *_: "22.05.8")
    page, schedules = directory.parent / "answer.html", directory.parent / "schedules"
    words = ["site", "what-if", str(directory), "--set", SHORT, "-j", "1", "--confirm", "1", "--json"]
    monkeypatch.setattr("sys.argv", ["schedlab", *words, "--report", str(page), "-o", str(schedules)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer["confirmation"] is None
    assert answer["not_confirmed"].startswith("interrupted after")
    assert "0 of " in err
    assert "this answer is not confirmed by it: interrupted after" in page.read_text()
    assert (schedules / "as-it-is.parquet").is_file()
    assert (schedules / "best.parquet").is_file()


@pytest.mark.usefixtures("plain")
def test_a_variant_that_kills_jobs_is_confirmed_beside_the_site_without_that_work(
    directory: Path, monkeypatch: pytest.MonkeyPatch
):
    slurm = FakeSlurm()
    monkeypatch.setattr("schedlab.site.real_slurm.run", slurm)
    monkeypatch.setattr("schedlab.site.real_slurm.installed_version", lambda *_: "22.05.8")
    found = confirm(
        read(directory), [Variant("short", (SHORT,)), Variant("in pieces", (SHORT,), long="split")], phases=1
    )
    assert slurm.runs == 4  # as it is, as it is without the work, killed, in pieces
    short, pieces = found.confirmed[1:]
    # One after the other: 20, 30 and 5 minutes; with a limit of 15, they end at 15, 30 and 35.
    assert short.before is not None
    assert short.before.real.tolist() == short.real.tolist() == [[0, 14 * 60, 28 * 60]]
    # The second pieces come behind the first ones of the others: 0-15, 15-30, 30-35, then 5 and 15 minutes more.
    assert pieces.before is None
    assert pieces.real.sum() > found.confirmed[0].real.sum()
    assert "compared without the work" in str(found)
    assert len(found.jobs) == 3


def asked(directory: Path, *words: str, until: str, pause: int = 3) -> tuple[int, str, str]:
    """Ask the program to confirm longer jobs in pieces, and press Ctrl-C some seconds behind a line on stderr."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored in the background
    command = [sys.executable, "-m", "schedlab", "site", "what-if", str(directory), "--set", SHORT, "--long", "split"]
    with subprocess.Popen(
        [*command, "--processors-only", "-j", "1", "--confirm", "1", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if until and until in line:
                time.sleep(pause)
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does it, to all processes
                break
        out, err = process.communicate(timeout=120)
    return process.returncode, out, "".join([*said, err])


def with_some_runs(ask: Callable[[int], tuple[int, str, str]]) -> tuple[int, str, str]:
    """Return what is said when some runs have ended, which takes longer on a busy host: asked with a longer pause."""
    answers = (ask(pause) for pause in (3, 12, 40))
    return next(one for one in answers if one[0] == 0)


@pytest.mark.slow
def test_the_real_daemon_runs_chains_of_pieces_and_gives_what_it_has_when_it_is_stopped(directory: Path):
    """Jobs of 20, 30 and 5 minutes on the whole machine, one after the other, in pieces of 15 minutes.

    The second piece of a job stands in front of the jobs behind it, so that they wait 0, 19 and 48 minutes, as whole.
    """
    try:
        installed_version()
    except InputError as error:
        pytest.skip(str(error))
    found = confirm(read(directory), [Variant("in pieces", (SHORT,), long="split")], phases=2, nodes=False)
    pieces = found.confirmed[1]
    assert (pieces.variant.name, found.failures, found.phases) == ("in pieces", (), 2)
    for waits in (pieces.twin, pieces.real):
        assert np.all((waits >= 60 * np.array([0, 19, 48])) & (waits <= 60 * np.array([0, 19, 48]) + 40))
    # A run takes a second, or many on a busy host: a thousand of them are stopped by the clock, or by the user.
    many = partial(asked, directory, "--phases", "500")
    _, out, err = with_some_runs(lambda pause: many("--confirm-for", f"{15 * pause}s", until=""))
    assert ("on the real Slurm" in out, "3 jobs in" in out) == (True, True)
    assert re.search(r"the time was up after .* of 1,000 runs on the real Slurm had ended", err)
    _, out, err = with_some_runs(lambda pause: many(until="the real Slurm now runs", pause=pause))
    assert ("on the real Slurm" in out, "Traceback" in err) == (True, False)
    assert re.search(r"interrupted after .* of 1,000 runs on the real Slurm had ended", err)
