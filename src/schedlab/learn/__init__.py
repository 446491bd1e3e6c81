"""Policies learned from simulations."""
