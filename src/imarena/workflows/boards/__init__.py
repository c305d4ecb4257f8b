"""Boards: one function for every door, one rule for the default, a signature on each."""

from imarena.workflows.boards.board import Board, Boards, Gathered, board, whose
from imarena.workflows.boards.choice import Chosen, Evidence, choose, judge_called
from imarena.workflows.boards.coverage import Delivery, read_delivery
from imarena.workflows.boards.every import every_board
from imarena.workflows.boards.query import ALL_JUDGES, ITEM_FILTERS, SOURCES, WEIGHED, BoardQuery, Source, read_source
from imarena.workflows.boards.store import store_boards
from imarena.workflows.boards.table import COLUMNS, battle_table
from imarena.workflows.views.versions import judges_called

__all__ = [
    "ALL_JUDGES",
    "COLUMNS",
    "ITEM_FILTERS",
    "SOURCES",
    "WEIGHED",
    "Board",
    "BoardQuery",
    "Boards",
    "Chosen",
    "Delivery",
    "Evidence",
    "Gathered",
    "Source",
    "battle_table",
    "board",
    "choose",
    "every_board",
    "judge_called",
    "judges_called",
    "read_delivery",
    "read_source",
    "store_boards",
    "whose",
]
