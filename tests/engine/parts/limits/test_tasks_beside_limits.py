"""Reservations for tasks of workflows beside limits: a case by hand, for the engine and its reference."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.workload import Workload

TASK, PARENT = 1, 3


@pytest.mark.parametrize(("limit", "starts"), [(1, [0, 11, 100, 1, 15, 15]), (0, [0, 51, 100, 1, 1, 105])])
def test_a_task_whose_parent_starts_in_a_pass_has_a_reservation_in_it_if_limits_have_all_looked_at_anew(limit, starts):
    # Of three processors, one is in use until 100, when the head can start. In the pass at 1, the parent starts beside
    # it, for 10 s. The task could start at 11, before the head, on two processors: if it is looked at again in that
    # pass, as it is where the parent counts for the limit of its array, the job of 50 s cannot start beside it.
    tasks, array = [1, 2, 3, 1, 1, 1], ["", "", "", "A", "", "A"]
    resources = Resources.of(6, tasks=tasks, array=array, array_limit=[limit if one else 0 for one in array])
    run = [100, 4, 5, 10, 50, 60]
    columns = {"submit_time": [0, 1, 1, 1, 1, 1], "run_time": run, "requested_time": run, "requested_processors": tasks}
    flow = Workflow("flow", (Task("parent", 1, 10.0, 10.0, ()), Task("child", 2, 4.0, 4.0, (0,))))
    of_flow = np.array([-1, 0, -1, 0, -1, -1])
    workload = Workload.from_columns(columns, processors=3, resources=resources).replace(
        dependencies=Dependencies.from_pairs([TASK], [PARENT], jobs=6),
        workflows=WorkflowJobs(of_flow, np.zeros(6, dtype=np.int64), [Submission(flow, "aware", 1)]),
    )
    prepared = prepare(workload, "fcfs+easy", processors=3)
    for schedule in (simulate(workload, "fcfs+easy", processors=3), replay(prepared)):
        assert schedule.start_time.tolist() == starts
