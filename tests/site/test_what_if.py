"""Changes of a site's configuration, and what they would do."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from schedlab.cli import main
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.errors import InputError, InputErrors
from schedlab.site import changed, import_site, what_if
from schedlab.site.change_text import change_texts
from schedlab.site.effects import Effect
from schedlab.site.jobs import replay
from schedlab.site.no_effect import without_effect
from schedlab.site.omissions import omissions_of
from schedlab.site.variants import Variant
from schedlab.site.who_pays import payers_text
from schedlab.workload.workload import Workload

CONF = """ClusterName=lab
SchedulerParameters=bf_interval=60,bf_continue,default_queue_depth=50
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits
NodeName=n[1-2] CPUs=4
PartitionName=DEFAULT MaxTime=1-0
PartitionName=batch Nodes=n[1-2] Default=YES
"""
ACCOUNTS = "add QOS Name=high GrpTRES=cpu=8\nadd account Name=physics\nadd user Name=ann Account=physics\n"


@pytest.fixture
def site(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "a.script").write_text(ACCOUNTS)
    rng = np.random.default_rng(3)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition|Account"]
    for number in range(60):
        hour, length = number // 6, int(rng.integers(5, 50))
        times = f"2026-04-01T{hour:02d}:{10 * (number % 6):02d}:00|2026-04-01T{hour:02d}:55:00"
        end = f"2026-04-01T{hour + 1:02d}:{length:02d}:00"
        lines.append(
            f"{number + 1}|ann|COMPLETED|{times}|{end}|{600 if number % 10 else 1200}|{number % 4 + 1}|batch|physics"
        )
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt")


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a verb of the site, and return what it printed on both streams."""

    def command(*arguments):
        monkeypatch.setattr("sys.argv", ["schedlab", "site", *map(str, arguments)])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr()

    return command


@pytest.mark.parametrize(
    ("change", "scheduler"),
    [
        ("SchedulerParameters.bf_interval=30", "fcfs+slurm(queue_depth=50,tick=1)"),
        (
            "schedulerparameters.BF_WINDOW=2880",
            "fcfs+slurm(interval=60,window=172800,queue_depth=50,tick=1)",
        ),
        ("SchedulerParameters.default_queue_depth=", "fcfs+slurm(interval=60,tick=1)"),
        ("SchedulerParameters=", "fcfs+slurm(tick=1)"),
        ("SchedulerType=sched/builtin", "fcfs"),
        ("OverTimeLimit=5", "fcfs+slurm(interval=60,queue_depth=50,overtime=300,tick=1)"),
    ],
)
def test_a_parameter_or_an_option_of_it_is_changed_added_and_taken_out(site, change, scheduler):
    assert changed(site, [change]).settings.scheduler == f"{scheduler},placement=consecutive"


def test_less_memory_for_a_core_gives_recorded_jobs_more_cores(tmp_path):
    """Two jobs of one core with 2,000 MiB on a node of four: with 500 MiB for a core each takes all of it."""
    conf = "ClusterName=lab\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
    (tmp_path / "slurm.conf").write_text(f"{conf}NodeName=n1 CPUs=4 RealMemory=8000\nPartitionName=batch Nodes=n1\n")
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition|ReqMem"]
    times = "2026-04-01T01:00:00|2026-04-01T01:00:00|2026-04-01T02:00:00"
    lines += [f"{number}|ann|COMPLETED|{times}|60|1|batch|2000M" for number in (1, 2)]
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    site = import_site(tmp_path, tmp_path / "jobs.txt")
    others = [[], ["MaxMemPerCPU=500"], ["PartitionName=batch MaxMemPerCPU=1000"]]
    schedules = [replay(site.jobs, "fcfs", changed(site, change).cluster, nodes=True) for change in others]
    assert [sorted(one.wait_time.tolist()) for one in schedules] == [[0, 0], [0, 3600], [0, 0]]
    assert never_runs(site.jobs, changed(site, ["MaxMemPerNode=1500"]).cluster).texts() == ["MaxMemPerLimit"] * 2


