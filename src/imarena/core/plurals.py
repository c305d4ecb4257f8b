"""A number and its noun in the correct form: 1 rater, 2 raters, 3 replies."""

from collections.abc import Sequence

_IRREGULAR = {
    "person": "people",
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "stands": "stand",
    "holds": "hold",
}


def plural(noun: str, number: float) -> str:
    """Return the noun in the form for this number: `reply` and 2 give `replies`. Only the last word changes."""
    if number == 1:
        return noun
    *before, last = noun.split(" ")
    return " ".join([*before, _many(last)])


def counted(number: int, noun: str) -> str:
    """Return number and noun, with commas in the number: `1 rater`, `1,200 battles`."""
    return f"{number:,} {plural(noun, number)}"


def _many(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def missing_text(noun: str, names: Sequence[str]) -> str:
    """Return `the column key is missing` or `the columns key and editor are missing`. `names`: one or more."""
    joined = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"the {plural(noun, len(names))} {joined} {plural('is', len(names))} missing"
