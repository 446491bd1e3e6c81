"""Importing a site: every option of every line is accounted for, and the directory reads back."""

from __future__ import annotations

import json

import pytest

from schedlab.cli import main
from schedlab.cli.app import app
from schedlab.cluster.slurm_lines import own_lines
from schedlab.errors import InputError
from schedlab.site import import_site, read
from schedlab.site.reading import files_of
from schedlab.site.templates import as_written
from schedlab.slurm.configuration import site_configuration

CONF = r"""# a site
ClusterName = lab
ACCOUNTINGSTORAGETYPE=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
AccountingStoragePass=secret
PriorityType=priority/multifactor
PriorityWeightAge=1000   # points
KillWait=30
KillWait=60
SchedulerParameters=bf_interval=60,\
bf_window=2880,bf_continue,max_prc_cnt=150
PreemptTyp=preempt/none
Include nodes.conf
PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0 DefaultTime=1:00:00 Hidden=NO QOS=part
"""
NODES = """NodeName=DEFAULT CPUs=8 RealMemory=16000 TmpDisk=100
NodeName=n[1-2],m1 Weight=10
NodeName=z1 State=FUTURE
"""
ACCOUNTS = """# accounts
add QOS Name=part GrpTRES=cpu=16 Flags=DenyOnLimit
add account Name=physics Fairshare=10 MaxJobs=2
add user Name=ann Account=physics
"""
SACCT = """JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition|Account
7|ann|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:05:00|2026-04-01T11:05:00|120|4|batch|physics
8|ann|CANCELLED by 1001|2026-04-01T10:01:00|None|2026-04-01T10:02:00|60|0|batch|physics
9|ann|COMPLETED|2026-04-01T10:10:00|2026-04-01T10:10:00|2026-04-01T10:30:00||8||
"""


@pytest.fixture
def conf(tmp_path):
    directory = tmp_path / "conf"
    directory.mkdir()
    for name, text in {
        "slurm.conf": CONF, "nodes.conf": NODES, "accounts.script": ACCOUNTS, "job_submit.lua": "", "sacct.txt": SACCT
    }.items():  # fmt: skip
        (directory / name).write_text(text)
    return directory


def test_every_option_of_every_line_is_in_the_ledger_with_file_and_line(conf):
    site = import_site(conf)
    found = {(line.where, line.name): line.status for line in site.ledger}
    assert found["slurm.conf:2", "ClusterName"] == "modelled"
    assert found["slurm.conf:3", "ACCOUNTINGSTORAGETYPE"] == "modelled"
    assert found["slurm.conf:10", "bf_interval"] == found["slurm.conf:10", "bf_window"] == "modelled"
    assert found["slurm.conf:10", "bf_continue"] == "ignored"
    assert found["slurm.conf:13", "Include"] == "modelled"
    assert found["nodes.conf:1", "TmpDisk"] == "ignored"
    assert found["nodes.conf:3", "NodeName"] == "ignored"
    assert found["accounts.script:3", "MaxJobs"] == "modelled"
    assert found["accounts.script:2", "DenyOnLimit"] == "modelled"
    assert found["job_submit.lua", "(all lines)"] == "ignored"
    written = {line.where for path in files_of(conf / "slurm.conf")["slurm.conf"] for line in own_lines(path)}
    assert written <= {line.where for line in site.ledger}


def test_a_slurm_conf_that_leaves_open_whether_jobs_share_nodes_is_said_to(conf):
    """Slurm's default was select/linear until 23.02 and is select/cons_tres since 23.11."""
    (line,) = import_site(conf).ledger.find("SelectType")
    assert (line.status, line.decides) == ("approximated", True)
    assert any(
        note.startswith("SelectType is not given: jobs share nodes") for note in import_site(conf).settings.notes
    )
    written = site_configuration(conf).lines
    assert not [line for line in written if line.lower().startswith("selecttype")]  # Slurm takes its own default
    main = conf / "slurm.conf"
    main.write_text("SelectType=select/linear\n" + main.read_text())
    assert [one.status for one in import_site(conf).ledger.find("SelectType")] == ["modelled"]
    assert site_configuration(conf).lines.count("SelectType=select/linear") == 1


