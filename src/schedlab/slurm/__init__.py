"""A real Slurm in skipped time, and policies deployed on it."""
