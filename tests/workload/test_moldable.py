"""Alternatives of moldable jobs: made by speed-up models, read, written, selected and joined."""

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.files import read_workload, write_workload
from schedlab.workload.molding import Amdahl, Downey, moldable, read_alternatives, write_alternatives
from schedlab.workload.workload import Workload


@pytest.fixture
def jobs():
    columns = {"submit_time": [0, 5, 9], "run_time": [60, 30, 8], "requested_time": [90, 30, 9]}
    columns["requested_processors"] = [4, 2, 1]
    return Workload.from_columns(columns, processors=8, name="three")


@pytest.fixture
def sizes(jobs):
    return jobs.replace(alternatives=Alternatives.from_texts(["2x110/180 8x33@2", "", "3x4/5"]))


def test_amdahl_halves_the_parallel_part_with_twice_the_processors(jobs):
    # A quarter is sequential: S(4) = 1/(1/4 + 3/16) = 16/7, S(2) = 8/5, S(8) = 1/(1/4 + 3/32) = 32/11.
    # 60 s on 4: 60 * 16/7 * 5/8 = 85.7 s on 2, and 60 * 16/7 * 11/32 = 47.1 s on 8.
    found = moldable(jobs[:1], Amdahl(0.25)).alternatives
    assert found.processors.tolist() == [2, 8]
    assert found.run_time.tolist() == [86, 48]
    assert found.requested_time.tolist() == [129, 71]


@pytest.mark.parametrize("sigma", [0, 0.5, 1, 2])
def test_downeys_speed_up_rises_from_one_to_the_average_parallelism(sigma):
    found = Downey(10, sigma)(np.arange(1, 60, dtype=float))
    assert found[0] == pytest.approx(1)
    assert np.all(np.diff(found) >= -1e-12)
    assert found[-1] == pytest.approx(10)
    assert np.abs(np.diff(found)).max() <= 1 + 1e-12  # no jump at the borders of the cases


def test_downeys_two_cases_agree_at_a_variance_of_one():
    n = np.arange(1, 40, dtype=float)
    assert Downey(7, 1)(n) == pytest.approx(Downey(7, 1 + 1e-9)(n))


def test_a_share_of_the_jobs_is_drawn_with_a_seed(jobs):
    many = Workload.concat([jobs] * 20)
    one, again, other = (moldable(many, Amdahl(0), share=0.5, seed=seed).alternatives for seed in (1, 1, 2))
    assert one.texts() == again.texts() != other.texts()
    # A third of the jobs has one processor, and no half of it: drawn or not, it has the alternative of two.
    assert len(np.unique(one.owner)) == 30


@pytest.mark.parametrize("name", ["three.csv", "three.parquet"])
def test_tables_keep_alternatives(sizes, name, tmp_path):
    write_workload(sizes, tmp_path / name)
    assert read_workload(tmp_path / name).alternatives.texts() == sizes.alternatives.texts()


@pytest.mark.parametrize("name", ["sizes.csv", "sizes.parquet"])
def test_a_file_of_alternatives_reads_back(sizes, jobs, name, tmp_path):
    write_alternatives(sizes, tmp_path / name)
    assert read_alternatives(tmp_path / name, jobs[::-1]).alternatives.texts() == sizes.alternatives.texts()[::-1]


