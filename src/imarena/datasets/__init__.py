"""Import, export, taxonomies, the bundled benchmark."""

from imarena.datasets.formats import DESCRIPTIONS, READERS, WRITERS

__all__ = ["DESCRIPTIONS", "READERS", "WRITERS"]
