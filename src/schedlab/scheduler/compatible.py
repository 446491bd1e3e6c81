"""Features that are incompatible in one simulation, and why: one table for schedulers, engine, campaigns, CLI and docs.

All combinations that are not in `TABLE` are allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from schedlab.errors import InputError
from schedlab.scheduler.agent import AgentPolicy
from schedlab.scheduler.backfilling import NoBackfill, Slurm
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.grammar import OPTIONS
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.own_pass import OwnPass

if TYPE_CHECKING:
    from schedlab.scheduler.scheduler import Scheduler


class Incompatible(NamedTuple):
    """Two incompatible features, and the reason.

    Features are written as in a scheduler text, with capitals for placeholders: `+slurm`, `:ORDER`,
    `speculation=SHARE`.
    """

    first: str
    second: str
    reason: str


NONE = "no backfilling"
PLANNED = "only EASY tries candidates in an order of their own; the others start or plan jobs in the order of the queue"
FIXED = "only conservative backfilling keeps a reservation for longer than one scheduling pass"
SC17 = (
    "the event order sc17 knows a policy, +easy, @actual, window=, start_delay= and in_order, and nothing else, as the "
    "simulator of SC'17; take the default order"
)
GAPS = "speculative runs use gaps before reservations; add +easy or +conservative"
DELAY = "the other event orders have whole seconds, and a start takes no time in them; add events=sc17"

SHARED = "their tasks stand in the queue while they wait for others, and could fill the window of those they wait for"

AGENT = "an agent decides by itself which jobs start before others; leave the backfilling out"

OWN = f"+{OwnPass.name}"
OWN_STARVATION = "the pass sees how long jobs wait, and may let them start first"
OWN_EVENTS = "a pass of one's own comes once for all that a second brings; take the default order"
OWN_SIZES = "it would have to choose among the alternatives of a job; let jobs be malleable, or have one size"
OWN_COMPONENTS = "it would have to start components together"
OWN_PREEMPTION = "it would have to say which runs give way; take +slurm, +easy or no backfilling"

WHOLE_NODES = (
    "on nodes, reservations hold whole nodes anyway; jobs that want a node to themselves ask for it (exclusive)"
)
ROUNDS = "in rounds, whom others have made room for could not start before the next one"
MOLDABLE = "jobs with alternatives"
ONE_SIZE = "it is for the one size of a job; drop the alternatives (replace(alternatives=None))"
AT_ONCE = "the alternatives or components of a job have to be known in the same event; take the default order"
LASTING = "the reservation of a job is for the alternative that ends first, which may be another one after each event"
BY_ALTERNATIVE = "an agent starts jobs, and has not learned to choose among their alternatives"
HETEROGENEOUS = "heterogeneous jobs"
TOGETHER = "reservations of components would have to be made and moved together; take +slurm or no backfilling"
CANCELLED = "jobs that are cancelled while they wait"
IN_A_SECOND = "jobs leave at the begin of a second, before all that ends and is submitted in it; take the default order"
AS_ONE = "a workflow with one place is one submission; let none of its tasks be cancelled (patience)"
CHECKPOINTS = "jobs that write checkpoints"
SHARE_LEFT = "how much of a gap a job would use that goes on from a checkpoint is not known; drop speculation="
NO_PLACE = "the components of a job would have to have their places in the queue together"
PREEMPTION_ELSEWHERE = "preemption without +slurm"
PREEMPTED = (
    "only Slurm's backfill pass makes room for components; take +slurm, or read each as one job (het_jobs='joined')"
)
SUSPENSION = "preemption that suspends"
SUSPENDED = (
    "components would stand still, and go on, one by one; let jobs be requeued or cancelled, or read each as one job "
    "(het_jobs='joined', as site imports do then)"
)
STANDING = (
    "the plan would promise cores of runs that stand still twice over; take +slurm, +easy or no backfilling, or let "
    "them be requeued"
)
CAPS = "MaxCPUsPerNode of a partition"
CAPS_OF_ALL = "MaxCPUsPerNode by the rule of Slurm 24.11"
COUNTED = (
    "it counts the cores of jobs of all partitions, and whether those that stand still, or will, count was not seen on "
    "a real one; take another version, or let jobs be requeued"
)
NO_STARVATION = "Slurm has no such option; let priority grow with age (multifactor(age=WEIGHT,max_age=TIME))"
NO_WINDOW = "options of Slurm limit at how many jobs its passes look; take queue_depth= and depth= of +slurm(...)"
NO_SPECULATION = "Slurm starts no job that its request does not fit; add +easy or +conservative"
BETWEEN_ENDS = (
    "between two ends of one second, gaps would be seen that are none; take the default order, as the simulator of "
    "speculative requests"
)
ONCE = "Slurm looks at its queue once for all that a second brings, not after each event; take the default order"
MALLEABLE = "malleable jobs"
WHICH_NODES = "it would have to be said which nodes a job gets and gives up; give a number of processors"
WHAT_IS_LEARNED = "run times of jobs that were resized would be learned; take requested or @actual"
USE = "the use of a job is counted by its last size; take another policy"
ONE_ORDER = "the order of the queue sees jobs with their own sizes; take the same run times for both"
IN_PYTHON = "compiled passes cannot resize jobs; take the same pass in Python (compiled = False)"
COMPILED = "a compiled pass"
USED = "a policy in Python that asks what users have used"
CLOSURES = "maintenance or advance reservations"
LEARNED = "reservations by learned run times"
BY_REQUEST = (
    "a job may start before a closure only if its request ends by then, as Slurm looks at the limit; let the "
    "prediction order the queue alone (POLICY@PREDICTOR+BACKFILLING@requested)"
)
NO_PRIORITY = "a policy without priorities"
FUNCTION_OF_TIME = "a policy in Python that changes with time"
UNRANKED = "priorities are those of multifactor; limit the reservations with reserve= or reserve_age="
EARLY = "a job may start there before the ends that make room for it are handled; take the default order"

TABLE: tuple[Incompatible, ...] = (
    *(Incompatible(":ORDER", backfill, PLANNED) for backfill in (NONE, "+conservative", "+slurm", "+malleable")),
    Incompatible(":ORDER", ":multifactor", "multifactor orders the queue, not the candidates of a scheduling pass"),
    *(Incompatible("reservations=fixed", backfill, FIXED) for backfill in (NONE, "+easy", "+slurm", OWN)),
    *(Incompatible("speculation=SHARE", backfill, GAPS) for backfill in (NONE, OWN)),
    *(Incompatible("start_delay=SECONDS", f"events={events}", DELAY) for events in ("batched", "pyss")),
    *(Incompatible("@agent:FILE", backfill, AGENT) for backfill in ("+easy", "+conservative", "+slurm", OWN)),
    *(Incompatible("nodes", f"{option}=CORES", WHOLE_NODES) for option in ("shared", "node")),
    *(Incompatible("nodes", f"events={events}", EARLY) for events in ("pyss", "sc17")),
    Incompatible("reserve_priority=PRIORITY", NO_PRIORITY, UNRANKED),
    Incompatible("+slurm", "events=pyss", ONCE),
    Incompatible("+slurm", "starvation=SECONDS", NO_STARVATION),
    Incompatible("+slurm", "window=JOBS", NO_WINDOW),
    Incompatible("+slurm", "speculation=SHARE", NO_SPECULATION),
    Incompatible("speculation=SHARE", "events=pyss", BETWEEN_ENDS),
    Incompatible(OWN, "starvation=SECONDS", OWN_STARVATION),
    Incompatible(OWN, "events=pyss", OWN_EVENTS),
    Incompatible(OWN, MOLDABLE, OWN_SIZES),
    Incompatible(OWN, HETEROGENEOUS, OWN_COMPONENTS),
    Incompatible(MALLEABLE, COMPILED, IN_PYTHON),
    Incompatible(MALLEABLE, "nodes", WHICH_NODES),
    Incompatible(MALLEABLE, "@PREDICTOR", WHAT_IS_LEARNED),
    Incompatible(MALLEABLE, "POLICY@RUNTIMES+BACKFILL", ONE_ORDER),
    *(Incompatible(MALLEABLE, policy, USE) for policy in ("multifactor", USED)),
    Incompatible(MALLEABLE, "workflows with one place", ONE_SIZE),
    Incompatible(MALLEABLE, CHECKPOINTS, ONE_SIZE),
    Incompatible(OWN, "preemption", OWN_PREEMPTION),
    Incompatible(CLOSURES, LEARNED, BY_REQUEST),
    Incompatible("preemption", "reservations=fixed", ROUNDS),
    Incompatible("preemption", "@agent:FILE", AGENT),
    Incompatible("window=JOBS", "workflows with one place", SHARED),
    Incompatible(SUSPENSION, "+conservative", STANDING),
    Incompatible(SUSPENSION, CAPS_OF_ALL, COUNTED),
    *(Incompatible(MOLDABLE, f"events={events}", AT_ONCE) for events in ("pyss", "sc17")),
    Incompatible(MOLDABLE, "reservations=fixed", LASTING),
    Incompatible(MOLDABLE, "speculation=SHARE", ONE_SIZE),
    Incompatible(MOLDABLE, "workflows with one place", ONE_SIZE),
    Incompatible(MOLDABLE, "@agent:FILE", BY_ALTERNATIVE),
    *(Incompatible(HETEROGENEOUS, backfill, TOGETHER) for backfill in ("+easy", "+conservative")),
    *(Incompatible(HETEROGENEOUS, f"events={events}", AT_ONCE) for events in ("pyss", "sc17")),
    *(Incompatible(HETEROGENEOUS, other, NO_PLACE) for other in ("window=JOBS", "workflows with one place")),
    Incompatible(HETEROGENEOUS, PREEMPTION_ELSEWHERE, PREEMPTED),
    Incompatible(HETEROGENEOUS, SUSPENSION, SUSPENDED),
    Incompatible(HETEROGENEOUS, MOLDABLE, ONE_SIZE),
    *(Incompatible(CANCELLED, f"events={events}", IN_A_SECOND) for events in ("pyss", "sc17")),
    Incompatible(CANCELLED, MOLDABLE, ONE_SIZE),
    Incompatible(CANCELLED, "workflows with one place", AS_ONE),
    Incompatible(CHECKPOINTS, MOLDABLE, ONE_SIZE),
    Incompatible(CHECKPOINTS, "speculation=SHARE", SHARE_LEFT),
    Incompatible(CHECKPOINTS, "events=sc17", SC17),
    *(
        Incompatible("events=sc17", other, SC17)
        for other in (
            "+conservative",
            "+slurm",
            OWN,
            ":ORDER",
            "@agent:FILE",
            "multifactor",
            FUNCTION_OF_TIME,
            "POLICY@RUNTIMES+BACKFILL",
            "@PREDICTOR",
            "starvation=SECONDS",
            "requests=METHOD",
            "speculation=SHARE",
            "dependencies",
        )
    ),
)
"""All pairs of features that are refused. What one part refuses by itself, such as nodes that sleep, stands with it."""


OF_SIMULATIONS: Mapping[str, tuple[str, str]] = {
    "dependencies": ("dependencies", "jobs that wait for others"),
    "shared_places": ("workflows with one place", "workflows whose tasks share one place in the queue"),
    "nodes": ("nodes", "a cluster of nodes"),
    "preemption": ("preemption", "a cluster on which jobs preempt others"),
    "suspension": (SUSPENSION, SUSPENSION),
    "caps": (CAPS, CAPS),
    "moldable": (MOLDABLE, MOLDABLE),
    "malleable": (MALLEABLE, MALLEABLE),
    "heterogeneous": (HETEROGENEOUS, "a workload with heterogeneous jobs"),
    "cancelled": (CANCELLED, CANCELLED),
    "closures": (CLOSURES, CLOSURES),
    "checkpoints": (CHECKPOINTS, CHECKPOINTS),
}
"""What simulations may have, whatever their scheduler: its name in the table, and what a sentence calls it.

