"""Rules for changes of text, light, style and background. Each takes a clause and returns an `Edit` or None."""

import re

from imarena.language.edit import Edit, EditKind
from imarena.language.lexicon import lexicon
from imarena.language.phrases import is_whole_image, phrase_words, places_in, strip_article

_MARK = re.compile(r"\bq(\d+)q\b")
_REMOVE = (
    r"(?:remove|delete|erase|get rid of|take away|take out|eliminate|clear|clean up|clean|"
    r"fix|reduce|correct|repair|suppress)"
)
_CHANGE = (
    r"(?:change|replace|turn|make|convert|transform|render|redraw|set|give|apply|put|swap|"
    r"edit|stylize|restyle|switch|repaint|paint|let|have)"
)
_IMAGE = r"(?:image|photo|picture|photograph|scene|it|this|everything|shot|whole thing)"
_SHOUT = re.compile(r"\b[A-Z][A-Z0-9!&' -]*[A-Z0-9!]\b")


def read_text(clause: str, quotes: tuple[str, ...], original: str) -> Edit | None:
    """Written text: quoted, or introduced by 'text', 'sign says', 'write'."""
    marks = [int(m) for m in _MARK.findall(clause)]
    quoted = [quotes[m] for m in marks if m < len(quotes)]
    about = set(phrase_words(clause)) & lexicon().text_words
    if not quoted and not (
        about
        and re.search((r"\b(?:text|words?|writing|caption|title|letters|headline|slogan|write|says?|reads)\b"), clause)
    ):
        return None
    removing = re.match(rf"{_REMOVE}\b", clause) is not None
    target = _MARK.sub("", clause).strip()
    places = places_in(clause)
    if not quoted:
        shout = _SHOUT.findall(original)
        new = "" if removing or not shout else max(shout, key=len)
        return Edit(EditKind.TEXT, target=target, text=new, places=places, operation="remove" if removing else "")
    if removing:
        return Edit(EditKind.TEXT, target=target, old_text=quoted[0], places=places, operation="remove")
    if len(quoted) > 1:
        old, new = quoted[0], quoted[1]
        if re.search(r"q\d+q\s+instead of", clause):
            old, new = new, old
        return Edit(EditKind.TEXT, target=target, text=new, old_text=old, places=places)
    return Edit(EditKind.TEXT, target=target, text=quoted[0], places=places)


def _operation(clause: str) -> str:
    """The enhancement whose words occur first in the clause."""
    best: tuple[int, int, str] | None = None
    for name, words in lexicon().enhance.items():
        for word in words:
            match = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", clause)
            if match and (best is None or (match.start(), -len(word)) < best[:2]):
                best = (match.start(), -len(word), name)
    return best[2] if best else ""


_QUANTITY = (
    r"(?:brightness|contrast|exposure|saturation|sharpness|white balance|colou?r balance|"
    r"lighting|resolution|quality|vibrance|clarity|noise|blur)"
)
_VERB_ENHANCE = re.compile(
    r"^(?:brighten|darken|denoise|deblur|unblur|sharpen|dehaze|defog|derain|colou?ri[sz]e|"
    r"upscale|super-resolve|restore|enhance|improve|lighten|desaturate|saturate|dim|"
    r"relight|illuminate|de-noise|de-blur|de-haze)\b"
)
_COMPARATIVE = (
    r"(?:brighter|darker|sharper|clearer|lighter|dimmer|crisper|warmer|cooler|more "
    r"(?:vivid|vibrant|colou?rful|saturated|contrast)|less (?:noisy|blurry|hazy|dark|"
    r"saturated|grainy)|"
    r"higher (?:quality|resolution|contrast)|high[- ]resolution|vivid|vibrant)"
)
_LESS = re.compile(r"\b(?:reduce|decrease|lower|less|turn down)\b")
_OPPOSITE = {"brighten": "darken", "saturate": "desaturate"}


