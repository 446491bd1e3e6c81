"""Trials against the program of SC'17.

The measures are what the authors' trial simulator prints, with more digits, for a stretch of their training trace
(SimGrid 3.32; see `conformance/README.md`). A start takes it 2.6 ms, which ours leaves out:
less than 1e-5 of a measure.
"""

from __future__ import annotations

import pytest

from schedlab.learn.collection import usable_jobs
from schedlab.learn.trial_twin import measure_plain
from schedlab.learn.trials import Trials
from schedlab.workload.swf import read_swf

FIRST = 3263
"""Place of the first job of S among the jobs that ran."""

# fmt: off
MEASURED = [
    ([0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31], 421.7575177393731),
    ([31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0], 521.1468571659824),
    ([8,13,4,28,11,9,18,21,6,27,17,2,1,15,0,3,20,24,23,19,16,31,22,25,7,14,5,12,30,10,29,26], 312.35611690076166),
    ([19,27,10,12,3,14,22,0,24,21,26,4,1,18,5,7,9,16,20,15,30,8,25,23,29,11,28,17,6,13,2,31], 787.6234935980785),
    ([10,4,7,17,14,15,21,27,30,13,24,0,18,29,6,16,12,23,3,19,22,5,2,31,11,1,9,26,8,28,25,20], 741.8771163315822),
    ([12,0,23,31,15,20,10,6,14,11,2,19,8,5,1,16,28,7,13,17,9,4,30,27,22,26,18,21,29,25,3,24], 177.73104899298824),
    ([1,26,20,28,3,15,4,13,2,24,16,14,7,30,0,29,9,5,18,25,17,11,23,10,21,8,12,27,19,22,31,6], 523.310779900825),
    ([13,29,14,21,2,4,27,20,28,0,22,5,6,15,25,19,8,9,11,26,12,17,7,3,16,24,18,30,10,1,23,31], 489.58194966069686),
]
# fmt: on


@pytest.mark.parametrize(("order", "measure"), MEASURED, ids=range(len(MEASURED)))
def test_a_trial_measures_what_the_original_measures(traces, order, measure):
    trace = traces / "synthetic" / "deep-batch-scheduler" / "lublin_256.swf.gz"
    if not trace.is_file():
        pytest.skip(f"there is no {trace}")
    jobs = usable_jobs(read_swf(trace), Trials(), 256)[FIRST : FIRST + 48]
    assert measure_plain(jobs, Trials(), order, processors=256) == pytest.approx(measure, rel=1e-5)
