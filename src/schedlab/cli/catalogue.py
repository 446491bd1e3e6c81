"""What a scheduler text can be made of, for people who do not want to guess."""

from __future__ import annotations

import inspect
from textwrap import fill
from typing import Any

from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import ALIASES, POLICIES
from schedlab.scheduler.scheduler import ALIASES as SCHEDULER_ALIASES

GRAMMAR = (
    "POLICY[+BACKFILL[:ORDER]][@RUNTIMES[/CORRECTION]][,starvation=SECONDS][,window=JOBS][,start_delay=SECONDS]"
    "[,reservations=fixed][,requests=METHOD][,exhausted=give-up|FACTOR][,speculation=SHARE]"
)

POLICY_TITLE = "Policies: the smallest score goes first; p run time, q processors, r submit time, w wait so far"
BACKFILLING = {
    "easy": "a job may overtake if it does not delay the reservation of the head of the queue (Lifka, JSSPP 1995)",
    "easy:ORDER": "the same, with its candidates tried in the order of another policy (Tsafrir et al., TPDS 2007)",
    "conservative": "every job has a reservation that no other may delay (Mu'alem & Feitelson, TPDS 2001)",
    "slurm(...)": "Slurm's main pass after events and its backfill pass now and then, with the options below",
}
MULTIFACTOR = {
    "age": "weight of the waiting time, in parts of max_age= (7d); a dependent job's begins at its release",
    "size": "weight of processors / machine; favor=large small; relative=yes: per minute of the request",
    "fairshare": "weight of having used little; half_life= (7d; 0: never fades), shares=tree classic",
    "partition": "weight of the factors partitions=1:0.5;2:1",
    "qos": "weight of the factors qoses=1:0.5;2:1, by the queue of the log",
    "period": "seconds between two computations of priorities (5min)",
    "accrue": "eligible, or always: a dependent job ages from its submission on",
}
SLURM = {
    "interval": "seconds between backfill passes (30); 0: one after every event",
    "depth": "jobs that a backfill pass looks at (500)",
    "resolution": "reservations are rounded down to multiples of so many seconds (60)",
    "window": "who cannot start within so many seconds gets no reservation (1d)",
    "reserve": "reservations of a pass at most (all)",
    "queue_depth": "jobs that a main pass looks at (100); once a minute it looks at all",
    "delay": "seconds between main passes at least (3)",
    "overtime": "seconds that a job may run beyond its request (0)",
    "node": "cores of a node, if jobs get whole nodes (0: they get cores)",
    "wf_depth": "workflows with one place in the queue of which a backfill pass looks at the tasks (50)",
    "wf_plan": "all: tasks that wait for others get reservations behind them; ready: they do not",
    "wf_count": "tasks: each counts for the depth; workflows: all of a workflow count once",
}
RUN_TIMES = {
    "requested": "the scheduler plans with what the users asked for; the default",
    "actual": "the scheduler knows every run time beforehand (clairvoyant)",
    "ave2": "the mean of the user's last two completed jobs (Tsafrir et al., TPDS 2007)",
    "ave(K)": "the mean of the user's last K completed jobs",
    "mean": "the mean of all completed jobs of the user",
    "median": "the median of the user's last 50 completed jobs",
    "similar": "the median of the user's last 5 jobs with the same request and processors; similar(0.3,jobs=20)",
    "quantile(P)": "a quantile of them, such as 0.9; quantile(0.9,jobs=20) for the last 20",
    "nag(...)": "regression learned on line: over=, under= square linear; weight= constant narrow wide small area; "
    "features= code paper; threshold= step= penalty= (Gaussier et al., SC 2015)",
    "e-loss": "nag(over=square,under=linear,weight=area), the loss that SC 2015 recommends",
    "MODULE:CLASS": "a class of your own, in a module of the current directory or an installed one",
}
CORRECTION = {
    "requested": "the requested time",
    "incremental": "the first prediction and 1 min, then 5, 15, 30 min, 1, 2, 5, 10, 20, 50, 100 h; the default",
    "doubling": "twice the last prediction",
}
OPTIONS = {
    "starvation": "a job that has waited so many seconds goes before all others (Carastan-Santos, thesis, 4.1.2.1)",
    "window": "the scheduler sees only so many waiting jobs, the first that were submitted",
    "start_delay": "seconds that each start takes the scheduler, with the event order of SC'17 only",
    "reservations": "fixed: those of conservative backfilling stand, in rounds, also when a job ends early (ICPP 2019)",
    "requests": "what jobs with a law of run times ask for, in turn: classic neuroscience(k=10) toptimal "
    "atoptimal(zeta=auto) given",
    "exhausted": "when all these requests have failed: give-up, or a factor for the next one; 1.5 by default",
    "speculation": "run such jobs in gaps of which more than this share (0 to 1) is expected to be of use",
}
EXAMPLES = (
    "fcfs",
    "fcfs+easy",
    "saf+easy:sjf@actual",
    "spf+conservative",
    "fcfs+easy:sjf@ave2/doubling",
    "fcfs+easy:sjf@nag(over=linear,features=paper)/incremental",
    "wfp3+easy,starvation=86400",
    '"log10(p)*q + 870*log10(r)"+easy',
    "multifactor(age=1000,size=100,fairshare=5000)+slurm(depth=100)",
)
PARTS = {
    "Arguments of multifactor": MULTIFACTOR,
    "Backfilling": BACKFILLING,
    "Arguments of slurm": SLURM,
    "Run times": RUN_TIMES,
    "Corrections, when a job outlives its prediction": CORRECTION,
    "Options": OPTIONS,
    "Whole schedulers": SCHEDULER_ALIASES,
}
WIDTH = 110


