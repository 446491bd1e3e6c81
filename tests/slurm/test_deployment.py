"""What is deployed, on paper and on the real Slurm."""

from __future__ import annotations

import ast
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import schedlab as sl
from schedlab.cli.app import app
from schedlab.errors import InputError
from schedlab.scheduler.site_factor import code
from schedlab.slurm.configuration import machine_configuration
from schedlab.slurm.deployment import WAYS, Way, deploy, deployed_as, usual_way
from schedlab.slurm.installation import find_slurm
from schedlab.slurm.jobs import from_workload
from schedlab.slurm.laboratory import Laboratory
from schedlab.slurm.own_priority import WEIGHT, OwnPriority
from schedlab.slurm.rehearsal import BASE_PRIORITY, Rehearsal
from schedlab.slurm.replay import run

SHORTEST_FIRST = [0, 3, 6, 1, 8, 9, 4, 7, 2, 5, 10]
"""The first job holds the core; then by limit: 1, 2, 3, 4, 5, 6, 7, 8, 9, 11 minutes."""


def blocked_queue() -> sl.Workload:
    """One core; a job that holds it, and ten jobs that wait behind it."""
    limits = [10, 3, 8, 1, 6, 9, 2, 7, 4, 5, 11]
    columns = {
        "submit_time": list(range(11)),
        "run_time": [60 * limit - 5 for limit in limits],
        "requested_time": [60 * limit for limit in limits],
        "requested_processors": [1] * 11,
    }
    return sl.Workload.from_columns(columns, processors=1)


def test_lua_is_for_scores_that_are_fixed_at_submission():
    assert [deploy(policy).way for policy in ("saf", "wfp3", "eaf")] == [
        "lua-site-factor",
        "site-factor",
        "site-factor",
    ]
    instead = [usual_way(policy, within=False) for policy in ("saf", "wfp3", "eaf")]
    assert instead == ["lua", "priority-loop", "priority-loop"]
    with pytest.raises(InputError, match="Lua acts at submission only"):
        deploy("wfp3", way="lua")
    with pytest.raises(InputError, match="is not a formula of p, q, r and w"):
        deploy("multifactor(age=1000)")
    with pytest.raises(InputError, match="not @actual"):
        deploy("spf@actual")


@pytest.mark.parametrize(
    ("simulated", "way", "weight"),
    [
        ("multifactor(age=10,fairshare=50,site=700,order=saf)+slurm", "lua-site-factor", 700),
        ("saf+slurm", "lua", WEIGHT),
        ("multifactor(age=10)+slurm", "lua", WEIGHT),
    ],
)
def test_a_policy_is_confirmed_in_the_way_in_which_it_was_simulated(simulated: str, way: Way, weight: int):
    deployed = deployed_as("saf", sl.Scheduler.parse(simulated))
    assert deployed.way == way
    assert f'local WAY = "{way}"' in deployed.files["job_submit.lua"]
    assert f"local WEIGHT = {weight} " in deployed.files["job_submit.lua"]


@pytest.mark.parametrize(("policy", "way"), [("f1", None), ("f1", "lua"), ("eaf", None), ("wfp3", "priority-loop")])
def test_a_deployment_says_what_stops_counting_before_how_to_install_and_undo_it(
    tmp_path: Path, policy: str, way: Way | None
):
    deploy(policy, way=way).save(tmp_path)
    readme = (tmp_path / "README.md").read_text()
    places = [
        readme.index(f"## {title}") for title in ("What counts, and what stops", "Who will wait", "Install", "Undo")
    ]
    assert places == sorted(places)
    first = readme[places[0] : places[1]]
    assert ("overrides everything" in first) is (way is not None)
    assert "fair share" in first
    assert "QOS" in first
    assert ("--seed-from" in readme) is (policy == "eaf")
    assert not re.search("%[A-Z_]+%", readme)


@pytest.mark.parametrize("policy", ["saf", "eaf"])
def test_nothing_is_live_until_one_line_is_edited(policy: str):
    written = deploy(policy)
    [name] = [name for name in written.files if name in ("job_submit.lua", "priority_daemon.py")]
    before, after = (one.files[name].splitlines() for one in (written, written.live()))
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 1
    assert "DRY_RUN = true" in changed[0][0] or "DRY_RUN = True" in changed[0][0]


