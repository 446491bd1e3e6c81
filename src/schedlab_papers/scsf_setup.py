"""ScSF's experiments as campaigns: the machine, its stand-in model, the workflows, and the three sets.

References
----------
Rodrigo, Elmroth, Ostberg and Ramakrishnan, "ScSF: A scheduling simulation framework", JSSPP 2017, and the configuration
in its repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from schedlab import Campaign, InputError, Workload, read_workload
from schedlab.durations import DAY
from schedlab.files import make_directory
from schedlab.model import EDISON_CORES_PER_NODE, EDISON_LIMITS, EDISON_PROCESSORS, WorkloadModel, fit_model
from schedlab.types import ExperimentEntry
from schedlab.workflow import Task, Workflow, read_workflow, write_workflow

LOG = "CEA-Curie-2011-2.1-cln.swf.gz"
"""What the stand-in for Edison's model is fitted to: the largest machine of its time with a public log."""

SCHEDULER = (
    "multifactor(age=50000000,size=600000000,favor=small,relative=yes)"
    f"+slurm(depth=50,node={EDISON_CORES_PER_NODE},overtime=60,version=22.05)"
)
"""The study's slurm.conf, by the oldest rules of Slurm that are known.

Its workflow-aware plug-in plans 50 workflows, which is the default of `wf_depth`.
"""

SUBMISSIONS = ("pilot", "chained", "aware")
"""How each workflow is submitted."""

HOUR, MINUTE = 3_600, 60
SETS = (0, 1, 2)
REPETITIONS = 6
DAYS = 7.0

PERIODS = (12 * HOUR, 6 * HOUR, HOUR, HOUR // 2, HOUR // 6)
"""Of set 1; the paper's first presence is none at all."""

SHARES = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 1.0)
"""Of set 2."""

SHARE_OF_SET_0, LONGEST_PERIOD = 0.10, 12 * HOUR
"""The paper does not give the periods of set 0. Here: so that the workflow does a tenth of the useful work, but at
least one each half day."""

MANIFESTS = ("montage", "sipht", "cybershake", "floodplain")
"""Those of the six workflows of sets 1 and 2 that were made of recorded ones."""

EXPERIMENTS = MappingProxyType({0: 324, 1: 648, 2: 756})
"""Of the paper; in set 1, 108 without workflows are the same six workloads, which are simulated once here."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a reproduction is run with.

    Parameters
    ----------
    directory
        Where run directories are made.
    model
        File of the stand-in model.
    workflows
        Files of those workflows that are there, by name.
    runs
        Repetitions of each experiment.
    days
        Length of the part that counts.
    """

    directory: Path
    model: Path
    workflows: Mapping[str, Path]
    runs: int
    days: float


def synthetic_workflows() -> dict[str, Workflow]:
    """Return the twenty workflows that were written by hand, without the slips of three of the published files.

    Examples
    --------
    >>> made = synthetic_workflows()
    >>> len(made), made["runtime64job"].length, made["waittimeratio128"].peak_processors
    (20, 224000.0, 15360)
    """
    wide, long = ("wide", 480, 3_540, 3_600), ("long", 48, 14_340, 14_400)
    made = [_chain("synthWideLong", wide, long), _chain("synthLongWide", long, wide)]
    for tasks in (1, 2, 4, 8, 16, 32, 64):
        made.append(_chain(f"runtime{tasks}job", *((f"S{number}", 240, 3_500, 3_600) for number in range(tasks))))
    for ratio in (4, 8, 16, 32, 64, 128):
        made.append(_chain(f"waittimeratio{ratio}", ("S0", 240, 3_500, 3_600), ("S1", 120 * ratio, 3_500, 3_600)))
    for ratio in (8, 16, 32, 64, 128):
        limit = 1_800 * (ratio - 2)
        made.append(
            _chain(f"waittimeratioSquare{ratio}", ("S0", 240, 3_500, 3_600), ("S1", 120 * ratio, limit - 100, limit))
        )
    return {workflow.name: workflow for workflow in made}


def _chain(name: str, *tasks: tuple[str, int, float, float]) -> Workflow:
    """Return a workflow of tasks one after the other: id, processors, run time, requested time."""
    return Workflow(name, tuple(Task(*task, parents=(place - 1,) if place else ()) for place, task in enumerate(tasks)))


def log_of(traces: Path) -> Workload:
    """Return the log that the stand-in is fitted to.

    Raises
    ------
    InputError
        If it is not there.
    """
    log = traces / LOG
    if not log.is_file():
        raise InputError(f"{log} is missing: Edison's own model is not public, and this log stands in for it")
    return read_workload(log)


