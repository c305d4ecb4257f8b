"""What a user meets first: lists of names, and a forgotten word."""

from pathlib import Path

import pytest

from imarena.core.errors import UserError
from imarena.core.records import Campaign, Item, Output, Status, Turn
from imarena.ranking.options import CLUSTERS, INTERVALS, METHODS, RELIABILITIES
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.rating.campaigns import get_campaign
from tests.command import Imarena
from tests.samples import item, judgment, kept, output


def test_judges_are_listed_without_a_workspace(imarena: Imarena) -> None:
    told = imarena("judge", "--list", "--json").json
    assert told["builtin"].endswith("(judge, battle; needs nothing)")
    assert told["genarena"].endswith("(battle; needs an endpoint)")
    assert "function:MODULE:NAME" in imarena("battle", "--list").out


def test_a_forgotten_format_is_asked_for(imarena: Imarena) -> None:
    ended = imarena("import", "some/folder", code=2)
    assert "In which format is some/folder?" in ended.err
    assert "imarena import FORMAT some/folder" in ended.err


def test_plain_folders_are_called_table(imarena: Imarena) -> None:
    assert "imarena import table items.csv" in imarena("import", "folder", "items.csv", code=2).err


def test_formats_say_which_are_written(imarena: Imarena) -> None:
    assert "Written by `imarena export` too: genarena, native," in imarena("import", "--list").out


def test_an_export_is_partial_only_where_the_format_has_a_place_for_what_is_left_out(imarena: Imarena) -> None:
    one = item("one")
    with init_workspace(imarena.folder / "arena") as workspace:
        pictures = [kept(workspace, seed) for seed in range(2)]
        made = [Output(item_id=one.item_id, editor=f"e{n}", image=picture) for n, picture in enumerate(pictures)]
        workspace.store.add([one, *made, *(judgment(each, None, f"work_{each.editor}") for each in made)])
    told = imarena("-w", "arena", "export", "table", "written").out
    assert "judgments: 2 are not part of this format" in told
    assert "left out" not in told
    with open_workspace(imarena.folder / "arena") as workspace:
        turns = (Turn(instruction="one"), Turn(instruction="two"))
        workspace.store.add([Item(dataset="test", key="long", turns=turns)])
    ended = imarena("-w", "arena", "--json", "export", "table", "again", code=3).json
    assert [skip["row"] for skip in ended["skipped"]] == ["item long"]
    assert len(ended["not_in_format"]) == 1


def test_agree_says_what_votes_on_pairs_lack(imarena: Imarena) -> None:
    (imarena.folder / "votes.csv").write_text("item,left,right,winner\nx,a,b,left\n")
    ended = imarena("agree", "--from", "votes.csv", code=2)
    assert "without a column 'rater'" in ended.err
    assert "imarena rank --from votes.csv" in ended.err
    (imarena.folder / "ratings.csv").write_text("unit,rater,mark\nx,ann,3\n")
    ended = imarena("agree", "--from", "ratings.csv", code=2)
    assert "no column 'value'" in ended.err
    assert "value (rating, score)" in ended.err, "other accepted names"
    assert "--columns value=NAME" in ended.err


def test_two_campaigns_of_one_name_are_told_apart_by_id(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        for identity in ("campaign_1", "campaign_2"):
            workspace.store.put(Campaign(campaign_id=identity, name="Pilot", kind="preference"))
        with pytest.raises(UserError, match="2 campaigns are called 'Pilot'") as raised:
            get_campaign(workspace, "Pilot")
        assert "campaign_1, campaign_2" in str(raised.value)
        assert get_campaign(workspace, "campaign_2").campaign_id == "campaign_2"


def test_an_unknown_export_format_lists_all_and_the_way_to_csv(imarena: Imarena) -> None:
    imarena("init", "arena")
    ended = imarena("-w", "arena", "export", "csv", "x", code=2)
    assert "There is no export format called 'csv'." in ended.err
    assert "table, scores." in ended.err
    assert "export scores FILE.csv" in ended.err
    assert "Did you mean 'scores'?" in imarena("-w", "arena", "export", "score", "x", code=2).err
    assert "There is no import format called 'tabel'." in imarena("-w", "arena", "import", "tabel", "x", code=2).err


def test_an_unknown_key_gets_a_suggestion_and_the_command_that_lists_them(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        workspace.store.add([item(f"key-{number:03}") for number in range(100)])
    ended = imarena("-w", "arena", "edit", "-e", "classical", "-i", "key-0007", code=2)
    assert "There is no key called 'key-0007'." in ended.err
    assert "Did you mean 'key-007'?" in ended.err
    assert "The workspace has 100 keys: `imarena -w arena status --items` lists them." in ended.err
    assert "key-050" not in ended.err


@pytest.mark.parametrize("command", ["judge", "edit"])
def test_a_file_after_check_is_explained(imarena: Imarena, command: str) -> None:
    ended = imarena(command, "--check", "mine/brightness.py", code=2)
    assert "--check takes MODULE:NAME, not the file 'mine/brightness.py'." in ended.err
    assert f"cd mine && PYTHONPATH=. imarena {command} --check brightness:NAME" in ended.err
    assert "viescore" not in ended.err
    assert "--check brightness:rate" in imarena(command, "--check", "brightness.py:rate", code=2).err


def test_failures_of_an_import_are_not_said_to_be_retried(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        one = item()
        left, right = output(one, "a"), output(one, "b")
        refused = judgment(left, right, "w").model_copy(update={"status": Status.REFUSED, "preference": None})
        workspace.store.add([one, left, right, refused])
    found = imarena("-w", "arena", "--json", "status").json
    assert found["missing"] == {}
    assert found["imported_failures"] == {"judgments refused": 1}
    printed = imarena("-w", "arena", "status").out
    assert "imported without a verdict: not retried" in printed
    assert "retries them" not in printed


def test_closed_sets_of_an_option_are_shown_and_true(imarena: Imarena) -> None:
    listed = " ".join(imarena("rank", "--help").out.split())
    for name, known in (
        ("method", METHODS),
        ("interval", INTERVALS),
        ("cluster", CLUSTERS),
        ("reliability", RELIABILITIES),
    ):
        assert f"--{name} <{'|'.join(known)}>" in listed
    for name in ("source", "both-bad", "missing", "executor", "kind"):
        assert f"--{name} <" in listed
    assert "--orders <both|single|paper-compat>" in imarena("battle", "--help").out
    assert "FORMAT [PATH]" in imarena("import", "--help").out.replace("[FORMAT]", "FORMAT")
