"""Waiting jobs that take the place of less important runs."""
