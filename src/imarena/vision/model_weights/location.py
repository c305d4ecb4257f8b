"""Where the weights of this user are kept."""

import os
import sys
from pathlib import Path

_VARIABLE = "IMARENA_WEIGHTS"


def weights_root() -> Path:
    """The folder of this user's weights: IMARENA_WEIGHTS, else the cache folder of the system."""
    named = os.environ.get(_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "imarena" / "weights"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "imarena" / "weights"
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache") / "imarena" / "weights"
