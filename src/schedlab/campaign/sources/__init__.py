"""Where jobs come from: one class for each kind of workload."""
