"""Reading an instruction: what to change, where, to what."""

from imarena.language.edit import GLOBAL_KINDS, Edit, EditKind, Reading
from imarena.language.lexicon import Lexicon, lexicon
from imarena.language.phrases import named_colour
from imarena.language.reader import READER_VERSION, read_instruction
from imarena.language.things import things_in
from imarena.language.tongue import is_english

__all__ = [
    "GLOBAL_KINDS",
    "READER_VERSION",
    "Edit",
    "EditKind",
    "Lexicon",
    "Reading",
    "is_english",
    "lexicon",
    "named_colour",
    "read_instruction",
    "things_in",
]