def test_the_weight_keeps_the_order_of_tiers():
    own = OwnPriority("lab", False, {"PriorityWeightQOS": "3000"}, {"QOS high": 3000, "QOS mid": 2600, "QOS low": 0})
    written = deploy("saf", own=own)
    assert "WEIGHT = 399 " in written.files["job_submit.lua"]
    assert "no job passes one of a higher tier" in written.files["README.md"]
    assert "**jobs may pass those of a higher tier**" in deploy("saf", own=own, weight=400).files["README.md"]
    assert deploy("saf").files["job_submit.lua"].count(f"WEIGHT = {WEIGHT} ") == 1
    assert "| QOS mid | 2,600 |" in deploy("saf", own=own, way="lua").files["README.md"]


def test_without_priorities_of_slurms_own_a_policy_takes_their_place():
    own = OwnPriority("lab", True, {})
    assert deploy("saf", own=own).way == "lua"
    assert "jobs went by submission alone" in deploy("saf", own=own).files["README.md"]
    with pytest.raises(InputError, match="has no site factors"):
        deploy("saf", own=own, way="site-factor")


def test_the_daemon_ranks_as_the_score_does(tmp_path: Path):
    deploy("saf", way="priority-loop").save(tmp_path)
    scores = np.array([-1e30, -3.5, -1.0, 0.0, 1e-9, 1.0, 1.0001, 60.0, 3600.0, 7.2e6, 1e12])
    program = f"import priority_daemon as d; print([d.rank(s) for s in {scores.tolist()}])"
    answer = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    ranks = eval(answer.stdout)
    assert ranks == sorted(set(ranks))
    assert ranks == code(scores).tolist()


def test_the_daemon_expects_what_the_conformance_case_expects(tmp_path: Path):
    """Case 56: one run of user 1 used a quarter of its limit."""
    deploy("saf@groups(user,decay=1)").save(tmp_path)
    code = """import priority_daemon as d
state = d.State("state.json")
ended, waiting = (d.groups_of(user=user, account="", partition="", request="", processors="") for user in "12")
print([state.share(ended), state.learn(ended, 0.25), state.share(ended), state.share(waiting)])
state.save()
print(d.State("state.json").share(ended))"""
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    before, _, own, others = eval(answer.stdout.splitlines()[0])
    assert (before, others) == (1, pytest.approx(0.5))
    assert own == pytest.approx(0.25**0.75)
    assert eval(answer.stdout.splitlines()[1]) == own


HOSTILE = '"(p* #x %n é\nq)"'
"""A formula with a comment of anything, and a line break."""


@pytest.mark.parametrize("way", WAYS)
def test_whatever_a_formula_has_in_its_comments_the_files_have_their_lines(way):
    plain, hostile = deploy('"(p*q)"', way=way).files, deploy(HOSTILE, way=way).files
    for name, content in hostile.items():
        assert content.isascii() or name == "README.md"
        assert len(content.splitlines()) == len(plain[name].splitlines())
        differ = [
            one for one, other in zip(content.splitlines(), plain[name].splitlines(), strict=True) if one != other
        ]
        assert len(differ) == 1 or name == "README.md"  # the title
        assert "%n" not in content or name == "README.md"
        if name.endswith(".py"):
            compile(content, name, "exec")


def test_names_of_partitions_are_literals_of_lua_and_of_python():
    names = ["gpu", 'a"]=os.exit()--', "é\n"]
    (line,) = (
        one for one in deploy("saf", partitions=names).files["job_submit.lua"].splitlines() if "PARTITIONS =" in one
    )
    assert '["gpu"]=true, ["a\\034\\093\\061os.exit\\040\\041--"]=true, ["\\195\\169\\010"]=true}' in line
    daemon = deploy("saf", partitions=names, way="priority-loop").files["priority_daemon.py"]
    (line,) = (one for one in daemon.splitlines() if one.startswith("PARTITIONS ="))
    assert ast.literal_eval(line.split("=", 1)[1].split("  #")[0].strip()) == sorted(names)


@pytest.mark.parametrize("name", ["origin", "period", "default_minutes"])
def test_only_numbers_become_numbers_of_a_script(name):
    with pytest.raises(InputError, match="is not a whole number"):
        deploy("saf", **{name: "0 os.exit()"})


def test_what_squeue_does_not_know_is_refused():
    with pytest.raises(InputError, match=r"not @groups\(user.executable\)"):
        deploy("saf@groups(user.executable)")
    with pytest.raises(InputError, match="not @similar"):
        deploy("saf@similar")


