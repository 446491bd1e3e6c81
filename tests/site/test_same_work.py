"""Both sides of a comparison have the same jobs and the same work, and no variant gains by what it does not do."""

from __future__ import annotations

import json

import numpy as np
import pytest

from schedlab.cli import main
from schedlab.errors import InputError
from schedlab.report import variants as page
from schedlab.site import import_site
from schedlab.site.effect_bounds import effect_bounds
from schedlab.site.effect_texts import effects_text, waits_heads
from schedlab.site.effects import Effect, effects
from schedlab.site.log_end import after_the_log
from schedlab.site.main_user import main_user
from schedlab.site.ranking import rank_variants
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Paired, Sweep
from schedlab.site.time_limits import KILLED, LEFT_OUT, SPLIT
from schedlab.site.tuning import search_parameters
from schedlab.site.variants import AS_IT_IS, Variant, grid, read_variants
from schedlab.site.wait_text import wait_text

CONF = """ClusterName=lab
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=1-0
"""
SHORT = "PartitionName=batch MaxTime=1:00:00"


@pytest.fixture
def directory(tmp_path):
    """A day of jobs of an hour or less that ask for two, among them one in five of six hours that asks for ten."""
    (tmp_path / "slurm.conf").write_text(CONF)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number in range(60):
        long = number % 5 == 0
        submit = f"2026-04-01T{number // 3:02d}:{20 * (number % 3):02d}:00"
        begin = 24 * 60 + 10 * number
        end = begin + (360 if long else 20 + 7 * (number % 6))
        start, ended = (f"2026-04-{1 + at // 1440:02d}T{at % 1440 // 60:02d}:{at % 60:02d}:00" for at in (begin, end))
        user, asked, size = ("bob", 600, 4) if long else ("ann", 120, 2)
        lines.append(f"{number + 1}|{user}|COMPLETED|{submit}|{start}|{ended}|{asked}|{size}|batch")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt").save(tmp_path / "site")


def test_a_job_that_has_its_node_alone_counts_with_all_cores_of_it(tmp_path):
    """A job asks for two of four cores, has the node alone, runs 12 hours, and is killed after six."""
    (tmp_path / "slurm.conf").write_text(CONF.replace("Default=YES", "Default=YES OverSubscribe=EXCLUSIVE"))
    times = "2026-04-01T00:00:00|2026-04-01T00:00:00"
    head = "JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"
    lines = [head, f"1|ann|COMPLETED|{times}|2026-04-01T12:00:00|1440|2|batch"]
    (tmp_path / "jobs.txt").write_text("\n".join([*lines, f"2|bob|COMPLETED|{times}|2026-04-01T06:00:00|360|4|batch"]))
    site = import_site(tmp_path, tmp_path / "jobs.txt").save(tmp_path / "site")
    sweep, variant = Sweep(site), Variant("x", ("PartitionName=batch MaxTime=6:00:00",))
    sweep.run([variant], workers=1)
    found = rank_variants(sweep, [variant], [SiteSample()])
    every = found.best.every
    assert every is not None
    assert (every.killed_hours, every.undone_hours, every.hours) == (24, 24, 72)
    assert found.best.utilisation == 1  # both nodes are busy for six hours
    as_it_is = next(one for one in found.ranked if one.variant.name == AS_IT_IS)
    assert as_it_is.utilisation == 0.75


VARIANTS = {
    "killed": Variant("killed", (SHORT,)),
    "split": Variant("split", (SHORT,), long="split"),
    "left out": Variant("left out", (SHORT,), long="drop"),
    "dropped": Variant("dropped", ("PartitionName=batch MaxTime=3:00:00",), requests="drop", load=1.2),
    "fewer nodes": Variant("fewer nodes", ("PartitionName=batch Nodes=n1",)),
}


@pytest.fixture
def sweep(directory):
    found = Sweep(directory, nodes=False)
    found.run(VARIANTS.values(), workers=1)
    assert not found.failures
    return found


