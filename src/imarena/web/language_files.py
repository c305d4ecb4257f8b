"""Languages of the rater's pages: one JSON file per language, built in or added to the workspace by a lead.

A lead adds a language as the file `languages/CODE.json` in the workspace folder. A text missing from the file is shown
in English; a key that English does not have is an error, because it is probably a typo.
"""

import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imarena.core import UserError

BUILT_IN = Path(__file__).parent / "languages"
FOLDER = "languages"
"""Workspace folder in which a lead stores added languages."""
_CODE = re.compile(r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")
_LARGEST_BYTES = 1_000_000
_PLURALS = frozenset({"zero", "one", "two", "few", "many", "other"})
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
log = logging.getLogger("imarena.web")


@dataclass(frozen=True, slots=True)
class Language:
    """The texts of one language."""

    code: str
    name: str
    """In the language itself, such as 'Deutsch'."""
    texts: dict[str, Any]
    missing: tuple[str, ...]
    """Keys of English texts that are missing, such as 'vote.left'."""


def read_languages(workspace: Path | None = None) -> dict[str, Language]:
    """All languages by code: the built-in ones, and the workspace's, which replace built-in ones."""
    english = _texts_of(BUILT_IN / "en.json")
    files = sorted(BUILT_IN.glob("*.json"))
    if workspace is not None:
        files += sorted((workspace / FOLDER).glob("*.json"))
    languages = {path.stem: _language(path, english) for path in files}
    for language in languages.values():
        if language.missing:
            log.warning(
                "The language %s lacks %d texts, which are shown in English: %s",
                language.code, len(language.missing), ", ".join(language.missing[:5]),
            )  # fmt: skip
    return languages


def language_pages(languages: dict[str, Language]) -> dict[str, tuple[bytes, str]]:
    """The language files by the path from which the pages request them."""
    return {
        f"/{FOLDER}/{language.code}.json": (
            json.dumps(language.texts, ensure_ascii=False, indent=2).encode(),
            "application/json",
        )
        for language in languages.values()
    }


def _texts_of(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _LARGEST_BYTES:
        raise UserError(f"{path} is larger than a language file can be.", hint="Start from languages/en.json.")
    try:
        texts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not a JSON file in UTF-8: {error}", hint="Start from languages/en.json.") from error
    if not isinstance(texts, dict):
        raise UserError(f"{path} must hold one JSON object.", hint="Start from languages/en.json.")
    return texts


def _language(path: Path, english: dict[str, Any]) -> Language:
    if not _CODE.match(path.stem):
        problem = f"{path}: {path.stem!r} is not a language code."
        raise UserError(problem, hint="Name the file like fr.json or pt-BR.json.")
    texts = _texts_of(path)
    missing, wrong = compare_texts(english, texts)
    if wrong:
        raise UserError(f"{path}: {wrong[0]}", hint="Compare the file with languages/en.json.")
    if "name" in missing:
        raise UserError(f"{path} has no name.", hint='Add the name of the language, such as "name": "Français".')
    return Language(path.stem, str(texts["name"]), texts, tuple(missing))


def compare_texts(english: Any, texts: Any, key: str = "") -> tuple[list[str], list[str]]:
    """The missing keys of a language, and the errors in its existing ones."""
    if isinstance(english, str):
        return [], [] if isinstance(texts, str) else [f"{key} must be a text."]
    if not isinstance(texts, dict):
        return [], [f"{key} must be an object."]
    if "other" in english and set(english) <= _PLURALS:
        return [], _wrong_forms(english, texts, key)
    missing: list[str] = []
    wrong = [f"there is no text with the key {_below(key, name)}." for name in texts if name not in english]
    for name, text in english.items():
        if name not in texts:
            missing += _keys_of(text, _below(key, name))
            continue
        gaps, faults = compare_texts(text, texts[name], _below(key, name))
        missing += gaps
        wrong += faults
        if isinstance(text, str) and isinstance(texts[name], str):
            wrong += _wrong_placeholders(text, texts[name], _below(key, name))
    return missing, wrong


def _wrong_forms(english: dict[str, Any], texts: dict[str, Any], key: str) -> list[str]:
    if "other" not in texts:
        return [f"{key} needs the plural form 'other'."]
    wrong = [f"{key}: {form!r} is not a plural form." for form in texts if form not in _PLURALS]
    wrong += [f"{key}.{form} must be a text." for form in texts if not isinstance(texts[form], str)]
    if not wrong:
        for form, text in texts.items():
            wrong += _wrong_placeholders(english["other"], text, f"{key}.{form}")
    return wrong


def _wrong_placeholders(english: str, text: str, key: str) -> list[str]:
    unknown = set(_PLACEHOLDER.findall(text)) - set(_PLACEHOLDER.findall(english))
    return [f"{key}: the placeholder {{{min(unknown)}}} does not exist there."] if unknown else []


def _below(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _keys_of(text: Any, key: str) -> list[str]:
    if not isinstance(text, dict) or ("other" in text and set(text) <= _PLURALS):
        return [key]
    return [inner for name, value in text.items() for inner in _keys_of(value, _below(key, name))]
