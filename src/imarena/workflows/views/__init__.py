"""What counts: the read model of a workspace. Every reader of judgments and votes asks here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
