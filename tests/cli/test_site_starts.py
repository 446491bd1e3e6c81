"""The verb `when` at a site."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl

sys.path.append(str(Path(__file__).parents[1] / "when"))
from site_samples import CONF, HEADER, printed, small_site

AT = ("--at", "2026-04-01T10:00:00", "--forks", "9")


@pytest.fixture
def asked(tmp_path):
    """Return the options that name a site and what Slurm's programs said."""
    files = printed(tmp_path)
    site = small_site(tmp_path).save(tmp_path / "site")
    options = ["--site", site, "--squeue", files.squeue, "--sinfo", files.nodes, "--sshare", files.sshare]
    return [*options, "--reservations", files.reservations, *AT]


def test_a_sentence_about_a_job_comes_first(run, asked):
    result = run("when", "9", *asked)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Job 9 will probably start between 10:")
    assert (
        "From 9 simulations of lab as it was at 2026-04-01 10:00 UTC, with 2 running jobs, 2 waiting" in result.stdout
    )
    assert "never been checked on this site" in result.stdout


def test_a_new_job_is_asked_about_with_options_of_sbatch(run, asked):
    result = run("when", "--nodes", "1", "--time", "6h", "--partition", "batch", "--user", "ann", *asked, "--json")
    (job,) = json.loads(result.stdout)["jobs"]
    assert (job["user"], job["partition"], job["waits_for"]["ahead"]) == ("ann", "batch", 2)
    assert run("when", "--nodes", "1", *asked).stderr.startswith(
        "schedlab: the job that is asked about has no requested"
    )


def test_requests_of_one_job_are_compared_by_when_their_results_are_there(run, asked):
    result = run("when", "--nodes", "4", "--time", "1h", "--or", "--nodes=1", "--user", "ann", *asked)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("With --nodes=1, its result is there in ")
    assert "as it is" in result.stdout


def test_all_jobs_are_written_to_files_of_all_kinds(run, asked, tmp_path):
    names = [tmp_path / f"when.{suffix}" for suffix in ("json", "html", "prom")]
    outputs = [word for name in names for word in ("-o", name)]
    result = run("when", "--all", *asked, *outputs)
    assert result.exit_code == 0, result.stderr
    assert [len(json.loads(names[0].read_text())["jobs"]), *(name.exists() for name in names)] == [2, True, True, True]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["abc"], "abc is not the number of a job"),
        (["99"], "job 99 is not in the queue"),
        (["--all", "-o", "when.txt"], "when.txt: unknown suffix"),
        (["--all", "--watch", "60"], "--watch writes files: add -o"),
        (["--nodes", "9", "--time", "1h"], "such a job can never start here"),
    ],
)
def test_bad_input_is_one_sentence(run, asked, words, said):
    result = run("when", *words, *asked)
    assert result.exit_code == 1
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_files_of_a_state_need_its_queue(run, asked):
    result = run("when", "--all", "--site", asked[1], "--sinfo", asked[5])
    assert "--sinfo needs --squeue as well" in result.stderr


def test_with_a_queue_and_without_a_site_its_state_alone_answers(run, tmp_path):
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|NNodes|Partition"]
    for hour in range(120):  # each waits for an hour, whatever its partition
        submit = np.datetime64("2026-03-20T00:00:00") + np.timedelta64(hour, "h")
        start, end = submit + np.timedelta64(60, "m"), submit + np.timedelta64(90, "m")
        lines.append(f"{hour}|ann|COMPLETED|{submit}|{start}|{end}|60|8|1|{('batch', 'gpu')[hour % 2]}")
    (tmp_path / "sacct.txt").write_text("\n".join(lines) + "\n")
    waits = "9|ann|batch|PENDING|2026-04-01T10:00:00|N/A|1:00:00|8|1|Resources|(null)|300|"
    (tmp_path / "squeue").write_text(f"{HEADER}\n{waits}\n")
    asked = ("when", "sacct.txt", "--squeue", "squeue", "--at", "2026-04-01 10:00")
    assert "11:00" in run(*asked, "9").output
    told = json.loads(run(*asked, "--cores", 8, "--time", "1h", "--partition", "gpu", "--json").output)
    assert (told["method"], told["past_jobs"]) == ("state of the queue", 120)
    assert told["jobs"][0]["start_50"] - told["now"] == pytest.approx(3_600, abs=1)
    assert run(*asked).exit_code == 2