def test_options_that_nobody_knows_are_listed_with_what_was_meant(conf):
    unknown = {line.name: line.reason for line in import_site(conf).ledger.of("unknown")}
    assert unknown.keys() == {"max_prc_cnt", "PreemptTyp"}
    assert "did you mean max_rpc_cnt?" in unknown["max_prc_cnt"]


def test_of_a_parameter_that_is_given_twice_the_last_line_counts(conf):
    first, last = import_site(conf).ledger.find("KillWait")
    assert first.reason == "has no effect: given again at slurm.conf:9, which counts"
    assert last.reason == "already part of the recorded run times"


def test_a_site_has_its_scheduler_its_jobs_and_its_limits(conf):
    site = import_site(conf, conf / "sacct.txt")
    assert (
        site.settings.scheduler == "multifactor(age=1000)+slurm(interval=60,window=172800,tick=1),placement=consecutive"
    )
    assert (site.settings.limits, len(site.jobs)) == (True, 3)
    assert site.jobs.requested_time.tolist() == [7200, 3600, 3600]
    assert site.replayable().left_out == {"never started": 1}
    assert dict(site.cluster.accounting.qos[-1].limits.grp_tres) == {"cpu": 16}


def test_limits_are_left_out_where_the_site_does_not_enforce_them(conf):
    main_file = conf / "slurm.conf"
    main_file.write_text(main_file.read_text().replace("Enforce=limits,qos", "Enforce=associations"))
    site = import_site(conf)
    assert not site.settings.limits
    assert not site.cluster.accounting.qos[-1].limits.grp_tres


def test_a_site_reads_back_as_it_was_and_holds_no_passwords(conf, tmp_path):
    site = import_site(conf, conf / "sacct.txt")
    directory = site.save(tmp_path / "site")
    assert read(directory) == site
    assert "secret" not in "".join(path.read_text() for path in directory.rglob("*.conf"))


def test_errors_of_all_files_are_told_at_once_by_the_command_a_line_each(conf, tmp_path, capsys, monkeypatch):
    main_file = conf / "slurm.conf"
    text = main_file.read_text().replace("bf_interval=60", "bf_interval=often").replace("Age=1000 ", "Age=1000 points ")
    main_file.write_text(text + "PartitionName=long Nodes=z9\n")
    (conf / "accounts.script").write_text(ACCOUNTS + "add user Name=bob Account=nobody\nadd thing Name=x\n")
    monkeypatch.setattr("sys.argv", ["schedlab", "site", "import", "--conf", str(conf), "-o", str(tmp_path / "s")])
    with pytest.raises(SystemExit) as stop:
        main()
    first, *lines = capsys.readouterr().err.splitlines()
    assert (stop.value.code, first) == (1, "schedlab: 5 errors:")
    assert [line.strip().removeprefix(f"{conf}/").split(" ")[0] for line in lines] == [
        "slurm.conf:7:", "slurm.conf:15:", "accounts.script:5:", "accounts.script:6:", "slurm.conf:10:",
    ]  # fmt: skip
    assert not (tmp_path / "s").exists()


def test_a_line_that_decides_nothing_is_noted_in_the_ledger_whatever_is_on_it(conf):
    main_file = conf / "slurm.conf"
    main_file.write_text(main_file.read_text() + 'AuthInfo="cred_expire=1200","ttl=1500"\nDebugFlags=Gres, Backfill\n')
    found = import_site(conf).ledger
    assert [line.value for line in found.find("AuthInfo")] == ['"cred_expire=1200","ttl=1500"']
    (stray,) = found.find("Backfill")
    assert (stray.where, stray.status) == ("slurm.conf:16", "unknown")