@pytest.mark.usefixtures("real_slurm")
@pytest.mark.parametrize("way", ["lua", "lua-site-factor", "priority-loop", "site-factor", "rest"])
def test_each_way_starts_jobs_in_the_order_of_the_policy(way: Way):
    if way == "rest" and not find_slurm().has("slurmrestd"):
        pytest.skip("there is no slurmrestd")
    real = run(blocked_queue(), cores_per_node=1, deployment=deploy("saf", way=way, period=120))
    assert real.schedule.start_time.argsort().tolist() == SHORTEST_FIRST


@pytest.mark.usefixtures("real_slurm")
@pytest.mark.parametrize("way", ["priority-loop", "site-factor"])
def test_undo_gives_all_jobs_back_to_slurms_own_order(way: Way):
    seen: dict[str, list[str]] = {}

    def prepare(laboratory: Laboratory) -> None:
        rehearsal = Rehearsal(laboratory, deploy("saf", way=way))

        def note(name: str) -> None:
            answer = laboratory.command(["squeue", "-h", "-t", "PD", "-S", "i", "-o", "%i %Q %r"])
            seen[name] = answer.stdout.splitlines()

        laboratory.at(20, lambda: note("before"))
        laboratory.at(21, lambda: rehearsal.look("--once", "--dry-run"))
        laboratory.at(22, lambda: note("after a dry run"))
        laboratory.at(23, rehearsal.look)
        laboratory.at(24, lambda: note("deployed"))
        laboratory.at(25, lambda: rehearsal.look("--undo"))
        laboratory.at(40, lambda: note("undone"))

    conf = machine_configuration(1).having(PriorityWeightPartition=BASE_PRIORITY)
    real = run(from_workload(blocked_queue()), conf=conf, prepare=prepare)
    priorities = {name: [line.split()[1] for line in lines] for name, lines in seen.items()}
    assert len(priorities["before"]) == 10
    assert priorities["after a dry run"] == priorities["before"]
    assert len(set(priorities["deployed"])) == 10
    assert priorities["undone"] == priorities["before"]
    assert not any("Held" in line for line in seen["undone"])
    assert real.schedule.start_time.argsort().tolist() == list(range(11))


@pytest.mark.usefixtures("real_slurm")
def test_what_an_administrator_sets_stays_until_the_job_is_held_and_released():
    seen: dict[str, dict[str, int]] = {}

    def prepare(laboratory: Laboratory) -> None:
        rehearsal = Rehearsal(laboratory, deploy("saf", way="priority-loop"))

        def note(name: str) -> None:
            answer = laboratory.command(["squeue", "-h", "-t", "PD", "-o", "%i %Q"])
            seen[name] = {job: int(priority) for job, priority in map(str.split, answer.stdout.splitlines())}

        def scontrol(*words: str) -> None:
            assert not laboratory.command(["scontrol", *words]).stderr

        laboratory.at(20, rehearsal.look)
        laboratory.at(21, lambda: note("deployed"))
        laboratory.at(22, lambda: scontrol("update", "jobid=11", "priority=4000000000"))
        laboratory.at(23, rehearsal.look)
        laboratory.at(24, lambda: note("set"))
        laboratory.at(25, lambda: scontrol("hold", "11"))
        laboratory.at(26, rehearsal.look)
        laboratory.at(27, lambda: scontrol("release", "11"))
        laboratory.at(28, rehearsal.look)
        laboratory.at(29, lambda: note("given back"))
        laboratory.at(30, lambda: scontrol("update", "jobid=10", "priority=4000000000"))
        laboratory.at(31, lambda: rehearsal.look("--undo"))
        laboratory.at(45, lambda: note("undone"))

    conf = machine_configuration(1).having(PriorityWeightPartition=BASE_PRIORITY)
    real = run(from_workload(blocked_queue()), conf=conf, prepare=prepare)
    assert seen["set"] == seen["deployed"] | {"11": 4_000_000_000}
    assert seen["given back"] == seen["deployed"]
    assert seen["undone"] == dict.fromkeys(seen["deployed"], BASE_PRIORITY) | {"10": 4_000_000_000}
    assert real.schedule.start_time.argsort().tolist() == [0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 10]