def test_files_are_written_again_and_again_and_stay_as_they_were_when_a_round_fails(run, asked, tmp_path, monkeypatch):
    output, rounds = tmp_path / "when.json", []

    def sleep(seconds):
        rounds.append((seconds, json.loads(output.read_text())["jobs"]))
        output.touch()
        if len(rounds) == 1:  # the queue is cut short in the next rounds
            Path(asked[3]).write_text("JOBID|USER")
        if len(rounds) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("schedlab.cli.site_starts.time.sleep", sleep)
    result = run("when", "--all", *asked, "--watch", "60", "-o", output)
    assert [len(jobs) for _, jobs in rounds] == [2, 2, 2]
    assert all(0 <= seconds <= 60 for seconds, _ in rounds)
    told = [line for line in result.stderr.splitlines() if "the files stay as they were" in line]
    assert len(told) == 1  # the same complaint is told once
    assert told[0].endswith("and the next round is in 60 s")


def test_sites_are_compared_for_one_new_job(run, asked, tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (state / "squeue.txt").write_text(f"{HEADER}\n7|ann|batch|RUNNING|{SEEN}|2:00:00|8|1|None|(null)|500|n1\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "slurm.conf").write_text(CONF.replace("ClusterName=lab", "ClusterName=quiet"))
    site = sl.site.import_site(other / "slurm.conf").save(other / "site")
    words = ("--nodes", "2", "--time", "1h", *asked, "--or-site", f"{site}:{state}")
    result = run("when", *words)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("On quiet, its result is there in ")
    best, own = json.loads(run("when", *words, "--json").stdout)
    assert (best["site"], best["wait_50"], own["site"]) == ("quiet", 0.0, "lab")
    assert "write SITE:STATE" in run("when", "--nodes", "2", "--time", "1h", *asked, "--or-site", "x").stderr
    assert "has no squeue" in run("when", "--nodes", "2", "--time", "1h", *asked, "--or-site", f"{site}:{other}").stderr
    assert run("when", "--all", *asked, "--or-site", f"{site}:{state}").exit_code == 2


SEEN = "2026-04-01T09:00:00|2026-04-01T09:10:00"
NOBODY = f"{HEADER}\n"
FOREIGN = f"{HEADER}\n7|ann|batch|RUNNING|{SEEN}|2:00:00|8|1|None|(null)|500|zz9\n"
HELD = f"{HEADER}\n9|ann|batch|PENDING|2026-04-01T09:00:00|N/A|1:00:00|32|4|JobHeldUser|(null)|0|\n"
LATE = f"{HEADER}\n7|ann|batch|RUNNING|2026-04-01T12:00:00|2026-04-01T12:10:00|2:00:00|8|1|None|(null)|500|n1\n"
"""What squeue may print: no jobs, jobs on nodes that the site lacks, a held job, and a start behind the moment."""


@pytest.mark.parametrize(
    ("queue", "words", "said"),
    [
        (NOBODY, ["--all"], "no job waits: ask about a new one"),
        (NOBODY, ["9"], "job 9 is not in the queue"),
        (HELD, ["--all"], "no job waits: ask about a new one"),
        (HELD, ["9"], "job 9: it is held (JobHeldUser)"),
        (FOREIGN, ["--all"], "is it the queue of this site?"),
        (LATE, ["--all"], "started 7,800 s after the moment of the snapshot"),
        ('{"jobs": [', ["--all"], "squeue"),
        ("", ["--all"], "squeue"),
        (None, ["11"], "job 11: it is held (JobHeldUser)"),
        (None, ["7"], "job 7 does not wait: it runs since 50 min"),
    ],
)
def test_a_state_that_cannot_be_or_has_no_answer_is_one_sentence(run, asked, queue, words, said):
    if queue is not None:
        Path(asked[3]).write_text(queue)
    result = run("when", *words, *asked)
    assert result.exit_code == 1
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("queue", [NOBODY, HELD])
def test_in_an_empty_queue_and_one_of_held_jobs_a_new_job_starts_at_once(run, asked, queue):
    Path(asked[3]).write_text(queue)
    result = run("when", "--nodes", "2", "--time", "1h", *asked)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Such a job will start at once (100%).")


def test_where_no_job_waits_files_say_so(run, asked, tmp_path):
    Path(asked[3]).write_text(HELD)
    names = [tmp_path / f"when.{suffix}" for suffix in ("json", "html", "prom")]
    result = run("when", "--all", *asked, *[word for name in names for word in ("-o", name)])
    assert result.exit_code == 0, result.stderr
    document = json.loads(names[0].read_text())
    assert (document["jobs"], list(document["never"])) == ([], ["9"])
    assert "schedlab_when_waiting_jobs{" not in names[2].read_text()
