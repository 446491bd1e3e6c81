"""Slurm's multifactor priority."""
