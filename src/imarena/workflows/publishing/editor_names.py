"""Names under which strangers submit outputs: what is no name, and which names look the same on a board."""

import re
import unicodedata

from imarena.core import UserError

MAX_NAME = 200
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))))
)
"""Printable for Python, and blank on the screen; formatting characters are not printable anyway."""
_LIKE_LATIN = ("CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE", "LISU", "DESERET")
"""Scripts with letters that look like Latin ones. Others, such as Chinese beside Latin, mix without harm."""
_WORD = re.compile(r"[^\W\d_]+")
_CONFUSABLE = str.maketrans(
    "авеёкмнорстухіїјѕԁһԛԝгьӏвѵ" + "αβεηικμνορτυχγωζϲϳ" + "օոսհցզյ" + "ıɑɡɩʟᴏꞵ" + "01|" + "‐‒–—−",
    "abeekmhopctyxiijsdhqwrblbv" + "abenikuvoptuxywzcj" + "onuhgqj" + "iagilob" + "oll" + "-----",
)
"""After case folding: Cyrillic, Greek, Armenian and rare Latin letters, digits and dashes, and what they look like."""


def _name_problem(name: str) -> str:
    """Why a text is not a name for an editor; empty where it is."""
    if not name or len(name) > MAX_NAME:
        return f"a name has 1 to {MAX_NAME} characters"
    if not name.isprintable() or _INVISIBLE.intersection(name):
        return "it holds characters that cannot be seen"
    if name != name.strip() or unicodedata.normalize("NFC", name) != name:
        return "it has blanks at its ends, or is not in Unicode form NFC"
    if "\\" in name or name.startswith("~") or any(part.strip() in ("", ".", "..") for part in name.split("/")):
        return "it looks like a path"
    mixed = next((word for word in _WORD.findall(name) if _is_mixed(word)), "")
    return f"'{mixed}' mixes letters of several scripts" if mixed else ""


def check_editor_name(name: str, hint: str) -> None:
    """Raise `UserError` where a text is not a name for an editor."""
    problem = _name_problem(name)
    if problem:
        raise UserError(f"{name!a} is not a name for an editor: {problem}.", hint=hint)


def lookalike_key(name: str) -> str:
    """The same text for names that look the same: case, blanks, Unicode forms and look-alike letters do not matter."""
    plain = unicodedata.normalize("NFKC", name).replace("I", "l").casefold().translate(_CONFUSABLE)
    marks_apart = unicodedata.normalize("NFD", plain)
    return "".join(letter for letter in marks_apart if not letter.isspace() and letter.isprintable()).replace("rn", "m")


def _is_mixed(word: str) -> bool:
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in unicodedata.normalize("NFKC", word)}
    return len(scripts.intersection(("LATIN", *_LIKE_LATIN))) > 1
