"""Warnings of one kind about many groups are a few lines."""

from imarena.core.notices import Notice, grouped_sentences


def undefined(group: str, reason: str = "no variation") -> Notice:
    return Notice(code="alpha_undefined", values={"group": group, "reason": reason})


def test_groups_with_the_same_words_share_a_line() -> None:
    notices = [undefined(f"SC, m{n}") for n in range(136)]
    assert grouped_sentences(notices, "report") == [
        "136 groups (SC, m0; SC, m1; SC, m2 and 133 more): alpha is undefined: no variation"
    ]
    assert grouped_sentences(notices[:1]) == ["SC, m0: alpha is undefined: no variation"]


def test_of_one_kind_the_first_are_printed_and_the_rest_counted() -> None:
    notices = [undefined("a", f"reason {n}") for n in range(9)]
    texts = grouped_sentences([*notices, Notice(code="reliability_free")])
    assert texts[:3] == [f"a: alpha is undefined: reason {n}" for n in range(3)]
    assert texts[3] == "6 more warnings of this kind; the command prints all."
    assert len(texts) == 5
