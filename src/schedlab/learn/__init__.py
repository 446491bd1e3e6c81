"""Policies learned from simulations: scores of jobs in trials, forms fitted to them, and direct search."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