def test_partitions_nodes_and_limits_are_changed_and_added(site):
    texts = [
        "PartitionName=batch MaxTime=2:00:00 PriorityTier=3",
        "NodeName=n[3-5] CPUs=8",
        "QOS=high MaxJobsPerUser=2",
    ]
    other = changed(site, [*texts, "PartitionName=new Nodes=n[3-5] MaxTime=10"])
    batch, new = other.cluster.partitions
    assert (batch.max_time, batch.priority_tier, new.max_time) == (7200, 3, 600)
    assert other.cluster.processors == 8 + 24
    limits = {qos.name: qos.limits for qos in other.cluster.accounting.qos}["high"]
    assert (limits.max_jobs_per_user, dict(limits.grp_tres)) == (2, {"cpu": 8})
    assert site.cluster.processors == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SchedulerParameters.bf_intervall=3", "did you mean bf_interval?"),
        ("PriorityWeightAges=3", "did you mean PriorityWeightAge?"),
        ("Nothing", "must be written PARAMETER=VALUE"),
        ("KillWait.x=3", "have options after a dot"),
        ("PartitionName=batch MaxTimes=3", "did you mean MaxTime?"),
        ("bf_interval=30", "is an option of SchedulerParameters: write SchedulerParameters.bf_interval=30"),
        ("bf_continue=", "write SchedulerParameters.bf_continue"),
        ("MaxTime=1-0", "MaxTime belongs to a partition: write PartitionName=batch MaxTime=1-0; the site has batch"),
        ("Weight=3", "Weight belongs to nodes: write NodeName=n[1-2] Weight=3; the site has n[1-2]"),
        ("MaxJobsPerUser=5", "write QOS=normal MaxJobsPerUser=5; the site has normal, high"),
        ("QOS=high MaxTime=1-0", "MaxTime belongs to a partition"),
        ("PartitionName=batch MaxJobsPerUser=5", "belongs to a QOS, an account or a user"),
        ("SchedulerParameters.KillWait=5", "KillWait is a parameter of its own: write KillWait=5"),
    ],
)
def test_a_slip_is_refused_with_what_was_meant_and_how_it_is_written(site, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        changed(site, [text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "PartitionName=bat MaxTime=1-0",
            "no partition 'bat' (did you mean batch?); the site has batch; a new one needs",
        ),
        ("NodeName=m1 Weight=3", "there is no node 'm1'"),
        ("NodeName=n1 Weight=3", "name the nodes exactly as their line does: n[1-2]"),
        ("NodeName=n[2-3] CPUs=4", "n2 exist already (NodeName=n[1-2]), n3 would be new: name them apart"),
        ("QOS=hihg MaxJobsPerUser=5", "no QOS 'hihg' (did you mean high?)"),
        ("Account=physic MaxJobs=5", "did you mean physics?"),
        ("User=anna MaxJobs=5", "did you mean ann?"),
        ("PartitionName=batch QOS=higher", "did you mean high?"),
        ("PartitionName=batch AllowAccounts=physics,biology", "no account 'biology'"),
        ("PartitionName=batch Nodes=n[1-3]", "no node 'n3'"),
        ("SwitchName=s1 Nodes=n3", "no node 'n3'"),
        ("NodeSet=some Weight=3", "NodeSet has no 'Weight'"),
    ],
)
def test_a_name_that_the_site_does_not_have_is_refused_before_anything_is_simulated(site, text, message):
    with pytest.raises(InputError, match=re.escape(message) if "NodeSet" not in text else "Weight belongs to nodes"):
        changed(site, [text])


