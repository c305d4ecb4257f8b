"""Leaderboards: from arrays of battles to a frozen `Ranking`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
