"""Models of a site's workload: empirical distributions fitted to a log, kept in a file, and checked against the log."""