def test_a_value_that_slurmctld_refuses_is_told_in_the_users_words_before_anything_is_simulated(
    site, tmp_path, monkeypatch
):
    monkeypatch.setattr("schedlab.site.sweep.Sweep._carried_out", None)  # nothing may be run
    with pytest.raises(InputError, match=r"^change .*PriorityWeightFairshare=lots: slurm.conf: ") as told:
        what_if(site, ["PriorityType=priority/multifactor", "PriorityWeightFairshare=lots"], workers=1)
    assert "whole number" in str(told.value)
    assert "/tmp" not in str(told.value)


def test_all_slips_of_a_question_are_told_at_once(site):
    with pytest.raises(InputErrors) as told:
        changed(site, ["PartitionName=bat MaxTime=3", "bf_interval=30", "QOS=hihg MaxJobsPerUser=5"])
    assert len(told.value.parts) == 3


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            ["PartitionName=batch MaxTime=1-0", "PartitionName=BATCH MaxTime=2-0"],
            "MaxTime is set twice, to 1-0 and to 2-0",
        ),
        (["SchedulerParameters.bf_interval=30", "SchedulerParameters.bf_interval=60"], "bf_interval is set twice"),
        (["KillWait=30", "KillWait=60"], "KillWait is set twice, to 30 and to 60: ask about each by itself"),
    ],
)
def test_two_values_of_one_thing_are_refused(site, changes, told):
    with pytest.raises(InputError, match=told):
        changed(site, changes)
    changed(site, [changes[0], changes[0]])  # the same twice does no harm


def test_what_one_change_makes_another_may_name(site):
    nodes = "NodeName=n[3-4] CPUs=4"
    other = changed(site, ["PartitionName=new Nodes=n[3-4]", nodes, "PartitionName=new MaxTime=60"])
    assert [(one.name, one.max_time) for one in other.cluster.partitions] == [("batch", 86_400), ("new", 3600)]
    with pytest.raises(InputError, match=r"no partition 'new'"):
        changed(site, ["PartitionName=new MaxTime=60", nodes])


def test_new_nodes_that_no_job_could_use_are_refused_with_the_change_that_puts_them_into_a_partition(site):
    with pytest.raises(InputError) as told:
        changed(site, ["NodeName=m[1-3] CPUs=8"])
    hint = "PartitionName=batch Nodes=n[1-2],m[1-3]"
    assert "no job can use the 3 new nodes m[1-3]: no partition has them" in str(told.value)
    assert hint in str(told.value)
    assert changed(site, ["NodeName=m[1-3] CPUs=8", hint]).cluster.processors == 32


@pytest.mark.parametrize("number", [1, 3])
def test_more_nodes_like_others_are_one_change(site, number):
    asked = f"{number} more node{'s' * (number > 1)} like n[1-2]"
    other = changed(site, [asked])
    assert other.cluster.processors == 8 + 4 * number
    assert set(other.cluster.partitions[0].nodes or other.cluster.nodes) == {f"n{one}" for one in range(1, 3 + number)}
    assert Variant.of([asked]).name == asked
    twice = changed(site, [asked, asked])
    assert twice.cluster.processors == 8 + 8 * number
    assert list(without_effect(site, other, [asked])) == []


