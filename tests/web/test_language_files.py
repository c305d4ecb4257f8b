"""The languages of the rater's pages: what is built in is whole, and a lead's file is read and checked."""

import json
from pathlib import Path
from typing import Any

import pytest

from imarena.core.errors import UserError
from imarena.routing import forms
from imarena.web.language_files import BUILT_IN, FOLDER, compare_texts, language_pages, read_languages


def english() -> dict[str, Any]:
    return dict(json.loads((BUILT_IN / "en.json").read_text(encoding="utf-8")))


def added(root: Path, name: str, text: str) -> Path:
    (root / FOLDER).mkdir(exist_ok=True)
    (root / FOLDER / name).write_text(text, encoding="utf-8")
    return root


def test_the_built_in_languages_are_whole() -> None:
    languages = read_languages()
    assert {"en", "zh"} <= set(languages)
    assert [language.missing for language in languages.values()] == [()] * len(languages)


def test_english_asks_what_the_forms_ask() -> None:
    """The pages take the questions from the language file, the sheets and exports from the forms: they must not drift."""
    texts, asked = english()["forms"], forms()
    assert texts["questions"] == dict(asked.questions)
    for name, questions in (("criteria", asked.criteria), ("checks", asked.checks)):
        assert set(texts[name]) == {question.name for question in questions}
        for question in questions:
            shown = texts[name][question.name]
            assert (shown["label"], shown["question"]) == (question.label, question.question)
            assert shown.get("anchors", {}) == {str(value): text for value, text in question.anchors.items()}


def test_a_language_of_the_workspace_is_served(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    texts = {"name": "Deutsch", "vote": {"tie": "Gleich gut", "progress": {"other": "{count} Antworten"}}}
    languages = read_languages(added(tmp_path, "de.json", json.dumps(texts)))
    assert languages["de"].name == "Deutsch"
    assert "vote.left" in languages["de"].missing
    assert "vote.tie" not in languages["de"].missing
    assert "de lacks" in caplog.text
    data, kind = language_pages(languages)["/languages/de.json"]
    assert (json.loads(data), kind) == (texts, "application/json")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("de.json", "{", "is not a JSON file"),
        ("de.json", "[]", "one JSON object"),
        ("german language.json", '{"name": "Deutsch"}', "is not a language code"),
        ("de.json", '{"vote": {}}', "has no name"),
        ("de.json", '{"name": "Deutsch", "vote": {"ties": "x"}}', "no text with the key vote.ties"),
        ("de.json", '{"name": "Deutsch", "vote": {"tie": 3}}', "vote.tie must be a text"),
        ("de.json", '{"name": "Deutsch", "vote": {"progress": {"one": "x"}}}', "needs the plural form 'other'"),
        ("de.json", '{"name": "Deutsch", "vote": {"toGo": "{number} noch"}}', "the placeholder {number}"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message.replace("{", r"\{").replace("}", r"\}")):
        read_languages(added(tmp_path, name, text))


def test_english_is_compared_with_itself() -> None:
    assert compare_texts(english(), english()) == ([], [])
    assert compare_texts(english(), {})[0].count("vote.reasons.other") == 1
