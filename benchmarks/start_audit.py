"""How good are `squeue --start` and forecasts? Three sites on the real Slurm, and the curves of the page about them.

    python benchmarks/start_audit.py run micro --slurm 26.05 -o micro.parquet
    python benchmarks/start_audit.py run week --when 12 --forks 30 --quiet-future -o week.parquet
    python benchmarks/start_audit.py tell micro.parquet week.parquet
    python benchmarks/start_audit.py draw micro.parquet week.parquet kth.parquet -o curves.png

`micro` takes a minute, `kth` half an hour, and `week` an hour of one core.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from laboratory import SITES, TRACES
from validation import WEEK

from schedlab.durations import HOUR
from schedlab.site.importing import import_site
from schedlab.slurm.jobs import from_workload, read_events
from schedlab.slurm.replay import drawn_phases, run
from schedlab.slurm.start_audit import StartEstimates, audit_text, estimates_of
from schedlab.when.against_slurm import Beside, beside_slurm, beside_text
from schedlab.when.forks import Forking
from schedlab.workload.files import read_workload
from schedlab.workload.swf import write_swf

KTH = TRACES / "KTH-SP2-1996-2.1-cln.swf.gz"
FIRST, LAST = 16 * 7 * 24 * HOUR, 21 * 7 * 24 * HOUR
"""Five weeks in which there was a queue most of the time, in the log's seconds."""

CONF = """
ClusterName=kth
SlurmctldHost=localhost
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_window=7200,bf_max_job_test=1000
PriorityType=priority/basic
NodeName=n[1-100] CPUs=1
PartitionName=batch Nodes=n[1-100] Default=YES MaxTime=UNLIMITED
"""

QUESTIONS = {"micro": 300, "week": HOUR, "kth": HOUR}
"""Seconds between two questions."""

FORECAST = ("median", "low", "high")


@contextmanager
def files_of(site: str) -> Iterator[tuple[Path, Path]]:
    """Give the configuration of a site and the file of its jobs."""
    if site == "micro":
        yield SITES / "ubccr-micro", SITES / "ubccr-micro" / "jobs500.events"
    elif site == "week":
        yield SITES / "ubccr-medium", WEEK
    else:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            (place / "slurm.conf").write_text(CONF)
            log = read_workload(KTH)
            write_swf(log[(log.submit_time >= FIRST) & (log.submit_time < LAST)], place / "kth.swf")
            yield place, place / "kth.swf"


def audited(site: str, given: argparse.Namespace) -> pd.DataFrame:
    """Return what Slurm said in each phase and, where they were asked for, what forecasts did; -1 and NaN: nothing."""
    frames = []
    with files_of(site) as (conf, file):
        is_events = ".events" in file.suffixes
        jobs = read_events(file) if is_events else from_workload(read_workload(file), users=True, resources=True)
        model = import_site(conf, file, slurm=given.slurm) if given.when else None
        for number, drawn in enumerate(drawn_phases(5, given.seed)[: given.phases]):
            one = run(jobs, conf=conf, observe=QUESTIONS[site], slurm=given.slurm, **drawn)
            said = estimates_of(one, jobs, number)
            frame = pd.DataFrame({**said._asdict(), "first": said.first, **dict.fromkeys(FORECAST, np.nan)})
            if model is not None:
                how = Forking(forks=given.forks, arrivals=not given.quiet_future)
                found = beside_slurm(one, said, model, every=given.when, how=how)
                print(beside_text(found), flush=True)
                key = ["row", "asked"]
                told = pd.DataFrame({name: getattr(found, name) for name in FORECAST}).assign(
                    **{name: getattr(found.slurm, name) for name in key}
                )
                frame = frame.drop(columns=list(FORECAST)).merge(told, on=key, how="left")
            frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def estimates(frame: pd.DataFrame) -> StartEstimates:
    """Return what Slurm said."""
    return StartEstimates(*(frame[name].to_numpy(dtype=np.int64) for name in StartEstimates._fields))


def beside(frame: pd.DataFrame) -> Beside | None:
    """Return both, where there are forecasts."""
    some = frame[frame["median"].notna()]
    if some.empty:
        return None
    quantiles = {name: some[name].to_numpy() for name in FORECAST}
    return Beside(
        estimates(some), **quantiles, first=some["first"].to_numpy(), moments=some.asked.nunique(), refused=()
    )


def curve(said: StartEstimates) -> tuple[Any, Any]:
    """Return leads in hours and median absolute errors in hours, of classes of leads with 30 answers and more."""
    lead, error = said.said - said.asked, np.abs(said.said - said.started) / HOUR
    bounds = np.geomspace(60, 12 * 24 * HOUR, 19)
    classes = [(low, high, (lead >= low) & (lead < high)) for low, high in itertools.pairwise(bounds)]
    kept = [(np.sqrt(low * high) / HOUR, np.median(error[of])) for low, high, of in classes if of.sum() >= 30]
    return tuple(np.array(kept).T)


def draw(files: list[Path], out: Path) -> None:
    """Draw the median error by how far ahead the named start lies."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(files), figsize=(3.4 * len(files), 3.4), sharex=True, sharey=True)
    for file, ax in zip(files, np.atleast_1d(axes), strict=True):
        found = beside(pd.read_parquet(file))
        if found is None:
            raise SystemExit(f"{file}: it has no forecasts: run it with --when")
        ax.plot(*curve(found.slurm), "o-", color="#b04a2f", label="squeue --start", ms=3)
        ax.plot(*curve(found.forecasts), "o-", color="#2f6db0", label="forecast", ms=3)
        ax.plot([0.02, 300], [0.02, 300], ":", color="0.6", label="error = lead")
        ax.set(xscale="log", yscale="log", title=file.stem, xlabel="named start lies ahead, h")
        ax.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("median error, h")
    np.atleast_1d(axes)[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(out, dpi=110)


def main() -> None:
    """Run a site, tell what was kept, or draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tell", "draw"))
    parser.add_argument("of", nargs="+", help="a site (micro, week, kth), or files that were kept")
    parser.add_argument("--slurm", default="24.11")
    parser.add_argument("--phases", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--when", type=int, help="forecast at one question of so many")
    parser.add_argument("--forks", type=int, default=30)
    parser.add_argument("--quiet-future", action="store_true", help="forecasts assume no further arrivals")
    parser.add_argument("-o", dest="out", type=Path)
    given = parser.parse_args()
    if given.what == "run":
        found = audited(given.of[0], given)
        print(audit_text(estimates(found)))
        found.to_parquet(given.out)
    elif given.what == "draw":
        draw([Path(name) for name in given.of], given.out)
    else:
        for name in given.of:
            frame = pd.read_parquet(name)
            both = beside(frame)
            print(name, audit_text(estimates(frame)), "" if both is None else beside_text(both), sep="\n\n")


if __name__ == "__main__":
    main()
