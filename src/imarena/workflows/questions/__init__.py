"""Asking judges: what to ask, what it will cost, the run itself, and reading replies again."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
