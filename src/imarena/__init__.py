"""imarena: the open arena for image editing and image generation models.

    from imarena import rank
    board = rank("votes.csv")
    print(board.models[0].model, board.models[0].rating)

Everything here is loaded on first use: importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from imarena.core.version import VERSION

if TYPE_CHECKING:
    from imarena.core.errors import ImarenaError, UserError
    from imarena.core.protocols import Editor, EditRequest, EditResult, Exhibit, Judge, Verdict
    from imarena.core.records import (
        Item,
        Judgment,
        Mode,
        Order,
        Outcome,
        Output,
        Ranking,
        Status,
        Turn,
        Vote,
    )
    from imarena.stats import battles_needed, krippendorff_alpha
    from imarena.storage import Workspace, init_workspace, open_workspace
    from imarena.workflows.boards import BoardQuery, board
    from imarena.workflows.boards.from_tables import rank

__version__ = VERSION

_HOME = {
    "imarena.core.errors": ("ImarenaError", "UserError"),
    "imarena.core.protocols": ("EditRequest", "EditResult", "Editor", "Exhibit", "Judge", "Verdict"),
    "imarena.core.records": (
        "Item", "Judgment", "Mode", "Order", "Outcome", "Output", "Ranking", "Status", "Turn", "Vote",
    ),
    "imarena.stats": ("battles_needed", "krippendorff_alpha"),
    "imarena.storage": ("Workspace", "init_workspace", "open_workspace"),
    "imarena.workflows.boards": ("BoardQuery", "board"),
    "imarena.workflows.boards.from_tables": ("rank",),
}  # fmt: skip
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "BoardQuery",
    "EditRequest",
    "EditResult",
    "Editor",
    "Exhibit",
    "ImarenaError",
    "Item",
    "Judge",
    "Judgment",
    "Mode",
    "Order",
    "Outcome",
    "Output",
    "Ranking",
    "Status",
    "Turn",
    "UserError",
    "Verdict",
    "Vote",
    "Workspace",
    "__version__",
    "battles_needed",
    "board",
    "init_workspace",
    "krippendorff_alpha",
    "open_workspace",
    "rank",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'imarena' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
