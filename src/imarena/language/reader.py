"""Parse an instruction: what to change, where, to what. Rules are tried in order; the first match wins."""

from dataclasses import replace

from imarena.language.clauses import Clauses, split_clauses
from imarena.language.edit import Edit, EditKind, ParsedInstruction
from imarena.language.rules_image import read_background, read_defect, read_enhance, read_style, read_text, read_view
from imarena.language.rules_object import read_exchange, read_look, read_position, read_property, read_remove, read_size
from imarena.language.rules_scene import read_action, read_add

READER_VERSION = "3"

_RULES = (
    read_property,
    read_enhance,
    read_style,
    read_background,
    read_view,
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


def _of_defect(operation: str, clause: str) -> Edit:
    kind = EditKind.VIEW if operation == "level" else EditKind.ENHANCE
    return Edit(kind, target="image", operation=operation, whole_image=True, clause=clause)


_MENDING = frozenset({EditKind.ENHANCE, EditKind.OTHER, EditKind.POSITION, EditKind.ACTION, EditKind.VIEW})


def _read_all(clauses: Clauses, instruction: str) -> list[Edit]:
    """Edits in order. A statement of a defect ("the photo is too dark") determines what a vague 'fix it' means."""
    edits: list[Edit] = []
    mending = False
    for clause in clauses.asks:
        defect = read_defect(clause) if len(clauses.asks) > 1 else None
        if defect == "":
            continue
        if defect is not None:
            edits.append(_of_defect(defect, clause))
            mending = True
            continue
        edit = replace(_read_clause(clause, clauses.quotes, instruction), clause=clause)
        if mending and edit.kind in _MENDING and not edit.text:
            mending = False
            continue
        edits.append(edit)
    return edits


def read_instruction(instruction: str) -> ParsedInstruction:
    """Parse free English. Never raises: clauses that no rule understands become edits of kind `other`."""
    clauses = split_clauses(instruction)
    edits = tuple(_read_all(clauses, instruction))
    unread = tuple(edit.clause for edit in edits if edit.kind is EditKind.OTHER)
    return ParsedInstruction(instruction=instruction, edits=edits, keep=clauses.keeps, unread=unread)