def read_enhance(clause: str) -> Edit | None:
    """Light, noise, blur, haze, colour cast: restoration and adjustment."""
    removed = "|".join(re.escape(w) for w in lexicon().enhance_only_when_removed)
    by_verb = _VERB_ENHANCE.match(clause)
    by_quantity = re.match(
        rf"^(?:increase|decrease|adjust|reduce|lower|raise|boost|fix|correct|turn (?:up|down)|"
        rf"improve)\b.*\b{_QUANTITY}\b",
        clause,
    )
    by_removal = re.match(
        rf"^{_REMOVE}\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|this\s+|"
        rf"that\s+)?(?:\w+\s+)?(?:{removed})\b",
        clause,
    )
    by_result = re.match(r"^make (?P<what>.+?) (?:look |appear )?(?:sharp|clear|crisp|bright|sharp again)$", clause)
    by_recovery = re.match(
        r"^(?:recover|bring back|reconstruct|regain) (?:the )?(?:fine |lost |missing )?details?\b", clause
    )
    by_more = re.search(
        rf"^(?:make|let|turn|have|give)\s+(.*?)\s*\b(?:be\s+|look\s+|a\s+)?(?:much |a bit |"
        rf"slightly |a little |more )?{_COMPARATIVE}\b",
        clause,
    )
    if by_result or by_recovery:
        operation = _operation(clause.replace("sharp", "sharper")) or "deblur"
        return Edit(EditKind.ENHANCE, operation="upscale" if by_recovery else operation, whole_image=True)
    if not (by_verb or by_quantity or by_removal or by_more):
        return None
    operation = _operation(clause) or "enhance"
    if by_quantity and _LESS.search(clause):
        operation = _OPPOSITE.get(operation, operation)
    tail = clause[by_verb.end() :] if by_verb else (by_more.group(1) if by_more else "")
    target = strip_article(re.split(r"\b(?:so that|by|a little|slightly|from|to|and|using|in)\b", tail)[0].strip())
    return Edit(
        EditKind.ENHANCE,
        target=target,
        operation=operation,
        places=places_in(clause),
        whole_image=is_whole_image(target),
    )


def _style_in(clause: str) -> str:
    return next((s for s in lexicon().styles if re.search(rf"(?<![\w-]){re.escape(s)}(?![\w-])", clause)), "")


def read_style(clause: str) -> Edit | None:
    """Style of the whole image, or its time of day, weather and season."""
    styled = re.search(r"\b(?:in|to|with|using|into|as if|like)\b.*?\bstyle\b|\bstyle of\b|\bstyli[sz]e\b", clause)
    style = _style_in(clause)
    if re.match(r"^(?:bathe|light|drench|immerse|dip)\b.*\b(?:light|glow|sun|sunlight|moonlight)\b", clause):
        return Edit(
            EditKind.STYLE,
            target="image",
            value=clause.rsplit(" in ", maxsplit=1)[-1],
            operation="ambience",
            whole_image=True,
        )
    toned = re.match(
        r"^(?:give|apply|add)\b.*\b(?:image|photo|picture|scene|it|this)\b.*\b(?:tone|look|filter|effect)\b", clause
    )
    if style and toned:
        return Edit(EditKind.STYLE, target="image", value=style, whole_image=True)
    match = re.match(rf"^{_CHANGE}\s+(?:the |this |that |entire |whole )*{_IMAGE}\b(?!'s)", clause)
    if styled and (style or "style" in clause):
        return Edit(EditKind.STYLE, target="image", value=style or clause[styled.start() :], whole_image=True)
    if style and match and re.search(r"\b(?:into|to|as|like|look|in|a|an|be)\b", clause[match.end() :] + " be"):
        return Edit(EditKind.STYLE, target="image", value=style, whole_image=True)
    ambience = next((w for w in phrase_words(clause) if w in lexicon().ambience), "")
    if ambience and (
        match
        or re.match(
            rf"^{_CHANGE}\s+(?:the )?(?:season|time of day|weather|day|night|lighting|summer|"
            rf"winter)\b",
            clause,
        )
        or re.match(r"^(?:it|there) (?:should|could|must|is|was|were)\b", clause)
        or re.match(r"^(?:have|let|make) the sun\b", clause)
    ):
        return Edit(EditKind.STYLE, target="image", value=ambience, operation="ambience", whole_image=True)
    return None


