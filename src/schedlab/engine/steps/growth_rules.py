"""How each field of the state is taken over when jobs are added: one entry per field, or this module does not import.

What a state is, is the tree of named tuples below `schedlab.engine.world.World`. Copies and files walk all of it
(`schedlab.engine.steps.copies`); only growth needs to know what an array is about, and that stands here.
"""

from __future__ import annotations

from typing import Any

from schedlab.engine.jobs.calendar import Calendar
from schedlab.engine.jobs.state import State
from schedlab.engine.machine.consecutive import Neighbours
from schedlab.engine.machine.core_caps import Caps
from schedlab.engine.machine.other_ways import Ways
from schedlab.engine.machine.profile import Profile
from schedlab.engine.machine.state import Machine, Nodes, View
from schedlab.engine.machine.switches import Topology
from schedlab.engine.machine.timeline_state import Timeline
from schedlab.engine.parts.dependencies.kernels import Needs
from schedlab.engine.parts.forecasts.groups import Groups
from schedlab.engine.parts.forecasts.history import History
from schedlab.engine.parts.forecasts.kernels import Forecast, Forecasts
from schedlab.engine.parts.forecasts.learners import Learner
from schedlab.engine.parts.forecasts.regression import Regression
from schedlab.engine.parts.heterogeneous.kernels import HetJobs
from schedlab.engine.parts.limits.state import Site
from schedlab.engine.parts.limits.tres import Billing
from schedlab.engine.parts.moldable.kernels import Rivals
from schedlab.engine.parts.outages.kernels import Outages
from schedlab.engine.parts.preemption.state import Preemption
from schedlab.engine.parts.priority.kernels import Priority
from schedlab.engine.parts.priority.shares import Shares
from schedlab.engine.parts.requeues.kernels import Returns
from schedlab.engine.parts.reservations.kernels import Bookings
from schedlab.engine.parts.retries.kernels import Retries
from schedlab.engine.parts.submission_limits.state import Gate
from schedlab.engine.parts.switch_waits.kernels import Wishes
from schedlab.engine.passes.plan import Plan
from schedlab.engine.queue.orders import Expected, Order, Program
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.engine.queue.tree import Gaps, QueueTree
from schedlab.engine.queue.waiting import Orders, Waiting
from schedlab.engine.rules import Rules
from schedlab.engine.slurm.state import Depths, Passes
from schedlab.engine.world import World
from schedlab.speculate.requests import DistributionTables

JOBS = "jobs"  # one entry per job
ENTERED = "entered"  # one entry per job; for those not yet submitted, it follows from their numbers
USERS = "users"  # one entry per user
SHARES = "shares"  # one entry per association
START = "start"  # to the beginning of the new array
PART = "part"  # a tuple of its own
FRESH = "fresh"  # follows from the jobs alone
SCRATCH = "scratch"  # whoever reads it has written it in the same second
HAND = "hand"  # by a function of the part, see `schedlab.engine.steps.growth`


def _rules(kind: type[Any], **names: str) -> tuple[type[Any], dict[str, str]]:
    """Return a kind of tuple with the rule of each of its fields; `names` has the fields of each rule."""
    found = {name: rule for rule, together in names.items() for name in together.split()}
    fields = sum(len(together.split()) for together in names.values())
    if set(found) != set(kind._fields) or fields != len(found):
        forgotten = sorted(set(kind._fields) ^ set(found)) or "a field twice"
        raise TypeError(f"{kind.__name__}: each field has one rule of growth, see growth_rules.py: {forgotten}")
    return kind, found