@pytest.mark.parametrize(
    ("name", "jobs", "hours_undone"),
    [("killed", 60, 12 * 5), ("split", 60, 0), ("left out", 48, 12 * 6), ("fewer nodes", 60, 0)],
)
def test_both_sides_have_the_same_jobs_and_the_same_work(sweep, name, jobs, hours_undone):
    base, other = sweep.pair(VARIANTS[name])
    assert base.rows.tolist() == other.rows.tolist()
    assert len(base.schedule) == len(other.schedule) == jobs
    assert base.schedule.run_time.tolist() == other.schedule.run_time.tolist()
    assert base.schedule.workload.job_id.tolist() == other.schedule.workload.job_id.tolist()
    assert other.undone.sum() == 3600 * hours_undone


@pytest.mark.parametrize("name", ["killed", "left out"])
def test_what_is_said_of_the_site_as_it_is_is_of_all_its_work(sweep, name):
    """Without the long jobs, both sides drain earlier."""
    whole = sweep.answer(Variant(AS_IT_IS)).schedule
    found = rank_variants(sweep, [VARIANTS[name]], [SiteSample()])
    assert found.grounds.after_the_log == after_the_log(whole)
    assert found.grounds.after_the_log != after_the_log(sweep.pair(VARIANTS[name]).base.schedule)
    assert found.grounds.main_user == main_user([whole])


def test_a_variant_of_another_load_is_compared_with_the_site_as_it_is_at_that_load(directory):
    """The same order of the queue at 1.5 times the load is no change; more load alone is one, and so is the order."""
    same, busier = (
        Variant("same", ("PartitionName=batch MaxTime=1-0",), load=1.5),
        Variant("busier", load=1.5),
    )
    short = Variant("short", (SHORT,), load=1.5)
    sweep = Sweep(directory, nodes=False)
    # The three, the site as it is, as it is at 1.5 times the load (which is "busier"), and that with less work.
    assert sweep.run([same, busier, short], workers=1) == 5
    base, other = sweep.pair(same)
    assert base.schedule.start_time.tolist() == other.schedule.start_time.tolist()
    span = np.ptp(base.schedule.workload.submit_time)
    assert span == pytest.approx(59 * 1200 / 1.5, abs=2)
    base, other = sweep.pair(busier)
    assert np.ptp(base.schedule.workload.submit_time) == 59 * 1200
    base, other = sweep.pair(short)
    assert base.schedule.run_time.tolist() == other.schedule.run_time.tolist()
    assert base.schedule.workload.submit_time.tolist() == other.schedule.workload.submit_time.tolist()
    ranking = rank_variants(sweep, [same, busier], [SiteSample()])
    assert {one.variant.name: one.unchanged for one in ranking.changed} == {"same": True, "busier": False}


def test_the_site_as_it_is_runs_once_for_all_variants_that_leave_the_same_work(directory):
    sweep = Sweep(directory, nodes=False)
    # Three variants, the site as it is with all work, and with that of the two that kill the same jobs.
    variants = [VARIANTS["killed"], Variant("and saf", (SHORT,), "saf"), VARIANTS["split"]]
    assert sweep.run(variants, workers=1) == 5
    assert sweep.run(variants, workers=1) == 0
    assert sweep.run([*variants, Variant("and laf", (SHORT,), "laf")], workers=1) == 1


def test_several_processes_give_what_one_gives(directory, tmp_path, sweep):
    other = Sweep(directory, nodes=False, answers=tmp_path / "other")
    assert other.run([VARIANTS["killed"]], workers=2) == 3
    for one, same in zip(sweep.pair(VARIANTS["killed"]), other.pair(VARIANTS["killed"]), strict=True):
        assert one.schedule.start_time.tolist() == same.schedule.start_time.tolist()


