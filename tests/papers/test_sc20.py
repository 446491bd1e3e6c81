"""SC'20: its windows, its rules by hand, and the tables."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from schedlab.engine.many.simulate_many import simulate_many
from schedlab.errors import InputError
from schedlab_papers import sc20
from schedlab_papers.sc20_logs import JOBS, LOGS, POLICIES, STARTS, WINDOW
from schedlab_papers.sc20_tables import Results, slowdown_table, split_table


def test_the_windows_are_those_that_old_gym_draws_with_the_seed_1():
    """As gym 0.x made a generator from a seed: SHA-512 of its digits, 8 bytes of it, as 32-bit words."""
    number = int.from_bytes(hashlib.sha512(b"1").digest()[:8], "little")
    words = [number % 2**32, number // 2**32]
    generator = np.random.RandomState(words)
    assert tuple(int(generator.randint(WINDOW, JOBS - WINDOW - 1)) for _ in STARTS) == STARTS


def test_no_log_at_all_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="has none of the traces"):
        sc20.reproduce(tmp_path)
    with pytest.raises(InputError, match="has no log mira"):
        sc20.reproduce(tmp_path, logs=["mira"])


def test_the_tables_count_what_agrees_and_divide_what_is_compared():
    log = LOGS[0]
    keys = [(policy, backfilling) for policy in (*POLICIES, "SAF") for backfilling in (False, True)]
    committed = {(policy, backfilling): log.published(backfilling)[0][policy] for policy, backfilling in keys[:10]}
    committed["SJF", False] += 0.01
    results = {log.name: Results(committed, {}, {}, dict.fromkeys(keys, 100.0))}
    assert "9 of 10 heuristic values" in slowdown_table([log], results).title
    row = split_table([log], results).rows[0]
    assert row[1] == pytest.approx(258.37 / 254.67)
    assert row[4] == pytest.approx(258.37 / 100)
    assert row[-1] == pytest.approx(58.64 / 100)


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS, ids=[log.name for log in LOGS])
def test_the_heuristic_values_are_the_published_ones_to_the_last_digit(log, traces: Path):
    """Tables V and VI of the paper."""
    if not (traces / log.file).is_file():
        pytest.skip(f"needs the trace {log.file} in SCHEDLAB_TRACES")
    results = sc20.results_of(log, traces)
    for backfilling in (False, True):
        slowdown, utilisation = log.published(backfilling)
        for policy in POLICIES:
            assert f"{results.committed[policy, backfilling]:.2f}" == f"{slowdown[policy]:.2f}"
            assert results.utilisation[policy, backfilling] == pytest.approx(utilisation[policy], abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(("log", "as_asked", "raised"), [(LOGS[1], 968.70, 978.45), (LOGS[2], 60.26, 61.10)])
def test_saf_depends_on_whether_requests_that_are_too_short_are_raised(log, as_asked, raised, traces: Path):
    """The values of the page, found by a program that shares nothing with schedlab."""
    if not (traces / log.file).is_file():
        pytest.skip(f"needs the trace {log.file} in SCHEDLAB_TRACES")
    jobs, _ = log.read(traces)
    longer = jobs.replace(requested_time=np.maximum(jobs.requested_time, jobs.run_time))
    for workload, expected in ((jobs, as_asked), (longer, raised)):
        windows = [workload[start : start + WINDOW] for start in STARTS]
        assert simulate_many(windows, "saf").mean() == pytest.approx(expected, abs=0.005)
