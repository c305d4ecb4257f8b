"""`imarena report`: one file, the same figures as the commands print, the same bytes each time."""

import re
from pathlib import Path

import pytest

from imarena.core.records import Issue, Item, Judgment, Output, Rater, Turn, Vote
from imarena.images import describe_image
from imarena.storage import init_workspace, open_workspace
from tests.command import Imarena
from tests.workflow.reporting.test_report_command import picture

pytestmark = pytest.mark.slow
EDITORS = ("good", "fair", "poor")
MARKS = {"good": 0.9, "fair": 0.6, "poor": 0.2}
ITEMS = 12
PSEUDONYMS = {"ann": "rater 1", "bob": "rater 2"}
DATE = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three editors, two raters who rate and vote, two judges that score, two tasks and topics."""
    root = tmp_path_factory.mktemp("file") / "w"
    with init_workspace(root) as workspace:
        workspace.store.add([Rater(rater_id=name) for name in ("ann", "bob")])
        for number in range(ITEMS):

            def keep(data: bytes) -> object:
                return workspace.keep(describe_image(data), data)

            item = Item(
                dataset="d", key=f"i{number}", task="TIE" if number % 2 else "TIG", taxonomy="imagenworld",
                topic="Artworks" if number % 3 else "Screenshots", subtopic=f"s{number % 4}", track=f"track {number % 2}",
                turns=(Turn(instruction="make it <b>red</b>"),), sources=(keep(picture(number)),),
            )  # fmt: skip
            workspace.store.add([item])
            made = []
            for place, editor in enumerate(EDITORS):
                output = Output(item_id=item.item_id, editor=editor, image=keep(picture(1000 + 10 * number + place)))
                workspace.store.add([output])
                made.append(output)
                for judge, step in (("robot", 37), ("critic", 91)):
                    score = 100 + 700 * MARKS[editor] + (number * step + place * 53) % 200
                    scored = Judgment(work_id=f"{judge}{output.output_id}", judge=judge, run_id="r1",
                                      item_id=item.item_id, left_id=output.output_id, score=score, judge_version="1")  # fmt: skip
                    workspace.store.add([scored])
                for rater in ("ann", "bob"):
                    mark = 1 + round(4 * MARKS[editor] - (number + place + len(rater) * (rater == "bob")) % 2)
                    box = (0.0, 0.0, 12.0, 16.0) if place == 2 else (0.0, 0.0, 24.0, 16.0)
                    issues = (
                        (Issue(kind="box", box=box), Issue(kind="other", note="the shadow is missing"))
                        if place
                        else (Issue(kind="none", label="segments"),)
                    )
                    given = Vote(rater_id=rater, item_id=item.item_id, left_id=output.output_id, issues=issues,
                                 ratings={"overall": mark}, scale=(1, 5), idempotency_key=f"{rater}{output.output_id}")  # fmt: skip
                    workspace.store.add([given])
            for rater in ("ann", "bob"):
                for left, right in ((0, 1), (1, 2), (0, 2)):
                    vote = Vote(
                        rater_id=rater, item_id=item.item_id, left_id=made[left].output_id,
                        right_id=made[right].output_id, idempotency_key=f"{rater}{number}{left}{right}",
                        preference="right" if (number + left) % 5 == 0 else "left",
                    )  # fmt: skip
                    workspace.store.add([vote])
    return root


@pytest.fixture(scope="module")
def folder(arena: Path) -> Path:
    Imarena(arena.parent)("-w", arena, "report", "out", "--gallery", 1)
    return arena.parent / "out"


def test_one_file_holds_everything_and_is_the_same_each_time(arena: Path) -> None:
    imarena = Imarena(arena.parent)
    first = imarena("-w", arena, "report")
    assert "report.html" in first.out
    page = (arena / "report.html").read_text()
    assert len(page) < 10_000_000
    assert re.findall(r'(?:src|href|srcset)="(?!data:image/jpeg;base64,|#)', page) == []
    assert "<script" not in page
    assert "make it &lt;b&gt;red&lt;/b&gt;" in page
    imarena("-w", arena, "report", "again.html")
    again = (arena.parent / "again.html").read_text()
    assert DATE.sub("", again) == DATE.sub("", page)


def test_a_folder_has_every_form_beside_the_page(folder: Path) -> None:
    names = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert {".html", ".md", ".tex", ".csv", ".png", ".svg"} <= names
    assert "\\begin{longtable}" in (folder / "report.tex").read_text()


def tables_of(text: str) -> list[str]:
    """The Markdown tables in a text, without what stands around them."""
    return [block.strip() for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]


@pytest.mark.parametrize(
    "words",
    [
        ("agree", "--leave-one-out"),
        ("agree", "--by", "model"),
        ("agree", "--by", "task"),
        ("align", "--leave-one-out", "--pairs"),
        ("align", "--by", "task"),
        ("rank",),
    ],
)
def test_every_table_is_the_table_that_the_command_prints(arena: Path, folder: Path, words: tuple[str, ...]) -> None:
    printed = Imarena(arena.parent)("-w", arena, *words, "--markdown").out
    for name, number in PSEUDONYMS.items():  # the report names no rater
        printed = printed.replace(f"| {name} |", f"| {number} |")
    shown = tables_of((folder / "report.md").read_text())
    made = [
        table for table in tables_of(printed) if not (words[:2] == ("agree", "--by") and "| rater | ratings |" in table)
    ]
    assert made
    for table in made:
        assert table in shown, table


def test_a_report_names_no_rater_and_explains_codes(arena: Path, folder: Path) -> None:
    assert "| overall | ann |" in Imarena(arena.parent)("-w", arena, "agree", "--markdown").out
    files = [path.read_text() for path in folder.rglob("*") if path.suffix in (".html", ".md", ".tex", ".csv")]
    for text in files:
        assert not re.search(r"\b(ann|bob)\b", text)
    text = (folder / "report.md").read_text()
    assert "| overall | rater 1 |" in text
    by_task = text.split("by task\n", 1)[1].split("\n## ")[0]
    assert "TIG: text-guided image generation" in by_task
    assert "Spearman" in text.split("## Judges against people\n")[1].split("Command:")[0], "the conclusion first"


def test_boards_by_group_are_those_of_rank(arena: Path, folder: Path) -> None:
    text = (folder / "report.md").read_text()
    printed = 0
    for by in ("task", "topic", "track"):
        boards = Imarena(arena.parent)("--json", "-w", arena, "rank", "--by", by).json["boards"]
        for board in boards:
            value = board["scope"][by]
            for model in board["models"]:
                row = f"| {value} | {model['rank']} | {model['model']} | {model['rating']:.1f} |"
                enough = board["settings"]["units"] >= 6
                assert (row in text) == enough, row
                printed += enough
    assert printed
    assert "so few items cannot show a difference: " in text


def test_failure_modes_tell_who_found_them(folder: Path) -> None:
    text = (folder / "report.md").read_text()
    assert re.search(r"\| shadows \| raters' tags \| 24 \| 36 \| 66.7% \|.*\| ImagenWorld section 5.2 \|", text)
    assert "| new image | raters' tags | 0 | 36 | 0.0% | – | ImagenWorld figures 6 and 11 |" in text
    assert "24 empty and 24 full error masks are excluded." in text


def test_papers_appear_where_the_data_allow_and_as_a_sentence_where_not(folder: Path) -> None:
    text = (folder / "report.md").read_text()
    for paper in ("CV-Arena", "GenArena", "ImagenWorld"):
        assert f"## Tables and figures of {paper}\n" in text
    for title in ("Table 3. Top of the board", "Table 2. Leaderboard by track", "Appendix A.5. Five contrasts",
                  "Table 6. Accuracy with people by track", "Table 5. Human overall by task and topic"):  # fmt: skip
        assert title in text, title
    assert "video is out of scope" in text
    assert f"imarena -w {folder.parent / 'w'} agent-ablation EDITOR" in text


def test_what_changed_and_how_much_of_it_is_the_judge(arena: Path, tmp_path: Path) -> None:
    imarena = Imarena(tmp_path)
    other = tmp_path / "later"
    imarena("-w", arena, "backup", tmp_path / "kept")
    imarena("-w", other, "restore", tmp_path / "kept")
    with open_workspace(other) as workspace:
        for output in list(workspace.store.records(Output)):
            score = 500 - 400 * MARKS[str(output.editor)]  # the judge turns round; nothing else changes
            newer = Judgment(work_id=f"new{output.output_id}", judge="robot", judge_version="2", run_id="r2",
                             item_id=output.item_id, left_id=output.output_id, score=score)  # fmt: skip
            workspace.store.add([newer])
    imarena("-w", other, "report", "new", "--judge", "robot", "--against", arena, "--gallery", 0)
    text = (tmp_path / "new" / "report.md").read_text()
    part = text[text.index("What changed since") :]
    assert "The judge changed" in part
    assert "36 pairs of outputs have a verdict on both boards; 36 (100.0%) changed." in part
    lines = [
        line.split(" | ") for line in part.partition("\n## ")[0].splitlines() if re.match(r"\| (good|fair|poor) ", line)
    ]
    assert len(lines) == 3
    for cells in lines:
        change, by_judge, rest = int(cells[5]), int(cells[-2]), int(cells[-1].strip(" |"))
        assert abs(change - by_judge) <= 1, "all of the change is the judge's"
        assert abs(rest) <= 1
    assert "neither a workspace nor a day" in imarena("-w", arena, "report", "x", "--against", "nowhere", code=2).err
    future = imarena("-w", arena, "report", "x", "--against", "2999-01-31", code=2).err
    assert "2999-01-31 is in the future." in future
    assert "Name a past day, or a workspace." in future
    assert "no board to compare with" in imarena("-w", arena, "report", "x", "--against", "2001-01-01", code=2).err
