"""Sequences of requested times: run-time distributions, optimal requests, what they cost, and large jobs in rounds."""

from schedlab.speculate.applications import RequestGains, request_gains
from schedlab.speculate.assignment import assign_laws, read_laws
from schedlab.speculate.costs import AffineCost, Checkpointing, RequestLimits
from schedlab.speculate.discretise import discretise
from schedlab.speculate.fits import LawFit, fit_laws
from schedlab.speculate.fluid import FluidSchedule, simulate_fluid
from schedlab.speculate.history import evaluate_last_maximum, law_of_runs, read_runs
from schedlab.speculate.laws import Law
from schedlab.speculate.plan import RequestPlan, optimal_requests
from schedlab.speculate.point_laws import DiscreteLaw
from schedlab.speculate.sequences import Evaluation, RequestSequence, costs_of_runs, evaluate_requests

__all__ = [
    "AffineCost",
    "Checkpointing",
    "DiscreteLaw",
    "Evaluation",
    "FluidSchedule",
    "Law",
    "LawFit",
    "RequestGains",
    "RequestLimits",
    "RequestPlan",
    "RequestSequence",
    "assign_laws",
    "costs_of_runs",
    "discretise",
    "evaluate_last_maximum",
    "evaluate_requests",
    "fit_laws",
    "law_of_runs",
    "optimal_requests",
    "read_laws",
    "read_runs",
    "request_gains",
    "simulate_fluid",
]