`closures` are those of nodes that are known ahead, by maintenance or advance reservations.
"""


def refusal(scheduler: Scheduler, *, events: str = "batched", in_order: int = 0, **simulation: bool) -> str | None:
    """Return why a scheduler cannot run in a simulation, in one sentence, or None if it can.

    Parameters
    ----------
    scheduler
        The scheduler.
    events
        Event order of the simulation.
    in_order
        Warm-up jobs, started first come, first served.
    simulation
        Whether the simulation has what `OF_SIMULATIONS` names.

    Examples
    --------
    >>> from schedlab.scheduler import Scheduler
    >>> refusal(Scheduler.parse("saf+conservative,window=10"), events="pyss", in_order=16, dependencies=True)
    >>> print(refusal(Scheduler.parse("saf+conservative"), events="sc17"))
    saf+conservative: events=sc17 does not go with +conservative: the event order sc17 knows a policy, ...
    """
    features = {**features_of(scheduler), f"events={events}": f"events={events}"}
    if in_order:
        features["in_order"] = f"in_order={in_order}"
    features |= dict(OF_SIMULATIONS[name] for name, there in simulation.items() if there)
    if "preemption" in features and not isinstance(scheduler.backfill, Slurm):
        features[PREEMPTION_ELSEWHERE] = PREEMPTION_ELSEWHERE
    if CAPS in features and isinstance(scheduler.backfill, Slurm) and scheduler.backfill.follows("caps_count_all"):
        features[CAPS_OF_ALL] = CAPS_OF_ALL
    if CLOSURES in features and scheduler.runtimes.learns:
        features[LEARNED] = f"@{scheduler.runtimes.text}, {LEARNED}"
    sentence = clash(features)
    return None if sentence is None else f"{scheduler.text}: {sentence}"


def check(scheduler: Scheduler, **simulation: Any) -> None:
    """Raise InputError if a scheduler cannot run in a simulation; parameters as for `refusal`."""
    if sentence := refusal(scheduler, **simulation):
        raise InputError(sentence)


def clash(features: Mapping[str, str]) -> str | None:
    """Return a sentence about the first incompatible pair among some features, or None.

    Parameters
    ----------
    features
        The present form of each feature, by its name in the table.
    """
    for first, second, reason in TABLE:
        if first in features and second in features:
            return f"{features[first]} does not go with {features[second]}: {reason}"
    return None


def features_of(scheduler: Scheduler) -> dict[str, str]:
    """Return the features of the table that a scheduler has, with their forms in its text."""
    backfill, order = scheduler.backfill, scheduler.order
    written = backfill.text if isinstance(backfill, OwnPass) else backfill.text.partition(":")[0]
    found = {NONE: NONE} if isinstance(backfill, NoBackfill) else {f"+{backfill.name}": f"+{written}"}
    if isinstance(backfill, Slurm):
        cores = {"shared": backfill.shared, "node": backfill.node}
        if backfill.reserve_priority:
            found["reserve_priority=PRIORITY"] = f"reserve_priority={backfill.reserve_priority}"
        found |= {f"{name}=CORES": f"{name}={count}" for name, count in cores.items() if count}
    if isinstance(backfill, OwnPass) and getattr(backfill.decider, "compiled", False):
        found[COMPILED] = f"+{backfill.text}, {COMPILED}"
    if isinstance(scheduler.policy, FunctionPolicy) and scheduler.policy.knows_runs:
        found[USED] = f"{scheduler.policy.text}, {USED}"
    if order is not None:
        found[":ORDER"] = f":{order.text}"
    if isinstance(order, Multifactor):
        found[":multifactor"] = "an order of candidates"
    if isinstance(scheduler.policy, AgentPolicy):
        found["@agent:FILE"] = scheduler.policy.text
    if isinstance(scheduler.policy, Multifactor):
        found["multifactor"] = scheduler.policy.text
    else:
        found[NO_PRIORITY] = scheduler.policy.text
    if isinstance(scheduler.policy, FunctionPolicy) and scheduler.policy.changes_with_time:
        found[FUNCTION_OF_TIME] = f"{scheduler.policy.text}, {FUNCTION_OF_TIME}"
    if scheduler.order_runtimes is not None:
        found["POLICY@RUNTIMES+BACKFILL"] = f"run times of its own for the order (@{scheduler.order_runtimes.text})"
    if scheduler.runtimes.learns:
        found["@PREDICTOR"] = f"@{scheduler.runtimes.text}"
    return found | {f"{name}={OPTIONS[name].value}": f"{name}={value}" for name, value in scheduler.options.items()}
