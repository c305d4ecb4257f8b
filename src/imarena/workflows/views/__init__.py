"""The read model of a workspace, which decides what counts. All code that reads judgments and votes uses it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
