"""Experiments as ScSF defines them: a workload with a fill phase, under pressure, with workflows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.generate.fill import lead_of
from schedlab.generate.patterns import SHARES_TOLERANCE, Choice, OneWorkflow, Pattern
from schedlab.generate.special import special_pattern
from schedlab.generate.triggers import Trigger
from schedlab.workflow.workflow import Workflow
from schedlab.workload.sections import Sections
from schedlab.workload.submissions import SUBMISSION_MODES, SubmissionMode
from schedlab.workload.submitting import job_template

if TYPE_CHECKING:
    from schedlab.model.model import WorkloadModel

DAY = 86_400

START_TIME = 1_420_070_400
"""Unix time of ScSF's start date, the beginning of 2015 in UTC."""

POLICIES = ("none", "period", "share")

LARGEST_PRESSURE = 100
"""No study comes near it, and how many jobs there are grows with the pressure."""


@explained
@dataclass(frozen=True, slots=True)
class Experiment:
    """What is to be generated; `schedlab.generate.generation.generate_experiment` does it.

    Parameters
    ----------
    model
        What the ordinary jobs are, and the machine.
    workflows
        Kinds of workflows, each with its share of the submissions; the shares add up to 1.
    workflow_policy
        How workflows come: "none"; "period", one every `period` seconds after the start; "share", whenever their share
        of the useful core-seconds is not above `share`; or a special string, which replaces all other jobs, see
        `schedlab.generate.special.special_pattern`.
    period
        Seconds.
    share
        From 0 to 1.
    submission_mode
        How a workflow becomes jobs: "pilot", "chained" or "aware".
    fill_wait
        Seconds that jobs are to wait because of the fill phase; 0: none.
    preload
        Seconds from the begin, when the machine has been filled, to the start, from which on jobs count.
    duration
        Seconds from the start to the end, after which no job is submitted.
    drain
        Seconds after the end until what is unfinished counts as such.
    pressure
        Submitted work per work that the machine can do, to be kept from this value to 1.1 times it; 0: whatever the
        model brings. At most `LARGEST_PRESSURE`.
    counted
        Which work of a pilot job makes pressure: what it has "reserved", or only what is "useful" in it. With the
        latter, ordinary jobs and workflows are the same for all modes. ScSF's rules always count the useful one.
    rules
        "corrected", or "scsf": those of the program ScSF.
    extra
        Further submissions: triggers, on a clock that is 0 at the begin, and patterns.
    start_time
        Unix time of the start; matters for models with a cycle.

    Raises
    ------
    InputError
        If something is unknown, negative, or does not go together; if shares do not add up; or if a workflow is wider
        than the machine.

    Examples
    --------
    >>> from schedlab.model.edison import EDISON_TOY
    >>> Experiment(EDISON_TOY, fill_wait=4 * 3600).sections
    Sections(begin=14520, start=187320, end=792120, cutoff=813720)
    """

    model: WorkloadModel
    workflows: tuple[tuple[Workflow, float], ...] = ()
    workflow_policy: str = "none"
    period: int = 0
    share: float = 0.0
    submission_mode: SubmissionMode = "aware"
    fill_wait: int = 0
    preload: int = 2 * DAY
    duration: int = 7 * DAY
    drain: int = 6 * 3600
    pressure: float = 1.0
    counted: Literal["reserved", "useful"] = "reserved"
    rules: Literal["corrected", "scsf"] = "corrected"
    extra: tuple[tuple[Trigger, Pattern], ...] = ()
    start_time: int = START_TIME

    def __post_init__(self) -> None:
        known = {"submission_mode": SUBMISSION_MODES, "counted": ("reserved", "useful"), "rules": ("corrected", "scsf")}
        for field, values in known.items():
            if (value := getattr(self, field)) not in values:
                raise InputError(f"unknown {field} {value!r} of an experiment; known are {', '.join(values)}")
        for field in ("fill_wait", "preload", "drain"):
            if getattr(self, field) < 0:
                raise InputError(f"the {field} of an experiment must be 0 s or more, not {getattr(self, field)} s")
        if self.duration < 1:
            raise InputError(f"the duration of an experiment must be 1 s or more, not {self.duration} s")
        if not 0 <= self.pressure <= LARGEST_PRESSURE:
            raise InputError(f"the pressure must be from 0 to {LARGEST_PRESSURE}, not {self.pressure:g}")
        self._check_policy()
        self._check_workflows()

    def _check_policy(self) -> None:
        """Refuse a policy that is unknown or lacks its number."""
        if self.is_special:
            special_pattern(self.workflow_policy)
        elif self.workflow_policy not in POLICIES:
            raise InputError(
                f"unknown workflow policy {self.workflow_policy!r}; known are {', '.join(POLICIES)}, and patterns "
                "sp-sat-... and sp-bf-..."
            )
        if self.workflow_policy == "period" and self.period < 1:
            raise InputError(f"workflow policy period: the period must be 1 s or more, not {self.period} s")
        if self.workflow_policy == "share" and not 0 < self.share <= 1:
            raise InputError(f"workflow policy share: the share must be above 0 and at most 1, not {self.share}")

    def _check_workflows(self) -> None:
        """Refuse workflows that the policy or the machine cannot take, and a policy without workflows."""
        if bool(self.workflows) != (self.workflow_policy in ("period", "share")):
            what = "needs workflows" if not self.workflows else "has no place for workflows"
            raise InputError(f"the workflow policy {self.workflow_policy} {what}; workflows go with period and share")
        shares = [share for _, share in self.workflows]
        if shares and abs(sum(shares) - 1) > SHARES_TOLERANCE:
            raise InputError(f"the shares of the workflows add up to {sum(shares):g}; they must add up to 1")
        for workflow, share in self.workflows:
            if share < 0:
                raise InputError(f"the share of workflow {workflow.name} is {share:g}; it must be 0 or more")
            widest = int(job_template(workflow, self.submission_mode).processors.max())
            if widest > self.model.processors:
                raise InputError(
                    f"workflow {workflow.name} needs {widest:,} processors at once, but the machine has "
                    f"{self.model.processors:,}; group its tasks with a cap, or use a larger machine"
                )
            if self.workflow_policy == "share" and not workflow.work:
                raise InputError(f"workflow {workflow.name} contains no work, so it cannot have a share of it")

    @property
    def is_special(self) -> bool:
        """Whether a special string replaces the jobs of the model."""
        return self.workflow_policy.startswith("sp-")

    @property
    def workflow_choice(self) -> Choice:
        """The pattern that submits one of the workflows."""
        return Choice(tuple((share, OneWorkflow(workflow)) for workflow, share in self.workflows))

    @property
    def sections(self) -> Sections:
        """When the sections begin; second 0 is that of the first fill job or, without a fill phase, the begin."""
        begin = lead_of(self.fill_wait)
        start = begin + self.preload
        end = start + self.duration
        return Sections(begin, start, end, end + self.drain)
