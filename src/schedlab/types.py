"""Classes that functions of schedlab take or return and that users rarely build; for annotations and `isinstance`."""

from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.results.compare_submissions import Difference, SubmissionSummary
from schedlab.campaign.results.trade_offs import Price
from schedlab.campaign.run.coordinator import Progress
from schedlab.campaign.run.executors import Workers
from schedlab.campaign.run.outcome import Failure, Status
from schedlab.campaign.sources.experiment import ExperimentEntry
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.machine import Failures, MachineFiles
from schedlab.campaign.sources.measures import Measured, Measuring
from schedlab.cluster.mtbf import Mtbf
from schedlab.cluster.sacctmgr import Association, Qos
from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.energy.power import NodeWatts
from schedlab.engine.prepared import Events
from schedlab.engine.steps.observable import Reservation
from schedlab.engine.steps.priority_factors import Priorities
from schedlab.generate.patterns import Choice, FixedJob, Pattern
from schedlab.learn.collection import Stretch
from schedlab.model.check import VariableCheck
from schedlab.model.jobs import IndependentJobs, JointJobs, NodeScale
from schedlab.predict.model import Memory
from schedlab.predict.replay import Replay
from schedlab.schedule.allocation import Allocation
from schedlab.schedule.analysis import Variable
from schedlab.schedule.explanation import Explanation
from schedlab.schedule.held import Held
from schedlab.schedule.own_metrics import OwnMetric
from schedlab.schedule.placement import Placement
from schedlab.schedule.timeline import Steps
from schedlab.scheduler.formula import Formula
from schedlab.scheduler.own_predictor import OnlinePredictor
from schedlab.scheduler.slurm_versions import VersionRule
from schedlab.site.bottlenecks import NodesInDemand
from schedlab.site.carriers import Carrier, WaitShare
from schedlab.site.causes import WaitCauses
from schedlab.site.fitting import StateSteps
from schedlab.site.half_empty import HalfEmpty, Holder
from schedlab.site.limit_costs import LimitCost
from schedlab.site.maintenance import BeginsLeftOut
from schedlab.site.maintenance_costs import Chance
from schedlab.site.refusals import Refusals
from schedlab.site.unusable import Unusable
from schedlab.speculate.applications import ApplicationGain
from schedlab.speculate.assignment import Application
from schedlab.speculate.distributions import ContinuousDistribution
from schedlab.speculate.plan import Objective
from schedlab.speculate.requests import DistributionTables, Requests
from schedlab.workflow.wfformat import Execution
from schedlab.workload.cleaning import Flurry
from schedlab.workload.cleaning_report import CleaningReport, Step
from schedlab.workload.distribution import Distribution as SummaryDistribution
from schedlab.workload.extras import Extras
from schedlab.workload.job import Job
from schedlab.workload.molding import SpeedUp
from schedlab.workload.own_columns import OwnColumns
from schedlab.workload.resource_summary import ResourceSummary
from schedlab.workload.run_time_distributions import RunTimeDistributions
from schedlab.workload.summary import Summary, UserShare

__all__ = [
    "Allocation",
    "Application",
    "ApplicationGain",
    "Association",
    "BeginsLeftOut",
    "Carrier",
    "Chance",
    "Choice",
    "CleaningReport",
    "ContinuousDistribution",
    "Difference",
    "DistributionTables",
    "Events",
    "Execution",
    "ExperimentEntry",
    "Explanation",
    "Extras",
    "Failure",
    "Failures",
    "FixedJob",
    "Flurry",
    "Formula",
    "HalfEmpty",
    "Held",
    "Holder",
    "IndependentJobs",
    "Input",
    "Job",
    "JointJobs",
    "LimitCost",
    "MachineFiles",
    "Measured",
    "Measuring",
    "Memory",
    "Mtbf",
    "NodeScale",
    "NodeWatts",
    "NodesInDemand",
    "Objective",
    "OnlinePredictor",
    "OwnColumns",
    "OwnMetric",
    "Pattern",
    "Placement",
    "Plan",
    "Price",
    "Priorities",
    "Progress",
    "Qos",
    "Refusals",
    "Replay",
    "Requests",
    "Reservation",
    "ResourceSummary",
    "RunTimeDistributions",
    "SlurmRelease",
    "SpeedUp",
    "StateSteps",
    "Status",
    "Step",
    "Steps",
    "Stretch",
    "SubmissionSummary",
    "Summary",
    "SummaryDistribution",
    "Unusable",
    "UserShare",
    "Variable",
    "VariableCheck",
    "VersionRule",
    "WaitCauses",
    "WaitShare",
    "Workers",
]
