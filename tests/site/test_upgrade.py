"""What an upgrade of Slurm changes at a site: its lines on paper, its jobs in the twin, and the rules that do it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.cli import main
from schedlab.errors import InputError
from schedlab.report.upgrade import render_upgrade
from schedlab.scheduler.slurm_versions import RULES, differing
from schedlab.site import import_site, read, what_if
from schedlab.site.real_slurm import confirm
from schedlab.site.slurm_defaults import changed_defaults, changed_select, remedies, site_under
from schedlab.site.sweep import Sweep
from schedlab.site.upgrade import Upgrade, upgrade
from schedlab.site.upgrade_lines import concerns, on_paper
from schedlab.site.variants import Variant
from schedlab.slurm.installation import installed_version
from schedlab.slurm.judgement import Refusal

CONF = """ClusterName=lab
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
NodeName=n[1-4] CPUs=1 RealMemory=1000
PartitionName=batch Nodes=n[1-4] Default=YES MaxTime=60
"""
JOBS = [(10, 900, 3, 30), (20, 300, 2, 5), (307, 60, 1, 5)]
"""Second of submission, seconds, processors, minutes asked for: "rest on busy nodes" of slurm-by-hand.json.

An unmodified slurmctld 22.05.8 starts the last one at 307, at once, as its backfill passes rest; 24.11.5 and 26.05.5
start it at 310, with the next of the passes that go on every 30 s.
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No Slurm is here, but where a test says so."""
    monkeypatch.setattr("schedlab.site.upgrade_lines.refusals", refusals_of({}))


def refusals_of(said):
    """Return programs of the versions that say so of any configuration; the other versions are not here."""

    def refusals(files, version):
        if version not in said:
            raise InputError(f"Slurm {version} is neither installed nor fetched")
        return [Refusal(*one) for one in said[version]]

    return refusals


def site_of(tmp_path, conf=CONF, jobs=JOBS, **options):
    (tmp_path / "slurm.conf").write_text(conf)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"]
    for number, (second, length, size, limit) in enumerate(jobs, 1):
        begin, end = (f"2026-04-01T10:{at // 60:02d}:{at % 60:02d}" for at in (second, second + length))
        lines.append(f"{number}|ann|COMPLETED|{begin}|{begin}|{end}|{limit}|{size}|batch")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt" if jobs else None, **options)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return site_of(tmp_path).save(tmp_path / "site")


def starts(found: Upgrade, variant: Variant) -> list[int]:
    answer = found.sweep.answer(variant, found.ranking.samples[0])
    return (answer.schedule.start_time - answer.schedule.workload.submit_time[0] + 10).tolist()


@pytest.mark.parametrize("new", ["24.11", "26.05"])
def test_a_newcomer_waits_for_the_next_pass_as_on_the_real_slurm_and_one_rule_is_named(directory, new):
    found = upgrade(directory, new, old="22.05", copies=1, workers=1)
    assert starts(found, Variant("as it is")) == [10, 911, 307]
    assert starts(found, found.variant) == [10, 911, 310]
    assert [one.rule.name for one in found.rules if one.acts] == ["passes_rest"]
    [rest] = [one for one in found.rules if one.acts]
    assert starts(found, rest.alone.variant) == [10, 911, 310]
    told = found.sentences()
    assert (
        f"Of {len(found.rules)} rules, 1 moves jobs if taken alone: passes_rest (mean wait +1 s, perhaps by chance)."
        in told
    )
    assert "\npasses_rest: 22.05: After a backfill pass that has changed nothing" in str(found)


def test_from_24_11_no_rule_that_is_left_moves_a_job(directory):
    found = upgrade(directory, "26.05", old="24.11", copies=1, workers=1)
    assert starts(found, Variant("as it is")) == [10, 911, 310]
    assert found.ranking.best.unchanged
    assert [one.rule.name for one in found.rules] == ["own_ends", "first_for_one"]
    assert found.others == ["exempt_from_suspension", "caps_count_all"]
    assert "None of 2 rules that differ moves a job here." in found.sentences()
    assert "2 other rules concern options that the site does not use." in found.sentences()


def test_a_site_follows_the_rules_of_the_slurm_that_it_runs(tmp_path):
    site = site_of(tmp_path, slurm="25.05.3")
    assert "version=24.11" in site.settings.scheduler
    assert "version=22.05" in site_of(tmp_path, slurm="23.11").settings.scheduler
    assert "version" not in site_of(tmp_path).settings.scheduler


def test_answers_of_versions_are_kept_apart_and_read_again(directory):
    first = upgrade(directory, "24.11", old="22.05", copies=1, workers=1)
    files = {path.name for path in (directory / "what-if").iterdir()}
    again = upgrade(directory, "24.11", old="22.05", copies=1, workers=1)
    assert {path.name for path in (directory / "what-if").iterdir()} == files
    assert again.to_document() == first.to_document()
    other = Sweep(directory, slurm="24.11")
    assert other.answer(Variant("as it is")) is None  # the one that is there follows other rules


OLD = """ClusterName=lab
SelectType=select/cons_res
SelectTypeParameters=CR_Core_Memory,OTHER_CONS_TRES
PowerPlugin=power/none
GetEnvTimeout=5
SlurmctldPlugstack=none
SchedulerParameters=preempt_youngest_first,assoc_limit_stop
CacheGroups=0
UnkillableStepTimeout=90
NodeName=n[1-4] CPUs=1 RealMemory=1000
PartitionName=a Nodes=n[1-4] MaxMemPerCPU=100
PartitionName=b Nodes=n[1-4] MaxMemPerCPU=200 MaxCPUsPerNode=1
"""


def told(paper, how):
    return [(one.place, one.text) for one in paper.of(how)]


def test_every_line_that_changes_is_named_with_what_to_write_instead(tmp_path):
    paper = on_paper(site_of(tmp_path, OLD, ()), "22.05", "26.05")
    assert told(paper, "refused") == [
        ("slurm.conf:2", "select/cons_res"),
        ("slurm.conf:3", "OTHER_CONS_TRES"),
        ("slurm.conf:6", "SlurmctldPlugstack=none"),
        ("slurm.conf:8", "CacheGroups=0"),
    ]
    assert [one.takes for one in paper.of("refused")] == ["24.05 or earlier"] * 3 + ["21.08 or earlier"]
    assert paper.of("refused")[0].instead.startswith("select/cons_tres")
    assert told(paper, "not read") == [("slurm.conf:4", "PowerPlugin=power/none"), ("slurm.conf:5", "GetEnvTimeout=5")]
    assert told(paper, "elsewhere") == [("slurm.conf:7", "preempt_youngest_first")]
    assert told(paper, "default") == [("", "PriorityType"), ("", "TreeWidth")]
    rules = {one.instead.partition(" (")[2].partition(";")[0] for one in paper.of("otherwise")}
    assert rules == {"licenses_stop", "memory_cores"}
    assert ("slurm.conf:11 and 1 more", "MaxMemPerCPU=100") in told(paper, "otherwise")
    assert paper.clause == "Slurm 26.05 does not start with select/cons_res (slurm.conf:2) and 3 other options"
    assert "slurm.conf:5: GetEnvTimeout=5: take it out" in paper.listed()


def test_what_only_the_last_version_changes_is_not_told_of_the_one_before(tmp_path):
    site = site_of(tmp_path, OLD, ())
    first, second = on_paper(site, "22.05", "24.11"), on_paper(site, "24.11", "26.05")
    assert told(first, "not read") == [("slurm.conf:4", "PowerPlugin=power/none")]
    assert told(second, "not read") == [("slurm.conf:5", "GetEnvTimeout=5")]
    assert not second.of("default")
    # MaxCPUsPerNode counts cores of other partitions in 24.11 alone: it changes with both upgrades.
    for paper in (first, second):
        assert ("slurm.conf:12", "MaxCPUsPerNode=1") in told(paper, "otherwise")
    assert "requeue_delay (SchedulerParameters)" in second.added
    assert "PreemptParameters" in first.added
    assert "PreemptParameters" not in second.added


def test_a_version_that_is_here_is_quoted_and_may_refuse_what_no_table_has(tmp_path, monkeypatch):
    site = site_of(tmp_path, OLD, ())
    said = [("slurm.conf:6", "SlurmctldPlugstack", "unrecognized key: SlurmctldPlugstack")]
    said += [("slurm.conf:9", "UnkillableStepTimeout", "bad value"), ("", "", "ClusterName is missing")]
    monkeypatch.setattr("schedlab.site.upgrade_lines.refusals", refusals_of({"24.11": said}))
    paper = on_paper(site, "22.05", "24.11")
    assert ("slurm.conf:9", "UnkillableStepTimeout") in told(paper, "refused")
    assert 'take it out; it says "unrecognized key: SlurmctldPlugstack"' in paper.listed()
    assert '"ClusterName is missing"' in paper.listed()
    # What the older version says of the files as well is not of the upgrade.
    both = {"24.11": said, "22.05": [("", "", "ClusterName is missing")]}
    monkeypatch.setattr("schedlab.site.upgrade_lines.refusals", refusals_of(both))
    assert "ClusterName is missing" not in on_paper(site, "22.05", "24.11").listed()


def test_a_configuration_that_is_taken_is_said_to_be_and_by_whom(tmp_path, monkeypatch):
    site = site_of(tmp_path)
    assert on_paper(site, "22.05", "26.05").clause.endswith("(as far as is known on paper)")
    monkeypatch.setattr("schedlab.site.upgrade_lines.refusals", refusals_of({"26.05": []}))
    assert on_paper(site, "22.05", "26.05").clause.endswith(
        "takes the configuration as it is (its own programs read it)"
    )


def test_defaults_that_change_are_changed_in_the_twin_where_nothing_is_set(tmp_path):
    conf = CONF.replace("PriorityType=priority/multifactor\n", "PriorityWeightJobSize=1000\n")
    basic = site_of(tmp_path, conf, slurm="22.05")
    assert "size=1000" not in basic.settings.scheduler
    assert changed_defaults(basic, "22.05", "24.11") == ("PriorityType=priority/multifactor",)
    assert "size=1000" in site_under(basic, "24.11").settings.scheduler
    assert "size=1000" not in site_under(basic, "22.05").settings.scheduler
    found = upgrade(basic.save(tmp_path / "site"), "24.11", old="22.05", copies=1, workers=1)
    assert "PriorityType" in [one.rule.name for one in found.rules]
    assert not changed_defaults(site_of(tmp_path), "22.05", "26.05")


def test_nodes_that_were_whole_by_default_are_shared_after_an_upgrade(tmp_path):
    """Two jobs of one core, for a node of two: one after the other up to Slurm 23.02, both at once since 23.11."""
    bare = CONF.replace("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n", "")
    bare = bare.replace("n[1-4] CPUs=1 RealMemory=1000", "n1 CPUs=2 RealMemory=1000").replace("n[1-4]", "n1")
    bare = bare.replace("MaxTime=60", "MaxTime=60 DefMemPerCPU=100")
    site = site_of(tmp_path, bare, [(0, 600, 1, 30), (10, 600, 1, 30)])
    assert changed_select(site, "22.05", "26.05") == (
        "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core_Memory",
    )  # fmt: skip
    assert site_under(site, "22.05").cluster.partitions[0].exclusive
    assert not site_under(site, "26.05").cluster.partitions[0].exclusive
    found = upgrade(site.save(tmp_path / "site"), "26.05", old="22.05", copies=1, workers=1)
    alone = {one.rule.name: one.alone for one in found.rules}["SelectType"]
    assert alone.mean_wait_before == pytest.approx(295, abs=5)  # 0 s, and from 10 s to the first one's end at 600 s
    assert alone.mean_wait == pytest.approx(0, abs=5)
    assert "SelectType" in [one.text for one in found.paper.of("default")]
    assert changed_select(site_of(tmp_path), "22.05", "26.05") == ()


def test_what_would_not_start_is_replaced_for_the_run(tmp_path):
    site = site_of(tmp_path, OLD, ())
    assert remedies(site, "26.05") == ("SelectType=select/cons_tres", "SelectTypeParameters.OTHER_CONS_TRES=")
    assert remedies(site, "22.05") == ()


OF_ANY_NODES = ("least_leave_in_turn", "usable_cores_count", "first_for_one")
"""Rules about nodes that need no option."""


def test_rules_are_asked_for_only_where_a_line_is_about_them(tmp_path):
    site = site_of(tmp_path, CONF)
    assert {name for name, rule in RULES.items() if concerns(site, rule)} == {
        "passes_rest", "searches_whole_plan", "own_ends", *OF_ANY_NODES,
    }  # fmt: skip
    stopping = site_of(tmp_path, CONF + "SchedulerParameters=assoc_limit_stop\nPreemptExemptTime=60\n")
    assert {name for name, rule in RULES.items() if concerns(stopping, rule)} == {
        "passes_rest", "searches_whole_plan", "own_ends", "licenses_stop", "exempt_from_suspension",
        *OF_ANY_NODES,
    }  # fmt: skip


def test_a_site_without_jobs_is_told_of_on_paper(tmp_path):
    found = upgrade(site_of(tmp_path, OLD, ()).save(tmp_path / "site"), "26.05")
    assert found.sentences()[0].startswith("Slurm 26.05 does not start with select/cons_res (slurm.conf:2)")
    assert found.sentences()[-1] == "The site has no jobs: nothing was simulated."
    assert found.to_document()["answer"] is None
    with pytest.raises(InputError, match="has no jobs"):
        render_upgrade(found)


@pytest.fixture
def command(monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["schedlab", "site", "upgrade", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "22.05", "--to", "22.05.8"], "both are the same"),
        (["--from", "26.05", "--to", "24.11"], "an upgrade goes to a newer version"),
        (["--from", "22.05", "--to", "23.11"], "--to '23.11': known are the rules of Slurm 22.05, 24.11, 26.05"),
        (["--from", "new", "--to", "24.11"], "--from 'new': known are"),
        (["--to", "24.11"], "which Slurm the site runs is not known: give it, such as --from 22.05"),
        (["--from", "22.05", "--to", "24.11", "--report", "up.txt"], "a report is written as .html"),
        (["--from", "22.05", "--to", "24.11", "--part", "x"], "part"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(directory, command, words, said):
    code, printed = command(directory, *words)
    assert code == 1
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_a_page_or_a_run_needs_jobs(tmp_path, command):
    site = site_of(tmp_path, OLD, ()).save(tmp_path / "site")
    for words in (["--confirm"], ["--report", tmp_path / "up.html"]):
        code, printed = command(site, "--to", "26.05", *words)
        assert (code, "has no jobs, which --report and --confirm need" in printed.err) == (1, True)


def test_the_answer_is_printed_as_text_json_and_page(directory, command, tmp_path):
    page = tmp_path / "up.html"
    words = [directory, "--from", "22.05", "--to", "26.05", "--copies", "1", "-j", "1"]
    code, printed = command(*words, "--report", page)
    assert code == 0
    first, taken, size = printed.out.splitlines()[:3]
    assert "Slurm 26.05 would lengthen the mean wait from " in first
    assert taken == "Slurm 26.05 takes the configuration as it is (as far as is known on paper)."
    assert size.startswith("That is 1 s longer")
    assert "full_seconds: The main loop ticks on full seconds" in printed.out  # not simulated
    assert "Rules that differ" in page.read_text()
    document = json.loads(command(*words, "--json")[1].out)
    assert (document["from"], document["to"]) == ("22.05", "26.05")
    assert {one["rule"]: one["acts"] for one in document["rules"]} == {
        "passes_rest": True, "searches_whole_plan": False, "own_ends": False,
        "least_leave_in_turn": False, "usable_cores_count": False, "first_for_one": False,
    }  # fmt: skip


def test_the_site_of_a_known_release_needs_no_from(tmp_path, command):
    site = replace(site_of(tmp_path, slurm="24.11"))
    code, printed = command(site.save(tmp_path / "site"), "--to", "26.05", "--copies", "1", "-j", "1")
    assert code == 0
    assert "the site runs Slurm 24.11 (given): --from 24.11" in printed.err
    assert read(tmp_path / "site").settings.scheduler == site.settings.scheduler


REFUSED = {
    "aarhus-genomedk.conf": ["select/cons_res"],
    "archer2.conf": [],
    "bsc-simulator.conf": ["CacheGroups", "CheckpointType", "FastSchedule", "FrontendName"],
    "cirrus.conf": [],
    "gsi-example.conf": ["CacheGroups", "FastSchedule", "JobCheckpointDir", "SchedulerPort", "select/cons_res"],
    "idia-ilifu.conf": ["AccountingStoreJobComment"],
    "sapienza.conf": [],
    "ubhpc.conf": ["FrontendName"],
    "ucmerced.conf": ["AccountingStoreJobComment", "select/cons_res"],
    "uco.conf": [],
}
"""Parameters of ten sites' files that 26.05 refuses: what its programs say when they read them."""


