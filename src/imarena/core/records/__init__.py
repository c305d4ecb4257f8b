"""The nouns of the arena: every stored fact is one of these."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