RULES: dict[type[Any], dict[str, str]] = dict(
    [
        _rules(
            World,
            jobs="jobs seen",
            part="state orders plan forecasts retries needs priority",
            hand="waiting nodes site rivals hets preemption returns gate outages",
            fresh="rules wishes",
        ),
        _rules(
            State,
            start="clock begun",
            jobs="start noticed backfilled planned request",
            entered="entered",
            part="running completions alarms",
            scratch="ended entering",
        ),
        _rules(Calendar, start="records order counts status"),
        _rules(Waiting, hand="queue candidates ages beyond"),
        _rules(QueueTree, hand="rank_of score entered entries nodes short_list status gaps"),
        _rules(Gaps, hand="counts low_score low_entry gathered"),
        _rules(QueueList, start="order length", scratch="spare", fresh="score entered tier"),
        _rules(Orders, part="policy candidates"),
        _rules(Order, jobs="score request", fresh="kind program"),
        _rules(Program, fresh="codes constants origin", scratch="stack columns one", part="expected"),
        _rules(Expected, jobs="table", scratch="gathered"),
        _rules(Plan, start="counters", jobs="listed reserved length stamp until corrections", part="profile list"),
        _rules(Profile, start="begin free length"),
        _rules(
            Passes,
            start="counters steps",
            jobs="planned_end planned_in begins",
            part="profile",
            fresh="planning starting reserving",
            scratch="turn",
        ),
        _rules(Depths, fresh="most group", scratch="looked_at looked_in"),
        _rules(Forecasts, part="reservations order", fresh="pilot"),
        _rules(
            Forecast,
            start="kind parameters",
            jobs="request first corrections",
            part="history learner",
            hand="groups",
            scratch="scratch",
        ),
        _rules(
            History,
            jobs="earlier later",
            users="oldest newest completed run_time processors last_end recent_run_times recent_submits "
            "recent_requests recent_processors",
            fresh="user",
        ),
        _rules(Groups, hand="group weight total bins table", fresh="parameters", scratch="scratch"),
        _rules(Learner, part="weights", fresh="estimate train"),
        _rules(
            Regression,
            start="choice constants counters weights scales gradients past other",
            jobs="inputs",
            scratch="basis",
        ),
        _rules(
            Retries,
            start="counters latest seen runs assumed",
            jobs="work place asked known run first back asks seen_request",
            fresh="offsets requests most growth distribution application history distributions pilot",
        ),
        _rules(DistributionTables, fresh=" ".join(DistributionTables._fields)),
        _rules(
            Needs,
            start="counters",
            part="held",
            jobs="open earliest ended ready eligible",
            fresh="child_offsets children delay parent_offsets parents parent_delay workflow",
        ),
        _rules(
            Priority,
            start="last",
            part="shares",
            fresh="age fairshare max_age period decay ends size relative small processors nodes whole partition qos "
            "tres association billing",
        ),
        _rules(
            Shares,
            fresh="fair_tree dampening users parent shares user among first order",
            shares="usage recent factor",
            scratch="level part place tied",
        ),
        _rules(Billing, fresh=" ".join(Billing._fields)),
        _rules(Rules, fresh=" ".join(Rules._fields)),
        # Parts with numbers of their own for nodes, requests, limits and components.
        _rules(View, hand="free devices left"),
        _rules(
            Machine,
            hand="shape",
            fresh="nodes device_type requests options allowed rule total largest typical caps",
        ),
        _rules(Caps, fresh="of_request most"),
        _rules(
            Nodes,
            hand="machine counters now later both memory freed notes head_room run offsets places ahead",
            scratch="harm",
            fresh="topology neighbours ways named",
        ),
        _rules(
            Timeline,
            hand="counters cohorts cohort order place spans devices held reserved left",
            fresh="by_kind kinds gpus offsets",
            scratch="touched together",
        ),
        _rules(
            Outages,
            hand="counters closed out broken gone failing",
            fresh="second node kind gpu offsets begin end known owner bookings",
            scratch="asked serves",
        ),
        _rules(Bookings, fresh="of_job opens closes shape ordinary_partition ordinary_shape"),
        _rules(Topology, fresh="leaf weight parent depth usable", scratch="room hops rank"),
        _rules(Neighbours, fresh="follows weight place", scratch="sets"),
        _rules(Wishes, fresh="wait bound free"),
        _rules(Ways, fresh="way busy_first", scratch="ahead"),
        _rules(
            Site,
            fresh="counters tier options member shares limit timed stops use_offset use_limit use_amount reason",
            hand="partition since used waited",
            scratch="blocked narrowed closed turn behind head shadow others",
        ),
        _rules(
            Preemption,
            hand="counters fate ending there over suspended since stood latest pauses",
            fresh="may cancels suspends grace exempt rank of_option",
            scratch="who use chosen lenders used",
        ),
        _rules(Returns, hand="counters held due"),
        _rules(
            Gate,
            hand="counters used leads following refused accepted exceeds",
            fresh="limit use_offset use_limit use_amount reason batch",
        ),
        _rules(
            HetJobs,
            hand="counters entered waits away",
            fresh="first end",
            scratch="planned_in latest startable planned marked lined_up own_score own_tier turn",
        ),
        _rules(Rivals, hand="waits hidden", fresh="first end", scratch="counters tried"),
    ]
)
