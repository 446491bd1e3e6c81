"""Calibration: a past that the model made itself is replayed without error, and what is off is said to be."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from schedlab.cli import main
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError, OutputError
from schedlab.report.calibration import render_calibration
from schedlab.site.calibration import calibrate
from schedlab.site.ledger import Ledger
from schedlab.site.site import Settings, Site
from schedlab.site.wait_errors import moving_error, naive_waits
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CLUSTER = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=4)], [Partition("batch", default=True)], name="lab")


def jobs_of(days: int = 18) -> Workload:
    rng = np.random.default_rng(7)
    count = 12 * days
    run = rng.integers(1800, 20_000, count)
    columns = {
        "submit_time": np.sort(rng.integers(0, days * 86_400, count)),
        "run_time": run,
        "requested_time": 2 * run,
        "requested_processors": rng.integers(1, 17, count),
        "partition_id": np.ones(count, dtype=np.int64),
    }
    asked = Resources.of(count, tasks=columns["requested_processors"], partition=["batch"] * count)
    return Workload.from_columns(columns, name="lab", processors=16, resources=asked)


def site_of(scheduler: str = "fcfs+easy", recorded: str = "fcfs+easy", **changes) -> Site:
    jobs = jobs_of()
    past = simulate(jobs, recorded, cluster=CLUSTER)
    waits = {"wait_time": past.wait_time} | changes
    return Site(CLUSTER, jobs.replace(**waits), Settings(scheduler), Ledger())


def test_a_past_that_the_model_made_is_replayed_without_any_error():
    found = calibrate(site_of())
    total = found.errors["all"][0]
    assert total.recorded == total.simulated
    assert (total.error, found.moving, found.verdict) == (0, 0, "good")
    assert found.utilisation[0] == found.utilisation[1]
    assert [one.group for one in found.errors["partition"]] == ["batch"]


def test_another_scheduler_than_the_sites_is_off_and_the_page_says_that_it_is_not_good_enough():
    found = calibrate(site_of("fcfs"))
    assert found.errors["all"][0].error > 0.25
    assert found.verdict == "not good enough"
    page = render_calibration(found)
    assert "The replay is not good enough to answer questions about this site." in page
    assert "Reservations, holds, nodes that were down" in page


def test_the_number_that_a_twin_is_compared_with_is_told_beside_its_own():
    """The naive model is nearer in the mean of all jobs, the replay in the moving average, which decides."""
    found = replace(calibrate(site_of("fcfs")), moving=0.126, naive_moving=0.227)
    assert abs(found.errors["all"][0].naive_error) < found.errors["all"][0].error
    told = (
        "The moving average over two weeks is off by 12.6% on average, that of the naive model by 22.7%. So the replay "
    )
    assert found.sentences()[2].startswith(f"{told}follows the record more closely than such guesses do")
    worse = replace(found, moving=0.3).sentences()[2]
    assert worse.endswith("off by 30.0% on average, that of the naive model by 22.7%.")


def test_a_replay_of_too_few_jobs_or_of_none_that_waits_is_not_called_good():
    """The record is the replay's own, without any error."""
    few = site_of()
    few = replace(few, jobs=few.jobs[:20])
    assert calibrate(few).verdict == "unproven"
    assert calibrate(few).sentences()[0].startswith("The replay cannot be judged. So few jobs")
    alone = jobs_of().replace(wait_time=np.zeros(216, dtype=np.int64), run_time=np.ones(216, dtype=np.int64))
    found = calibrate(Site(CLUSTER, alone, Settings("fcfs+easy"), Ledger()))
    assert (found.errors["all"][0].simulated[0], found.verdict) == (0, "unproven")


def test_on_the_page_errors_stand_before_single_jobs():
    page = render_calibration(calibrate(site_of()))
    assert page.index("Error of the replay") < page.index("By partition") < page.index('id="schedlab-explorer"')


def test_jobs_without_a_recorded_wait_are_counted_and_a_log_without_any_is_refused():
    waits = site_of().jobs.wait_time.copy()
    waits[5] = -1
    assert calibrate(site_of(wait_time=waits)).left_out == {"recorded wait unknown": 1}
    with pytest.raises(InputError, match="cannot be calibrated: none of its 216 jobs has a recorded wait"):
        calibrate(site_of(wait_time=np.full(len(waits), -1)))


def test_the_moving_average_is_that_of_all_jobs_submitted_in_each_window():
    """Twenty days, a job an hour, recorded 100 s; the model says 100 s in the first 15 days and 200 s after."""
    submit = np.arange(0, 20 * 86_400, 3600)
    truth, model = np.full(len(submit), 100), np.where(submit < 15 * 86_400, 100, 200)
    windows = [np.abs(model[first : first + 336].mean() - 100) / 100 for first in range(len(submit) - 336 + 1)]
    assert moving_error(submit, truth, model) == pytest.approx(np.mean(windows))
    assert moving_error(submit[:300], truth[:300], model[:300]) is None


def test_the_naive_model_knows_only_what_had_started_before_the_submission():
    past = calibrate(site_of()).recorded
    guesses = naive_waits(past)
    for row in (0, 40, 100):
        before = past.start_time < past.workload.submit_time[row]
        week = before & (past.start_time >= past.workload.submit_time[row] - 7 * 86_400)
        chosen = week if week.any() else before
        assert guesses[row] == pytest.approx(past.wait_time[chosen].mean() if chosen.any() else 0)


def test_the_command_line_writes_the_page_and_prints_the_errors(tmp_path, capsys, monkeypatch):
    directory = site_of().save(tmp_path / "site")
    page = tmp_path / "calibration.html"
    monkeypatch.setattr("sys.argv", ["schedlab", "site", "calibrate", str(directory), "-o", str(page), "--json"])
    with pytest.raises(SystemExit):
        main()
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["errors"]["all"][0]["jobs"] > 100) == ("good", True)
    assert "Calibration" in page.read_text()


def test_a_site_that_cannot_be_written_to_is_refused_before_anything_is_simulated(tiny_disk, monkeypatch):
    site_of().save(tiny_disk / "site")
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    monkeypatch.setattr("schedlab.site.calibration._calibration", None)
    with pytest.raises(OutputError, match=r"cannot write .*calibration\.json: the directory .* is not writable"):
        calibrate(tiny_disk / "site")


def test_the_page_of_a_record_in_which_jobs_shared_cores_is_made():
    """All jobs are recorded to start at once, on more cores than there are."""
    site = site_of(wait_time=np.zeros(len(site_of().jobs), dtype=np.int64))
    assert "as recorded" in render_calibration(calibrate(site))
