"""imarena: the open arena for image editing and image generation models."""

from imarena.core.version import VERSION

__version__ = VERSION

__all__ = ["__version__"]
