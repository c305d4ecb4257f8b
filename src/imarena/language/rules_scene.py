"""Rules for new things and new actions; tried last, because their verbs are the most general."""

import re

from imarena.language.edit import Edit, EditKind
from imarena.language.lexicon import sentence_forms
from imarena.language.phrases import colours_in, count_in, has_article, phrase_words, places_in, strip_article

_WHERE = re.compile(
    r"\s+(?:on|in|at|near|next to|beside|behind|under|underneath|above|over|inside|into|"
    r"onto|to|around|between|by|against|beneath|along|across|"
    r"out of|in front of|from|for|alongside|within|below)\s.*$"
)
_HOLDS = re.compile(
    r"^(?:(?:let|make|have|can|could|should|what if|the|a|his|"
    r"her)\s+)?(?P<who>.+?)\s+(?:should |could |would |must |can |is |was |were |be )*"
    r"(?P<verb>wear|wearing|wears|wore|hold|holding|holds|carry|carrying|have|has|had|"
    r"having|contain|containing|topped with|be topped with|filled with)\s+(?P<new>.+)$"
)


def _adding(new: str, clause: str, host: str = "") -> Edit:
    thing = _WHERE.sub("", new).strip() or new
    return Edit(
        EditKind.ADD,
        target=strip_article(host),
        value=strip_article(thing),
        colours=colours_in(thing),
        count=count_in(thing),
        places=places_in(clause),
    )


def read_add(clause: str) -> Edit | None:
    """Add something, alone or held, worn or contained by something that exists."""
    another = re.match(
        r"^(?:add|put|insert|include|draw|place|show|give)\b.*?\b(?:another|one more|an extra|"
        r"an additional) (.+)$",
        clause,
    )
    if another:
        thing = strip_article(_WHERE.sub("", another.group(1)))
        return Edit(
            EditKind.COUNT,
            target=thing,
            value=thing,
            operation="one_more",
            colours=colours_in(thing),
            places=places_in(clause),
        )
    for pattern in sentence_forms("adds")[:4]:
        match = pattern.match(clause)
        if match:
            return _adding(match["new"], clause)
    holds = _HOLDS.match(clause)
    if holds and holds["verb"].startswith(("wear", "wore")) | has_article(holds["new"]) | bool(
        re.match(r"(?:hold|carry|contain)", holds["verb"])
    ):
        return _adding(holds["new"], clause, holds["who"])
    for pattern in sentence_forms("adds")[4:]:
        match = pattern.match(clause)
        if match:
            return _adding(match["new"], clause)
    return None


_ACTS = re.compile(
    r"^(?:let|make|have|get|help) (?P<who>(?:the |this |that |all |one of |both |his |her "
    r"|its |it\b|him\b|them\b|one ).*)$"
    r"|^(?P<open>open|close|raise|lower|bend|lift|spread|fold|split|start|stop|light|lit|shut) (?P<what>.+)$"
    r"|^(?P<subject>(?:the |this |that |his |her ).+?|he|she|it|they) (?:should|could|"
    r"would|must|can)(?: be)? (?P<act>.+)$"
)


def read_action(clause: str) -> Edit | None:
    """Make someone or something act, feel or look different."""
    switched = re.match(r"^(?:switch|turn) (?:(on|off) (.+)|(.+?) (on|off))$", clause)
    if switched:
        state, thing = switched.group(1) or switched.group(4), switched.group(2) or switched.group(3)
        return Edit(EditKind.ACTION, target=strip_article(thing), value=state)
    match = _ACTS.match(clause)
    if not match:
        return None
    if match["open"]:
        return Edit(EditKind.ACTION, target=strip_article(match["what"]), value=match["open"], places=places_in(clause))
    if match["subject"]:
        return Edit(
            EditKind.ACTION, target=strip_article(match["subject"]), value=match["act"], places=places_in(clause)
        )
    tokens = phrase_words(strip_article(match["who"]))
    # The actor is usually one or two words; the rest is the action.
    cut = min(max(len(tokens) - 1, 1), 3 if tokens[:2] == ["one", "of"] else 2) if len(tokens) > 2 else 1
    cut = next((at for at, t in enumerate(tokens) if t in {"be", "look", "turn"} and at), cut)
    return Edit(EditKind.ACTION, target=" ".join(tokens[:cut]), value=" ".join(tokens[cut:]), places=places_in(clause))
