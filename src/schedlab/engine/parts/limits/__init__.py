"""Partitions, and limits of accounts, users and QOS."""