def test_new_nodes_without_all_that_they_need_are_refused_with_the_one_change_that_has_it(site):
    for text in ("NodeName=n[3-5] State=UNKNOWN", "NodeName=n[3-5] CPUs=4"):
        with pytest.raises(InputError, match=re.escape('"3 more nodes like n[1-2]"')):
            changed(site, [text])
    assert changed(site, ["3 more nodes like n[1-2]"]).cluster.processors == 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 more nodes like n[1-9]", "there is no node 'n3'"),
        ("0 more nodes like n1", "give a number of nodes above 0"),
        ("3 more nodes", "PARAMETER=VALUE, or N more nodes like NODES"),
    ],
)
def test_more_nodes_like_none_that_there_are_are_refused(site, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        changed(site, [text])


def test_names_of_variants_are_short():
    long = "PartitionName=batch Nodes=n[001-087],m[001-096],b[001-024],g[001-008],x[001-010]"
    assert Variant.of(["NodeName=x[001-010] CPUs=32", long]).name == "10 more nodes x[001-010]"
    assert Variant.of([long]).name == "partition batch Nodes=..."
    switched = ["NodeName=n9 CPUs=4", "PartitionName=batch Nodes=n[1-8],n9", "SwitchName=s1 Nodes=n[5-8],n9"]
    assert Variant.of(switched).name == "1 more node n9"


TREE = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=top Switches=s[1-2]\n"


def tree_site(tmp_path, nodes="n[1-4]", more="", topology=TREE):
    (tmp_path / "slurm.conf").write_text(
        f"ClusterName=lab\nTopologyPlugin=topology/tree\n{more}NodeName={nodes} CPUs=4\n"
        "PartitionName=batch Nodes=ALL Default=YES\n"
    )
    (tmp_path / "topology.conf").write_text(topology)
    return import_site(tmp_path)


def test_nodes_on_no_switch_get_no_job_and_the_tree_stays(tmp_path):
    """So on slurmctld 22.05 for n7 and n8 (six nodes full: jobs wait; a job that names n7 is refused)."""
    site = tree_site(tmp_path, "n[1-6]")
    assert site.scheduler.placement == "switches"
    assert site.cluster.partitions[0].nodes == ("n1", "n2", "n3", "n4")
    assert [text for text in site.settings.notes if text.startswith("no job can use 2 nodes (n[5-6])")]
    columns = {"submit_time": 0, "run_time": 100, "requested_time": 100, "requested_processors": 4}
    jobs = Workload.from_columns({name: [value] * 6 for name, value in columns.items()})
    found = replay(jobs, "fcfs,placement=switches", site.cluster, nodes=True)
    assert sorted(found.start_time.tolist()) == [0, 0, 0, 0, 100, 100]


def test_new_nodes_on_no_switch_are_refused_with_the_change_that_connects_them(tmp_path):
    site = tree_site(tmp_path)
    with pytest.raises(InputError) as told:
        changed(site, ["NodeName=n[5-6] CPUs=4"])
    hint = "SwitchName=s2 Nodes=n[3-4],n[5-6]"
    assert hint in str(told.value)
    assert changed(site, ["2 more nodes like n[1-4]"]).scheduler.placement == "switches"
    other = changed(site, ["NodeName=n[5-6] CPUs=4", hint])
    assert other.scheduler.placement == "switches"
    assert {group.switch for group in other.cluster.groups if "n6" in group.names} == {"s2"}


def test_a_switch_may_keep_the_names_of_nodes_that_do_not_exist_yet(tmp_path):
    """So does slurmctld, which only says so in its log; other names that do not exist are a slip."""
    site = tree_site(tmp_path, topology=TREE.replace("n[3-4]", "n[3-9]"))
    assert changed(site, ["SwitchName=s2 Nodes=n[2-9]"]).scheduler.placement == "switches"
    with pytest.raises(InputError, match="there is no node 'n10'"):
        changed(site, ["SwitchName=s2 Nodes=n[3-10]"])
    assert changed(site, ["2 more nodes like n[1-4]"]).cluster.nodes[-2:] == ("n5", "n6")


def test_where_switches_count_for_few_jobs_nodes_without_one_are_used(tmp_path):
    """With TopologyParam=TopoOptional, slurmctld 22.05 starts a job of seven nodes on n[1-7], n7 on no switch."""
    site = tree_site(tmp_path, "n[1-6]", "TopologyParam=TopoOptional\n")
    assert (site.scheduler.placement, site.cluster.partitions[0].nodes) == ("consecutive", ())


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        (["SchedulerParameters.bf_interval=60"], ["changes nothing in the twin: the site has it already"]),
        (["PartitionName=batch MaxTime=24:00:00"], ["changes nothing in the twin: the site has it already"]),
        (["SchedulerParameters.bf_interval=30", "OverTimeLimit=0"], ["OverTimeLimit=0 changes nothing in the twin"]),
        (["SchedulerParameters=bf_interval=30"], ["bf_continue, default_queue_depth no longer holds; write Scheduler"]),
        (["PartitionName=new Nodes=n1"], ["partition new is new: no recorded job asks for it"]),
        (["KillWait=60"], ["KillWait is not simulated (already part of the recorded run times)"]),
        (["SchedulerParameters.bf_continue="], ["bf_continue is not simulated (a scheduling pass takes no time here"]),
        (["SchedulerParameters.bf_interval=30"], []),
    ],
)
def test_a_change_that_changes_nothing_in_the_twin_says_so(site, changes, sentences):
    found = list(without_effect(site, changed(site, changes), changes))
    assert len(found) == len(sentences)
    assert all(sentence in told for sentence, told in zip(sentences, found, strict=True))