def test_the_daemon_waits_until_slurmctld_answers_again(tmp_path: Path):
    # Programs that stand for Slurm's: squeue fails once, as it does while slurmctld restarts, and knows one job then.
    deploy("saf", way="priority-loop", period=1).live().save(tmp_path)
    line = "7|PENDING|ann|4|10:00|2026-04-01T10:00:00|0:00|1|batch|lab|Resources"
    programs = {
        "squeue": f"[ -e up ] || {{ touch up; echo Unable to contact slurm controller >&2; exit 1; }}\necho '{line}'",
        "scontrol": "cat >> told",
    }
    for name, lines in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, str(tmp_path / "priority_daemon.py")]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as daemon:
        assert daemon.stderr is not None
        assert "Slurm does not answer (Unable to contact slurm controller); again in 1 s" in daemon.stderr.readline()
        assert "job 7: priority=" in daemon.stderr.readline()
        for _ in range(200):
            if (tmp_path / "told").exists() and (tmp_path / "told").read_text().endswith("quit\n"):
                break
            time.sleep(0.05)
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(10) == 0
    assert (tmp_path / "told").read_text().startswith("update jobid=7 priority=")
    assert "ExecStopPost=" in (tmp_path / "schedlab-priority.service").read_text()


def daemon_with(tmp_path: Path, policy: str, jobs: int) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return what runs the daemon beside a squeue with so many waiting jobs; scontrol fails if `fails` exists."""
    deploy(policy, way="priority-loop").live().save(tmp_path)
    line = "{}|PENDING|ann|4|10:00|2026-04-01T10:00:{:02}|0:00|1|batch|lab|Resources\n"
    (tmp_path / "queue").write_text("".join(line.format(job, job % 60) for job in range(1, jobs + 1)))
    programs = {
        "squeue": 'case "$*" in *%T*) cat queue;; *) cut -d "|" -f 1,8 --output-delimiter " " queue;; esac',
        "scontrol": "[ -e fails ] && { echo Unable to contact slurm controller >&2; exit 1; }; cat >> told",
    }
    for name, lines in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(tmp_path / "priority_daemon.py"), *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return call


def test_in_a_long_queue_whose_scores_change_each_job_has_its_turn(tmp_path: Path):
    daemon = daemon_with(tmp_path, "wfp3", 501)
    for now in (1_775_100_000, 1_775_200_000):
        assert daemon("--once", "--now", str(now)).returncode == 0
    told = (tmp_path / "told").read_text()
    assert all(f"jobid={job} " in told for job in range(1, 502))


def test_undo_knows_every_job_and_what_fails_is_given_back_by_the_next_one(tmp_path: Path):
    daemon = daemon_with(tmp_path, "saf", 3)
    (tmp_path / "fails").touch()
    for words in (("--once",), ("--undo",)):
        answer = daemon(*words)
        assert answer.returncode == 1
        assert answer.stderr.splitlines()[-1] == "priority_daemon: Unable to contact slurm controller"
    assert set(json.loads((tmp_path / "state.json").read_text())["values"]) == {"1", "2", "3"}
    (tmp_path / "fails").unlink()
    assert daemon("--undo").returncode == 0
    told = (tmp_path / "told").read_text()
    assert [told.count(f"hold {job}\nrelease {job}\n") for job in (1, 2, 3)] == [1, 1, 1]
    assert json.loads((tmp_path / "state.json").read_text())["values"] == {}


def test_a_priority_that_somebody_else_sets_is_left_alone_until_the_job_was_held(tmp_path: Path):
    daemon = daemon_with(tmp_path, "saf", 2)
    assert daemon("--once").returncode == 0
    own = json.loads((tmp_path / "state.json").read_text())["values"]["1"]

    def sets(priority: int, *words: str) -> list[str]:
        """The jobs of which the daemon sets the priority in a look that finds job 1 with this one."""
        (tmp_path / "told").write_text("")
        line = f"|PENDING|ann|8|10:00|2026-04-01T10:00:00|0:00|{priority}|batch|lab|Resources\n"
        (tmp_path / "queue").write_text(f"1{line}")
        answer = daemon(*(words or ("--once",)))
        assert answer.returncode == 0
        assert answer.stderr.count("somebody else has set priority=7;") == (priority == 7)
        told = (tmp_path / "told").read_text()
        return [line.split()[1] for line in told.splitlines() if line.split()[0] in ("update", "hold")]

    assert sets(7) == []
    assert json.loads((tmp_path / "state.json").read_text())["left"] == {"1": 7}
    (tmp_path / "told").write_text("")
    assert sets(8) == []
    assert sets(own) == []
    assert sets(0) == []
    assert sets(5) == ["jobid=1"]
    assert sets(7, "--undo") == []


def test_slurmctld_may_forget_the_last_priority_in_a_crash(tmp_path: Path):
    daemon = daemon_with(tmp_path, "wfp3", 1)
    values = []
    for now in (1_775_100_000, 1_775_200_000, 1_775_300_000):
        assert daemon("--once", "--now", str(now)).returncode == 0
        values.append(json.loads((tmp_path / "state.json").read_text())["values"]["1"])
        seen = values[-2] if len(values) > 1 else values[-1]  # the second one was lost
        (tmp_path / "queue").write_text(f"1|PENDING|ann|4|10:00|2026-04-01T10:00:01|0:00|{seen}|batch|lab|Resources\n")
    assert len(set(values)) == 3


def test_jobs_that_have_ended_are_forgotten(tmp_path: Path):
    daemon = daemon_with(tmp_path, "saf", 2)
    assert daemon("--once").returncode == 0
    line = "{}|{}|ann|4|10:00|2026-04-01T10:00:00|0:00|1|batch|lab|None\n"
    (tmp_path / "queue").write_text(line.format(2, "RUNNING") + line.format(3, "PENDING"))
    assert daemon("--once").returncode == 0
    assert set(json.loads((tmp_path / "state.json").read_text())["values"]) == {"2", "3"}


def test_a_run_is_learned_from_once_however_often_the_daemon_is_started(tmp_path: Path):
    """Slurm remembers for minutes that a job has ended, and each look sees it."""
    deploy("eaf", way="priority-loop").live().save(tmp_path)
    (tmp_path / "squeue").write_text(
        "#!/bin/sh\necho '7|COMPLETED|ann|4|10:00|2026-04-01T10:00:00|5:00|1|batch|lab|None'\n"
    )
    (tmp_path / "squeue").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for _ in range(3):
        command = [sys.executable, str(tmp_path / "priority_daemon.py"), "--once"]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    groups = json.loads((tmp_path / "state.json").read_text())["groups"]
    assert groups == {name: [1.0, pytest.approx(math.log(0.5))] for name in ("", "ann", "ann|600")}


def test_the_table_is_filled_from_sacct_in_the_order_in_which_runs_ended(tmp_path: Path):
    deploy("saf@groups(user,decay=0.5)+easy").save(tmp_path)
    head = "JobID|User|Account|Partition|State|TimelimitRaw|ElapsedRaw|AllocCPUS|End\n"
    (tmp_path / "sacct.txt").write_text(
        f"{head}3|ann|lab|batch|COMPLETED|10|300|4|2026-04-02T00:00:00\n"  # half of its limit, the last
        "2|ann|lab|batch|TIMEOUT|10|600|4|2026-04-01T00:00:00\n"
        "2.batch|||||||4|2026-04-01T00:00:00\n4|ann|lab|batch|CANCELLED by 0|10|3|4|2026-04-01T00:00:00\n"
        "5|ann|lab|batch|COMPLETED|UNLIMITED|3|4|2026-04-01T00:00:00\n"
    )
    command = [sys.executable, str(tmp_path / "priority_daemon.py"), "--seed-from", str(tmp_path / "sacct.txt")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "learned from 2 of 5 lines; 2 groups are known" in answer.stderr
    groups = json.loads((tmp_path / "state.json").read_text())["groups"]
    assert groups["ann"] == [1.5, pytest.approx(math.log(0.5))]
    (tmp_path / "sacct.txt").write_text("JobID|User\n")
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert answer.stderr.startswith("priority_daemon: ")
    assert "lacks Account, Partition" in answer.stderr


@pytest.mark.usefixtures("real_slurm")
@pytest.mark.parametrize("way", ["lua-site-factor", "site-factor"])
def test_a_site_factor_orders_within_a_qos_and_never_across(way: Way):
    """Partitions 1,000 points apart: all jobs of the better one begin first, each in the policy's order."""
    partitions = ["low", *["low", "high"] * 5]
    jobs = from_workload(blocked_queue(), options=[["-p", name] for name in partitions])
    conf = machine_configuration(1)
    lines = [line for line in conf.lines if not line.startswith("PartitionName=")]
    lines += [
        f"PartitionName={name} Nodes=ALL PriorityJobFactor={factor} MaxTime=INFINITE Default={default}"
        for name, factor, default in (("low", 500, "YES"), ("high", 1000, "NO"))
    ]
    conf = replace(conf, lines=tuple(lines)).having(PriorityType="priority/multifactor", PriorityWeightPartition=2000)
    real = run(jobs, conf=conf, deployment=deploy("saf", way=way, weight=999, period=120))
    order = real.schedule.start_time.argsort().tolist()[1:]
    shortest_first = SHORTEST_FIRST[1:]
    assert order == [row for row in shortest_first if row % 2 == 0] + [row for row in shortest_first if row % 2]


