"""Simulations whose scores are all known before the first event."""
