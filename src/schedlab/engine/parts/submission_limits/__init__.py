"""Limits on submitted jobs."""
