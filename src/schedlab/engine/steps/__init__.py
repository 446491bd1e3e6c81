"""Simulations in steps: decided by hand or by agents, observed, copied, saved, and with jobs added."""
