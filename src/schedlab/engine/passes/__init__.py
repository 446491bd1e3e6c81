"""Textbook passes: without backfilling, EASY, conservative, and the first two by partitions."""
