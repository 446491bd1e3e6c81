"""Our engine against the simulators of SC'17, job by job.

The expectations are what the authors' programs give, with SimGrid 3.32 and changed only to write starts (see
`conformance/README.md`): start times for four small random logs in `conformance/original-sc17.csv`, and for the first
ten sequences of four workloads of the paper the SHA-256 of all starts in milliseconds (int64, little-endian, sequence
after sequence) in `conformance/original-sc17-logs.csv`.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.scheduler import Scheduler
from schedlab.scheduler.policy import FCFS, SPF, UNICEF, WFP3, FormulaPolicy
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.sampling import windows
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

pytestmark = pytest.mark.both

CONFORMANCE = Path(__file__).parents[2] / "conformance"
RECORDED = pd.read_csv(CONFORMANCE / "original-sc17.csv")
LOGS = pd.read_csv(CONFORMANCE / "original-sc17-logs.csv")
JOBS = ["submit_time", "run_time", "requested_time", "requested_processors"]
COLUMNS = [name for name in RECORDED.columns if name not in ("log", *JOBS)]

POLICIES = {
    "FCFS": FCFS(),
    "WFP": WFP3(),
    "UNI": UNICEF(),
    "SPT": SPF(),
    "F4": FormulaPolicy("0.0056500287*p * 0.0000024814*sqrt(q) + 0.0074444355*log10(r)"),
    "F3": FormulaPolicy("0.2188093701*p * 0.0000000049*q + 0.0073580361*log10(r)"),
    "F2": FormulaPolicy("0.0000342717*sqrt(p) * 0.0076562110*q + 0.0067364626*log10(r)"),
    "F1": FormulaPolicy("0.0155183403*log10(p) * 0.0005149209*q + 0.0069596182*log10(r)"),
}
"""By the paper's names, with the coefficients of the authors' programs."""

NAMES = {"fcfs": "FCFS", "wfp3": "WFP", "unicef": "UNI", "spf": "SPT", "f4": "F4", "f3": "F3", "f2": "F2", "f1": "F1"}
TEXTS = {"actual": "fcfs@actual", "estimates": "fcfs", "backfilling": "fcfs+easy"}
FILES = {
    "model 256": ("synthetic/gen-sched-policies-2017/lublin_256_est.swf.gz", 256),
    "model 1024": ("synthetic/gen-sched-policies-2017/lublin_1024_est.swf.gz", 1_024),
    "SDSC Blue": ("SDSC-BLUE-2000-4.2-cln.swf.gz", 1_152),
    "CTC SP2": ("CTC-SP2-1996-3.1-cln.swf.gz", 338),
}


def as_theirs(text: str, policy: str) -> Scheduler:
    return replace(Scheduler.parse(text), policy=POLICIES[policy], window=32, start_delay=0.002610247)


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["compiled", "plain"])
@pytest.mark.parametrize("column", COLUMNS)
def test_every_job_of_four_random_logs_starts_when_the_original_starts_it(engine, column):
    name = column.split("+")[0].split("@")[0]
    for _, log in RECORDED.groupby("log"):
        jobs = Workload.from_frame(log[JOBS], processors=256).replace(requests_enforced=False)
        starts = engine(jobs, as_theirs(column, NAMES[name]), events="sc17", in_order=16).start_time
        np.testing.assert_allclose(starts, log[column], rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("workload", "setting"), LOGS[["workload", "setting"]].drop_duplicates().to_numpy().tolist())
def test_every_job_of_the_papers_sequences_starts_when_the_original_starts_it(traces, workload, setting):
    file, processors = FILES[workload]
    if not (traces / file).is_file():
        pytest.skip(f"there is no {traces / file}")
    jobs = read_swf(traces / file).replace(processors=processors, requests_enforced=False)
    jobs = jobs.replace(requested_processors=np.full(len(jobs), UNKNOWN))
    if setting != "actual":
        jobs = jobs[jobs.requested_time > 0]
    sequences = [part for part, _ in zip(windows(jobs, skip_state=16), range(10), strict=False)]
    recorded = LOGS[(LOGS["workload"] == workload) & (LOGS["setting"] == setting)]
    for policy, count, sha256 in recorded[["policy", "jobs", "sha256"]].itertuples(index=False):
        scheduler = as_theirs(TEXTS[setting], policy)
        starts = np.concatenate(
            [simulate(part, scheduler, events="sc17", in_order=16).start_time for part in sequences]
        )
        assert len(starts) == count
        milliseconds = np.rint(starts * 1_000).astype("<i8")
        assert hashlib.sha256(milliseconds.tobytes()).hexdigest() == sha256, policy