def test_what_slurm_does_not_use_either_is_no_option_that_is_not_simulated(tmp_path):
    """An administrator would look for the cause of a bad twin there."""
    (tmp_path / "topology.conf").write_text("SwitchName=s1 Nodes=n[1-2]\n")
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=lab\nNodeName=n[1-2] CPUs=4\nPartitionName=batch Nodes=ALL\nPriorityType=priority/multifactor\n"
        "PriorityWeightAge=1000\nPriorityWeightFairShare=2000\nPriorityWeightFairShare=1000\n"
        "AccountingStorageEnforce=limits\n"
    )
    site = import_site(tmp_path)
    assert omissions_of(site, [], nodes=True).ignored == ()
    (told,) = without_effect(site, changed(site, ["PriorityWeightAge=5"]), ["PriorityWeightAge=5"])
    assert told.endswith("nothing in the twin: it has no effect without slurmdbd, as in Slurm")


def test_limits_that_are_not_enforced_change_nothing_and_say_why(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF.replace("AccountingStorageEnforce=limits\n", ""))
    (tmp_path / "a.script").write_text(ACCOUNTS)
    site, changes = import_site(tmp_path), ["QOS=high MaxJobsPerUser=1"]
    (told,) = without_effect(site, changed(site, changes), changes)
    assert told.endswith("the site does not enforce limits of accounts and QOS (AccountingStorageEnforce)")


@pytest.mark.parametrize(
    ("requests", "first", "told", "jobs"),
    [
        (
            "cut",
            'Besides, "partition batch MaxTime=1000, KillWait=60" changes nothing.',
            "asking for more than the new limit: 6 of 60 jobs, of which 6 end within it, and ask for less",
            60,
        ),
        ("drop", 'KillWait=60" leaves out 6 jobs, and ', "cannot run, and left out on both sides: 6 jobs", 54),
    ],
)
def test_a_change_is_compared_with_the_site_as_it_is_on_the_same_jobs(site, requests, first, told, jobs):
    asked = ["PartitionName=batch MaxTime=1000", "KillWait=60"]
    found = what_if(site, asked, ["saf"], requests=requests, nodes=False, workers=1)
    name = "partition batch MaxTime=1000, KillWait=60"
    assert set(found.schedules) == {"as it is", name, f"{name}, policy=saf"}
    left_out = found.ranking.grounds.omissions.left_out
    why = "KillWait is not simulated (already part of the recorded run times)"
    assert f"{why}: what its change would do cannot be told" in left_out
    assert any(text.startswith(f"{name}: {told}") for text in left_out)
    assert any(first in one for one in found.ranking.lead)
    assert {effect.jobs for one in found.ranking.ranked for effect in one.effects if effect.kind == "all"} == {jobs}


