"""Requeued jobs that may not begin again at once."""
