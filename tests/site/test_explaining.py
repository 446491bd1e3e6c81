"""Why the jobs of a small site wait, where one knows why each does; the verbs that tell it, and what they write."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from schedlab.cli.app import app
from schedlab.report.site_waits import render_explanation
from schedlab.schedule.exports import read_schedule
from schedlab.site.calibration import calibrate
from schedlab.site.carriers import Carrier
from schedlab.site.explained import asks_for
from schedlab.site.explaining import SiteExplanation, explain
from schedlab.site.importing import import_site
from schedlab.site.site import Site
from schedlab.site.what_if import what_if
from schedlab.workload.workload import Workload

CONF = """
ClusterName=lab
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
NodeName=a[1-2] CPUs=4 Feature=cpu
NodeName=b1 CPUs=4 Feature=big
PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0
"""

ACCOUNTS = """
add cluster name=lab
add qos name=normal
add qos name=one MaxJobsPerUser=1
add account name=lab
add user name=ann DefaultAccount=lab qos=normal,one DefaultQOS=normal
add user name=bob DefaultAccount=lab qos=normal,one DefaultQOS=normal
"""

HEAD = "JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|ReqCPUS|AllocCPUS|NNodes|Partition|QOS|Constraints"
DAY = "2026-04-01T"


def line(number: int, user: str, submit: str, start: str, end: str, cpus: int, qos: str, constraint: str) -> str:
    limit = 120
    times = "|".join(f"{DAY}{one}" for one in (submit, start, end))
    return f"{number}|{user}|COMPLETED|{times}|{limit}|{cpus}|{cpus}|1|batch|{qos}|{constraint}"


JOBS = [
    # Ann fills both cpu nodes at 8:00 for two hours; her next two jobs wait for them until 10:00, for 7,200 s each.
    line(1, "ann", "08:00:00", "08:00:00", "10:00:00", 4, "normal", "cpu"),
    line(2, "ann", "08:00:00", "08:00:00", "10:00:00", 4, "normal", "cpu"),
    line(3, "ann", "08:00:00", "10:00:00", "11:00:00", 4, "normal", "cpu"),
    line(4, "ann", "08:00:00", "10:00:00", "11:00:00", 4, "normal", "cpu"),
    # Bob's jobs of one at a time: the second waits from 11:30 to 12:00 at the limit.
    line(5, "bob", "11:30:00", "11:30:00", "12:00:00", 1, "one", "big"),
    line(6, "bob", "11:30:00", "12:00:00", "12:30:00", 1, "one", "big"),
    # And four of bob that find an empty cluster.
    *(
        line(7 + hour, "bob", f"{13 + hour}:00:00", f"{13 + hour}:00:00", f"{13 + hour}:30:00", 1, "one", "big")
        for hour in range(4)
    ),
]


def schedlab(*words: str) -> None:
    app(list(words), standalone_mode=False)


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "slurm.conf").write_text(CONF)
    (tmp_path / "conf" / "accounts.script").write_text(ACCOUNTS)
    return tmp_path / "conf"


@pytest.fixture
def site(conf: Path) -> Site:
    jobs = conf.parent / "jobs.txt"
    jobs.write_text("\n".join([HEAD, *JOBS, ""]))
    return import_site(conf, jobs)


@pytest.fixture
def found(site: Site) -> SiteExplanation:
    return explain(site)


def test_the_causes_of_each_job_are_those_that_one_knows(found: SiteExplanation):
    assert found.recorded is not None
    assert found.recorded.wait_time.tolist() == [0, 0, 7200, 7200, 0, 1800, 0, 0, 0, 0]
    assert found.causes.seconds["cores"][[2, 3]].tolist() == pytest.approx([7200, 7200], abs=2)
    # On node b1, there is room for one of the two.
    assert found.causes.elsewhere[[2, 3]].tolist() == pytest.approx([3600, 3600], abs=2)
    assert found.causes.seconds["QOSMaxJobsPerUserLimit"][5] == pytest.approx(1800, abs=2)
    (cost,) = found.limits
    assert (cost.limit, cost.jobs, cost.users) == ("QOS one: max_jobs_per_user=1", 1, 1)


def test_the_first_sentences_say_how_sure_it_is_and_who_waits(found: SiteExplanation):
    told = found.sentences()
    assert any(one.startswith("The replay cannot be judged") for one in told)
    assert "Who waits is told from the record; what they wait for is told by the twin." in told
    who = " ".join(told)
    # 14,400 of 16,200 s; four of ten jobs; 3,600 s on average, the others 300 s.
    assert told[0] == "By the record, 89% of all waiting is that of 4 jobs of ann."
    assert told[1].startswith("These are 40% of all jobs, each asking for 1 whole node of cpu")
    # Two hours and one on two of two nodes, all submitted at 8:00.
    assert "They bring 3 h of work for all 2 nodes that they may use, 100% of it submitted in a minute." in who
    assert "They wait 60 min on average, " in who
    assert "All other jobs wait 5 min on average." in who
    assert "What they wait for is told by a twin that is unproven (mean wait as recorded)." in who
    assert any("89% is for resources (no node that the job may use has room)" in one for one in told)
    assert any("11% is at limits" in one for one in told)
    assert any(
        one.startswith("The bottleneck is cpu (2 nodes): jobs that ask for these nodes have 100% of all waiting")
        for one in told
    )
    assert any("QOSMaxJobsPerUserLimit (QOS one: max_jobs_per_user=1)" in one for one in told)
    assert any("During 44% of all waiting, there was room on nodes that the job may not use" in one for one in told)


def test_before_half_empty_nodes_the_answer_says_so_who_holds_them_and_which_change_to_ask_for(conf: Path):
    """Ann's two jobs of one core hold a cpu node each from 8 to 10, as she gives their nodes; bob's job of a node waits
    for two hours, which are all waiting. Both jobs would do with one node."""
    head, jobs = HEAD.replace("|Constraints", "|Constraints|SubmitLine"), []
    for number, (user, submit, start, end, cpus, words) in enumerate(
        [
            ("ann", "08:00:00", "08:00:00", "10:00:00", 1, "sbatch -w a1 x"),
            ("ann", "08:00:00", "08:00:00", "10:00:00", 1, "sbatch -w a2 x"),
            ("bob", "08:00:00", "10:00:00", "11:00:00", 4, "sbatch x"),
            ("bob", "12:00:00", "12:00:00", "12:30:00", 4, "sbatch x"),
        ]
    ):
        jobs.append(line(number + 1, user, submit, start, end, cpus, "normal", "cpu") + f"|{words}")
    file = conf.parent / "few.txt"
    file.write_text("\n".join([head, *jobs, ""]))
    found = explain(import_site(conf, file))
    told = found.sentences()
    assert any("100% of it in the twin before half-empty nodes" in one for one in told)
    place = next(place for place, one in enumerate(told) if "passes before half-empty nodes" in one)
    before, holds, helps = told[place : place + 3]
    assert before.startswith(
        "100% of all waiting passes before half-empty nodes, nearly all of it that of 1 job before cpu (2 nodes). "
    )
    assert "On 100% of these run jobs of ann, each with 1 core" in holds
    assert helps.startswith("What may help: packing. 100% of the nodes in use in part are at most half in use")
    assert found.change == ""  # without backfilling, Slurm's option has no effect in the twin
    assert found.to_document()["half_empty"]["mergeable"] == 1
    assert "75% of the cores of these nodes are free on average" in render_explanation(found)


def test_without_recorded_waits_it_says_that_nothing_can_be_checked(site: Site, conf: Path):
    jobs = site.jobs.replace(wait_time=np.full(len(site.jobs), -1))
    found = explain(Site(site.machine, jobs, site.settings, site.ledger, site.files))
    assert found.recorded is None
    assert found.sentences()[0].startswith("A twin that cannot be calibrated says: ")
    none = f"None of its {len(jobs)} jobs has a recorded wait, so that nothing says how far this twin is from the site."
    assert none in found.sentences()
    assert sum("cannot be calibrated" in one for one in found.sentences()) == 1
    assert found.waits.tolist() == found.twin.wait_time.tolist()
    assert found.to_document()["verdict"] is None


def test_a_log_in_which_no_job_waits_is_told_in_a_sentence(conf: Path, tmp_path: Path):
    jobs = tmp_path / "few.txt"
    jobs.write_text("\n".join([HEAD, JOBS[0], JOBS[1], ""]))
    found = explain(import_site(conf, jobs))
    assert found.sentences()[0].endswith("no job waits: 2 jobs started at once.")
    assert "who carries the mean wait" in str(found)
    render_explanation(found)


def test_the_document_and_the_page_have_the_same_answer(found: SiteExplanation):
    document = json.loads(json.dumps(found.to_document(), default=str))
    assert document["sentences"] == found.sentences()
    assert document["verdict"] == "unproven"
    assert document["half_empty"] is None
    assert document["carriers"][0]["group"] == "ann"
    assert document["carriers"][0]["share_of_waiting"] == pytest.approx(14_400 / 16_200)
    assert sum(one["hours"] for one in document["causes"]) == pytest.approx(16_200 / 3600, abs=0.01)
    page = render_explanation(found, command="schedlab site explain site")
    assert "89% of all waiting is that of 4 jobs of ann." in page
    assert "QOS one: max_jobs_per_user=1" in page
    assert "The replay cannot be judged" in page
    assert "schedlab site explain site" in page


def test_the_verb_prints_it_and_writes_page_and_schedule_of_which_single_jobs_are_explained(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    where, page, schedule = site.save(tmp_path / "site"), tmp_path / "waits.html", tmp_path / "twin.parquet"
    schedlab("site", "explain", str(where), "--report", str(page), "-o", str(schedule))
    told = capsys.readouterr()
    assert "These are 40% of all jobs, each asking for 1 whole node of cpu" in told.out
    assert f"schedule {schedule}" in told.err
    assert page.read_text().count("<h1>") == 1
    assert read_schedule(schedule).wait_time.tolist() == explain(site).twin.wait_time.tolist()
    schedlab("explain", str(schedule), "6", "--cluster", str(where))
    assert "reasons, as squeue gives them: QOSMaxJobsPerUserLimit for 30 min" in capsys.readouterr().out
    schedlab("explain", str(schedule), "6", "--json")
    (told_reason,) = json.loads(capsys.readouterr().out)["waited_for"]
    assert told_reason[0] == "QOSMaxJobsPerUserLimit"


def test_the_verb_prints_one_document(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    schedlab("site", "explain", str(site.save(tmp_path / "site")), "--json")
    assert json.loads(capsys.readouterr().out)["site"] == "lab"


def test_the_verdict_is_kept_in_the_site(site: Site, tmp_path: Path):
    where = site.save(tmp_path / "site")
    assert explain(where).calibration is not None
    assert json.loads((where / "calibration.json").read_text())


def test_calibrate_writes_page_and_schedule_by_their_suffixes(site: Site, tmp_path: Path):
    where, page, twin = site.save(tmp_path / "site"), tmp_path / "c.html", tmp_path / "twin.parquet"
    schedlab("site", "calibrate", str(where), "-o", str(page), "-o", str(twin))
    assert "Calibration" in page.read_text()
    assert read_schedule(twin).start_time.tolist() == calibrate(site).simulated.start_time.tolist()
    with pytest.raises(SystemExit):
        schedlab("site", "calibrate", str(where), "-o", str(tmp_path / "twin.pdf"))


def test_what_if_writes_the_site_as_it_is_and_the_best_variant(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Without the limit, bob's second job starts half an hour earlier; the reasons stand in both schedules."""
    where, schedules = site.save(tmp_path / "site"), tmp_path / "schedules"
    words = ["site", "what-if", str(where), "--set", "QOS=one MaxJobsPerUser=2", "-j", "1", "-o", str(schedules)]
    schedlab(*words)
    assert "best.parquet: QOS one MaxJobsPerUser=2" in capsys.readouterr().err
    before, after = (read_schedule(schedules / f"{name}.parquet") for name in ("as-it-is", "best"))
    assert before.wait_time[5] - after.wait_time[5] == pytest.approx(1800, abs=2)
    assert before.waited_for is not None
    assert before.waited_for["QOSMaxJobsPerUserLimit"][5] == pytest.approx(1800, abs=2)