def catalogue() -> dict[str, Any]:
    """Return everything that a scheduler text may say, with formulas and sources."""
    return {
        "grammar": GRAMMAR,
        "policies": {
            name: {
                "formula": policy.formula,
                "meaning": " ".join((inspect.getdoc(policy) or "").split("\n\n")[0].split()),
                "aliases": [alias for alias, known in ALIASES.items() if known == name],
            }
            for name, policy in POLICIES.items()
        },
        "multifactor": {"formula": Multifactor.formula, "arguments": MULTIFACTOR},
        "backfilling": BACKFILLING,
        "slurm": SLURM,
        "run_times": RUN_TIMES,
        "corrections": CORRECTION,
        "aliases": SCHEDULER_ALIASES,
        "options": OPTIONS,
        "examples": EXAMPLES,
    }


def catalogue_text() -> str:
    """Return the same for a terminal."""
    rows = []
    for name, policy in catalogue()["policies"].items():
        also = f" Aliases: {', '.join(policy['aliases'])}." if policy["aliases"] else ""
        rows.append((name, policy["formula"], policy["meaning"] + also))
    rows.append(("multifactor(...)", "a weighted sum", "Slurm's priority, the largest first; arguments below."))
    rows.append(('"..."', "any formula of p q r w", "In double quotes, with + - * / ** and functions."))
    rows.append(("@FILE", "that of a policy file", "Such as learn fit and search write; @policy.json+easy."))
    name_width, formula_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [GRAMMAR, "", POLICY_TITLE]
    lines += [_entry(f"{name:<{name_width}}  {formula:<{formula_width}}", text) for name, formula, text in rows]
    for title, entries in PARTS.items():
        lines += ["", title, *(_entry(f"{name:<13}", meaning) for name, meaning in entries.items())]
    return "\n".join([*lines, "", "Examples", *(f"  {example}" for example in EXAMPLES)])


def _entry(name: str, meaning: str) -> str:
    return fill(meaning, WIDTH, initial_indent=f"  {name}  ", subsequent_indent=" " * (len(name) + 4))
