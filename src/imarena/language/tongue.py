"""Is an instruction English? The reader knows no other language, and must not take foreign words for things."""

import re
import unicodedata

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|「[^」]*」|(?<!\w)'[^']*'(?!\w)|‘[^’]*’")
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_LITTLE_ENGLISH = """
the a an of to and with without into onto from in on at by for it its is are be that this these there them make add
remove replace change turn put give swap delete erase insert convert let have more no not out up while keep only all as
him her his their your my same so if would could should please what where
"""
_LITTLE_FOREIGN = """
der das den dem des ein eine einen einem einer und mit ohne durch auf aus zu zum zur ist wird mach mache ersetze
entferne ändere füge hinzu nicht bild hintergrund farbe le la les un une des du de et avec sans dans sur est que
ajoute ajoutez remplace remplacez supprime supprimez enlève mets changez au aux el los las una unos y por para en del
al es añade reemplaza quita cambia pon haz lo gli il che per di nel nella della aggiungi sostituisci rimuovi os um uma
com sem na da adicione substitua remova mude het een van met zonder voeg vervang verwijder verander naar bez dodaj
usuń zmień zamień
"""
_ENGLISH = frozenset(_LITTLE_ENGLISH.split())
_FOREIGN = frozenset(_LITTLE_FOREIGN.split())


def is_english(text: str) -> bool:
    """By its script, and by the little words of several languages; words in quotation marks do not count.

    A text without any telling word (a bare noun, 'sunset') passes for English.
    """
    bare = _QUOTED.sub(" ", text.replace("’", "'"))
    letters = [character for character in bare if character.isalpha()]
    if not letters:
        return True
    if sum("LATIN" in unicodedata.name(character, "") for character in letters) < 0.7 * len(letters):
        return False
    words = [word.casefold() for word in _WORD.findall(bare)]
    foreign = sum(word in _FOREIGN for word in words)
    return foreign == 0 or foreign <= sum(word in _ENGLISH for word in words)