@pytest.mark.parametrize("missing", ["cluster.json", "jobs.parquet", "ledger.json", "conf/slurm.conf"])
def test_a_site_that_lacks_a_file_says_so(conf, tmp_path, missing):
    directory = import_site(conf, conf / "sacct.txt").save(tmp_path / "site")
    (directory / missing).unlink()
    with pytest.raises(InputError, match="the file of the site is missing: import the site again"):
        read(directory)


def test_a_directory_that_is_no_site_and_one_of_another_version_are_refused(conf, tmp_path):
    with pytest.raises(InputError, match=r"not a site \(no site\.json\)"):
        read(tmp_path)
    directory = import_site(conf).save(tmp_path / "site")
    document = json.loads((directory / "site.json").read_text())
    (directory / "site.json").write_text(json.dumps(document | {"version": 99}))
    with pytest.raises(InputError, match="version 99, but this schedlab reads 1"):
        read(directory)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("ledger.json", b'[{"where": 1}]', "ledger.json: not a ledger of a site"),
        ("ledger.json", b"{}", "ledger.json: not a ledger of a site"),
        ("conf/slurm.conf", b"\xff", "slurm.conf: the file of Slurm is not text in UTF-8"),
    ],
)
def test_a_damaged_file_of_a_site_is_one_sentence(conf, tmp_path, file, content, sentence):
    directory = import_site(conf).save(tmp_path / "site")
    (directory / file).write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read(directory)


@pytest.mark.parametrize("name", ["../../slurm.conf", "/etc/slurm.conf", "..", "a/b"])
def test_a_site_cannot_name_files_elsewhere(conf, tmp_path, name):
    directory = import_site(conf).save(tmp_path / "site")
    document = json.loads((directory / "site.json").read_text())
    (directory / "site.json").write_text(json.dumps(document | {"files": [*document["files"], name]}))
    with pytest.raises(InputError, match="is not a file name in conf/: import the site again"):
        read(directory)


def test_the_command_line_imports_and_shows_a_site(conf, tmp_path, capsys):
    with pytest.MonkeyPatch.context() as patch:
        arguments = [
            "site",
            "import",
            "--conf",
            str(conf),
            "--sacct",
            str(conf / "sacct.txt"),
            "-o",
            str(tmp_path / "s"),
        ]
        patch.setattr("sys.argv", ["schedlab", *arguments])
        with pytest.raises(SystemExit):
            main()
        patch.setattr("sys.argv", ["schedlab", "site", "show", str(tmp_path / "s"), "--json"])
        with pytest.raises(SystemExit):
            main()
    shown = capsys.readouterr().out
    assert "max_prc_cnt" in shown.partition("{")[0]
    document = json.loads("{" + shown.partition("{")[2])
    assert (document["jobs"], document["counts"]["unknown"]) == (3, 2)


def test_an_import_says_that_it_replaces_a_site_and_whether_its_answers_hold(conf, tmp_path, capsys):
    words = ["site", "import", "--conf", str(conf), "-o", str(tmp_path / "site")]

    def told() -> str:
        app(words, standalone_mode=False)
        return capsys.readouterr().err

    assert "replaced" not in told()
    assert f"{tmp_path / 'site'} was a site already and is replaced: it has not changed, so its answers" in told()
    text = (conf / "slurm.conf").read_text()
    (conf / "slurm.conf").write_text(text.replace("PriorityWeightAge=1000", "PriorityWeightAge=2000"))
    assert "is replaced: it has changed, so questions are simulated again" in told()


def says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def test_all_saved_configurations_import_with_every_line_in_the_ledger(sites):
    for path in sorted((sites / "conf").glob("*.conf*")):
        site = import_site(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        name = path.name.removesuffix(".j2")
        if left_open := as_written(text, name)[1]:
            written = {f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) if says_something(line)}
        else:
            written = {line.where for line in own_lines(path)}
        assert written <= {line.where for line in site.ledger}, path.name
        assert set(left_open) <= set(site.ledger)
        assert site.scheduler.text == site.settings.scheduler
