"""The Lublin-Feitelson model of rigid jobs: sizes, run times and arrivals of a parallel machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError, whole_number
from schedlab.workload.sampling import scale_load
from schedlab.workload.workload import Workload

Floats = NDArray[np.float64]

LONGEST_LOG_RUN_TIME = 12.0
"""Run times with a larger natural logarithm are drawn again: no job runs longer than 162,754 s."""

LONGEST_LOG_GAP = 13.0
"""The same for the time between arrivals, before the daily cycle: 442,413 s."""

SLOTS = 48
SLOT = 1800
"""The daily cycle has 48 slots of half an hour."""

CYCLE_START = 11
"""The gamma density of the daily cycle lies over slots 11 to 58: the model's day begins at 5 a.m."""

FITTED_PROCESSORS = 128
"""Size of the machine that the published parameters of job sizes are for."""


@dataclass(frozen=True, slots=True)
class LublinParameters:
    """Parameters of one stream of jobs; `untyped()`, `batch()` and `interactive()` are the published ones.

    Parameters
    ----------
    serial_probability, power_of_two_probability
        Shares of jobs with one processor, and with a power of two that was chosen as such.
    log2_low, log2_medium, log2_high, low_probability
        Two-stage uniform distribution of log2 of a parallel job's size (ULow, UMed, UHi, UProb): with
        probability `low_probability` between low and medium, else between medium and high.
    shape_1, scale_1, shape_2, scale_2
        The two gamma distributions of the natural logarithm of the run time in seconds (a1, b1, a2, b2).
    mix_slope, mix_intercept
        A job of n processors takes the first of them with probability slope * n + intercept (pa, pb), which
        makes large jobs long.
    gap_shape, gap_scale, gap_shape_factor
        Gamma distribution of the natural logarithm of the time between arrivals (aarr, barr, and the factor
        on aarr called ARAR, which sets the rate).
    cycle_shape, cycle_scale
        Gamma distribution of the arrivals over the day, in half-hours (anum, bnum).
    """

    serial_probability: float
    power_of_two_probability: float
    log2_low: float
    log2_medium: float
    log2_high: float
    low_probability: float
    shape_1: float
    scale_1: float
    shape_2: float
    scale_2: float
    mix_slope: float
    mix_intercept: float
    gap_shape: float
    gap_scale: float
    gap_shape_factor: float
    cycle_shape: float
    cycle_scale: float

    @classmethod
    def untyped(cls) -> LublinParameters:
        """Return the values fitted to all jobs together."""
        return cls(
            *(0.244, 0.576, 0.8, 4.5, 7.0, 0.86),
            *(4.2, 0.94, 312.0, 0.03, -0.0054, 0.78),
            *(10.2303, 0.4871, 1.0225, 8.1737, 3.9631),
        )

    @classmethod
    def batch(cls) -> LublinParameters:
        """Return the values fitted to batch jobs."""
        return cls(
            *(0.2927, 0.6686, 1.2, 5.0, 7.0, 0.875),
            *(6.57, 0.823, 639.1, 0.0156, -0.003, 0.6986),
            *(6.0415, 0.8531, 1.0519, 6.1271, 5.2740),
        )

    @classmethod
    def interactive(cls) -> LublinParameters:
        """Return the values fitted to interactive jobs."""
        return cls(
            *(0.1541, 0.625, 1.0, 3.0, 5.5, 0.705),
            *(3.8351, 0.6605, 7.073, 0.6856, -0.0118, 0.9156),
            *(6.5510, 0.6621, 0.9797, 8.9186, 3.6680),
        )

    def scaled_to(self, processors: int) -> LublinParameters:
        """Return the same stream for a machine of another size than 128 processors.

        Knee and maximum of the sizes move by log2 of the ratio, as the model's authors advise: for untyped
        jobs log2_high is log2 of the machine and log2_medium 2.5 less, and the published values come back for
        128. The smallest parallel job stays; neither run times nor arrivals depend on the machine, hence the
        load does.

        Examples
        --------
        >>> large = LublinParameters.untyped().scaled_to(1024)
        >>> large.log2_medium, large.log2_high
        (7.5, 10.0)
        """
        shift = float(np.log2(processors / FITTED_PROCESSORS))
        medium = max(self.log2_low, self.log2_medium + shift)
        return replace(self, log2_medium=medium, log2_high=max(medium, self.log2_high + shift))


