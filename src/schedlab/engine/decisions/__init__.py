"""Decisions that no pass makes: jobs that are started by hand, or by an agent."""