def test_each_copy_of_an_answer_has_its_schedules(site: Site, tmp_path: Path):
    """The answer is a mean over all copies, and is found again in their files."""
    where, schedules = site.save(tmp_path / "site"), tmp_path / "schedules"
    words = ["site", "what-if", str(where), "--set", "QOS=one MaxJobsPerUser=2", "--copies", "3", "-j", "1"]
    schedlab(*words, "-o", str(schedules))
    copies = ("", "-copy-2", "-copy-3")
    assert {path.stem for path in schedules.iterdir()} == {
        f"{side}{copy}" for side in ("as-it-is", "best") for copy in copies
    }
    waits = [read_schedule(schedules / f"best{copy}.parquet").metrics()["mean_wait"] for copy in copies]
    assert len(set(waits)) > 1
    answer = what_if(where, ["QOS=one MaxJobsPerUser=2"], copies=3, workers=1)
    assert sum(waits) / 3 == pytest.approx(answer.ranking.best.mean_wait)


def test_a_calibration_has_the_same_twin(site: Site, found: SiteExplanation):
    assert calibrate(site).simulated.start_time.tolist() == found.twin.start_time.tolist()


@pytest.mark.parametrize(
    ("shared", "asked"),
    [
        ({"time limit": "1 h to 4 h"}, "2 h"),
        ({"nodes": "2 nodes"}, "2 nodes"),
        ({"nodes": "2 nodes", "time limit": "1 h to 4 h"}, "2 nodes for 2 h"),
        ({}, ""),
    ],
)
def test_what_a_group_asks_for_is_a_noun_whatever_its_jobs_share(shared, asked):
    """It stands after "asking for", and in a column "nearly all ask for"."""
    jobs = Workload.from_columns(
        {"submit_time": [0, 9], "run_time": [5, 5], "requested_processors": [1, 1], "requested_time": [7200, 7200]}
    )
    found = SimpleNamespace(twin=SimpleNamespace(workload=jobs))
    assert asks_for(found, Carrier({"user": "ann"}, shared, np.array([0, 1]))) == asked