@explained
def lublin(
    jobs: int,
    processors: int,
    *,
    rng: np.random.Generator | int,
    typed: bool = False,
    start_hour: float = 0.0,
    load: float | None = None,
    streams: Sequence[LublinParameters] | None = None,
) -> Workload:
    """Generate jobs by the model of Lublin and Feitelson.

    Parameters
    ----------
    jobs
        How many jobs.
    processors
        Size of the machine; no job is larger.
    rng
        Where the draws come from: a generator, or the seed of a new one.
    typed
        Two independent streams of batch and interactive jobs, instead of one of all kinds.
    start_hour
        Hour of the day at second 0.
    load
        Offered load to reach by stretching the time between arrivals. The model alone does not control it:
        its gaps have a heavy tail, and two workloads of 20,000 jobs easily differ by 30 %.
    streams
        Parameters to use as they are, one set for each stream, instead of the published ones scaled to the
        machine (`LublinParameters.scaled_to`).

    Returns
    -------
    Workload
        Jobs in order of arrival with run time, allocated processors, status 1 and the number of the stream as
        queue: 0 for interactive or untyped jobs, 1 for batch jobs. Requested times are unknown;
        `tsafrir_estimates` makes some.

    Raises
    ------
    InputError
        If there is no job or no processor to make, or if the load cannot be reached.

    References
    ----------
    Lublin and Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid
    jobs", Journal of Parallel and Distributed Computing 63(11), 2003.

    Notes
    -----
    Arrival and run time are truncated to seconds, as in the authors' program. The exact clock goes on
    underneath, whereas theirs loses the fraction at every arrival, so that after 20,000 jobs its days lag by
    almost three hours.

    Examples
    --------
    >>> workload = lublin(1000, 256, rng=np.random.default_rng(1))
    >>> workload
    <Workload lublin-256: 1000 jobs, 256 processors>
    >>> bool(workload.run_time.min() >= 1), bool(workload.run_time.max() <= 162_754)
    (True, True)
    """
    rng = np.random.default_rng(rng)
    jobs, processors = whole_number("jobs", jobs), whole_number("processors", processors)
    if jobs < 1 or processors < 1:
        raise InputError(f"the model needs at least 1 job and 1 processor, not {jobs} and {processors}")
    if streams is None:
        streams = _published_streams(processors, typed)
    if not streams:
        raise InputError("the model needs at least one stream of jobs; give some parameters, or streams=None")
    arrivals, queue = _merged_arrivals(jobs, streams, start_hour, rng)
    sizes, run_times = np.empty(jobs, np.int64), np.empty(jobs, np.int64)
    for number, stream in enumerate(streams):
        chosen = queue == number
        sizes[chosen] = np.minimum(_sizes(int(chosen.sum()), stream, rng), processors)
        run_times[chosen] = _run_times(sizes[chosen], stream, rng)
    workload = Workload.from_columns(
        {
            "submit_time": arrivals,
            "run_time": run_times,
            "allocated_processors": sizes,
            "status": np.broadcast_to(np.int64(1), jobs),
            "queue_id": queue,
        },
        name=f"lublin-{processors}",
        processors=processors,
    )
    return workload if load is None else scale_load(workload, load=load)


def _published_streams(processors: int, typed: bool) -> list[LublinParameters]:
    """Return the streams of the model for a machine, in the order of their queue numbers."""
    kinds = (LublinParameters.interactive(), LublinParameters.batch()) if typed else (LublinParameters.untyped(),)
    return [kind.scaled_to(processors) for kind in kinds]


