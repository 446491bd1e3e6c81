"""The choices of a scheduler: ordering policies, backfilling, run-time knowledge, and the text that names them."""

from schedlab.scheduler.backfilling import Backfill, Conservative, Easy, NoBackfill, Slurm
from schedlab.scheduler.formula import Formula
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.own_pass import Ended, OwnPass, Pass, PassView
from schedlab.scheduler.policy import POLICIES, FormulaPolicy, Policy
from schedlab.scheduler.policy_text import policy_from_text
from schedlab.scheduler.retries import Retries
from schedlab.scheduler.scheduler import Scheduler

__all__ = [
    "POLICIES",
    "Backfill",
    "Conservative",
    "Easy",
    "Ended",
    "Formula",
    "FormulaPolicy",
    "FunctionPolicy",
    "NoBackfill",
    "OwnPass",
    "Pass",
    "PassView",
    "Policy",
    "Retries",
    "Scheduler",
    "Slurm",
    "policy_from_text",
]
