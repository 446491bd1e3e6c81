"""Our engine against the simulator of SC'15 (predictsim, a descendant of pyss), job by job.

The expectations are the output of that program, unmodified but for its statistics and run with CPython 2.7 on the
same cleaned jobs: start times for 30 small random logs in `conformance/original-pyss.csv`, and for KTH-SP2 the
SHA-256 of its 28,481 start times (int64, little-endian, in the order of the cleaned log). The same holds for predicted
run times, in `conformance/predictions/`: starts, first predictions and numbers of corrections; there, the files of the
learner are put together from stored versions, see `conformance/README.md`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.workload.cleaning import clean
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

pytestmark = pytest.mark.both

CONFORMANCE = Path(__file__).parents[2] / "conformance"
RECORDED = pd.read_csv(CONFORMANCE / "original-pyss.csv")
SCHEDULERS = [name for name in RECORDED.columns if name.startswith("fcfs")]
KTH_STARTS = {
    "fcfs": "1efb433b9515b40108cb319cb5ced48211460e9e447bb98e7add275d9ca8db56",
    "fcfs+easy": "053e0273a0842a5106e3db0963b36acf81fe60997a27bfc7990ee22eecc1cebc",
    "fcfs+easy@actual": "65fbf130978a826769c191858ff04368e6bf131b4733cae225d0860e3a37590c",
    "fcfs+easy:sjf": "1c938bcbb81bea2b78673e67493f3f270d15829bc06c84ffeba89f3aebc1bd86",
    "fcfs+easy:sjf@actual": "d781eb6855eb818e9a5bb57b18e901552d5e6514afee1fe0a3d8d8228202b253",
    "fcfs+conservative": "f417236a33527ce30c1b424908d0008e25e955f94524bb35fb1610986613535d",
}
JOBS = ["submit_time", "run_time", "requested_time", "requested_processors"]

PREDICTION_LOGS = pd.read_csv(CONFORMANCE / "predictions" / "logs.csv")
PREDICTIONS = pd.read_csv(CONFORMANCE / "predictions" / "small.csv")
KTH_PREDICTIONS = pd.read_csv(CONFORMANCE / "predictions" / "kth-sp2.csv", index_col="scheduler")
DECISIONS = ["start_time", "predicted_run_time", "corrections"]


@pytest.fixture(scope="module")
def kth(traces):
    """The log of KTH-SP2 as SC'15 used it, cleaned."""
    log = traces / "variants" / "predictsim" / "KTH-SP2" / "swf_unfiltered" / "log.swf.gz"
    if not log.is_file():
        pytest.skip(f"there is no {log}")
    return clean(read_swf(log), "sc15")


def sha256(values):
    return hashlib.sha256(values.astype("<i8").tobytes()).hexdigest()


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_job_of_thirty_random_logs_starts_when_the_original_starts_it(scheduler):
    for _, log in RECORDED.groupby("log"):
        jobs = Workload.from_frame(log[JOBS], processors=int(log["machine"].iloc[0]))
        starts = simulate(jobs, scheduler, events="pyss").start_time
        np.testing.assert_array_equal(starts, log[scheduler])


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", KTH_STARTS)
def test_every_job_of_kth_sp2_starts_when_the_original_starts_it(scheduler, kth):
    schedule = simulate(kth, scheduler, events="pyss")
    assert len(schedule) == 28_481
    assert sha256(schedule.start_time) == KTH_STARTS[scheduler]


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["compiled", "plain"])
@pytest.mark.parametrize("log", PREDICTION_LOGS["log"].unique())
def test_every_job_of_a_random_log_is_predicted_corrected_and_started_as_by_the_original(engine, log):
    rows = PREDICTION_LOGS[PREDICTION_LOGS["log"] == log]
    jobs = Workload.from_frame(rows[[*JOBS, "user_id"]], processors=int(rows["machine"].iloc[0]))
    for _, recorded in PREDICTIONS[PREDICTIONS["log"] == log].iterrows():
        schedule = engine(jobs, recorded["scheduler"], events="pyss")
        for decision in DECISIONS:
            assert getattr(schedule, decision).tolist() == [int(value) for value in recorded[decision].split()]


def test_the_random_logs_cover_all_triples_of_the_study():
    """AVE2 and 20 losses, each with three corrections and two orders of candidates."""
    assert PREDICTIONS["scheduler"].nunique() == 21 * 3 * 2


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", KTH_PREDICTIONS.index)
def test_every_job_of_kth_sp2_is_predicted_corrected_and_started_as_by_the_original(scheduler, kth):
    schedule = simulate(kth, scheduler, events="pyss")
    recorded = KTH_PREDICTIONS.loc[scheduler]
    slowdown = schedule.metrics()["mean_bounded_slowdown"]
    assert slowdown == pytest.approx(recorded["mean_bounded_slowdown"], rel=1e-12)
    assert schedule.corrections.sum() == recorded["all_corrections"]
    assert {decision: sha256(getattr(schedule, decision)) for decision in DECISIONS} == recorded[DECISIONS].to_dict()