def _merged_arrivals(
    jobs: int, streams: Sequence[LublinParameters], start_hour: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first arrivals of all streams, and the stream of each; the first stream wins ties."""
    # How many of the first jobs are of which stream is not known beforehand; at most, all of them are.
    clocks = np.concatenate([_arrivals(jobs, stream, start_hour, rng) for stream in streams])
    order = np.argsort(clocks, kind="stable")[:jobs]
    return clocks[order], order // jobs


def _arrivals(jobs: int, stream: LublinParameters, start_hour: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the arrival times of one stream, shape (jobs,), seconds."""
    shape = stream.gap_shape * stream.gap_shape_factor
    log_gaps = _at_most(LONGEST_LOG_GAP, jobs, lambda again: rng.gamma(shape, stream.gap_scale, size=len(again)))
    return np.floor(through_daily_cycle(np.cumsum(np.exp(log_gaps)), stream, start_hour)).astype(np.int64)


def through_daily_cycle(even: Floats, stream: LublinParameters, start_hour: float = 0.0) -> Floats:
    """Move times of a day without hours onto the clock: busy hours come closer together, quiet ones stretch.

    A slot of the day takes as many half-hours of even time as its weight says, so the clock is the inverse of
    the cumulative weight, a piecewise linear function that repeats every day.

    Parameters
    ----------
    even
        Seconds since the start if all hours were alike, shape (n,).
    stream
        Whose daily cycle.
    start_hour
        Hour of the day at second 0.

    Returns
    -------
    numpy.ndarray
        Seconds on the clock, shape (n,).

    Examples
    --------
    >>> clock = through_daily_cycle(np.array([0.0, 3600.0, 86400.0]), LublinParameters.batch(), start_hour=12)
    >>> clock.round().tolist()  # at noon, an average hour of jobs arrives within 37 minutes
    [0.0, 2190.0, 86400.0]
    """
    used = np.concatenate(([0.0], np.cumsum(daily_weights(stream)))) * SLOT
    clock = np.arange(SLOTS + 1) * float(SLOT)
    start = start_hour % 24 * 3600
    days, rest = np.divmod(even + np.interp(start, clock, used), used[-1])
    moved: Floats = days * clock[-1] + np.interp(rest, used, clock) - start
    return moved


def daily_weights(stream: LublinParameters) -> Floats:
    """Return the relative arrival rate in the 48 half-hours of the day from midnight; their mean is 1.

    Examples
    --------
    >>> weights = daily_weights(LublinParameters.untyped())
    >>> int(weights.argmax()), round(float(weights.max()), 3)  # half past one in the afternoon
    (27, 1.833)
    """
    from scipy.special import gammainc

    slots = np.arange(CYCLE_START, CYCLE_START + SLOTS)
    bounds = np.append(slots - 0.5, slots[-1] + 0.5) / stream.cycle_scale
    weights: Floats = np.empty(SLOTS)
    weights[(slots - 1) % SLOTS] = np.diff(gammainc(stream.cycle_shape, bounds))
    weights /= weights.mean()
    return weights


def _sizes(jobs: int, stream: LublinParameters, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return numbers of processors, shape (jobs,)."""
    kind = rng.random(jobs)
    low = rng.random(jobs) < stream.low_probability
    start = np.where(low, stream.log2_low, stream.log2_medium)
    end = np.where(low, stream.log2_medium, stream.log2_high)
    exponent = start + (end - start) * rng.random(jobs)
    power_of_two = kind <= stream.serial_probability + stream.power_of_two_probability
    exponent[power_of_two] = np.floor(exponent[power_of_two] + 0.5)
    exponent[kind <= stream.serial_probability] = 0.0
    return np.floor(2.0**exponent + 0.5).astype(np.int64)


def _run_times(sizes: NDArray[np.int64], stream: LublinParameters, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return run times in seconds for jobs of these sizes, shape (jobs,)."""
    first_probability = stream.mix_slope * sizes + stream.mix_intercept

    def draw(again: NDArray[np.intp]) -> Floats:
        first = rng.random(len(again)) < first_probability[again]
        logarithm = np.empty(len(again))
        logarithm[first] = rng.gamma(stream.shape_1, stream.scale_1, size=int(first.sum()))
        logarithm[~first] = rng.gamma(stream.shape_2, stream.scale_2, size=int((~first).sum()))
        return logarithm

    return np.floor(np.exp(_at_most(LONGEST_LOG_RUN_TIME, len(sizes), draw))).astype(np.int64)


def _at_most(limit: float, count: int, draw: Callable[[NDArray[np.intp]], Floats]) -> Floats:
    """Return one value for each position 0 ... count - 1, drawn again as long as it exceeds the limit."""
    values = draw(np.arange(count))
    while (again := np.flatnonzero(values > limit)).size:
        values[again] = draw(again)
    return values
