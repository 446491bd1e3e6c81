"""Sequences of requested times: run-time distributions, optimal requests, what they cost, and large jobs in rounds."""

from schedlab.speculate.applications import RequestGains, request_gains
from schedlab.speculate.assignment import assign_distributions, read_distributions
from schedlab.speculate.costs import AffineCost, Checkpointing, RequestLimits
from schedlab.speculate.discretise import discretise
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.fits import DistributionFit, fit_distributions
from schedlab.speculate.fluid import FluidSchedule, simulate_fluid
from schedlab.speculate.history import distribution_of_runs, evaluate_last_maximum, read_runs
from schedlab.speculate.plan import RequestPlan, optimal_requests
from schedlab.speculate.point_distributions import DiscreteDistribution
from schedlab.speculate.sequences import Evaluation, RequestSequence, costs_of_runs, evaluate_requests

__all__ = [
    "AffineCost",
    "Checkpointing",
    "DiscreteDistribution",
    "DistributionFit",
    "Evaluation",
    "FluidSchedule",
    "RequestGains",
    "RequestLimits",
    "RequestPlan",
    "RequestSequence",
    "RunTimeDistribution",
    "assign_distributions",
    "costs_of_runs",
    "discretise",
    "distribution_of_runs",
    "evaluate_last_maximum",
    "evaluate_requests",
    "fit_distributions",
    "optimal_requests",
    "read_distributions",
    "read_runs",
    "request_gains",
    "simulate_fluid",
]
