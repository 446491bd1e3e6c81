"""Runs that fail at their requests and are made again."""
