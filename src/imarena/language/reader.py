"""Reading an instruction: what to change, where, to what. Rules in order, the first that fits wins."""

from dataclasses import replace

from imarena.language.clauses import split_clauses
from imarena.language.edit import Edit, EditKind, Reading
from imarena.language.rules_image import read_background, read_enhance, read_style, read_text
from imarena.language.rules_object import read_exchange, read_look, read_position, read_property, read_remove, read_size
from imarena.language.rules_scene import read_action, read_add

READER_VERSION = "1"

_RULES = (
    read_property,
    read_enhance,
    read_style,
    read_background,
    read_look,
    read_size,
    read_exchange,
    read_remove,
    read_position,
    read_add,
    read_action,
)


def _read_clause(clause: str, quotes: tuple[str, ...], original: str) -> Edit:
    edit = read_text(clause, quotes, original)
    if edit is not None:
        return edit
    for rule in _RULES:
        edit = rule(clause)
        if edit is not None:
            return edit
    return Edit(EditKind.OTHER)


def read_instruction(instruction: str) -> Reading:
    """Read free English. Never raises: what no rule understands becomes an edit of kind `other`."""
    clauses = split_clauses(instruction)
    edits = tuple(replace(_read_clause(c, clauses.quotes, instruction), clause=c) for c in clauses.asks)
    unread = tuple(edit.clause for edit in edits if edit.kind is EditKind.OTHER)
    return Reading(instruction=instruction, edits=edits, keep=clauses.keeps, unread=unread)
