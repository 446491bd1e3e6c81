"""Moldable jobs, which have alternatives."""