def test_ten_more_nodes_shorten_waits_and_the_page_tells_what_it_stands_on(site, tmp_path, run):
    directory = site.save(tmp_path / "site")
    changes = ["NodeName=n[3-12] CPUs=4", "PartitionName=batch Nodes=n[1-12]"]
    page = tmp_path / "answer.html"
    arguments = [part for text in changes for part in ("--set", text)]
    shown, _ = run("what-if", directory, *arguments, "--report", page, "-j", "1")
    name = "10 more nodes n[3-12]"
    first, *others = shown.splitlines()
    says = "A twin that has not been calibrated says"
    assert first.startswith(f"{says}: {name} would shorten the mean wait from ")
    assert "No job is left out." in others
    assert others.index("No job is left out.") < others.index("The twin has not been calibrated.")
    found = what_if(directory, changes, workers=1).ranking
    assert found.best.mean_wait < next(one.mean_wait for one in found.ranked if one.variant.name == "as it is")
    written = html.unescape(re.sub(r"<[^>]+>", "", page.read_text()))
    assert first in written
    assert "What is approximated, ignored and left out" in written
    assert "bf_continue (slurm.conf:2)" in written


def test_set_and_over_give_the_same_answer(site, tmp_path, run):
    directory = site.save(tmp_path / "site")
    asked = ["what-if", directory, "--processors-only", "-j", "1"]
    texts = [run(*asked, how, "SchedulerParameters.bf_interval=30")[0] for how in ("--set", "--over")]
    assert texts[0] == texts[1]
    assert "bf_interval=30" in texts[0]


def test_a_change_that_changes_nothing_says_so(site, tmp_path, run):
    directory = site.save(tmp_path / "site")
    shown, _ = run("what-if", directory, "--set", "KillWait=60", "--processors-only", "-j", "1")
    assert "what KillWait=60 would change cannot be told." in shown
    assert "KillWait is not simulated (already part of the recorded run times)." in shown
    assert "none " in shown
    assert " no effect" not in shown.partition("Jobs and changes left out")[0]
    assert "+0 s" not in shown


def test_a_directory_for_schedules_that_cannot_be_made_is_refused_before_anything_is_simulated(site, tmp_path, run):
    directory, there = site.save(tmp_path / "site"), tmp_path / "file"
    there.write_text("")
    shown, told = run("what-if", directory, "--set", "OverTimeLimit=1", "-o", there / "out", "--processors-only")
    assert not shown
    assert "cannot create the directory" in told
    assert not list(directory.rglob("*.npz"))


def test_a_partition_and_a_qos_of_one_name_are_told_apart():
    assert Variant.of(["PartitionName=high MaxTime=60"]).name == "partition high MaxTime=60"
    assert Variant.of(["QOS=high MaxWall=60"]).name == "QOS high MaxWall=60"
    waits = [Effect(kind, "high", 40, 60.0, 90.0, (20.0, 40.0)) for kind in ("partition", "QOS")]
    every = Effect("all", "all jobs", 90, 60.0, 80.0, (10.0, 30.0))
    assert payers_text([every, waits[0]]) == "waits become longer for partition high (+30 s)"
    assert payers_text([every, waits[1]]) == "waits become longer for QOS high (+30 s)"


def test_an_undecided_answer_is_a_sentence():
    undecided = Effect("all", "all jobs", 90, 7200.0, 6000.0, (-6000.0, 3360.0))
    assert change_texts("x", undecided) == [
        "whether x changes the mean wait cannot be told from this log",
        "anything between 100 min shorter and 56 min longer is possible: leave it as it is",
    ]
    small = Effect("all", "all jobs", 90, 7200.0, 7100.0, (-300.0, 120.0))
    little = "any change is small, between 5 min shorter and 2 min longer: leave it as it is"
    assert change_texts("x", small)[1] == little


def test_a_change_of_an_hour_is_not_small_however_long_jobs_wait():
    """57.7 min are 3 % of 32 h."""
    open_ = Effect("all", "all jobs", 90, 115_200.0, 115_800.0, (-498.0, 3462.0))
    assert change_texts("x", open_, advice=False)[1] == (
        "anything between 8.3 min shorter and 57.7 min longer is possible, at most 3% of it"
    )


