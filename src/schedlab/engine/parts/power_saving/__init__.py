"""Idle nodes that are switched off, and jobs that wait for their boot."""
