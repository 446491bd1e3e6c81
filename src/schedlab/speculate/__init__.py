"""Requests for jobs whose run time is a distribution: laws, optimal sequences of requests, what they cost."""
