"""Heterogeneous jobs, whose components start together."""