def test_nothing_ranks_first_because_it_drops_or_kills_jobs(sweep):
    found = rank_variants(sweep, list(VARIANTS.values()), [SiteSample()])
    names = [one.variant.name for one in found.ranked]
    assert set(names[:3]) == {AS_IT_IS, "split", "fewer nodes"}
    assert set(names[3:]) == {"killed", "left out", "dropped"}
    lossy = [one for one in found.ranked if not one.same_work]
    base = next(one for one in found.ranked if one.variant.name == AS_IT_IS)
    assert all(one.mean_wait < base.mean_wait for one in lossy)  # they would rank first
    assert all(one.mean_wait_before < base.mean_wait for one in lossy)
    text = str(found)
    assert "less work and is not ranked" in text
    assert found.best.variant.name in ("split", "fewer nodes")


def test_the_page_says_that_variants_are_in_the_order_of_the_work_that_they_leave(sweep):
    """The fewest hours of waiting are those of a variant that leaves work, which stands last."""
    found = rank_variants(sweep, [Variant(AS_IT_IS), VARIANTS["killed"], VARIANTS["left out"]], [SiteSample()])
    undone = [one.undone for one in found.ranked]
    assert undone == sorted(undone)
    assert undone[-1] > 0
    assert min(found.ranked, key=lambda one: one.mean_wait) is not found.ranked[0]
    assert "Those that leave least work undone first; none is known to be better" in page.render_ranking(sweep, found)


def test_who_loses_work_never_wins_and_who_does_not_is_judged_as_ever(sweep):
    found = {(one.kind, one.group): one for one in effects([sweep.pair(VARIANTS["killed"])])}
    assert found["all", "all jobs"].verdict in ("less work", "pays")
    assert not found["all", "all jobs"].same_work
    assert found["user", "ann"].same_work
    assert ("user", "bob") not in found  # fewer than 30 jobs
    today = sweep.answer(Variant(AS_IT_IS))
    beside = {(one.kind, one.group): one for one in effects([sweep.pair(VARIANTS["killed"])], [today])}
    ann = np.arange(60) % 5 > 0
    assert beside["user", "ann"].today == pytest.approx(today.schedule.wait_time[ann].mean())
    assert beside["user", "ann"].before == found["user", "ann"].before < beside["user", "ann"].today
    assert waits_heads([*beside.values()]) == ["wait today", "as it is, same work"]
    assert found["user", "ann"].today is None
    split = {(one.kind, one.group): one for one in effects([sweep.pair(VARIANTS["split"])])}
    assert split["all", "all jobs"].same_work
    base, other = sweep.pair(VARIANTS["split"])
    pieces = other.fate == SPLIT
    waits = [side.schedule.wait_time[rows].mean() for rows in (pieces, ~pieces) for side in (other, base)]
    told = "the 12 jobs in pieces wait {} for all of these, {} as it is; all others {}, {} as it is"
    found = effect_bounds(sweep, VARIANTS["split"], [Paired(base, other)])
    assert found.cautions[0] == told.format(*map(wait_text, waits))  # type: ignore[attr-defined]


def test_that_less_work_makes_some_wait_longer_is_told_with_the_wait_of_today():
    every = Effect("all", "all jobs", 90, 60.0, 50.0, None, same_work=False, today=3600.0)
    longer = Effect("QOS", "high", 40, 3150.0, 3140.0, (-20.0, 30.0), today=330.0)
    assert "QOS high 52.5 min instead of 5.5 min without the work of jobs that are killed" in effects_text(
        [every, longer]
    )
    shorter = Effect("QOS", "high", 40, 330.0, 320.0, (-20.0, 30.0), today=3150.0)
    assert "instead of" not in effects_text([every, shorter])


def test_different_jobs_are_not_compared(sweep):
    base, other = sweep.answer(Variant(AS_IT_IS)), sweep.answer(VARIANTS["left out"])
    with pytest.raises(InputError, match="different jobs"):
        effects([Paired(base, other)])


def test_what_became_of_each_job_is_kept(sweep):
    long = np.arange(60) % 5 == 0
    for name, fate in (("killed", KILLED), ("split", SPLIT), ("left out", LEFT_OUT)):
        assert (sweep.answer(VARIANTS[name]).fate == fate).tolist() == long.tolist()


