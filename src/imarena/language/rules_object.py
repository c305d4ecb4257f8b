"""Rules for changes of things: add, remove, replace, colour, move. Each takes a clause, returns an `Edit` or None."""

import re

from imarena.language.edit import Edit, EditKind
from imarena.language.lexicon import lexicon, sentence_forms
from imarena.language.phrases import (
    colours_in,
    count_in,
    has_article,
    head_noun,
    is_colour_phrase,
    is_material_phrase,
    is_whole_image,
    phrase_words,
    places_in,
    strip_article,
)

_DOING = re.compile(
    r"(?:in|on|at|near|next|under|behind|beside|inside)\b|\w+(?:ing|ped|ned|led|sed|"
    r"ted)\b|(?:open|closed|on|off|asleep|angry|happy|sad)$"
)
_DOER = re.compile(
    r"\b(?:hold|holding|wear|wearing|carry|eat|eating|have|having|ride|riding|use|read|"
    r"play|drink|contain|make|show)$"
)
_GIVING = re.compile(
    r"^(?:the \w+|him|her|it|them) (?:wear |wearing |have |hold |holding |lay on |lie on |"
    r"sit on |ride )?(?=an? )"
)
_NEVER_ALONE = frozenset(("a", "an", "the", "his", "its", "their", "my", "our", "your"))
"""Words that cannot be the target by themselves; "this" and "her" can."""
_SCOPE = re.compile(r"\b(?:on|in|at|near|next to|behind|beside|under|above|over|to the|of the|from)\b.*$")


def _sized(phrase: str) -> str:
    tokens = set(phrase_words(phrase))
    if tokens & lexicon().size_up:
        return "up"
    return "down" if tokens & lexicon().size_down else ""


def _becoming(old: str, new: str, clause: str) -> Edit:
    """Classify the change from `old` to `new`."""
    places = places_in(clause)
    target, value = strip_article(re.sub(r"\b(?:the )?colou?r of\b", "", old).strip()), strip_article(new)
    bare = _SCOPE.sub("", new).strip() or new
    old_colours = colours_in(old)
    if is_colour_phrase(bare) or (re.search(r"\bcolou?rs?\b", old) and colours_in(new)):
        return Edit(
            EditKind.COLOUR,
            target=target,
            value=value,
            colours=colours_in(bare),
            old_colours=old_colours,
            places=places,
        )
    if is_material_phrase(bare):
        return Edit(EditKind.MATERIAL, target=target, value=value, places=places)
    same_thing = head_noun(old) != "" and head_noun(old).rstrip("s") == head_noun(new).rstrip("s")
    if same_thing and colours_in(new):
        return Edit(
            EditKind.COLOUR, target=target, value=value, colours=colours_in(new), old_colours=old_colours, places=places
        )
    size = _sized(bare)
    if size and not has_article(new):
        return Edit(EditKind.SIZE, target=target, value=value, operation=size, places=places)
    if re.match(r"(?:more|much|less) ", new):
        return Edit(EditKind.ACTION, target=target, value=value, places=places)
    number = count_in(new)
    if (
        number is not None
        and (number > 1 or "single" in phrase_words(new))
        and (same_thing or is_whole_image(old) or count_in(old) is not None)
    ):
        return Edit(EditKind.COUNT, target=target, value=value, count=number, places=places)
    return Edit(
        EditKind.REPLACE, target=target, value=value, colours=colours_in(new), old_colours=old_colours, count=number,
        places=places, whole_image=False,
    )  # fmt: skip


_PROPERTY = re.compile(
    r"^(?:change|alter|modify|set|adjust) the (?P<what>position|location|number|count|material|size|pose|expression) "
    r"of (?P<old>.+?)(?: from .+?)? (?:in)?to (?P<new>.+)$"
)


def read_property(clause: str) -> Edit | None:
    """'change the position / number / material / size of X to Y'."""
    match = _PROPERTY.match(clause)
    if not match:
        return None
    noun, target, value = match["what"], strip_article(match["old"]), match["new"]
    places, old_colours = places_in(value), colours_in(match["old"])
    if noun in {"position", "location"}:
        operation = places[0] if places else ""
        return Edit(EditKind.POSITION, target, value, places=places, operation=operation, old_colours=old_colours)
    if noun in {"number", "count"}:
        return Edit(EditKind.COUNT, target, value, count=count_in(value), colours=old_colours)
    if noun == "size":
        return Edit(EditKind.SIZE, target, value, operation=_sized(value), old_colours=old_colours)
    kind = EditKind.MATERIAL if noun == "material" else EditKind.ACTION
    return Edit(kind, target, value, old_colours=old_colours)


def read_exchange(clause: str) -> Edit | None:
    """Replace a thing or its appearance: replacement, colour, material, size, count."""
    for pattern in sentence_forms("exchanges"):
        match = pattern.match(clause)
        if match and not re.match(r"^(?:add|attach|apply)\b", match["old"]):
            return _becoming(match["old"], _GIVING.sub("", match["new"]), clause)
    for pattern in sentence_forms("becomes"):
        match = pattern.match(clause)
        if match and not _DOING.match(match["new"]) and not _DOER.search(match["old"]):
            return _becoming(match["old"], match["new"], clause)
    return None


