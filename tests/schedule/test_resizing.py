"""What a schedule of malleable jobs tells: areas, files, charts, and which sizes it refuses."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from schedlab.energy.accounting import account
from schedlab.energy.power import GroupPower, Power
from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.report.gantt import by_run, plot_gantt
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.metrics import metric_names
from schedlab.schedule.timeline import busy_processors
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.workload import Workload


def schedule():
    """Case 64 of conformance: job 1 has 4 processors, 2 from 20 to 60, and 4 until 120; job 2 has the other two."""
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 20],
            "run_time": [100, 40],
            "requested_time": [100, 40],
            "requested_processors": [4, 2],
            "user_id": [1, 2],
        },
        processors=4,
    )
    return simulate(jobs.replace(alternatives=Alternatives.from_texts(["2x200 malleable", ""])), "fcfs+malleable")


def test_areas_and_metrics_count_each_size():
    found = schedule()
    assert found.work.tolist() == [20 * 4 + 40 * 2 + 60 * 4, 40 * 2]
    assert found.run_time.tolist() == [120, 40]
    metrics = found.metrics()
    assert metrics["utilisation"] == pytest.approx(1.0)
    assert (metrics["resized_jobs"], metrics["mean_resizes"]) == (1, 2)
    assert metrics.keys() <= set(metric_names())
    assert found.metrics_by_user()["share_of_work"].tolist() == [400 / 480, 80 / 480]
    assert busy_processors(found).values.tolist() == [4, 4, 4, 0]
    assert "resized           1 job, each 2.0 times in the mean" in str(found)


def test_energy_is_that_of_the_processors_that_were_held():
    power = Power((GroupPower(idle=0, busy=400, cores=4),))  # 100 W for each processor
    assert account(schedule(), power).kwh == pytest.approx(480 * 100 / 3.6e6)


def test_a_written_schedule_has_the_sizes_again(tmp_path):
    found = schedule()
    found.save(tmp_path / "one.parquet")
    again = read_schedule(tmp_path / "one.parquet")
    assert again.sizes.tolist() == found.sizes.tolist()
    assert again.metrics() == found.metrics()
    found.save(tmp_path / "one.csv")
    with open(tmp_path / "one.csv", encoding="utf-8") as file:
        assert [row["allocated_resources"] for row in csv.DictReader(file)] == ["0-3", "2-3"]


def test_an_explanation_names_the_processors_with_which_a_job_began():
    text = str(schedule().explain(1))
    assert text.startswith("job 1: 4 processors of 4, waited 0 s")
    assert "second 20, started: 2 processors free" in str(schedule().explain(2))


def test_a_gantt_chart_has_a_rectangle_for_each_size():
    spans = by_run(schedule())
    assert spans.workload.job_processors.tolist() == [4, 2, 2, 4]
    assert spans.start_time.tolist() == [0, 20, 20, 60]
    assert plot_gantt(schedule()).get_ylim() == (0, 4)


@pytest.mark.parametrize(
    "change",
    [{"start": [5, 20, 20, 60]}, {"end": [20, 60, 60, 119]}, {"processors": [0, 2, 2, 4]}, {"job": [0, 0, 1, 7]}],
)
def test_sizes_that_do_not_fill_the_runs_are_refused(change):
    found = schedule()
    sizes = found.sizes.copy()
    for name, values in change.items():
        sizes[name] = values
    with pytest.raises(InputError, match="the sizes of jobs do not fill their runs"):
        replace(found, sizes=sizes)


def test_a_schedule_in_which_no_job_ran_has_no_sizes():
    found = schedule()
    with pytest.raises(InputError, match="do not fill"):
        replace(found, sizes=found.sizes[:0])
    assert np.array_equal(found.sizes["job"], [0, 0, 1, 0])
