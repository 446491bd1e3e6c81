__version__: str

from . import durations as durations
from . import files as files
from . import gym as gym
from . import metrics as metrics
from . import plot as plot
from . import policies as policies
from . import predictors as predictors
from . import requests as requests
from . import site as site
from . import slurm as slurm
from . import statistics as statistics
from . import text as text
from . import types as types
from .campaign.definition.campaign import Campaign as Campaign
from .campaign.definition.campaign_file import read_campaign as read_campaign
from .campaign.results.compare_submissions import Handlings as Handlings
from .campaign.results.compare_submissions import handlings as handlings
from .campaign.results.comparison import Comparison as Comparison
from .campaign.results.comparison import compare as compare
from .campaign.run.coordinator import run_campaign as run_campaign
from .campaign.run.directory import RunDirectory as RunDirectory
from .campaign.run.executors import local_workers as local_workers
from .cluster.cluster import Cluster as Cluster
from .cluster.cluster import IgnoredLine as IgnoredLine
from .cluster.files import read_cluster as read_cluster
from .cluster.files import write_cluster as write_cluster
from .cluster.limits import Account as Account
from .cluster.limits import Accounting as Accounting
from .cluster.limits import AccountUser as AccountUser
from .cluster.limits import Limits as Limits
from .cluster.limits import QosLimits as QosLimits
from .cluster.node_events import NodeEvent as NodeEvent
from .cluster.node_events import NodeEvents as NodeEvents
from .cluster.nodes import NodeGroup as NodeGroup
from .cluster.nodes import Partition as Partition
from .cluster.nodes import Switch as Switch
from .engine.many import simulate_many as simulate_many
from .engine.simulation import simulate as simulate
from .engine.standing import Reservation as Reservation
from .engine.stepwise import Simulation as Simulation
from .engine.twin import simulate_plain as simulate_plain
from .engine.warm_up import warm_up as warm_up
from .errors import InputError as InputError
from .errors import OutputError as OutputError
from .errors import SchedlabError as SchedlabError
from .generate.experiment import Experiment as Experiment
from .generate.fill import scsf_fill_jobs as scsf_fill_jobs
from .generate.generation import Generated as Generated
from .generate.generation import generate_experiment as generate_experiment
from .learn.collection import collect_scores as collect_scores
from .learn.collection import draw_tuples as draw_tuples
from .learn.collection import usable_jobs as usable_jobs
from .learn.fit import Fit as Fit
from .learn.fit import Ranking as Ranking
from .learn.fit import fit_scores as fit_scores
from .learn.scores import ScoreTable as ScoreTable
from .learn.scores import read_scores as read_scores
from .learn.trials import Scores as Scores
from .learn.trials import Trials as Trials
from .learn.trials import precision_curves as precision_curves
from .learn.trials import score_tuple as score_tuple
from .model.check import ModelCheck as ModelCheck
from .model.check import check_model as check_model
from .model.cycles import ArrivalCycle as ArrivalCycle
from .model.edison import EDISON_CORES_PER_NODE as EDISON_CORES_PER_NODE
from .model.edison import EDISON_LIMITS as EDISON_LIMITS
from .model.edison import EDISON_PROCESSORS as EDISON_PROCESSORS
from .model.edison import EDISON_TOY as EDISON_TOY
from .model.empirical import EmpiricalDistribution as EmpiricalDistribution
from .model.fit import fit_model as fit_model
from .model.model import JobLimits as JobLimits
from .model.model import WorkloadModel as WorkloadModel
from .predict.adapters import RiverPredictor as RiverPredictor
from .predict.adapters import SklearnPredictor as SklearnPredictor
from .predict.model import PredictionModel as PredictionModel
from .predict.validation import Validation as Validation
from .predict.validation import validate as validate
from .report.experiments import plot_distributions as plot_distributions
from .report.experiments import plot_handlings as plot_handlings
from .report.experiments import plot_median_waits as plot_median_waits
from .report.experiments import plot_minutes as plot_minutes
from .report.experiments import plot_simulation_times as plot_simulation_times
from .report.figures import (
    plot_gantt as plot_gantt,
)
from .report.figures import (
    plot_queue_length as plot_queue_length,
)
from .report.figures import (
    plot_slowdown_distribution as plot_slowdown_distribution,
)
from .report.figures import (
    plot_utilisation as plot_utilisation,
)
from .report.figures import (
    plot_wait_by_size as plot_wait_by_size,
)
from .report.figures import (
    plot_weekly_means as plot_weekly_means,
)
from .report.figures import (
    plot_workload as plot_workload,
)
from .report.figures import (
    save_comparison_figures as save_comparison_figures,
)
from .report.learning import plot_policies as plot_policies
from .report.learning import plot_score_precision as plot_score_precision
from .report.learning import plot_scores_by_job as plot_scores_by_job
from .report.learning import plot_trial_scores as plot_trial_scores
from .report.model import plot_model as plot_model
from .report.model import plot_model_variable as plot_model_variable
from .report.notebook import explore as explore
from .report.predictions import plot_predicted_values as plot_predicted_values
from .report.predictions import plot_prediction_errors as plot_prediction_errors
from .report.requests import plot_requests as plot_requests
from .report.requests import plot_requests_on_law as plot_requests_on_law
from .schedule.analysis import Analysis as Analysis
from .schedule.analysis import Distribution as Distribution
from .schedule.explanation import Explanation as Explanation
from .schedule.exports import read_schedule as read_schedule
from .schedule.minutes import Minutes as Minutes
from .schedule.minutes import minutes_of as minutes_of
from .schedule.provenance import versions as versions
from .schedule.schedule import Schedule as Schedule
from .scheduler.backfilling import Conservative as Conservative
from .scheduler.backfilling import Easy as Easy
from .scheduler.backfilling import NoBackfill as NoBackfill
from .scheduler.backfilling import Slurm as Slurm
from .scheduler.function_policy import FunctionPolicy as FunctionPolicy
from .scheduler.multifactor import Multifactor as Multifactor
from .scheduler.own_predictor import JobView as JobView
from .scheduler.own_predictor import PythonPredictor as PythonPredictor
from .scheduler.policy import FormulaPolicy as FormulaPolicy
from .scheduler.policy import Policy as Policy
from .scheduler.policy_file import PolicyFile as PolicyFile
from .scheduler.policy_file import read_policy_file as read_policy_file
from .scheduler.predictor import Actual as Actual
from .scheduler.predictor import GroupMean as GroupMean
from .scheduler.predictor import Predictor as Predictor
from .scheduler.predictor import RecentAverage as RecentAverage
from .scheduler.predictor import Regression as Regression
from .scheduler.predictor import Requested as Requested
from .scheduler.predictor import SimilarQuantile as SimilarQuantile
from .scheduler.predictor import UserMean as UserMean
from .scheduler.predictor import UserQuantile as UserQuantile
from .scheduler.retries import Retries as Retries
from .scheduler.scheduler import Scheduler as Scheduler
from .speculate.applications import RequestGains as RequestGains
from .speculate.applications import request_gains as request_gains
from .speculate.assignment import assign_laws as assign_laws
from .speculate.assignment import read_laws as read_laws
from .speculate.costs import AffineCost as AffineCost
from .speculate.costs import Checkpointing as Checkpointing
from .speculate.costs import RequestLimits as RequestLimits
from .speculate.fits import LawFit as LawFit
from .speculate.fits import fit_laws as fit_laws
from .speculate.history import evaluate_last_maximum as evaluate_last_maximum
from .speculate.history import law_of_runs as law_of_runs
from .speculate.history import read_runs as read_runs
from .speculate.laws import Law as Law
from .speculate.plan import RequestPlan as RequestPlan
from .speculate.plan import optimal_requests as optimal_requests
from .speculate.sequences import Evaluation as Evaluation
from .speculate.sequences import RequestSequence as RequestSequence
from .speculate.sequences import costs_of_runs as costs_of_runs
from .speculate.sequences import evaluate_requests as evaluate_requests
from .workflow.files import read_workflow as read_workflow
from .workflow.files import write_workflow as write_workflow
from .workflow.grouping import group_by_name as group_by_name
from .workflow.grouping import merge_chains as merge_chains
from .workflow.grouping import rename_by_levels as rename_by_levels
from .workflow.workflow import Task as Task
from .workflow.workflow import Workflow as Workflow
from .workload.archive import fetch as fetch
from .workload.batsim import read_batsim as read_batsim
from .workload.batsim import write_batsim as write_batsim
from .workload.cleaning import clean as clean
from .workload.cleaning import clean_with_report as clean_with_report
from .workload.cleaning import find_flurries as find_flurries
from .workload.cleaning import remove_flurry as remove_flurry
from .workload.default_limits import with_default_limits as with_default_limits
from .workload.dependencies import Dependencies as Dependencies
from .workload.event_lines import read_event_lines as read_event_lines
from .workload.files import read_workload as read_workload
from .workload.files import write_workload as write_workload
from .workload.gpu_logs import read_gen_parallel as read_gen_parallel
from .workload.gpu_logs import read_openb as read_openb
from .workload.gpu_logs import read_philly as read_philly
from .workload.handling import submit_workflows as submit_workflows
from .workload.lublin import LublinParameters as LublinParameters
from .workload.lublin import lublin as lublin
from .workload.mapped import read_mapped as read_mapped
from .workload.moab import read_moab as read_moab
from .workload.preceding import preceding_jobs as preceding_jobs
from .workload.resources import Labels as Labels
from .workload.resources import Resources as Resources
from .workload.sacct import read_sacct as read_sacct
from .workload.sampling import in_partitions as in_partitions
from .workload.sampling import offered_load as offered_load
from .workload.sampling import resample_users as resample_users
from .workload.sampling import scale_load as scale_load
from .workload.sampling import time_window as time_window
from .workload.sampling import windows as windows
from .workload.sections import Sections as Sections
from .workload.sections import sections_of as sections_of
from .workload.slurmctld_log import ControllerLog as ControllerLog
from .workload.slurmctld_log import read_slurmctld_log as read_slurmctld_log
from .workload.squeue import read_squeue as read_squeue
from .workload.submissions import Submission as Submission
from .workload.submissions import WorkflowJobs as WorkflowJobs
from .workload.summary import summarise as summarise
from .workload.swf import read_swf as read_swf
from .workload.swf import write_swf as write_swf
from .workload.tables import read_table as read_table
from .workload.tables import write_table as write_table
from .workload.torque import read_torque as read_torque
from .workload.tsafrir import tsafrir_estimates as tsafrir_estimates
from .workload.workload import Workload as Workload
