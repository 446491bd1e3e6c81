"""How a plan is run: the run directory, the processes, Dask and Slurm, and what survives crashes."""
