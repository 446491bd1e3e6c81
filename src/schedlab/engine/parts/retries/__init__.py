"""Jobs come back (are requeued) whose run was cut: at its request, by a node that failed, or by another job."""
