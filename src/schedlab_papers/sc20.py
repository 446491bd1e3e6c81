"""SC'20: RLScheduler's tables, by the rules of its environment, and what its policies give without these rules.

The environment lets a policy or an agent *commit itself*: the job that it picks is waited for, whatever comes
meanwhile. Its heuristics are simulated by that rule, and once more as schedulers work, without commitment: at every
event they decide again.

References
----------
Zhang, Dai, He, Bao and Xie, "RLScheduler: an automated HPC batch job scheduler using reinforcement learning", SC 2020,
Tables V and VI, and the program that its authors published with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab import Schedule, Workload, simulate_many
from schedlab.gym import Episode, Episodes
from schedlab_papers.reproduction import Part, Reproduction, Reproductions, missing, require_some
from schedlab_papers.sc20_logs import LOGS, POLICIES, STARTS, WINDOW, Sc20Log, named, scores, texts
from schedlab_papers.sc20_tables import Results, bug_table, slowdown_table, split_table, utilisation_table, values_table

__all__ = ["LOGS", "reproduce", "results_of"]

ALSO = ("saf",)
"""What is simulated besides the paper's policies, without commitment."""


def reproduce(traces: Path, *, logs: Iterable[str] = ()) -> Reproductions:
    """Repeat the heuristic columns of both tables on those logs that are there.

    Parameters
    ----------
    traces
        Directory with the logs, under the file names of `LOGS`.
    logs
        Names of logs, as in the paper; none are all.

    Returns
    -------
    Reproductions
        The tables; the alternative is the same policy without commitment, with EASY where there is
        backfilling.

    Raises
    ------
    InputError
        If none of the logs is there or one cannot be read, or if the paper has no log of such a name.
    """
    wanted = named(logs)
    require_some(traces, (log.file for log in wanted))
    present = [log for log in wanted if (traces / log.file).is_file()]
    results = {log.name: results_of(log, traces) for log in present}
    tables: list[Part] = [
        slowdown_table(present, results),
        utilisation_table(present, results),
        values_table(present, results),
        split_table(present, results),
        bug_table(present, results),
    ]
    absent = tuple(missing(log.name, log.file) for log in wanted if log not in present)
    if absent:
        tables.append(Reproduction("Logs that are not there", "", absent))
    return Reproductions(tuple(tables))


def results_of(log: Sc20Log, traces: Path) -> Results:
    """Simulate the ten windows of a log by all rules, and return the means over the windows."""
    jobs, asked = log.read(traces)
    machine = jobs.processors
    assert machine is not None
    results = Results({}, {}, {}, {})
    of_paper = scores(jobs, asked)
    for backfilling in (False, True):
        base = "fcfs+easy" if backfilling else "fcfs"
        episodes = Episodes(1, jobs, window=WINDOW, slots=WINDOW, base=base, commit=True)
        for policy in POLICIES:
            found = [_measured(one) for one in _committed(episodes, of_paper[policy], of_paper["FCFS"])]
            results.committed[policy, backfilling] = float(np.mean([slowdown for slowdown, _ in found]))
            results.utilisation[policy, backfilling] = float(np.mean([used for _, used in found]))
        for policy in ("WFP3", "UNI"):
            number = episodes.know(texts(0)[policy])
            found = [_measured(one) for one in _played(episodes, number)]
            results.put_right[policy, backfilling] = float(np.mean([slowdown for slowdown, _ in found]))
        for policy, values in _uncommitted(jobs, backfilling).items():
            results.uncommitted[policy, backfilling] = float(values.mean())
    return results


def _committed(episodes: Episodes, score: NDArray[np.float64], fcfs: NDArray[np.float64]) -> Iterator[Schedule]:
    """Yield the schedules of a policy that is given by scores, jobs that are committed to being waited for."""
    table = episodes.source.tables[0]
    for start in STARTS:
        part = slice(start, start + WINDOW)
        lines = [score[part], *(fcfs[part] for _ in range(len(episodes.texts) - 1))]
        episodes.begin_with(0, Episode(table, start, start + WINDOW, 1.0), np.stack(lines))
        episodes.play_out(0, 0)
        yield episodes.schedule(0)


def _played(episodes: Episodes, policy: int) -> Iterator[Schedule]:
    """Yield the same of a policy that schedlab knows."""
    table = episodes.source.tables[0]
    for start in STARTS:
        episodes.begin_with(0, Episode(table, start, start + WINDOW, 1.0))
        episodes.play_out(0, policy)
        yield episodes.schedule(0)


def _measured(schedule: Schedule) -> tuple[float, float]:
    """Return the mean bounded slowdown, and the paper's utilisation: of the time up to the last start."""
    jobs = schedule.workload
    work = float(np.dot(jobs.run_time, jobs.job_processors))
    seconds = int(schedule.start_time.max() - jobs.submit_time.min())
    return schedule.metrics()["mean_bounded_slowdown"], work / (seconds * schedule.processors)


def _uncommitted(jobs: Workload, backfilling: bool) -> dict[str, NDArray[np.float64]]:
    """Return the mean bounded slowdowns of the windows under policies without commitment."""
    names = [*POLICIES, *(one.upper() for one in ALSO)]
    lines = []
    for start in STARTS:
        window = jobs[start : start + WINDOW]
        chosen = [*texts(int(window.submit_time[0])).values(), *ALSO]
        lines.append(simulate_many(window, [f"{one}+easy" if backfilling else one for one in chosen])[0])
    return dict(zip(names, np.array(lines).T, strict=True))
