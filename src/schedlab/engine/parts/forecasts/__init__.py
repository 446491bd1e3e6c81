"""Run times that are predicted while the simulation runs."""
