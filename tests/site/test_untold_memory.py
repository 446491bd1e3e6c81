"""Jobs that ask for no memory where Slurm gives them all of a node's, and logs that do not tell what they ask for."""

from __future__ import annotations

import pytest

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.site import import_site
from schedlab.site.anonymising import anonymise
from schedlab.site.changes import changed
from schedlab.site.jobs import replayable
from schedlab.site.omissions import omissions_of
from schedlab.site.untold_memory import as_assumed

HEAD = "JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"
ROW = "{}|ann|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:00:00|2026-04-01T10:05:00|9|8|batch"
UNTOLD = "the log tells of no job what memory it asked for (ReqMem): the twin counts none"


def imported(directory, *, memory=(), node="RealMemory=64000", select="CR_Core_Memory", slurm=None, more=""):
    """Return a site of one node of 16 cores, and three jobs of eight cores that ask for this memory."""
    main = directory / "slurm.conf"
    main.write_text(
        f"ClusterName=lab\nSelectType=select/cons_tres\nSelectTypeParameters={select}\n{more}"
        f"NodeName=n1 CPUs=16 {node}\nPartitionName=batch Nodes=ALL Default=YES MaxTime=60\n"
    )
    rows = [ROW.format(number) + (f"|{memory[number]}" if memory else "") for number in range(3)]
    accounting = directory / "jobs.txt"
    accounting.write_text("\n".join([HEAD + "|ReqMem" * bool(memory), *rows, ""]))
    return import_site(main, accounting, slurm=slurm)


def starts(site):
    """Return when the jobs start under the site's passes: each runs 300 s, and two fit beside each other by cores."""
    first = simulate(site.jobs, "fcfs+slurm", cluster=site.cluster).start_time
    return [round(second / 300) for second in (first - first.min()).tolist()]


def test_a_log_that_tells_no_memory_is_replayed_without_and_the_answer_says_where_that_errs(tmp_path):
    site = imported(tmp_path)
    assert starts(site) == [0, 0, 1]
    (told,) = omissions_of(site, [], nodes=True).approximated
    assert UNTOLD in told
    assert "waits in the twin are too short" in told
    assert any(UNTOLD in note for note in site.settings.notes)


def test_a_job_that_asks_for_none_where_others_do_has_its_node_alone_as_seen_on_the_real_slurm(tmp_path):
    """Cores are free for two jobs at a time: as on the real Slurm, one without memory waits for both."""
    assert starts(imported(tmp_path, memory=("1000Mn", "1000Mn", "1000Mn"))) == [0, 0, 1]
    site = imported(tmp_path, memory=("1000Mn", "0n", "0n"))
    assert starts(site) == [0, 1, 2]
    assert not omissions_of(site, [], nodes=True).approximated
    (line,) = site.ledger.find("DefMemPerNode")
    assert line.status == "modelled"
    assert "(2 jobs of the log)" in line.reason


def test_without_realmemory_no_job_can_ask_for_any_so_each_has_its_node_alone(tmp_path):
    """As slurmctld 24.11.5 ran two such jobs of half a node: one after the other."""
    site = imported(tmp_path, node="")
    assert starts(site) == [0, 1, 2]
    assert not any(UNTOLD in note for note in site.settings.notes)


@pytest.mark.parametrize(
    ("each", "expected"),
    [(4_000, [0, 0, 1]), (5_000, [0, 1, 2]), (8_001, None)],
    ids=["two fit", "40,000 of 64,000 MiB each", "more than the node has"],
)
def test_jobs_of_an_swf_log_hold_the_memory_of_each_processor_that_its_tenth_column_tells(tmp_path, each, expected):
    """Eight processors each, on a node of 16 cores and 64,000 MiB; SWF has kilobytes per processor."""
    imported(tmp_path)
    log = tmp_path / "jobs.swf"
    log.write_text("".join(f"{n} 0 0 300 8 -1 -1 8 540 {each * 1024} 1 1 1 1 1 1 -1 -1\n" for n in range(1, 4)))
    site = import_site(tmp_path / "slurm.conf", log)
    if expected is None:
        with pytest.raises(InputError, match=r"none can be replayed \(.*as much memory as it asks for.*: 3\)"):
            replayable(site.jobs, site.cluster)
    else:
        assert starts(site) == expected
    assert not any(UNTOLD in note for note in site.settings.notes)


@pytest.mark.parametrize(
    ("more", "select"),
    [("DefMemPerCPU=1000\n", "CR_Core_Memory"), ("DefMemPerNode=1\n", "CR_CPU_Memory"), ("", "CR_Core")],
)
def test_nothing_is_said_where_jobs_get_a_default_or_memory_is_no_resource(tmp_path, more, select):
    site = imported(tmp_path, more=more, select=select)
    assert starts(site) == [0, 0, 1]
    assert all(line.value for line in site.ledger.find("DefMemPerNode"))
    assert not any("memory it asked for" in note for note in site.settings.notes)


def test_a_change_that_gives_a_default_takes_the_sentence_away_and_one_of_another_thing_keeps_it(tmp_path):
    site = imported(tmp_path)
    assert not any(UNTOLD in note for note in changed(site, ["DefMemPerNode=100"]).settings.notes)
    assert sum(UNTOLD in note for note in changed(site, ["KillWait=10"]).settings.notes) == 1
    assert starts(changed(site, ["KillWait=10"])) == starts(anonymise(site).site) == [0, 0, 1]


def test_the_real_slurm_runs_such_jobs_with_as_little_memory_as_the_twin_assumes(tmp_path):
    site = imported(tmp_path)
    assert as_assumed(site.jobs, site).resources.memory_per_node.tolist() == [1, 1, 1]
    given = changed(site, ["DefMemPerNode=100"])
    assert not as_assumed(given.jobs, given).resources.memory_per_node.any()