@pytest.mark.usefixtures("real_slurm")
def test_a_policy_of_the_laboratory_and_a_deployment_do_not_go_together():
    with pytest.raises(InputError, match="the deployment of saf sets the order"):
        run(blocked_queue(), "spf+slurm", deployment=deploy("saf"))
    conf = machine_configuration(1)
    conf = replace(conf, files={"job_submit.lua": "-- the site's own"})
    with pytest.raises(InputError, match="merge the deployed one"):
        run(blocked_queue(), conf=conf, deployment=deploy("saf"))


def test_the_readme_of_a_site_names_the_one_command_that_is_left_and_groups_all_digits_alike():
    own = OwnPriority("lab", False, {"PriorityWeightAge": "70000"}, {"QOS high": 1_000_000.0, "QOS low": 0.0})
    readme = deploy("saf", own=own).files["README.md"]
    assert "`schedlab site what-if SITE --policy 'saf'` replays your own jobs" in readme
    assert "site import" not in readme[readme.index("## Who will wait longer") : readme.index("## Install")]
    assert "| PriorityWeightAge | 70,000 |" in readme
    assert "| QOS high | 1,000,000 |" in readme


@pytest.mark.parametrize(
    ("policy", "way", "weight", "asked", "forecast"),
    [
        ("saf", None, None, "--policy 'saf'`", True),
        ("saf", None, 9, "--policy 'saf' --policy-points 9`", True),
        ("saf", "lua", None, "--policy 'saf' --policy-points 0`", True),
        ("eaf", None, None, "--policy 'eaf'`", False),
        ("eaf", "priority-loop", None, "--policy 'eaf'`", True),
    ],
)
def test_the_question_that_a_readme_proposes_is_about_the_way_that_is_installed(
    policy: str, way: Way | None, weight: int | None, asked: str, forecast: bool
):
    readme = deploy(policy, way=way, weight=weight).files["README.md"]
    pays = readme[readme.index("## Who will wait longer") :].partition("\n## ")[0]
    assert asked in pays
    assert ("of one factor beside them, as these files install it, there is no forecast" in pays) is not forecast