def test_a_question_without_a_change_is_refused(site):
    with pytest.raises(InputError, match="nothing to compare"):
        what_if(site)


HET_LOG = """JobID|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|NNodes|Partition
1|ann|COMPLETED|2026-04-01T00:00:00|2026-04-01T00:00:00|2026-04-01T01:00:00|60|8|2|batch
2+0|ann|COMPLETED|2026-04-01T00:10:00|2026-04-01T01:00:00|2026-04-01T01:30:00|60|1|1|batch
2+1|ann|COMPLETED|2026-04-01T00:10:00|2026-04-01T01:00:00|2026-04-01T01:30:00|60|4|1|batch
3|ann|COMPLETED|2026-04-01T00:20:00|2026-04-01T01:00:00|2026-04-01T01:20:00|60|1|1|high
"""
HIGH = "PartitionName=high Nodes=n[1-2] PriorityTier=2\n"


def het_site(tmp_path, *more, log=HET_LOG):
    (tmp_path / "slurm.conf").write_text(CONF + HIGH + "".join(line + "\n" for line in more))
    (tmp_path / "jobs.txt").write_text(log)
    return import_site(tmp_path, tmp_path / "jobs.txt")


def test_where_jobs_suspend_others_a_heterogeneous_job_is_one_job_and_the_site_says_so(tmp_path):
    assert len(het_site(tmp_path).jobs) == 4
    site = het_site(tmp_path, "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE")
    assert len(site.jobs) == 4
    assert len(what_if(site, policies=["saf"], workers=1).schedules) == 2
    site = het_site(tmp_path, "PreemptType=preempt/partition_prio", "PreemptMode=SUSPEND,GANG")
    assert len(site.jobs) == 3
    assert "jobs suspend others here: the components of a heterogeneous job count as one job" in site.settings.notes


def test_a_heterogeneous_job_that_never_fits_is_left_out_and_counted(tmp_path):
    third = "2+2|ann|COMPLETED|2026-04-01T00:10:00|2026-04-01T01:00:00|2026-04-01T01:30:00|60|1|1|batch\n"
    kept = het_site(tmp_path, log=HET_LOG + third).replayable()
    assert kept.left_out == {"the components of its job never fit at the same time": 3}
    assert len(kept.jobs) == 2


def test_orders_of_heterogeneous_jobs_are_imported_and_changed(tmp_path):
    site = het_site(tmp_path)
    assert "hetjob_prio" not in str(site.scheduler)
    other = changed(site, ["SchedulerParameters.bf_hetjob_prio=avg", "SchedulerParameters.bf_hetjob_immediate"])
    assert "hetjob_prio=avg,hetjob_immediate=yes" in str(other.scheduler)
    assert len(what_if(site, ["SchedulerParameters.bf_hetjob_prio=min"], workers=1).schedules) == 2


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--policy", "fcfs+conservative"], "take +slurm or no backfilling"),
        (["--policy", "fcfs+easy"], "take +slurm or no backfilling"),
        (
            ["--set", "PreemptType=preempt/partition_prio", "--set", "PreemptMode=SUSPEND,GANG"],
            "read each as one job (het_jobs='joined'",
        ),
    ],
)
def test_what_heterogeneous_jobs_do_not_go_with_is_told_by_the_command_with_what_to_do(
    asked, told, tmp_path, capsys, monkeypatch
):
    directory = het_site(tmp_path).save(tmp_path / "site")
    monkeypatch.setattr("sys.argv", ["schedlab", "site", "what-if", str(directory), "-j", "1", *asked])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code
    answer = capsys.readouterr()
    assert answer.out == ""
    assert told in " ".join(answer.err.split())
    assert "Traceback" not in answer.err