def test_alternatives_go_with_their_jobs(sizes):
    assert sizes[[2, 0]].alternatives.texts() == ["3x4/5", "2x110/180 8x33@2"]
    assert Workload.concat([sizes, sizes]).alternatives.owner.tolist() == [0, 0, 1, 1, 4, 5]
    assert Workload.from_frame(sizes.to_frame()).alternatives.texts() == sizes.alternatives.texts()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("job_id,processors,run_time\n1,0,5\n", "processors of the job in row 0 is '0'"),
        ("job_id,processors,run_time\n1,2.5,5\n", "must be a whole number"),
        ("job_id,processors,run_time\n1,2,x\n", "column run_time must have numbers"),
        ("job_id,processors\n1,2\n", "the column run_time is missing"),
        ("job_id,processors,run_time,gpus\n1,2,3,4\n", "unknown column 'gpus'"),
        ("job_id,processors,run_time\n7,2,3\n", "no alternative is of a job of three"),
        ("job_id,processors,run_time,malleable\n1,2,3,2\n", "column malleable must be 0 or 1"),
        (
            "job_id,processors,run_time,malleable\n1,2,3,1\n1,1,6,0\n",
            "job 1 is malleable in one row and not in another",
        ),
    ],
)
def test_bad_files_are_refused_in_one_sentence(jobs, text, message, tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_alternatives(path, jobs)


def test_which_jobs_are_malleable_is_drawn_with_their_sizes_and_goes_with_them(jobs, tmp_path):
    found = moldable(jobs, Amdahl(0), share=0.7, malleable=True)
    assert found.alternatives.malleable.tolist() == [bool(text) for text in found.alternatives.texts()]
    assert found.alternatives.malleable.sum() == 2
    assert all(text.endswith(" malleable") for text in found.alternatives.texts() if text)
    assert found[::-1].alternatives.malleable.tolist() == found.alternatives.malleable.tolist()[::-1]
    both = Workload.concat([found, moldable(jobs, Amdahl(0))])
    told = [one for job in found.alternatives.malleable.tolist() for one in (job, False)]  # in order of submission
    assert both.alternatives.malleable.tolist() == told
    for name in ("sizes.csv", "sizes.parquet"):
        write_alternatives(found, tmp_path / name)
        assert read_alternatives(tmp_path / name, jobs).alternatives.texts() == found.alternatives.texts()
    for name in ("jobs.csv", "jobs.parquet"):
        write_workload(both, tmp_path / name)
        assert read_workload(tmp_path / name).alternatives.texts() == both.alternatives.texts()


def test_a_file_says_of_each_job_whether_it_is_malleable(jobs, tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("job_id,processors,run_time,malleable\n1,2,110,1\n3,2,5,0\n1,1,200,1\n")
    assert read_alternatives(path, jobs).alternatives.texts() == ["2x110 1x200 malleable", "", "2x5"]


def test_a_job_that_takes_no_time_is_not_malleable(jobs):
    at_once = jobs.replace(run_time=np.array([0, 30, 8]))
    assert moldable(at_once, Amdahl(0), malleable=True).alternatives.malleable.tolist() == [False, True, True]


def test_bad_values_are_refused_in_one_sentence(jobs):
    for call, message in (
        (lambda: Alternatives.from_texts(["malleable"]), "the job in row 0 is malleable, but has no other size"),
        (lambda: Alternatives.from_texts(["malleable 4x9"]), "'malleable' is not PROCESSORSxRUN_TIME"),
        (lambda: Alternatives.of([0], processors=[1], run_time=[1], malleable=2, jobs=1), "must be True or False"),
        (lambda: Alternatives.of([0], processors=[1], run_time=[1], malleable=[True, False], jobs=1), "has 2 entries"),
        (lambda: Amdahl(1.5), "sequential share must be from 0 to 1"),
        (lambda: Downey(0.5, 1), "parallelism must be at least 1"),
        (lambda: moldable(jobs, Amdahl(0), share=2), "share=2"),
        (lambda: moldable(jobs, Amdahl(0), factors=[0]), "each must be a positive number"),
        (lambda: moldable(jobs, Amdahl(0), sizes=[0]), "at least 1 processor"),
        (lambda: moldable(jobs, lambda n: n - n), "one positive number"),
        (lambda: Alternatives.from_texts(["four"]), "is not PROCESSORSxRUN_TIME"),
        (lambda: jobs.replace(alternatives=Alternatives.none(2)), "alternatives has 2 jobs, expected 3"),
    ):
        with pytest.raises(InputError, match=message):
            call()
