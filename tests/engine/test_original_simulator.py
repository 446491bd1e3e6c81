"""Our engine against the simulator of SC'15 (predictsim, a descendant of pyss), job by job.

The expectations are the output of that program, unmodified but for its statistics and run with CPython 2.7 on the
same cleaned jobs: start times for 30 small random logs in `conformance/original-pyss.csv`, and for KTH-SP2 the
SHA-256 of its 28,481 start times (int64, little-endian, in the order of the cleaned log).
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schedlab.engine import simulate
from schedlab.workload.cleaning import clean
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

RECORDED = pd.read_csv(Path(__file__).parents[2] / "conformance" / "original-pyss.csv")
SCHEDULERS = [name for name in RECORDED.columns if name.startswith("fcfs")]
KTH_STARTS = {
    "fcfs": "1efb433b9515b40108cb319cb5ced48211460e9e447bb98e7add275d9ca8db56",
    "fcfs+easy": "053e0273a0842a5106e3db0963b36acf81fe60997a27bfc7990ee22eecc1cebc",
    "fcfs+easy@actual": "65fbf130978a826769c191858ff04368e6bf131b4733cae225d0860e3a37590c",
    "fcfs+easy:sjf": "1c938bcbb81bea2b78673e67493f3f270d15829bc06c84ffeba89f3aebc1bd86",
    "fcfs+easy:sjf@actual": "d781eb6855eb818e9a5bb57b18e901552d5e6514afee1fe0a3d8d8228202b253",
    "fcfs+conservative": "f417236a33527ce30c1b424908d0008e25e955f94524bb35fb1610986613535d",
}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_job_of_thirty_random_logs_starts_when_the_original_starts_it(scheduler):
    for _, log in RECORDED.groupby("log"):
        columns = ["submit_time", "run_time", "requested_time", "requested_processors"]
        jobs = Workload.from_frame(log[columns], processors=int(log["machine"].iloc[0]))
        starts = simulate(jobs, scheduler, events="pyss").start_time
        np.testing.assert_array_equal(starts, log[scheduler])


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", KTH_STARTS)
def test_every_job_of_kth_sp2_starts_when_the_original_starts_it(scheduler, traces):
    log = traces / "variants" / "predictsim" / "KTH-SP2" / "swf_unfiltered" / "log.swf.gz"
    if not log.is_file():
        pytest.skip(f"there is no {log}")
    schedule = simulate(clean(read_swf(log), "sc15"), scheduler, events="pyss")
    assert len(schedule) == 28_481
    assert hashlib.sha256(schedule.start_time.astype("<i8").tobytes()).hexdigest() == KTH_STARTS[scheduler]
