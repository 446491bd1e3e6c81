"""How a trace is read: the options that inspect, convert, simulate and compare share; and explain."""

from __future__ import annotations

import json

REST = 13 * " -1"
SWF = f"; MaxProcs: 8\n1 0 -1 60 4{REST}\n2 -9 -1 60 4{REST}\n3 9 -1 30 8{10 * ' -1'} 2 -1 -1\n"


def test_bad_lines_are_told_by_every_verb_that_is_lenient(run, tmp_path):
    (tmp_path / "log.swf").write_text(SWF)
    assert "line 3: the submit time -9 is negative" in run("inspect", "log.swf").stderr
    for words in (("inspect", "log.swf"), ("convert", "log.swf", "o.csv"), ("simulate", "log.swf")):
        result = run(*words, "--lenient")
        assert result.exit_code == 0
        assert "log.swf: lines left out because they cannot be read: 1 (line 3: the submit time" in result.stderr


def test_partitions_and_default_limits_are_applied_before_cleaning(run, tmp_path):
    (tmp_path / "log.swf").write_text(SWF.replace(" -9 ", " 5 "))
    assert run("convert", "log.swf", "o.csv", "--default-limit", "2=1h", "--default-limit", "2h").exit_code == 0
    rows = [line.split(",") for line in (tmp_path / "o.csv").read_text().splitlines()]
    place = [name.strip('"') for name in rows[0]].index("requested_time")
    assert [row[place] for row in rows[1:]] == ["7200", "7200", "3600"]
    result = run("simulate", "log.swf", "--partition", "2", "--json")
    assert json.loads(result.stdout)["metrics"]["jobs"] == 1
    result = run("compare", "log.swf", "-s", "easy", "--partition", "3")
    assert (result.exit_code, "log.swf: no job is in the partition '3'" in result.stderr) == (1, True)


def test_a_foreign_table_is_simulated_by_its_mapping(run, tmp_path):
    (tmp_path / "jobs.csv").write_text("created;took;cores\n2026-04-01 10:00;1:00:00;4\n2026-04-01 10:01;60;8\n")
    columns = [word for pair in ("submit=created", "run_time=took", "processors=cores") for word in ("--column", pair)]
    result = run("simulate", "jobs.csv", *columns, "--processors", "8", "-o", "s.parquet", "--json")
    assert json.loads(result.stdout)["metrics"]["max_wait"] == 3540
    told = json.loads(run("explain", "s.parquet", "2", "--json").stdout)
    assert (told["start_time"], told["ended_at_start"]) == (3600, [1])
    assert "it was next in the queue" in run("explain", "s.parquet", "2").stdout
    assert "s.parquet: jobs: no job has the number 7" in run("explain", "s.parquet", "7").stderr


def test_explain_shows_priorities_as_sprio_does(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "jobs.swf"
    tail = "-1 -1 -1 -1 -1 -1 -1"
    rows = [
        f"{job} {job} -1 9000 {size} -1 -1 {size} 9000 -1 1 {user} {tail[:-3]}"
        for job, size, user in ((1, 4, 7), (2, 1, 7), (3, 3, 8))
    ]
    log.write_text("; MaxProcs: 4\n" + "\n".join(rows) + "\n")
    result = run("simulate", log, "-s", "multifactor(age=1000,size=500,fairshare=2000)+slurm", "-o", "s.parquet")
    assert result.exit_code == 0, result.stderr
    assert run("explain", "s.parquet", "--at", "7200").stdout.splitlines()[-2].split()[:3] == ["3", "8", "2386"]
    told = run("explain", "s.parquet", "3").stdout
    assert "it was next in the queue" in told
    assert "no job of the 2 that wait has a higher priority" in told
    assert "3 <-  user 8" in told
    both = run("explain", "s.parquet", "3", "--at", "7200")
    assert "give the number of a JOB, or --at SECOND" in both.stderr
