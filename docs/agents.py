"""Train the agents of the documentation, judge them, and draw their learning curves.

    python docs/agents.py [--traces DIR] [--study lublin] [--seeds 1 2 3 4 5] [--train]

Agents stand in docs/agents. Without --train, those of the study "lublin" are read from there and judged again: all
tables of the page on trained agents, and its figure, some minutes. With --train, those of the seeds given are trained
first (minutes each, PyTorch on one core) and written there; other versions of PyTorch may give other agents. The
studies "committed" and "committed-backfilling" have the rule and the network of SC'20, and learn from jobs outside its
windows.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import schedlab as sl
from schedlab.gym.episodes import Episodes
from schedlab.gym.rollouts import roll
from schedlab.gym.sources import Episode
from schedlab.scheduler.agent_file import AgentFile, read_agent_file
from schedlab_papers.sc20_logs import LOGS, STARTS, WINDOW

HERE = Path(__file__).parent
AGENTS = HERE / "agents"
METRICS = ("mean_bounded_slowdown", "mean_wait", "max_wait")
SCHEDULERS = ("fcfs+easy", "saf", "f1", "saf+easy", "f1+easy")
LUBLIN = LOGS[0]


@dataclass(frozen=True)
class Study:
    """Agents that differ in the seed only.

    `learn` and `validate` are the rows, first and last + 1, of training and validation; `unseen` are the windows of
    SC'20 that have no job in common with either.
    """

    learn: tuple[int, int]
    validate: tuple[int, int]
    unseen: tuple[int, ...]
    settings: dict[str, Any] = field(default_factory=dict)


OUTSIDE = ((0, min(STARTS)), (6_252, 7_085), STARTS)
KERNEL = {"commit": True, "view": "job", "updates": 40, "copies": 8}

STUDIES = {
    "lublin": Study((0, 5_000), (5_000, 6_536), (7_085, 7_762, 8_850)),
    "committed": Study(*OUTSIDE, KERNEL),
    "committed-backfilling": Study(*OUTSIDE, KERNEL | {"base": "fcfs+easy"}),
}


def path_of(name: str, seed: int) -> Path:
    """Return where an agent stands."""
    return AGENTS / f"{name}-{seed}.json"


def train(name: str, seed: int, jobs: sl.Workload) -> None:
    """Train an agent and write it."""
    import torch

    torch.set_num_threads(1)
    study = STUDIES[name]
    learned, held_out = (jobs[low:high] for low, high in (study.learn, study.validate))
    settings = sl.gym.Settings(**study.settings)
    found = sl.gym.train(learned, validation=held_out, seed=seed, settings=settings, watch=print)
    AGENTS.mkdir(exist_ok=True)
    found.agent.save(path_of(name, seed))


def judge(jobs: sl.Workload, seeds: list[int]) -> None:
    """Print means over the windows of 256 and of 1,024 jobs from row 6,536 on, which no agent of "lublin" has seen."""
    agents = {f"agent, seed {seed}": f"@agent:{path_of('lublin', seed)}" for seed in seeds}
    for window in (256, 1_024):
        windows = [jobs[low : low + window] for low in range(6_536, len(jobs) - window + 1, window)]
        print(f"\n{len(windows)} windows of {window} jobs: {', '.join(METRICS)}")
        for name, text in {**{text: text for text in SCHEDULERS}, **agents}.items():
            found = sl.simulate_many(windows, text, metrics=list(METRICS))[:, 0, :].mean(axis=0)
            print(f"{name:20}" + "".join(f"{value:18,.2f}" for value in found), flush=True)


def judge_on_sc20(name: str, jobs: sl.Workload, seeds: list[int]) -> None:
    """Print what agents give on SC'20's ten windows, on those that are unseen, and the mean wait on all."""
    study = STUDIES[name]
    unseen = [STARTS.index(start) for start in study.unseen]
    print(f"\n{name}, SC'20's windows: mean bounded slowdown of all ten, of {len(unseen)} unseen, mean wait of all ten")
    rows = {"saf": np.array([_measures(sl.simulate(jobs[low : low + WINDOW], "saf")) for low in STARTS])}
    for seed in seeds:
        rows[f"agent, seed {seed}"] = played(read_agent_file(path_of(name, seed)), jobs, study.settings)
    for label, found in rows.items():
        values = (found[:, 0].mean(), found[unseen, 0].mean(), found[:, 1].mean())
        print(f"{label:20}" + "".join(f"{value:18,.2f}" for value in values), flush=True)
    means = [found[:, 0].mean() for label, found in rows.items() if label != "saf"]
    print(f"over seeds: mean {np.mean(means):,.2f}, median {np.median(means):,.2f}", end="")
    print(f", standard deviation {np.std(means, ddof=1):,.2f}" if len(means) > 1 else "")
    printed = (LUBLIN.slowdown, LUBLIN.backfilled_slowdown)
    print("printed in SC'20, without and with backfilling: " + "; ".join(str(dict(one)) for one in printed))


def played(agent: AgentFile, jobs: sl.Workload, settings: dict[str, Any]) -> NDArray[np.float64]:
    """Return float64 of shape (windows, 2): what an agent gives on SC'20's windows."""
    rules = {name: settings[name] for name in ("commit", "base") if name in settings}
    episodes = Episodes(len(STARTS), jobs, window=WINDOW, slots=agent.slots, longest=agent.longest, **rules)
    for e, start in enumerate(STARTS):
        episodes.begin_with(e, Episode(episodes.source.tables[0], start, start + WINDOW, 1.0))
    roll(episodes, agent.network, None)
    return np.array([_measures(episodes.schedule(e)) for e in range(len(STARTS))])


def _measures(schedule: sl.Schedule) -> tuple[float, float]:
    found = schedule.metrics()
    return found["mean_bounded_slowdown"], found["mean_wait"]


def draw(jobs: sl.Workload, seeds: list[int]) -> None:
    """Draw the learning curves of "lublin" beside SAF on the windows of validation."""
    import matplotlib.pyplot as plt

    held_out = jobs[slice(*STUDIES["lublin"].validate)]
    windows = [held_out[low : low + 256] for low in range(0, len(held_out) - 255, 256)]
    saf = float(sl.simulate_many(windows, "saf")[:, 0].mean())
    figure, axes = plt.subplots(figsize=(7, 4), dpi=110, layout="constrained")
    for seed in seeds:
        curve = read_agent_file(path_of("lublin", seed)).training["curve"]
        best = min(curve, key=lambda point: point["validation"])
        millions = [point["decisions"] / 1e6 for point in curve]
        (line,) = axes.plot(millions, [point["validation"] for point in curve], lw=1.2, label=f"seed {seed}")
        axes.plot(best["decisions"] / 1e6, best["validation"], "o", color=line.get_color(), ms=5)
        kept = f"kept after update {best['update']}, validation {best['validation']:.2f}"
        print(f"seed {seed}: {curve[-1]['decisions']:,} decisions, {kept}")
    axes.axhline(saf, color="black", lw=1, ls="--")
    axes.annotate(f"saf: {saf:.2f}", (0.75, saf), xycoords=("axes fraction", "data"), ha="center", va="bottom")
    axes.set(yscale="log", xlabel="decisions in training (millions)", ylim=(2, 500))
    axes.set_ylabel("mean bounded slowdown, six validation windows")
    axes.legend(frameon=False, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "images" / "agent-curves.png", metadata={"Software": None})


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("SCHEDLAB_TRACES", str(HERE.parent.parent / "shared" / "traces"))
    parser.add_argument("--traces", type=Path, default=Path(default), help="directory of real logs")
    parser.add_argument("--study", nargs="+", choices=STUDIES, default=["lublin"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--train", action="store_true", help="train them first")
    options = parser.parse_args()
    jobs = LUBLIN.read(options.traces)[0]
    for name in options.study:
        for seed in options.seeds if options.train else ():
            train(name, seed, jobs)
        if name == "lublin":
            draw(jobs, options.seeds)
            judge(jobs, options.seeds)
        judge_on_sc20(name, jobs, options.seeds)


if __name__ == "__main__":
    main()
