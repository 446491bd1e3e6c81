"""Slurm's scheduler: its main pass and its backfill pass."""