_BACKGROUND = re.compile(
    rf"^(?:{_CHANGE}|{_REMOVE}|blur|edit|modify)\s+(?:the |this |that |its |out the "
    rf")?(?:(?:\w+ ){{0,2}})?(?:background|backdrop)\b(.*)$"
)


def read_background(clause: str) -> Edit | None:
    """Changes of the background: replace, remove, blur, or put the subject elsewhere."""
    if re.match(r"^blur (?:everything|all|the rest|whatever)\b", clause) or re.search(r"\bbehind\b.*\bblur\b", clause):
        return Edit(EditKind.BACKGROUND, target="background", operation="blur", whole_image=True)
    match = _BACKGROUND.match(clause)
    if match:
        value = re.sub(
            (r"^\s*(?:be|to|with|into|by|for|of|a|an|,)*\s*(?:be |removing |placing )?"), "", match.group(1)
        ).strip()
        operation = "blur" if re.search(r"\bblur", clause) else ("remove" if re.match(rf"{_REMOVE}\b", clause) else "")
        return Edit(
            EditKind.BACKGROUND, target="background", value=strip_article(value), operation=operation, whole_image=True
        )
    moved = re.match(
        r"^(?:could|can|should|let|have|make)?\s*(.{1,40}?)\s+(?:should |could )?be (?:in|at|"
        r"on) (?:the|a|an) (\w+)$",
        clause,
    )
    if moved and moved.group(2) in lexicon().settings:
        return Edit(EditKind.BACKGROUND, target=strip_article(moved.group(1)), value=moved.group(2), whole_image=True)
    return None


_EXTEND = re.compile(r"^(?:extend|widen|expand|outpaint|uncrop|enlarge the canvas|zoom out)\b")
_LEVEL = re.compile(r"^(?:level|straighten|rectify)\b|^(?:fix|correct) the (?:tilt|perspective|horizon)\b")
_VIEW = re.compile(
    r"\b(?:viewpoint|view from|angle|perspective|bird's[- ]eye|from (?:above|below|behind|the side|the top))\b"
)


def read_view(clause: str) -> Edit | None:
    """Changes of the frame: extend, level, another point of view."""
    if _EXTEND.match(clause):
        return Edit(EditKind.EXTEND, target="image", places=places_in(clause), whole_image=True)
    if _LEVEL.match(clause):
        return Edit(EditKind.VIEW, target="image", operation="level", whole_image=True)
    if _VIEW.search(clause) and re.match(r"^(?:show|render|change|shift|see|view|turn|rotate|move|make|set)\b", clause):
        return Edit(EditKind.VIEW, target="image", operation="viewpoint", whole_image=True)
    return None


_STATEMENT = re.compile(
    r"^(?:the|this|these|that|my|it)\b.*?\b(?:is|are|was|were|has|have|came out|looks?|seems?|got|went)\b(?P<how>.+)$"
)
_DEFECTS = {
    "brighten": r"too dark|underexposed|dim\b|low[- ]light|badly lit|poorly lit",
    "darken": r"overexposed|too bright|blown out|washed out",
    "deblur": r"out of focus|blurr|smeared|camera shake|shaky|soft\b|unsharp",
    "denoise": r"nois|grain",
    "dehaze": r"haz[ey]|fog|mist|smog",
    "restore": r"scratch|damaged|torn|compress|faded",
    "level": r"tilted|crooked|slanted|skewed",
}


def read_defect(clause: str) -> str | None:
    """The operation that repairs a stated defect ('The photo is too dark'); '' for any other statement.

    None if the clause is not a statement.
    """
    match = _STATEMENT.match(clause)
    if match is None or re.search(r"\b(?:should|could|must|would|can)\b", clause):
        return None
    return next((name for name, words_ in _DEFECTS.items() if re.search(words_, match["how"])), "")
