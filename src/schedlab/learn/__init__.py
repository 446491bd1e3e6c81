"""Policies learned from simulations: scores of jobs in trials, forms fitted to them, and direct search."""
