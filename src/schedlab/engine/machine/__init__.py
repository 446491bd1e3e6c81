"""Processors and nodes: what is free, now and later, and which nodes a job gets."""