def read_look(clause: str) -> Edit | None:
    """'make the apples green', 'turn her hair white', 'let the bed be wooden', 'change the color of the ball'."""
    change = re.match(r"^(?:change|alter|modify|edit) (?:the )?colou?rs? of (.+)$", clause)
    if change and not re.search(r" (?:in)?to ", change.group(1)):
        return Edit(EditKind.COLOUR, target=strip_article(change.group(1)), old_colours=colours_in(change.group(1)))
    match = re.match(r"^(?:make|turn|paint|dye|colou?r|recolou?r|let|have|give|tint|set) (.+)$", clause)
    if not match:
        return None
    tokens = match.group(1).split(" ")
    for cut in range(1, len(tokens)):
        old, new = " ".join(tokens[:cut]), " ".join(tokens[cut:])
        new = re.sub(r"^(?:be|turn|become|look|have|to be|in)\s+", "", new)
        if old in _NEVER_ALONE:
            continue  # "sky orange" and "rose pink" are colours too: after "the" a noun is still needed
        if old.endswith((" ice", " contain", " hold", " eat", " wear")):
            continue
        if is_colour_phrase(new) or (is_material_phrase(new) and not has_article(new)):
            return _becoming(re.sub(r"\s+(?:turn|be|become|look|have|to|into)$", "", old), new, clause)
    having = re.match(
        r"^(?:let|make|have|give) (.+?) (?:have |having |with )?((?:an? |the )?\w+ (?:hair|"
        r"eyes|fur|skin|lips|nose|beard))$",
        clause,
    )
    if having and colours_in(having.group(2)):
        return Edit(
            EditKind.COLOUR,
            target=head_noun(having.group(2)),
            value=having.group(2),
            colours=colours_in(having.group(2)),
        )
    return None


def read_remove(clause: str) -> Edit | None:
    """Remove something."""
    match = re.match(
        r"^(?:remove|delete|erase|get rid of|take away|take out|take off|eliminate|clear(?: "
        r"away)?|wipe out|hide|cut out|drop|lose|clean up) (.+)$",
        clause,
    )
    if match:
        phrase = match.group(1)
    else:
        empty = re.match(r"^(?:make|let|have) (.+?) (?:be )?(?:empty|gone|disappear|vanish|invisible)$", clause)
        if not empty:
            return None
        phrase = empty.group(1)
    return Edit(
        EditKind.REMOVE,
        target=strip_article(phrase),
        old_colours=colours_in(phrase),
        places=places_in(clause),
        count=count_in(phrase),
    )


def read_size(clause: str) -> Edit | None:
    """Make something bigger or smaller."""
    verb = re.match(
        r"^(?P<verb>enlarge|shrink|resize|scale up|scale down|scale|grow|increase the size of|"
        r"reduce the size of|double the size of|halve) (?P<rest>.+)$",
        clause,
    )
    if verb:
        down = verb["verb"] in {"shrink", "scale down", "reduce the size of", "halve"}
        return Edit(
            EditKind.SIZE,
            target=strip_article(verb["rest"]),
            operation="down" if down else "up",
            places=places_in(clause),
        )
    match = re.match(
        r"^(?:make|let|have) (.+?) (?:be |look |appear )?((?:much |a bit |slightly |a little |"
        r"twice as |half as |two times )*\w+)(?: in size)?$",
        clause,
    )
    if match and _sized(match.group(2)):
        return Edit(
            EditKind.SIZE,
            target=strip_article(match.group(1)),
            operation=_sized(match.group(2)),
            places=places_in(clause),
        )
    return None


_MOVE = re.compile(
    r"^(?:move|shift|slide|relocate|rotate|flip|mirror|turn around|tilt|drag|translate|"
    r"reposition|push|bring) (.+)$"
)


def read_position(clause: str) -> Edit | None:
    """Move, turn or mirror something; 'put the X' with a known X is a move too."""
    arranged = re.match(
        r"^(?:swap|exchange|switch) (?:the )?(?:places?|positions?) of (.+)$|^(?:arrange|line up|order|sort) (.+)$",
        clause,
    )
    if arranged:
        target = strip_article(arranged.group(1) or arranged.group(2))
        return Edit(EditKind.POSITION, target=target, operation="arrange", old_colours=colours_in(target))
    turned = re.match(
        r"^(?:turn|tip|lay|tilt|spin|rotate) (.+?) (?:around|over|upside down|sideways|about|by)\b", clause
    )
    if turned:
        return Edit(EditKind.POSITION, target=strip_article(turned.group(1)), operation="rotate", places=())
    match = _MOVE.match(clause)
    if match:
        target = re.split(
            r"\b(?:to|towards?|from|by|closer|further|next|up|down|left|right|horizontally|"
            r"vertically|\d+)\b",
            match.group(1),
        )[0]
        verb = clause.split(" ", maxsplit=1)[0]
        places = places_in(clause)
        operation = verb if verb in {"rotate", "flip", "mirror", "tilt"} else (places[0] if places else verb)
        if not places and re.search(r"\bup(?:wards?)?\b", clause):
            operation = "top"
        elif not places and re.search(r"\bdown(?:wards?)?\b", clause):
            operation = "bottom"
        return Edit(
            EditKind.POSITION,
            target=strip_article(target),
            places=places,
            operation=operation,
            whole_image=is_whole_image(target),
        )
    put = re.match(
        r"^(?:put|place) the (.+?) (?:on|in|to|at|under|behind|next to|beside|above|below|"
        r"over) (?:the|its|his|her) (.+)$",
        clause,
    )
    if put:
        places = places_in(clause)
        return Edit(
            EditKind.POSITION,
            target=put.group(1),
            value=put.group(2),
            places=places,
            operation=places[0] if places else "",
        )
    return None
