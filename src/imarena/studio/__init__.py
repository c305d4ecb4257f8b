"""The rendered world: scenes with exact ground truth, edits as data, and the entries of the bundled benchmark."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
