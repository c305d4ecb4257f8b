"""What `rank` says beside a board: what it is made from, what else there is, and who is not on it."""

from pathlib import Path

import pytest

from imarena.core.records import Item, Judgment, Output, Rater, Status
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.workflows.boards import Boards, all_boards
from imarena.workflows.boards.findings import FEW_VOTES
from imarena.workflows.views import View
from tests.command import ROOT, Imarena
from tests.samples import item, judgment, kept, vote
from tests.small_data.small_arena import make_arena, write_folders

EDITORS = ("alpha", "beta", "new")


def _shown(workspace: Workspace, count: int) -> list[tuple[Item, dict[str, Output]]]:
    """Items with an output of each editor, all of them different pictures."""
    made = []
    for number in range(count):
        one = item(f"item-{number}")
        seeds = enumerate(EDITORS, 10 * number)
        outputs = {name: Output(item_id=one.item_id, editor=name, image=kept(workspace, seed)) for seed, name in seeds}
        workspace.store.add([one, *outputs.values()])
        made.append((one, outputs))
    return made


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Two editors with scores of one judge, and a third with outputs that nobody has looked at."""
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        for number, (_, outputs) in enumerate(_shown(workspace, 4)):
            for name, score in (("alpha", 700.0), ("beta", 400.0 + number)):
                said = judgment(outputs[name], None, f"{name}-{number}")
                workspace.store.add([said.model_copy(update={"judge": "mood/some-model", "score": score})])
    return root


def _vote(root: Path, count: int) -> None:
    with open_workspace(root) as workspace:
        rater = Rater(rater_id="ann", role="rater")
        outputs = {(one.item_id, one.editor): one for one in workspace.store.records(Output)}
        items = [one.item_id for one in workspace.store.records(Item)]
        workspace.store.add([rater])
        for number in range(count):
            at = items[number % len(items)]
            workspace.store.add([vote(rater, outputs[at, "alpha"], outputs[at, "beta"], key=str(number))])


def test_an_editor_that_is_not_on_the_board_is_named_with_the_command_that_adds_it(
    imarena: Imarena, arena: Path
) -> None:
    ended = imarena("-w", "w", "rank", "--rounds", 20)
    assert "`imarena -w w judge --judge mood --editors new`" in ended.err
    with open_workspace(arena) as workspace:
        (made,) = all_boards(Boards(View(workspace)))
    (told,) = [notice.values for notice in made.ranking.notices if notice.code == "absent_editors"]
    assert (told["models"], told["people"]) == (["new"], False)


def test_a_board_says_what_it_is_made_from_and_what_else_there_is(imarena: Imarena, arena: Path) -> None:
    before = imarena("-w", "w", "--json", "rank", "--rounds", 20).json
    assert "beside" not in before["settings"]
    _vote(arena, 1)
    judged = imarena("-w", "w", "--json", "rank", "--rounds", 20).json
    assert judged["settings"]["verdicts"] == "judge mood/some-model", "one vote replaces no board of a judge"
    assert judged["settings"]["beside"] == "1 vote of people (--source people)"
    asked = imarena("-w", "w", "--json", "rank", "--rounds", 20, "--source", "people").json
    assert (asked["settings"]["verdicts"], asked["n_battles"]) == ("people", 1)
    assert asked["settings"]["beside"] == "8 verdicts of judge mood/some-model (--judge mood/some-model)"
    told = {notice["code"]: notice["values"] for notice in asked["notices"]}
    assert "few_votes" not in told, "who asked for the votes knows"
    assert told["absent_editors"]["command"] == "imarena -w w campaign create NAME"
    (arena / "imarena.toml").write_text('[board]\nsource = "people"\n', encoding="utf-8")
    chosen = imarena("-w", "w", "--json", "rank", "--rounds", 20).json
    assert {"code": "few_votes", "values": {"votes": 1, "judges": True}} in chosen["notices"]
    assert "human (or people)" in imarena("-w", "w", "rank", "--source", "peple", code=2).err


def test_a_board_of_two_kinds_of_verdicts_says_so(imarena: Imarena, arena: Path) -> None:
    assert "4 battles (all by scores) ·" in imarena("-w", "w", "rank", "--rounds", 20).out
    with open_workspace(arena) as workspace:
        outputs = {(one.item_id, one.editor): one for one in workspace.store.records(Output)}
        for number, one in enumerate(workspace.store.records(Item)):
            left, right, new = (outputs[one.item_id, name] for name in EDITORS)
            said = [judgment(left, right, f"battle-{number}"), judgment(new, None, f"new-{number}")]
            workspace.store.add([verdict.model_copy(update={"judge": "mood/some-model"}) for verdict in said])
    ended = imarena("-w", "w", "rank", "--rounds", 20)
    assert "12 battles (8 by scores) ·" in ended.out
    assert "`imarena -w w battle --judge mood --sampler new-model:new`" in ended.err
    notices = imarena("-w", "w", "--json", "rank", "--rounds", 20).json["notices"]
    assert [notice["values"]["models"] for notice in notices if notice["code"] == "scored_only"] == [["new"]]


def test_many_votes_need_no_warning(imarena: Imarena, arena: Path) -> None:
    (arena / "imarena.toml").write_text('[board]\nsource = "people"\n', encoding="utf-8")
    _vote(arena, FEW_VOTES)
    board = imarena("-w", "w", "--json", "rank", "--rounds", 20).json
    assert board["settings"]["verdicts"] == "people"
    assert "few_votes" not in {notice["code"] for notice in board["notices"]}


def test_a_judge_without_one_usable_answer_is_told(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "w") as workspace:
        for number, (_, outputs) in enumerate(_shown(workspace, 2)):
            said = judgment(outputs["alpha"], None, str(number))
            refused: Judgment = said.model_copy(update={"status": Status.REFUSED, "score": None, "attempt": 0})
            again = refused.model_copy(update={"attempt": 1})
            workspace.store.add([refused, again])
    told = imarena("-w", "w", "rank", code=2).err
    assert "test-judge was asked 2 questions without one usable answer (2 refused)" in told
    assert "again" in told


def test_the_readme_leads_a_new_model_onto_both_boards(imarena: Imarena, tmp_path: Path) -> None:
    make_arena(tmp_path / "imarena-demo", items=2, habits=("exact", "artefacts"))
    write_folders(tmp_path / "imarena-demo", tmp_path / "made")
    (tmp_path / "outputs").mkdir()
    (tmp_path / "made" / "outputs" / "studio-exact").rename(tmp_path / "outputs" / "new")
    for verb in ("judge", "battle"):
        imarena("-w", "imarena-demo", verb)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    told = text[text.index("**A new model for an arena") : text.index("**Your own benchmark")]
    commands = [line.split("#")[0].split()[1:] for line in told.splitlines() if line.startswith("imarena ")]
    assert [words[2] for words in commands] == ["edit", "judge", "battle", "rank", "report"]
    board = [imarena(*words) for words in commands][3]
    assert " new " in board.out
    assert "not on this board" not in board.err
    page = (tmp_path / "imarena-demo" / "report.html").read_text(encoding="utf-8")
    headed = {part.split(">", 1)[1].split("<", 1)[0]: part for part in page.split("<h2 ")[1:]}
    boards_of = {f"Leaderboard: {kind} the judge builtin" for kind in ("scores of", "pairs compared by")}
    assert boards_of <= headed.keys()
    assert all(">new<" in headed[title] for title in boards_of)