@pytest.mark.parametrize("name", REFUSED)
def test_ten_sites_are_upgraded_on_paper(sites, name):
    paper = on_paper(import_site(sites / "conf" / name), "22.05", "26.05")
    assert sorted(one.text.partition("=")[0] for one in paper.of("refused")) == REFUSED[name]
    text = (sites / "conf" / name).read_text(errors="replace").splitlines()
    for one in (line for line in paper.lines if line.where):
        assert one.text.lower() in text[int(one.where.rpartition(":")[2]) - 1].replace(" ", "").lower()


def test_rules_between_two_versions_are_those_that_one_of_them_has():
    assert [rule.name for rule in differing("22.05", "24.11")] == [
        "passes_rest", "searches_whole_plan", "requeued_keep_place", "licenses_stop", "grace_until_look",
        "caps_count_all", "least_leave_in_turn", "usable_cores_count", "leaves_hold_tasks", "rates_forget_shares",
    ]  # fmt: skip


def test_what_if_is_asked_under_the_rules_of_a_version(directory):
    change = ["SchedulerParameters.bf_interval=10"]
    found = what_if(directory, change, slurm="26.05", copies=1, workers=1).schedules
    last = {name: int(one.wait_time[2]) for name, one in found.items()}
    # Passes go on every 30 s from the second second on, so that 310 is the next one; every 10 s, it is as well.
    assert last == {"as it is": 3, "bf_interval=10": 3}
    for slurm, wait in (("22.05", 0), ("", 3)):  # nothing tells which Slurm the site runs: the newest
        told = what_if(directory, change, slurm=slurm, copies=1, workers=1)
        assert int(told.schedules["as it is"].wait_time[2]) == wait
    with pytest.raises(InputError, match=r"slurm= '23\.11': known are the rules of Slurm 22\.05"):
        what_if(directory, change, slurm="23.11")


def test_both_real_slurms_run_the_jobs_each_with_its_version(directory):
    try:
        versions = [installed_version(which) for which in ("22.05", "26.05")]
    except InputError as error:
        pytest.skip(str(error))
    found = upgrade(directory, "26.05", old="22.05", copies=1, workers=1)
    told = confirm(found.sweep.site, [found.variant], phases=1, nodes=False, slurm="22.05")
    assert (told.slurm, len(told.jobs), told.failures) == (" and ".join(versions), len(JOBS), ())
    real = {one.variant.name: one.real for one in told.confirmed}
    # The last job begins at once under 22.05, and with the next of the passes, within 30 s and a tick, under 26.05.
    assert real["as it is"][0, 2] <= 3
    assert real["Slurm 26.05"][0, 2] <= 32