def stand_in(traces: Path) -> WorkloadModel:
    """Return a model for a machine of Edison's size, fitted to another machine's log, with Edison's limits of jobs.

    Raises
    ------
    InputError
        If the log is not there.
    """
    scaled = fit_model(log_of(traces)).scaled_to(EDISON_PROCESSORS, EDISON_CORES_PER_NODE)
    return replace(scaled, name="stand-in for Edison", limits=EDISON_LIMITS)


def prepare(traces: Path, workflows: Path | None, directory: Path, runs: int, days: float) -> Setting:
    """Write the model and the workflows that the campaigns need.

    The same arguments give the same bytes, so that what an earlier run has simulated with them counts.

    Parameters
    ----------
    traces
        Directory with the log that the stand-in is fitted to.
    workflows
        Directory with ScSF's manifests; by default, one beside the traces. Without it, four of the six workflows of
        sets 1 and 2 are left out.
    directory, runs, days
        See `Setting`.

    Raises
    ------
    InputError
        If the log or a directory that is named is not there.
    """
    if workflows is not None and not workflows.is_dir():
        raise InputError(f"{workflows} does not exist: name the directory with ScSF's manifests (--workflows)")
    inputs = directory / "scsf-inputs"
    make_directory(inputs)
    model = inputs / "edison-stand-in.json"
    stand_in(traces).save(model)
    found = synthetic_workflows()
    place = workflows or traces.parent / "workflows" / "scsf-manifests"
    for name in MANIFESTS:
        if (file := place / f"{name}.json").is_file():
            found[name] = read_workflow(file)
    files = {}
    for name, workflow in found.items():
        files[name] = inputs / f"{name}.json"
        write_workflow(workflow, files[name], format="manifest")
    return Setting(directory, model.absolute(), {name: file.absolute() for name, file in files.items()}, runs, days)


def campaign_of(number: int, setting: Setting) -> Campaign:
    """Return a set of experiments as a campaign."""
    makers = {0: _set_0, 1: _set_1, 2: _set_2}
    return Campaign(
        name=f"scsf-set-{number}",
        description=f"ScSF (JSSPP 2017), set {number}: workflows as pilot jobs, chained jobs, and workflow-aware",
        repetitions=setting.runs,
        workloads=tuple(makers[number](setting)),
        schedulers=(SCHEDULER,),
    )


def workflows_of(number: int) -> tuple[str, ...]:
    """Return the names of a set's workflows."""
    pair = ("synthWideLong", "synthLongWide")
    return tuple(name for name in synthetic_workflows() if name not in pair) if number == 0 else (*MANIFESTS, *pair)


def period_of_set_0(workflow: Workflow) -> int:
    """Return the seconds from one workflow of set 0 to the next: whole minutes, see `SHARE_OF_SET_0`.

    Examples
    --------
    >>> made = synthetic_workflows()
    >>> [period_of_set_0(made[name]) for name in ("runtime1job", "runtime64job", "waittimeratioSquare128")]
    [60, 4020, 43200]
    """
    share = workflow.work / (SHARE_OF_SET_0 * EDISON_PROCESSORS)
    return int(min(max(round(share / MINUTE), 1) * MINUTE, LONGEST_PERIOD))


def _set_0(setting: Setting) -> Iterator[ExperimentEntry]:
    for name in workflows_of(0):
        workflow = read_workflow(setting.workflows[name])
        yield _entry(setting, name, workflow_policy="period", period=(period_of_set_0(workflow),))


def _set_1(setting: Setting) -> Iterator[ExperimentEntry]:
    yield _entry(setting, "", name="no workflows")
    for name in workflows_of(1):
        if name in setting.workflows:
            yield _entry(setting, name, workflow_policy="period", period=PERIODS)


def _set_2(setting: Setting) -> Iterator[ExperimentEntry]:
    for name in workflows_of(2):
        if name in setting.workflows:
            yield _entry(setting, name, workflow_policy="share", share=SHARES)


def _entry(setting: Setting, workflow: str, **fields: object) -> ExperimentEntry:
    """Return an entry with what all experiments share: four hours of induced wait, a day of preload, pressure 1."""
    if workflow:
        fields |= {"workflows": str(setting.workflows[workflow]), "name": workflow, "submission_mode": SUBMISSIONS}
    common = {"generate": "experiment", "model": str(setting.model), "duration": setting.days * DAY}
    return ExperimentEntry.model_validate(common | fields)
