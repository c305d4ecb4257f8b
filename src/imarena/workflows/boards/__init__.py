"""Boards: one function for every entry point, one rule for the default source, a signature on each board."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
