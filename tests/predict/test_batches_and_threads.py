"""Predictors in Python are asked in batches, and their libraries have one thread unless they want more."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.predict.adapters import SklearnPredictor
from schedlab.predict.validation import validate
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

pytest.importorskip("threadpoolctl")

JOBS = Workload.from_columns(
    {
        "submit_time": [0, 0, 0, 5, 9],
        "run_time": [10, 20, 30, 4, 4],
        "requested_time": [40, 40, 40, 40, 40],
        "requested_processors": [1, 1, 1, 1, 4],
    },
    processors=4,
)


def threads_now():
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info()]


class Half:
    def __init__(self):
        self.seen = SEEN

    def __deepcopy__(self, memo):
        return self

    def predict(self, job):
        self.seen.append(threads_now())
        return job.requested_time / 2

    def learn(self, job, run_time):
        pass


SEEN: list[list[int]] = []


class Many(Half):
    def __init__(self):
        self.asked = []

    def predict(self, job):
        self.asked.append(1)
        return job.requested_time / 2

    def predict_many(self, jobs):
        self.asked.append(len(jobs))
        return [job.requested_time / 2 for job in jobs]


def test_libraries_have_one_thread_during_a_simulation_and_as_many_as_before_afterwards():
    before = threads_now()
    for run in (lambda: simulate(JOBS, Scheduler("fcfs", "easy", runtimes=Half())), lambda: validate(JOBS, Half())):
        SEEN.clear()
        run()
        assert SEEN
        assert {count for seen in SEEN for count in seen} <= {1}
        assert threads_now() == before


def test_a_predictor_may_leave_threads_to_its_library():
    class Free(Half):
        threads = None

    before = threads_now()
    SEEN.clear()
    simulate(JOBS, Scheduler("fcfs", "easy", runtimes=Free()))
    assert SEEN[0] == before


def test_jobs_that_enter_in_one_second_are_asked_about_at_once():
    many = Many()
    together = simulate(JOBS, Scheduler("fcfs", "easy", runtimes=many))
    assert many.asked == [3, 1, 1]
    assert together.predicted_run_time.tolist() == [20] * 5


def test_a_regressor_predicts_in_batches_what_it_predicts_one_by_one():
    class Linear:
        def fit(self, features, run_times):
            self.mean = run_times.mean()

        def predict(self, features):
            return self.mean + features[:, 1] + 0.0 * features[:, 0]

    rng = np.random.default_rng(3)
    columns = {
        "submit_time": np.repeat(np.arange(30) * 20, 3),
        "run_time": rng.integers(1, 60, 90),
        "requested_time": np.full(90, 200),
        "requested_processors": rng.integers(1, 4, 90),
    }
    jobs = Workload.from_columns(columns, processors=4)
    batches = simulate(jobs, Scheduler("fcfs", "easy", runtimes=SklearnPredictor(Linear, refit_every=5)))
    alone = simulate(jobs, Scheduler("fcfs", "easy", runtimes=Alone(SklearnPredictor(Linear, refit_every=5))))
    assert batches.predicted_run_time.tolist() == alone.predicted_run_time.tolist()


class Alone:
    """A predictor that is asked about one job at a time."""

    def __init__(self, inner):
        self.inner = inner

    def predict(self, job):
        return self.inner.predict(job)

    def learn(self, job, run_time):
        self.inner.learn(job, run_time)


def test_a_batch_with_too_few_answers_is_told():
    class Few(Many):
        def predict_many(self, jobs):
            return [1.0]

    with pytest.raises(
        InputError, match=r"predictor Few: predict_many returned shape \(1,\) for 3 jobs: return a number"
    ):
        simulate(JOBS, Scheduler("fcfs", "easy", runtimes=Few()))
