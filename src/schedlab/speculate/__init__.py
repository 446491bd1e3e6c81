"""Requests for jobs with stochastic run times: run-time distributions, optimal sequences of requests, their costs."""