def test_the_readme_says_how_much_a_policy_weighs_beside_what_else_decides_within_a_tier():
    """70,000 + 120,000 + 200,000 points: 24,999 are 6 % of them, and the QOS is the same for all jobs of a tier."""
    weights = {"Age": "70000", "Fairshare": "120000", "QOS": "50000", "JobSize": "200000"}
    own = OwnPriority("lab", False, {f"PriorityWeight{name}": points for name, points in weights.items()})
    told = " ".join(deploy("saf", own=own, weight=24_999).files["README.md"].split())
    assert "up to 390,000 points apart by age (70,000), fair share (120,000), size (200,000);" in told
    assert "WEIGHT, 24,999, is 6% of that: the policy only decides between jobs that these leave close together" in told
    assert "is no less, so the policy can decide" in deploy("saf", own=own, weight=390_000).files["README.md"]
    assert "points apart by" not in deploy("saf", own=OwnPriority("lab", False, {})).files["README.md"]
    tres = own.weights | {"PriorityWeightTRES": "gres/gpu: 30,000 for each (amounts, NO_NORMAL_TRES)"}
    told = " ".join(deploy("saf", own=replace(own, weights=tres), weight=24_999).files["README.md"].split())
    assert "size (200,000), and besides as far as their resources say (PriorityWeightTRES, gres/gpu: 30,000 for" in told
    assert "WEIGHT, 24,999, is 6% of the first" in told


def test_what_of_a_whole_scheduler_is_not_deployed_is_said_at_once(tmp_path: Path):
    said = {
        policy: CliRunner().invoke(app, ["deploy", policy, "-o", str(tmp_path / policy)]).output
        for policy in ("saf+easy", "saf")
    }
    assert "(its order, and not its backfilling) as lua-site-factor, within Slurm's own priority" in said["saf+easy"]
    assert said["saf"].startswith("saf as lua-site-factor")
