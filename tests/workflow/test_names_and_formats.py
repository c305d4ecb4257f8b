"""What a user meets first: lists of names, and a forgotten word."""

from tests.command import Imarena


def test_judges_are_listed_without_a_workspace(imarena: Imarena) -> None:
    told = imarena("judge", "--list", "--json").json
    assert told["builtin"].endswith("(judge, battle; needs nothing)")
    assert told["genarena"].endswith("(battle; needs an endpoint)")
    assert "function:MODULE:NAME" in imarena("battle", "--list").out


def test_a_forgotten_format_is_asked_for(imarena: Imarena) -> None:
    ended = imarena("import", "some/folder", code=2)
    assert "In which format is some/folder?" in ended.err
    assert "imarena import FORMAT some/folder" in ended.err


def test_formats_say_which_are_written(imarena: Imarena) -> None:
    assert "Written by `imarena export` too: genarena, native," in imarena("import", "--list").out


def test_agree_says_where_votes_on_pairs_belong(imarena: Imarena) -> None:
    (imarena.folder / "votes.csv").write_text("item,left,right,winner,rater\nx,a,b,left,ann\n")
    ended = imarena("agree", "--from", "votes.csv", code=2)
    assert "imarena campaign status NAME" in ended.err
    (imarena.folder / "ratings.csv").write_text("unit,rater,score\nx,ann,3\n")
    ended = imarena("agree", "--from", "ratings.csv", code=2)
    assert "no column 'value'" in ended.err
    assert "--columns" not in ended.err
