"""Malleable jobs, whose sizes passes in Python change while they run."""
