"""``imarena site``: its numbers are those of `rank`, its filter is that of `publish`, its bytes are always the same."""

import html
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Item, Judgment, Origin, Outcome, Output, Turn
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import item, judgment, output
from tests.small_data.site_arena import EDITORS, RATER, fill_site_arena


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the workspace `a` and its site `out`."""
    folder = tmp_path_factory.mktemp("site")
    fill_site_arena(folder / "a")
    report = Imarena(folder)("-w", "a", "--json", "site", "out").json
    assert report["images_left_out"] == {"no licence is stated": 3 + 3 * 3}
    assert (report["models"], report["battles"]) == (3, 36)
    return folder


def standings(page: Path) -> list[list[str]]:
    """The rows of the standings as a reader sees them."""
    table = page.read_text(encoding="utf-8").split('<table id="standings">')[1].split("</table>")[0]
    rows = re.findall(r"<tr data-name.*?</tr>", table, flags=re.DOTALL)
    cells = [re.findall(r"<(?:td|th)[^>]*>(.*?)</(?:td|th)>", row, flags=re.DOTALL) for row in rows]
    return [[html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in row] for row in cells]


def parts(folder: Path) -> list[tuple[list[Any], list[Any]]]:
    """The data of the battle explorer."""
    files = sorted((folder / "data").glob("battles-*.js"))
    return [tuple(json.loads(path.read_text().split(",", 1)[1].rstrip(";\n)"))) for path in files]


@pytest.mark.parametrize(
    ("page", "options"),
    [
        ("index.html", ()),
        ("boards/verdicts-of-people.html", ("--source", "people")),
        ("boards/verdicts-of-people-task-colour.html", ("--source", "people", "--by", "task")),
    ],
)
def test_every_number_is_the_one_that_rank_prints(made: Path, page: str, options: tuple[str, ...]) -> None:
    document = Imarena(made)("-w", "a", "--json", "rank", *options).json
    board = document if "models" in document else next(b for b in document["boards"] if b["scope"]["task"] == "colour")
    shown = standings(made / "out" / page)
    assert len(shown) == len(board["models"]) == 3
    for row, model in zip(shown, board["models"], strict=True):
        rank, name, _, rating, interval, ranks, battles, won, lost, *more = row
        tied = more[0] if len(more) > 1 or model["ties"] else "0"
        assert name == model["model"].replace("\u202e", "\\u202e")
        assert (rank, rating) == (str(model["rank"]), f"{model['rating']:.1f}")
        low, high = (float(part) for part in interval.split(" to "))
        assert [low, high] == pytest.approx([model["low"], model["high"]], abs=0.5)
        assert ranks in (f"{model['rank_low']} to {model['rank_high']}", str(model["rank_low"]))
        counts = [model[name] for name in ("battles", "wins", "losses", "ties")]
        assert [float(battles), float(won), float(lost), float(tied)] == counts


def test_the_explorer_holds_the_verdicts_of_the_boards(made: Path) -> None:
    board = Imarena(made)("-w", "a", "--json", "rank").json
    names = [row["model"] for row in board["models"]]
    facts = json.loads((made / "out/data/site.js").read_text().removeprefix("imarenaSite.start(").rstrip(";\n)"))
    models = [name for name, _ in facts["models"]]
    assert sorted(models) == sorted(names)
    wins = dict.fromkeys(models, 0)
    for _, battles in parts(made / "out"):
        for _, left, right, _, _, verdicts in battles:
            for number, outcome, count in verdicts:
                if number == 0 and outcome < 2:
                    wins[models[(left, right)[outcome]]] += count
    assert wins == {row["model"]: row["wins"] for row in board["models"]}


def test_neighbouring_battles_are_of_different_items(made: Path) -> None:
    for items, battles in parts(made / "out"):
        first = [items[row[0]]["key"] for row in battles[: len({item["key"] for item in items})]]
        assert len(first) == len(set(first)) > 1
        pairs = {tuple(row[1:3]) for row in battles[: len(first)]}
        assert len(pairs) > 1


def test_a_page_has_an_axis_and_states_what_is_ranked(made: Path) -> None:
    page = (made / "out/index.html").read_text(encoding="utf-8")
    ticks = [float(text.replace(",", "")) for text in re.findall(r"<text x=[^>]*>([-\d,.]+)</text>", page)]
    steps = {after - before for before, after in pairwise(ticks)}
    assert len(steps) == 1, ticks
    stated = re.search(r"3 models ranked by .* on 12 items, newest verdict of \d{4}-\d\d-\d\d\.", page)
    assert stated is not None
    about = (made / "out/about.html").read_text(encoding="utf-8")
    opened = [int(number) for number in re.findall(r"opens (\d+) boards? of groups", about)]
    printed = Imarena(made)("-w", "a", "site", "counted").out
    assert f"and {sum(opened)} boards of groups of items." in " ".join(printed.split())


def test_the_explorer_tells_both_bad_from_a_tie(made: Path) -> None:
    """Raters answered `both bad` and never `tie`, the judge the other way round."""
    facts = json.loads((made / "out/data/site.js").read_text().removeprefix("imarenaSite.start(").rstrip(";\n)"))
    people = facts["boards"].index("verdicts of people")
    found = Counter(
        (number == people, outcome)
        for _, battles in parts(made / "out")
        for *_, verdicts in battles
        for number, outcome, _ in verdicts
        if outcome > 1 and number in (0, people)
    )
    assert found[True, 3] > 0 < found[False, 2]
    assert found[True, 2] == found[False, 3] == 0


def test_nothing_private_and_no_image_without_a_licence(made: Path) -> None:
    texts = [path.read_bytes().decode("latin-1") for path in (made / "out").rglob("*") if path.is_file()]
    everything = "\n".join(texts)
    for secret in (RATER, "Alice", "alice@example.org", "my cat died", "/home/someone", str(made)):
        assert secret not in everything, secret
    assert "author: A. Photographer" in everything, "licences ask for it"
    for items, battles in parts(made / "out"):
        for battle in battles:
            item = items[battle[0]]
            licensed = int(item["key"].removeprefix("item-")) % 4 != 3
            assert (battle[3] is not None) is (battle[4] is not None) is licensed
            assert all((image is not None) is licensed for _, image in item["inputs"])
    assert "12 images: no licence is stated" in (made / "out/about.html").read_text()


def test_hostile_names_are_text_everywhere(made: Path) -> None:
    for path in (made / "out").rglob("*"):
        if path.suffix in (".html", ".js"):
            text = path.read_text(encoding="utf-8")
            assert "<img src=x" not in text, path
            assert "\u202e" not in text, path
            if path.parent.name == "data":
                assert "<" not in text
    assert sorted(path.name for path in (made / "out/models").iterdir())[:2] == ["ash.html", "birch.html"]


def test_the_same_records_and_seed_give_the_same_bytes(made: Path) -> None:
    assert "state their licence: --licence CC-BY-4.0" in Imarena(made)("-w", "a", "site", "again").out
    one, other = (
        {path.relative_to(made / name): path.read_bytes() for path in (made / name).rglob("*") if path.is_file()}
        for name in ("out", "again")
    )
    assert one == other


def test_only_a_site_is_replaced(made: Path) -> None:
    imarena = Imarena(made)
    assert "--force replaces it" in imarena("-w", "a", "site", "out", code=2).err
    imarena("-w", "a", "site", "out", "--force", "--title", "Trees", "--licence", "CC0-1.0", "--by", "topic")
    assert "Trees" in (made / "out/index.html").read_text()
    assert (made / "out/boards/verdicts-of-people-topic-topic-0.html").is_file()
    assert "No image was left out." in (made / "out/about.html").read_text()
    (made / "mine").mkdir()
    (made / "mine/thesis.tex").write_text("x")
    assert "not empty" in imarena("-w", "a", "site", "mine", "--force", code=2).err
    assert "is not a licence" in imarena("-w", "a", "site", "x", "--licence", "mine", code=2).err


def test_a_model_page_has_the_numbers_of_rank(made: Path) -> None:
    shown = Imarena(made)("-w", "a", "rank", "--markdown").out
    cells = {row[1]: row for line in shown.splitlines() if (row := [cell.strip() for cell in line.split("|")[1:-1]])}
    page = (made / "out/models/ash.html").read_text(encoding="utf-8")
    place = re.findall(r"<td[^>]*>(.*?)</td>", page.split("<tbody>")[1].split("</tr>")[0])
    rank, _, rating, interval, ranks, battles, *_ = cells["ash"]
    assert [re.sub(r"<[^>]*>", "", cell) for cell in place][:5] == [rank, ranks, rating, interval, battles]


def test_a_site_without_images_says_so(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "w") as workspace:
        for number in range(3):
            asked = Item(dataset="d", key=f"i{number}", task="t", turns=(Turn(instruction="draw a cat"),))
            workspace.store.add([asked])
            for editor, score in (("one", 300.0), ("two", 600.0)):
                origin = Origin(source="elsewhere", row=f"{number}{editor}")
                output = Output(item_id=asked.item_id, editor=editor, origin=origin)
                judged = Judgment(
                    work_id=output.output_id, judge="j", item_id=asked.item_id, left_id=output.output_id, score=score
                )
                workspace.store.add([output])
                workspace.store.add([judged])
    imarena("-w", "w", "site", "out")
    about = (tmp_path / "out/about.html").read_text()
    assert "This site has no images: the items and outputs of these battles are stored without images." in about
    assert "left out" not in about
    assert "Images are copies" not in about


def test_a_workspace_without_verdicts_has_no_site(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "empty")
    ended = imarena("-w", "empty", "site", "out", code=2)
    assert "no board" in ended.err
    assert "imarena -w empty import" in ended.err
    assert not (tmp_path / "out").exists()


def test_open_campaigns_are_reported(imarena: Imarena, tmp_path: Path) -> None:
    from imarena.core.records import Campaign
    from imarena.storage import open_workspace

    fill_site_arena(tmp_path / "a", items=4, editors=EDITORS[:2])
    with open_workspace(tmp_path / "a") as workspace:
        workspace.store.put(Campaign(campaign_id="c", name="spring", kind="preference"))
    assert "still open ('spring')" in imarena("-w", "a", "site", "out").err


def test_scores_and_battles_that_agree_are_two_boards(imarena: Imarena, tmp_path: Path) -> None:
    """The first board has the name of the verdicts that it is made from."""
    with init_workspace(tmp_path / "w") as workspace:
        for number in range(6):
            asked = item(f"i{number}")
            left, right = (output(asked, editor) for editor in ("one", "two"))
            scores = (judgment(one, None, f"{one.output_id}").model_copy(update={"score": score}) for one, score in
                      ((left, 600.0 - 500 * (number > 3)), (right, 300.0)))  # fmt: skip
            preferred = Outcome.RIGHT if number > 3 else Outcome.LEFT
            workspace.store.add([asked])
            workspace.store.add([left, right])
            workspace.store.add([*scores, judgment(left, right, f"pair {number}", preferred)])
    assert imarena("-w", "w", "--json", "site", "out").json["boards"] == 2
    assert "<h1>Leaderboard: pairs compared by the judge test-judge" in (tmp_path / "out/index.html").read_text()
    imarena("-w", "w", "report", "report.html")
    first = re.findall(r"<h2[^>]*>(.*?)</h2>", (tmp_path / "report.html").read_text())
    assert any("pairs compared by the judge test-judge" in title for title in first[:3]), first
