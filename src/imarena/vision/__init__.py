"""Vision tools: what changed and where, colours by name, artefacts, text in images. One file per tool."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