def test_a_job_in_pieces_has_runs_and_waits_for_all_of_them(sweep):
    answer = sweep.answer(VARIANTS["split"])
    runs = np.bincount(answer.schedule.runs["job"], minlength=60)
    assert runs.tolist() == [6 if number % 5 == 0 else 1 for number in range(60)]
    last = answer.schedule.runs[answer.schedule.runs["job"] == 0][-1]
    job = answer.schedule
    assert job.end_time[0] == last["end"]
    assert job.wait_time[0] == last["end"] - job.workload.submit_time[0] - 6 * 3600


def test_a_search_chooses_no_variant_that_leaves_work(directory):
    sweep = Sweep(directory, nodes=False)
    axes = {"PartitionName=batch MaxTime": ["1:00:00", "12:00:00"]}
    found = search_parameters(sweep, axes, workers=1)
    assert [one.name for one in found.less_work] == ["partition batch MaxTime=1:00:00"]
    assert found.best.name != "partition batch MaxTime=1:00:00"
    assert "Not chosen" in " ".join(found.sentences())
    split = search_parameters(sweep, axes, workers=1, long="split")
    assert split.less_work == ()
    assert f"What follows is of {split.judged_on.text} alone." in split.sentences()


def test_variants_say_what_becomes_of_long_jobs_in_files_grids_and_options(tmp_path):
    file = tmp_path / "variants.toml"
    file.write_text(
        '[[variant]]\nname = "a"\nset = ["x=1"]\nlong = "split"\n'.replace("x=1", SHORT) + "[over]\nload=[2]\n"
    )
    first, second = read_variants(file, requests="drop", long="drop")
    assert (first.requests, first.long, second.requests, second.long) == ("drop", "split", "drop", "drop")
    ways = grid({"PartitionName=batch MaxTime": ["60"], "long": ["killed", "split"]})
    assert [(one.name, one.long) for one in ways] == [
        ("partition batch MaxTime=60, long=killed", "killed"),
        ("partition batch MaxTime=60, long=split", "split"),
    ]
    with pytest.raises(InputError, match="must be one of killed, split, drop"):
        Variant("x", (SHORT,), long="shot")


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["schedlab", "site", "what-if", *map(str, arguments), "--processors-only"])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code or 0


@pytest.mark.parametrize("long", ["killed", "split", "drop"])
def test_a_part_of_the_log_with_shorter_limits_has_a_table_and_a_page(directory, tmp_path, capsys, monkeypatch, long):
    report = tmp_path / "r.html"
    options = ["--part", "0-60", "--long", long, "-j", "1", "--report", report]
    assert run(monkeypatch, directory, "--over", SHORT, *options) == 0
    answer = capsys.readouterr()
    assert "whose jobs it changes" in answer.out
    head = {"killed": "Killed", "split": "In pieces", "drop": "Cannot run"}[long]
    page = report.read_text(encoding="utf-8")
    assert ": whose jobs it changes</h2>" in page
    assert f">{head}<" in " ".join(page.split())
    assert ("as it is, same work" in page) is (long != "split")


def test_the_json_counts_who_could_not_run(directory, capsys, monkeypatch):
    assert run(monkeypatch, directory, "--over", SHORT, "-j", "1", "--json") == 0
    found = json.loads(capsys.readouterr().out)["variants"]
    users = {one["group"]: one for one in found[-1]["affected"] if one["kind"] == "user"}
    assert (users["bob"]["killed"], users["bob"]["undone_hours"]) == (12, 12 * 5 * 4)


def test_a_page_that_fails_does_not_cost_the_answer(directory, tmp_path, capsys, monkeypatch):
    def fails(*_, **__):
        raise IndexError("index 1907 is out of bounds")

    monkeypatch.setattr(page, "render_ranking", fails)
    assert run(monkeypatch, directory, "--over", SHORT, "-j", "1", "--report", tmp_path / "r.html") == 1
    answer = capsys.readouterr()
    assert "as it is" in answer.out
    assert "the page could not be made" in " ".join(answer.err.split())
    assert "Traceback" not in answer.err
    assert not (tmp_path / "r.html").exists()
