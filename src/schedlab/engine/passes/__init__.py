"""Scheduling passes that no real scheduler makes: without backfilling, EASY, conservative, by partitions."""
