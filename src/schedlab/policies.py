"""The policies with names, as classes: `sl.Scheduler(sl.policies.SAF(), "easy")` is the text "saf+easy".

`SCHEDULERS` has the texts of whole schedulers with names, such as "easy++".

>>> import schedlab as sl
>>> print(sl.Scheduler(sl.policies.SAF(), sl.backfilling.Easy(sl.policies.SPF())))
saf+easy:sjf
"""

from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.grammar import ALIASES as SCHEDULERS
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import (
    F1,
    F2,
    F3,
    F4,
    FCFS,
    LAF,
    LCFS,
    LPF,
    LQF,
    SAF,
    SPF,
    SQF,
    UNICEF,
    WFP3,
    FormulaPolicy,
    Gittins,
    Policy,
    Smith,
)
from schedlab.scheduler.policy_file import PolicyFile, read_policy_file
from schedlab.scheduler.retries import Retries

__all__ = [
    "F1",
    "F2",
    "F3",
    "F4",
    "FCFS",
    "LAF",
    "LCFS",
    "LPF",
    "LQF",
    "SAF",
    "SCHEDULERS",
    "SPF",
    "SQF",
    "UNICEF",
    "WFP3",
    "FormulaPolicy",
    "FunctionPolicy",
    "Gittins",
    "Multifactor",
    "Policy",
    "PolicyFile",
    "Retries",
    "Smith",
    "read_policy_file",
]
