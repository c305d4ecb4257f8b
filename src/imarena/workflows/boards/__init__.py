"""Boards: one function for every door, one rule for the default, a signature on each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
