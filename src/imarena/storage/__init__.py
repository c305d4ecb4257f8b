"""Where records and blobs live: SQLite or PostgreSQL, and files by SHA-256."""

from imarena.storage.blobs import Blobs
from imarena.storage.store import Added, Conflict, Store
from imarena.storage.workspace import Workspace, init_workspace, is_workspace, open_workspace

__all__ = [
    "Added",
    "Blobs",
    "Conflict",
    "Store",
    "Workspace",
    "init_workspace",
    "is_workspace",
    "open_workspace",
]
