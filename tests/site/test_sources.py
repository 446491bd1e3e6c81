"""Sites without a slurm.conf, and nodes without RealMemory: what sinfo and sacct say instead."""

from __future__ import annotations

import json

import pytest

from schedlab.cli import main
from schedlab.errors import InputError
from schedlab.site.calibration import calibrate
from schedlab.site.changes import changed
from schedlab.site.importing import import_site
from schedlab.site.site import read

JOBS = """\
JobIDRaw|User|Partition|State|Submit|Start|End|TimelimitRaw|AllocCPUS|NNodes|ReqMem|AllocTRES|NodeList
1|ann|batch|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:00:05|2026-04-01T11:00:00|120|16|1|8G|cpu=16,mem=8G,node=1|n1
2|bob|batch|COMPLETED|2026-04-01T10:01:00|2026-04-01T10:01:05|2026-04-01T12:00:00|120|8|1|4G|cpu=8,mem=4G,node=1|n2
3|eve|gpu|COMPLETED|2026-04-01T10:02:00|2026-04-01T10:02:05|2026-04-01T12:00:00|60|4|1|2G|cpu=4,mem=2G,node=1,gres/gpu=2|g1
4|eve|gpu|CANCELLED|2026-04-01T10:03:00|None|2026-04-01T12:00:00|60|4|1|2G||None assigned
"""
CONF = """\
ClusterName=lab
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-2] CPUs=16
NodeName=g1 CPUs=16 Gres=gpu:2
PartitionName=batch Nodes=n[1-2]
PartitionName=gpu Nodes=g1
"""
SINFO = """\
NODELIST|CPUS|MEMORY|GRES|PARTITION|TIMELIMIT
n1|16|64000|(null)|batch*|1-00:00:00
n2|16|64000|(null)|batch*|1-00:00:00
g1|32|128000|gpu:a100:4|gpu|infinite
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.txt").write_text(JOBS)
    (tmp_path / "nodes.txt").write_text(SINFO)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "slurm.conf").write_text(CONF)
    return tmp_path


def groups(site):
    return {name: (group.cores, group.memory, group.gpu_count) for group in site.cluster.groups for name in group.names}


def test_accounting_alone_makes_a_site_that_is_called_inferred_everywhere(here, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["schedlab", "site", "import", "--sacct", "jobs.txt", "-o", "site"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    shown = capsys.readouterr()
    assert "nodes and partitions: inferred from what jobs held of them, not configured" in shown.out
    assert "what 3 runs of jobs.txt held of 3 nodes at the same time, a lower bound" in shown.err
    assert "taken for as large as others of their name: n2" in shown.err
    site = read("site")
    assert groups(site) == {"g1": (4, 2048, 2), "n1": (16, 8192, 0), "n2": (16, 8192, 0)}
    assert {one.name: (one.nodes, one.max_time) for one in site.cluster.partitions} == {
        "batch": (("n1", "n2"), 7200), "gpu": (("g1",), 3600),
    }  # fmt: skip
    assert site.inferred
    assert json.loads((here / "site" / "site.json").read_text())["inferred"] is True
    lines = [line for line in site.ledger if line.name in ("CPUs", "RealMemory", "Gres", "Nodes", "MaxTime")]
    assert {(line.status, line.reason.partition(":")[0]) for line in lines} == {("approximated", "inferred")}
    assert site.replayable().left_out == {"never started": 1}
    assert "(inferred)" in site.summary()


def test_the_calibration_says_that_the_machine_is_inferred(here):
    found = calibrate(import_site(sacct="jobs.txt"))
    assert found.caveats[0].startswith("Nodes, partitions and limits are inferred")
    assert not [
        one for one in calibrate(import_site("conf", "jobs.txt")).caveats if "inferred from what jobs held" in one
    ]


def test_an_inferred_machine_can_be_changed_and_stays_inferred(here):
    site = changed(
        import_site(sacct="jobs.txt"), ["PartitionName=gpu MaxTime=30", "SchedulerParameters.bf_interval=60"]
    )
    assert {one.name: one.max_time for one in site.cluster.partitions} == {"batch": 7200, "gpu": 1800}
    assert site.inferred
    assert "interval=60" in site.settings.scheduler


def test_an_inferred_machine_can_be_corrected_and_imported_as_a_configuration(here):
    import_site(sacct="jobs.txt").save("site")
    text = (here / "site" / "conf" / "inferred.conf").read_text()
    own = here / "own"
    own.mkdir()
    (own / "slurm.conf").write_text("ClusterName=lab\n" + text.replace("CPUs=4", "CPUs=32"))
    site = import_site(own, "jobs.txt")
    assert groups(site)["g1"][0] == 32
    assert not site.inferred


def test_sinfo_alone_gives_nodes_and_partitions(here):
    site = import_site(sacct="jobs.txt", sinfo="nodes.txt")
    assert groups(site) == {"n1": (16, 64_000, 0), "n2": (16, 64_000, 0), "g1": (32, 128_000, 4)}
    assert {one.name: (one.default, one.max_time) for one in site.cluster.partitions} == {
        "batch": (True, 86_400), "gpu": (False, None),
    }  # fmt: skip
    assert not site.inferred
    assert any("nodes.txt reports" in note for note in site.settings.notes)
    assert {"jobs.txt", "nodes.txt"} <= set(site.settings.sources)


def test_memory_that_slurm_conf_does_not_say_is_inferred_from_accounting(here):
    site = import_site("conf", "jobs.txt")
    assert {name: memory for name, (_, memory, _) in groups(site).items()} == {"n1": 8192, "n2": 8192, "g1": 2048}
    assert any(note.startswith("RealMemory of n[1-2],g1 is inferred") for note in site.settings.notes)
    assert site.replayable().left_out == {"never started": 1}
    assert groups(changed(site, ["SchedulerParameters.bf_interval=60"])) == groups(site)


def test_memory_that_slurm_conf_does_not_say_is_what_sinfo_reports(here):
    site = import_site("conf", "jobs.txt", sinfo="nodes.txt")
    assert {name: memory for name, (_, memory, _) in groups(site).items()} == {
        "n1": 64_000, "n2": 64_000, "g1": 128_000,
    }  # fmt: skip
    assert groups(site)["g1"][0] == 16  # the line says it
    assert groups(changed(site, ["SchedulerParameters.bf_interval=60"])) == groups(site)
    site.save("site")
    assert read("site") == site


def test_memory_of_which_nothing_tells_is_said_with_what_would_help(here):
    site = import_site("conf")
    assert any(
        "RealMemory of n[1-2],g1: not given: 1 MiB" in note and "--sinfo" in note for note in site.settings.notes
    )


def test_nodes_that_the_configuration_puts_out_of_service_are_named(here):
    (here / "conf" / "slurm.conf").write_text(
        CONF.replace("CPUs=16\n", "CPUs=16 RealMemory=9000\n")
        + "NodeName=x CPUs=1 State=DRAIN\nPartitionName=all Nodes=ALL\n"
    )
    assert "x of all: out of service (State=DRAIN)" in import_site("conf").settings.notes


def test_jobs_that_ran_on_nodes_out_of_service_contradict_the_configuration(here):
    (here / "conf" / "slurm.conf").write_text(CONF.replace("NodeName=g1 CPUs=16", "NodeName=g1 CPUs=16 State=DOWN"))
    site = import_site("conf", "jobs.txt")
    assert any(
        note.startswith("1 run of jobs.txt used g1, out of service by slurm.conf") for note in site.settings.notes
    )


def test_what_cannot_be_inferred_from_is_refused(here, tmp_path):
    with pytest.raises(InputError, match="give the configuration of the site"):
        import_site()
    (tmp_path / "log.swf").write_text("1 0 0 10 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(
        InputError, match=r"log.swf: without a slurm.conf, nodes and partitions are inferred from what sacct"
    ):
        import_site(sacct="log.swf")
    (tmp_path / "few.txt").write_text("\n".join(line.rpartition("|")[0] for line in JOBS.splitlines()) + "\n")
    with pytest.raises(InputError, match="lacks the column NodeList"):
        import_site(sacct="few.txt")
