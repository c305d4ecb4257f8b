"""Lists of names, and the hint about a name that is not known."""

import pytest

from imarena.core import UnknownName, split_names, suggestion, unknown_name


@pytest.mark.parametrize(
    ("name", "known", "listed", "hint"),
    [
        ("buildin", ["chat", "builtin"], None, "Did you mean 'builtin'? Known: builtin, chat."),
        ("zzz", ["chat", "builtin"], None, "Known: builtin, chat."),
        ("tie", ["TIG", "TIE"], "", "Did you mean 'TIE'?"),
        ("zzz", ["TIG"], "", ""),
        ("chatt", ["chat"], "It has: chat.", "Did you mean 'chat'? It has: chat."),
        ("gpt4o", ["gpt4v_1shot", "gpt4o_0shot"], "", "Did you mean 'gpt4o_0shot'?"),
        ("any", [], None, "Known: none."),
    ],
)
def test_the_nearest_name_comes_before_the_list(name: str, known: list[str], listed: str | None, hint: str) -> None:
    assert suggestion(name, known, listed) == hint


def test_the_error_about_an_unknown_name_suggests_and_lists() -> None:
    error = unknown_name("There is no executor called", "thread", ("threads", "auto"))
    assert isinstance(error, UnknownName)
    assert str(error) == "There is no executor called 'thread'.\nDid you mean 'threads'? Known: threads, auto."
    assert str(unknown_name("No model", "x", {"b", "a"})) == "No model 'x'.\nKnown: a, b."
    assert str(unknown_name("No model", "x", [])) == "No model 'x'.\nKnown: none."


def test_names_come_one_by_one_or_with_commas_and_may_contain_one() -> None:
    known = ("ash", "elm", "oak, red")
    assert split_names(("ash,elm",), known) == ("ash", "elm")
    assert split_names(("ash", "elm, ash"), known) == ("ash", "elm")
    assert split_names(("oak, red", "ash"), known) == ("oak, red", "ash")
    assert split_names((), known) == ()
