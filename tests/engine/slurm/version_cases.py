"""Sets of cases that were recorded on 22.05, asked of the model of another version, with what that one answered."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import test_cancelled_by_hand as cancelled
import test_hetjobs_by_hand as hetjobs
import test_limits_by_hand as limits
import test_machines_by_hand as machines
import test_moldable as moldable
import test_node_events_by_hand as node_events
import test_overtime_by_hand as overtime
import test_power_saving_on_slurm as power_saving
import test_preemption_by_hand as preemption
import test_requeues_by_hand as requeues
import test_reservations_by_hand as reservations
import test_rules_by_hand as rules
import test_slurm_by_hand as by_hand
import test_switches_by_hand as switches

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.scheduler.backfilling import Slurm

ROOT = Path(__file__).parents[3]
WITHIN = 4
"""Seconds: a tick or two of main loops, and the three by which a main pass may be put off."""


def following(scheduler, version):
    """Return a scheduler that follows a version of Slurm."""
    if not isinstance(scheduler.backfill, Slurm):
        return scheduler
    return replace(scheduler, backfill=replace(scheduler.backfill, version=version))


def text_following(text, version):
    """Return the text of a scheduler that follows a version of Slurm."""
    return following(Scheduler.parse(text), version).text


def starts_near(found, phases):
    """Return whether some phase shows these starts."""
    return any(np.abs(np.array(found) - np.array(starts)).max() <= WITHIN for starts in phases)


def nodes_of(case):
    """Return the machine of a case made by hand, as nodes of one core."""
    return Cluster.of_nodes([NodeGroup(tuple(f"n{number}" for number in range(case["nodes"])), cores=1)])


def _by_hand(case, version, _):
    text = text_following(case["scheduler"], version)
    return starts_near(by_hand.modelled(simulate, {**case, "scheduler": text}, cluster=nodes_of(case)), case["starts"])


def _rules(case, version, directory):
    return starts_near(rules.modelled(simulate, case, directory, version), case["starts"])


def _requeues(case, version, directory):
    asked = {**case, "scheduler": text_following(case["scheduler"], version)}
    found = requeues.runs_of(replay(requeues.prepared_of(asked, directory)))
    return preemption.agree(found, case["runs"], WITHIN)


def _preemption(case, version, directory):
    def scheduled(case, cluster):
        return following(preemption.scheduler_of(case, cluster), version)

    found = preemption.runs_of(case, directory, scheduled)
    return preemption.agree(found, case["runs"], max(WITHIN, case.get("within", 0)))


def _hetjobs(case, version, _):
    if any(isinstance(job, str) or isinstance((job[0] or [0])[0], str) for runs in case["runs"] for job in runs):
        return "not_modelled" in case  # sbatch refused some
    try:
        away = hetjobs.seconds_away(case, text_following(hetjobs.scheduler_of(case), version))
    except (InputError, pytest.fail.Exception):  # jobs keep each other waiting in one of both alone
        return False
    return bool(away <= case["within"])


def _cancelled(case, version, _):
    text = text_following(cancelled.scheduler_of(case), version)
    away = cancelled.late(case, cancelled.replayed(cancelled.workload(case), text, hetjobs.machine(case)))
    return away is not None and away <= WITHIN


def _limits(case, version, directory):
    return limits.starts_and_reasons_agree(case, text_following(limits.scheduler_of(case), version), directory)


def _machines(case, version, directory):
    return machines.starts_agree(case, f"fcfs+slurm(version={version})", directory)


def _moldable(case, version, _):
    return moldable.agrees(case, f"fcfs+slurm(version={version})", WITHIN)


def _node_events(case, version, _):
    return starts_near(node_events.starts_of(case, text_following(case["scheduler"], version)), case["starts"])


def _overtime(case, version, directory):
    late = overtime.seconds_late(case, directory, version)
    return bool(((late >= -WITHIN) & (late <= overtime.LATE)).all())


def _power_saving(case, version, _):
    return power_saving.agrees(case, version)


def _reservations(case, version, _):
    return reservations.agrees(case, f"fcfs+slurm(version={version})")


def _switches(case, version, directory):
    return switches.starts_and_nodes_agree(case, directory, version)


ASKED = {
    "slurm-by-hand.json": _by_hand,
    "slurm-rules.json": _rules,
    "slurm-requeues.json": _requeues,
    "slurm-preemption.json": _preemption,
    "slurm-hetjobs.json": _hetjobs,
    "slurm-cancelled.json": _cancelled,
    "slurm-limits.json": _limits,
    "slurm-machines.json": _machines,
    "slurm-moldable.json": _moldable,
    "slurm-node-events.json": _node_events,
    "slurm-overtime.json": _overtime,
    "slurm-power-saving.json": _power_saving,
    "slurm-reservations.json": _reservations,
    "slurm-switches.json": _switches,
}
"""By file: whether the model of a version answers a case as recorded in it, with a directory for its files."""

CASE = {
    (file, case["name"]): case
    for file in ASKED
    for case in json.loads((ROOT / "conformance" / file).read_text(encoding="utf-8"))
}


def agrees(answer, version, directory):
    """Return whether the model of a version answers a case as a real one of that version, or of another, did."""
    case = {name: value for name, value in CASE[answer["file"], answer["name"]].items() if name != "differs"}
    return ASKED[answer["file"]]({**case, **answer}, version, directory)
