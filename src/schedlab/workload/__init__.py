"""Workloads: jobs with their requests and run times, cleaning and sampling of logs, and workflows."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
