"""imarena: the open arena for image editing and image generation models.

    from imarena import rank
    board = rank("votes.csv")
    print(board.models[0].model, board.models[0].rating)

The public names are in ``__init__.pyi``. Each is loaded on first use: importing the package costs next to nothing.
"""

import lazy_loader

from imarena.core.version import VERSION

__version__ = VERSION

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
