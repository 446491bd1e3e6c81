"""Policies learned from trial simulations: scores of jobs, the forms that they are fitted with, and the fits."""
