"""Routing: which battles go to people, how far judges can be trusted, when to stop, who rates what."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
