"""Runs that stand still while others use their cores."""
