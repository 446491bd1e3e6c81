"""Nodes that go out of service, and announced closures."""
