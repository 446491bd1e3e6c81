"""What is left out of a log before it is modelled."""

from __future__ import annotations

import numpy as np
import pytest
from model_samples import log_of

from schedlab.errors import InputError
from schedlab.model.filters import apply_filters


def dropped(workload, *filters):
    jobs, steps = apply_filters(workload, filters)
    return len(jobs), {step.rule: step.dropped for step in steps if step.dropped}


def test_jobs_with_missing_data_are_left_out_and_counted():
    log = log_of(200)
    run_time, processors, submit = log.run_time.copy(), log.requested_processors.copy(), log.submit_time.copy()
    run_time[:3], processors[3:5], submit[5], processors[6] = (-1, 0, -1), -1, -1, 97
    broken = log.replace(run_time=run_time, requested_processors=processors, submit_time=submit)
    expected = {"no-run-time": 3, "no-processors": 2, "negative-submit": 1, "requested-too-wide": 1}
    assert dropped(broken, "missing") == (193, expected)


def test_huge_jobs_are_left_out_where_they_are_rare():
    log = log_of(2_000)
    processors = np.full(2_000, 2)
    processors[7] = 49
    assert dropped(log.replace(requested_processors=processors), "huge") == (1_999, {"rare-huge": 1})
    processors[:2] = 96
    assert dropped(log.replace(requested_processors=processors), "huge") == (2_000, {})


def test_flurries_are_left_out():
    times = [day * 86_400 for day in range(120)] + [3 * 86_400 + second for second in range(50)]
    users = [1 + day % 2 for day in range(120)] + [9] * 50
    log = log_of(170).replace(submit_time=times, user_id=users)
    assert dropped(log, "flurries") == (120, {"flurry:9:259200:345600": 50})
    anonymous = log.replace(user_id=np.zeros(170))
    assert dropped(anonymous, "flurries") == (170, {})


def test_what_is_left_is_in_order_of_submission():
    log = log_of(300)
    mixed = log[np.random.default_rng(1).permutation(300)]
    assert apply_filters(mixed)[0].submit_time.tolist() == log.submit_time.tolist()


def test_an_unknown_filter_is_refused():
    with pytest.raises(InputError, match=r"unknown filter 'large'; the filters are missing, huge, flurries"):
        apply_filters(log_of(100), ["large"])
