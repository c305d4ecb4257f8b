"""Mistakes in settings and options: our sentences, never those of pydantic."""

from pathlib import Path

import pytest

from tests.command import Imarena

PYDANTIC = ("Input should", "Extra inputs", "Field required", "unable to parse", "validation error", "pydantic")

WRONG = {
    "an extra key": ('nam = "x"\n', ["there is no field 'nam'", "Did you mean 'name'?"]),
    "a word for a number": ("[cache]\ncap_mb = 'big'\n", ["cache.cap_mb is 'big', and must be a whole number"]),
    "an extra key in a section": ("[cache]\ncap = 3\n", ["there is no field 'cache.cap'", "Did you mean 'cap_mb'?"]),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_settings_file(imarena: Imarena, tmp_path: Path, kind: str) -> None:
    text, parts = WRONG[kind]
    imarena("init", "arena")
    (tmp_path / "arena" / "imarena.toml").write_text(text)
    check(imarena("-w", "arena", "status", code=2).err, ["imarena.toml", *parts])


def check(err: str, parts: list[str]) -> None:
    """The error has these parts, and no words of pydantic."""
    for part in parts:
        assert part in err, err
    for words in PYDANTIC:
        assert words not in err, err


def test_wrong_options_of_a_judge_and_an_editor(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "arena")
    (tmp_path / "outputs").mkdir()
    cases: list[tuple[list[str], list[str]]] = [
        (["judge", "--judge", "recorded"], ["The judge 'recorded' needs the option"]),
        (
            ["judge", "--judge", "viescore", "--base-url", "http://localhost:1/v1", "--model", "m", "-o", "tsk=1"],
            ["there is no field 'tsk'", "Known:"],
        ),
    ]
    for words, parts in cases:
        check(imarena("-w", "arena", *words, code=2).err, parts)


def test_a_wrong_plan_of_a_campaign(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "arena")
    (tmp_path / "more.json").write_text('{"guidelnes": {"en": "x"}}')
    ended = imarena("-w", "arena", "campaign", "create", "a", "--settings", "more.json", code=2)
    check(ended.err, ["there is no field 'guidelnes'", "Did you mean 'guidelines'?"])
    ended = imarena("-w", "arena", "campaign", "create", "a", "--adjudication", "of", code=2)
    check(ended.err, ["adjudication"])


def test_a_row_with_a_wrong_value(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "arena")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "items.csv").write_text("key,instruction\na,draw a cat\n")
    header = "key,editor,file,status,sample\n"
    (tmp_path / "bench" / "outputs.csv").write_text(f'{header}a,old,,refused,"""x"""\na,new,,failed,0\n')
    ended = imarena("-w", "arena", "import", "table", "bench", code=3)
    check(ended.out + ended.err, ["sample must be a whole number", "status must be 'ok'"])


def test_a_prompt_file(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "arena")
    (tmp_path / "list.yaml").write_text("questions: 3\n")
    words = ["--judge", "checklist", "-o", "questions=list.yaml", "--base-url", "http://localhost:1/v1", "--model", "m"]
    check(imarena("-w", "arena", "judge", *words, code=2).err, ["The checklist list.yaml is not valid"])


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["judge", "--limit", "abc"], "the value is 'abc', and must be a whole number."),
        (["judge", "--limit", "0"], "the value is '0', and must be at least 1."),
        (["rank", "--level", "x"], "the value is 'x', and must be a number."),
        (["serve", "--port", "99999"], "must be at most 65535."),
        (["pvc", "pairs", "out", "--from", "metric"], "'metric' is not one of 'metrics', 'votes', 'judgments'."),
    ],
)
def test_wrong_values_of_options(imarena: Imarena, words: list[str], part: str) -> None:
    check(imarena(*words, code=2).err, [part])
