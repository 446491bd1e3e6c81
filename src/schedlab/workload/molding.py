"""Make jobs moldable or malleable: alternatives by a speed-up model, or from a file.

References
----------
Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities", AFIPS 1967.

Downey, "A model for speedup of parallel programs", Technical report UCB/CSD-97-933, University of California, 1997.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.parquet import read_parquet
from schedlab.streams import read_whole
from schedlab.workload.alternatives import MALLEABLE, Alternatives
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd


class SpeedUp(Protocol):
    """A speed-up model: how many times as fast a job runs on some processors as on one."""

    def __call__(self, processors: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return the speed-up for numbers of processors from 1 on."""


@explained
@dataclass(frozen=True, slots=True)
class Amdahl:
    """Amdahl's law: a share of the work is sequential.

    Parameters
    ----------
    sequential
        The sequential share, from 0 to 1.

    Raises
    ------
    InputError
        If the share is not in that range.

    Examples
    --------
    >>> Amdahl(0.1)(np.array([1.0, 9.0])).round(6).tolist()
    [1.0, 5.0]
    """

    sequential: float

    def __post_init__(self) -> None:
        if not 0 <= self.sequential <= 1:
            raise InputError(f"Amdahl({self.sequential}): the sequential share must be from 0 to 1")

    def __call__(self, processors: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return the speed-up on some processors."""
        return 1 / (self.sequential + (1 - self.sequential) / processors)


@explained
@dataclass(frozen=True, slots=True)
class Downey:
    """Downey's model: the average parallelism of a job and the coefficient of its variance.

    Parameters
    ----------
    parallelism
        The average parallelism, which is the largest speed-up; at least 1.
    sigma
        The coefficient of variance of parallelism, at least 0: 0 is a linear speed-up up to the parallelism.

    Raises
    ------
    InputError
        If a parameter is out of its range.

    Examples
    --------
    >>> Downey(8, 0)(np.array([4.0, 8.0, 16.0])).tolist()
    [4.0, 8.0, 8.0]
    >>> Downey(8, 1)(np.array([8.0, 16.0])).round(3).tolist()
    [5.565, 8.0]
    """

    parallelism: float
    sigma: float

    def __post_init__(self) -> None:
        if not (self.parallelism >= 1 and self.sigma >= 0 and math.isfinite(self.parallelism + self.sigma)):
            raise InputError(
                f"Downey({self.parallelism}, {self.sigma}): the parallelism must be at least 1, and sigma at least 0"
            )

    def __call__(self, processors: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return the speed-up on some processors."""
        most, sigma, n = self.parallelism, self.sigma, processors
        if sigma > 1:
            rising = n * most * (sigma + 1) / (sigma * (n + most - 1) + most)
            return np.where(n <= most + most * sigma - sigma, rising, most)
        few = most * n / (most + sigma / 2 * (n - 1))
        more = most * n / (sigma * (most - 0.5) + n * (1 - sigma / 2))
        return np.where(n <= most, few, np.where(n <= 2 * most - 1, more, most))


@explained
def moldable(
    workload: Workload,
    speed_up: SpeedUp,
    *,
    factors: Sequence[float] = (0.5, 2),
    sizes: Sequence[int] = (),
    share: float = 1.0,
    malleable: bool = False,
    seed: int | np.random.Generator = 0,
) -> Workload:
    """Return a workload whose jobs have alternatives, with run times by a speed-up model.

    Parameters
    ----------
    workload
        The jobs; those without a run time or a number of processors keep one size.
    speed_up
        The model: `Amdahl`, `Downey` or a function of numbers of processors. A job that runs for T seconds on n
        processors runs for T S(n) / S(m) seconds on m; requested times are scaled likewise, and both rounded up.
    factors
        Sizes relative to the job's own, rounded to whole processors, in the order of preference.
    sizes
        Numbers of processors, after those.
    share
        The share of jobs that have alternatives, from 0 to 1; which ones is drawn.
    malleable
        Whether these may change their size while they run; jobs that take no time may not, and keep one size then.
    seed
        The seed of the draw, or a generator.

    Raises
    ------
    InputError
        If a size, a factor or the share is out of its range, or the model returns no speed-up for a size.

    Notes
    -----
    Sizes below one processor, above the machine, or equal to an earlier one of the job are left out.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0], run_time=[60], requested_time=[100],
    ...                                   requested_processors=[4]), processors=8)
    >>> moldable(jobs, Amdahl(0)).alternatives.texts()
    ['2x120/200 8x30/50']
    """
    if not 0 <= share <= 1:
        raise InputError(f"share={share}: must be from 0 to 1")
    if any(not (factor > 0 and math.isfinite(factor)) for factor in factors):
        raise InputError(f"factors={tuple(factors)}: each must be a positive number")
    if any(size < 1 for size in sizes):
        raise InputError(f"sizes={tuple(sizes)}: each must be at least 1 processor")
    own = workload.job_processors
    rows = np.flatnonzero((own > 0) & (workload.run_time >= (1 if malleable else 0)))
    drawn = np.random.default_rng(seed).permutation(len(rows))[: round(share * len(rows))]
    rows = np.sort(rows[drawn])
    columns = [np.floor(own[rows] * factor + 0.5) for factor in factors] + [np.full(len(rows), size) for size in sizes]
    size = np.array([own[rows], *columns], dtype=np.int64).T.reshape(len(rows), 1 + len(columns))
    new = (size >= 1) & (size <= (workload.processors or size.max(initial=1)))
    for later in range(size.shape[1]):
        new[:, later] &= (size[:, :later] != size[:, later : later + 1]).all(axis=1)
    new[:, 0] = False
    place, column = np.nonzero(new)
    owner, chosen = rows[place], size[place, column]
    slower = _speed(speed_up, own[owner]) / _speed(speed_up, chosen)
    asked = workload.requested_time[owner]
    return workload.replace(
        alternatives=Alternatives.of(
            owner,
            processors=chosen,
            run_time=_seconds(workload.run_time[owner] * slower),
            requested_time=np.where(asked > 0, _seconds(asked * slower), -1),
            malleable=malleable,
            jobs=len(workload),
        )
    )


def _speed(speed_up: SpeedUp, processors: NDArray[np.int64]) -> NDArray[np.float64]:
    found = np.asarray(speed_up(processors.astype(np.float64)), dtype=np.float64)
    if found.shape != processors.shape or not bool((np.isfinite(found) & (found > 0)).all()):
        raise InputError("the speed-up model must return one positive number for each number of processors")
    return found


def _seconds(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.ceil(np.round(seconds, 6))


NEEDED = ("job_id", "processors", "run_time")
KNOWN = (*NEEDED, "requested_time", "nodes", MALLEABLE)


@explained
def read_alternatives(path: str | os.PathLike[str], workload: Workload) -> Workload:
    """Return a workload with the alternatives in a file.

    Parameters
    ----------
    path
        CSV or Parquet with a row per alternative and the columns `job_id`, `processors` and `run_time`;
        `requested_time`, `nodes` and `malleable` (1 in all rows of a job that may change its size while it runs) may
        follow. Rows of jobs that the workload does not have are ignored.
    workload
        The jobs.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, has another one or a value that is out of its range, or is of
        none of the jobs, if several jobs have one of its numbers, or if rows of a job differ in `malleable`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sizes.csv"
    >>> written = path.write_text("job_id,processors,run_time\\n1,2,110\\n1,1,200\\n")
    >>> jobs = Workload.from_columns(dict(submit_time=[0], run_time=[60], requested_processors=[4]))
    >>> read_alternatives(path, jobs).alternatives.texts()
    ['2x110 1x200']
    """
    name = os.fspath(path)
    frame = _frame(path)
    missing = [column for column in NEEDED if column not in frame]
    strange = [str(column) for column in frame if column not in KNOWN]
    if missing or strange:
        what = f"the column {missing[0]} is missing" if missing else f"unknown column {strange[0]!r}"
        raise InputError(f"{name}: {what}; a file of alternatives has the columns {', '.join(KNOWN)}")
    for column in frame:
        if frame[column].dtype.kind not in "iuf":
            raise InputError(f"{name}: column {column} must have numbers")
    frame = frame.assign(**{column: frame[column].fillna(-1) for column in frame if column == "requested_time"})
    number = frame["job_id"].to_numpy()
    order = np.argsort(workload.job_id, kind="stable")
    sorted_ids = workload.job_id[order]
    place = np.searchsorted(sorted_ids, number)
    here = np.searchsorted(sorted_ids, number, side="right") - place
    if (here > 1).any():
        raise InputError(f"{name}: several jobs have the number {int(number[np.argmax(here > 1)])}")
    if not (here == 1).any():
        raise InputError(f"{name}: no alternative is of a job of {workload.name}: job_id must be its number in the log")
    kept = frame[here == 1]
    owner = order[place[here == 1]]
    columns: dict[str, Any] = {column: kept[column].to_numpy() for column in KNOWN[1:] if column in kept}
    if MALLEABLE in columns:
        columns[MALLEABLE] = _malleable_jobs(name, columns[MALLEABLE], owner, workload)
    try:
        sizes = Alternatives.of(owner, jobs=len(workload), **columns)
    except InputError as error:
        raise InputError(f"{name}: {error}", row=error.row) from None
    return workload.replace(alternatives=sizes)


def _malleable_jobs(name: str, told: NDArray[Any], owner: NDArray[np.int64], workload: Workload) -> NDArray[np.bool_]:
    """Return which jobs are malleable, as all rows of each of them say."""
    if not np.isin(told, (0, 1)).all():
        raise InputError(f"{name}: column {MALLEABLE} must be 0 or 1")
    rows, said = np.bincount(owner, minlength=len(workload)), np.bincount(owner, told, len(workload))
    if bool((mixed := (said > 0) & (said < rows)).any()):
        number = workload.job_id[np.argmax(mixed)]
        raise InputError(f"{name}: job {number} is {MALLEABLE} in one row and not in another; say the same in all")
    return said > 0


def _frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    import pandas as pd

    if os.fspath(path).endswith(".parquet"):
        frame: pd.DataFrame = read_parquet(path, "alternatives")[0].to_pandas()
        return frame
    try:
        return pd.read_csv(io.BytesIO(read_whole(path)), index_col=False)
    except ValueError as error:
        raise InputError(f"{os.fspath(path)}: this is not a CSV file ({str(error).splitlines()[0]})") from None


@explained
def write_alternatives(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write the alternatives of jobs to a file, CSV or Parquet, for `read_alternatives`.

    Raises
    ------
    InputError
        If no job has alternatives, or the name ends with neither .csv nor .parquet.
    OutputError
        If the file cannot be written; no partial file is left.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> jobs = Workload.from_columns(dict(submit_time=[0], run_time=[60], requested_processors=[4]))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sizes.csv"
    >>> write_alternatives(moldable(jobs, Amdahl(0), factors=[0.5]), path)
    >>> print(path.read_text().strip())
    job_id,processors,run_time,requested_time,nodes,malleable
    1,2,120,-1,0,0
    """
    import pandas as pd

    from schedlab.streams import open_output

    sizes, name = workload.alternatives, os.fspath(path)
    if sizes is None:
        raise InputError(f"{workload.name}: no job has alternatives")
    if not name.endswith((".csv", ".parquet")):
        raise InputError(f"{name}: the name of a file of alternatives must end with .csv or .parquet")
    columns = {column: getattr(sizes, column) for column in KNOWN[1:-1]}
    columns[MALLEABLE] = sizes.malleable[sizes.owner].astype(np.int64)
    frame = pd.DataFrame({"job_id": workload.job_id[sizes.owner], **columns})
    with open_output(path) as stream:
        if name.endswith(".csv"):
            stream.write(frame.to_csv(index=False).encode())
        else:
            frame.to_parquet(stream, index=False)
