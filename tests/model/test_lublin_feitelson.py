"""The Lublin-Feitelson model against its published parameters and statistics, and traces made with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.model.lublin_feitelson import LublinParameters, daily_weights, lublin, through_daily_cycle
from schedlab.workload.sampling import offered_load
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

JOBS = 200_000
PUBLISHED_JOBS = 20_000


@pytest.fixture(scope="module")
def untyped() -> Workload:
    return lublin(JOBS, 256, rng=np.random.default_rng(17))


def assert_share(found: NDArray[np.bool_], share: float, *, published_from: float = np.inf) -> None:
    """Four standard errors of a share, of ours and of the published one if that is a sample too."""
    error = np.sqrt(share * (1 - share) * (1 / len(found) + 1 / published_from))
    assert abs(found.mean() - share) < 4 * error


def is_power_of_two(sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.isin(sizes, 2 ** np.arange(1, 20))


@pytest.mark.parametrize("kind", [LublinParameters.untyped, LublinParameters.batch, LublinParameters.interactive])
def test_the_published_parameters_are_those_of_128_processors(kind):
    assert kind().scaled_to(128) == kind()


def test_the_largest_job_grows_with_the_machine_and_the_knee_stays_two_and_a_half_below():
    for processors, exponent in ((256, 8.0), (1024, 10.0)):
        scaled = LublinParameters.untyped().scaled_to(processors)
        assert (scaled.log2_medium, scaled.log2_high) == (exponent - 2.5, exponent)


def test_daily_weights_have_the_published_extremes():
    weights = daily_weights(LublinParameters.untyped())
    assert weights.shape == (48,)
    assert weights.mean() == pytest.approx(1.0)
    assert weights.argmax() == 27
    assert weights.argmin() == 10
    assert weights[[27, 10, 9]].round(3).tolist() == [1.833, 0.165, 0.176]


@given(
    st.lists(st.floats(0.01, 400_000), min_size=1, max_size=30),
    st.integers(0, 23),
    st.sampled_from([LublinParameters.untyped(), LublinParameters.batch(), LublinParameters.interactive()]),
)
def test_the_clock_is_that_of_the_walk_from_slot_to_slot(gaps, start_hour, stream):
    weights = daily_weights(stream)
    slot, points, remainder, clock = start_hour * 2, 0.0, 0.0, 0.0
    expected = []
    for gap in gaps:
        points += gap / 1800
        while points > weights[slot]:
            points -= weights[slot]
            slot = (slot + 1) % 48
            clock += 1800
        clock += 1800 * (points / weights[slot] - remainder)
        remainder = points / weights[slot]
        expected.append(clock)
    found = through_daily_cycle(np.cumsum(gaps), stream, start_hour)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-3)


@given(
    jobs=st.integers(1, 200),
    processors=st.integers(1, 3000),
    typed=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_every_job_fits_the_machine_and_the_longest_run_time(jobs, processors, typed, seed):
    workload = lublin(jobs, processors, typed=typed, rng=np.random.default_rng(seed))
    assert len(workload) == jobs
    assert 1 <= workload.job_processors.min() <= workload.job_processors.max() <= processors
    assert 1 <= workload.run_time.min() <= workload.run_time.max() <= 162_754
    assert (np.diff(workload.submit_time) >= 0).all()
    assert workload.submit_time[0] >= 0


def test_the_same_seed_gives_the_same_jobs():
    first, second = (lublin(500, 256, rng=np.random.default_rng(4), typed=True) for _ in range(2))
    for field in ("submit_time", "run_time", "allocated_processors", "queue_id"):
        assert np.array_equal(getattr(first, field), getattr(second, field))


def test_sizes_have_the_probabilities_of_the_two_stage_uniform(untyped):
    sizes = untyped.job_processors
    assert_share(sizes == 1, 0.244)
    # Powers of two round the exponent: 7.5 to 8 gives 256. The others reach 256 from 255.5 on.
    upper = 0.14 / 2.5
    assert_share(sizes == 256, 0.576 * upper * 0.5 + 0.18 * upper * (8 - np.log2(255.5)))
    # 0.8 to 1.5 gives 2 to a power of two; the others round 2^x below 2.5.
    lower = 0.86 / 4.7
    assert_share(sizes == 2, 0.576 * lower * 0.7 + 0.18 * lower * (np.log2(2.5) - 0.8))


def test_shares_are_those_published_for_256_processors(untyped):
    sizes = untyped.job_processors
    powers = is_power_of_two(sizes)
    assert_share(powers, 0.611, published_from=PUBLISHED_JOBS)
    assert_share(sizes == 32, 0.107, published_from=PUBLISHED_JOBS)
    assert_share(sizes == 256, 0.0169, published_from=PUBLISHED_JOBS)
    others = sizes[~powers & (sizes > 1)]
    assert_share(np.log2(others) < 5.5, 0.826, published_from=PUBLISHED_JOBS * len(others) / JOBS)


def test_the_mean_run_time_is_that_published_for_256_processors(untyped):
    error = untyped.run_time.std() * np.sqrt(1 / JOBS + 1 / PUBLISHED_JOBS)
    assert abs(untyped.run_time.mean() - 4953) < 4 * error


def test_jobs_above_144_processors_are_all_long(untyped):
    logarithms = np.log(untyped.run_time[untyped.job_processors > 144])
    mean, deviation = 312 * 0.03, np.sqrt(312) * 0.03
    assert abs(logarithms.mean() - mean) < 4 * deviation / np.sqrt(len(logarithms))


def rank_correlation(workload: Workload) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(workload.job_processors, workload.run_time).statistic)


def test_large_jobs_are_longer_only_because_of_the_mixing_line(untyped):
    noise = 4 / np.sqrt(20_000)
    assert rank_correlation(untyped[:20_000]) > noise
    level = replace(LublinParameters.untyped().scaled_to(256), mix_slope=0.0)
    unrelated = lublin(20_000, 256, rng=np.random.default_rng(3), streams=[level])
    assert abs(rank_correlation(unrelated)) < noise


def test_batch_and_interactive_jobs_keep_their_own_shares():
    workload = lublin(JOBS, 128, rng=np.random.default_rng(2), typed=True)
    batch = workload[workload.queue_id == 1].job_processors
    interactive = workload[workload.queue_id == 0].job_processors
    assert len(batch) + len(interactive) == JOBS
    assert_share(batch == 1, 0.2927)
    assert_share(interactive == 1, 0.1541)
    assert interactive.max() <= 64  # powers of two up to 5.5 are rounded to 6
    assert batch.max() == 128


def test_two_equal_streams_arrive_twice_as_fast():
    stream = LublinParameters.untyped().scaled_to(64)
    one = lublin(50_000, 64, rng=np.random.default_rng(1), streams=[stream])
    two = lublin(50_000, 64, rng=np.random.default_rng(1), streams=[stream, stream])
    gaps = np.diff(one.submit_time)
    error = gaps.std() / gaps.mean() / np.sqrt(len(gaps))  # of a sum of gaps, relative to it
    assert two.submit_time[-1] / one.submit_time[-1] == pytest.approx(0.5, abs=4 * 0.5 * error * np.sqrt(2))


def test_the_columns_are_those_of_the_authors_program(untyped):
    jobs = untyped[:100]
    assert set(jobs.status) == {1}
    assert set(jobs.queue_id) == {0}
    for unknown in ("wait_time", "requested_processors", "requested_time", "user_id"):
        assert set(getattr(jobs, unknown)) == {-1}


@pytest.mark.parametrize("load", [0.4, 1.0])
def test_the_load_asked_for_is_reached(load):
    workload = lublin(5000, 256, rng=np.random.default_rng(6), load=load)
    assert offered_load(workload) == pytest.approx(load, rel=1e-5)


def test_the_start_hour_shifts_the_day():
    night, noon = (lublin(50, 64, rng=np.random.default_rng(1), start_hour=hour) for hour in (3, 12))
    assert noon.submit_time[0] < night.submit_time[0]


@pytest.mark.parametrize(("jobs", "processors"), [(0, 256), (10, 0), (-1, 4)])
def test_no_jobs_or_no_processors_are_refused(jobs, processors):
    with pytest.raises(InputError, match="at least 1 job and 1 processor"):
        lublin(jobs, processors, rng=np.random.default_rng(1))


@pytest.mark.slow
@pytest.mark.parametrize("processors", [256, 1024])
def test_distributions_are_those_of_the_authors_traces(traces: Path, processors):
    from scipy.stats import ks_2samp

    published = read_swf(traces / f"synthetic/gen-sched-policies-2017/lublin_{processors}.swf.gz")
    ours = lublin(1_000_000, processors, rng=np.random.default_rng(8))
    limit = 1.95 * np.sqrt(1 / len(published) + 1 / len(ours))  # Kolmogorov-Smirnov at 0.001
    for field in ("run_time", "allocated_processors"):
        assert ks_2samp(getattr(published, field), getattr(ours, field)).statistic < limit
    assert ks_2samp(np.diff(published.submit_time), np.diff(ours.submit_time)).statistic < limit


def test_a_model_without_streams_is_refused():
    with pytest.raises(InputError, match="at least one stream"):
        lublin(10, 64, rng=np.random.default_rng(1), streams=[])
