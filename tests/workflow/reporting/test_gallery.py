"""The report's gallery says where a judge errs against the known truth, and plots suit light and dark pages."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from imarena.core.records import Item, Judgment, Mode, Origin, Output, Status, Turn
from imarena.editors.studio.editors import studio_editor
from imarena.storage import Workspace, init_workspace
from imarena.workflows.editing.plan import add_studio
from imarena.workflows.editing.run import EditSettings, edit_items
from imarena.workflows.reporting.gallery import Thumbnails, read_gallery
from imarena.workflows.reporting.report import write_report
from tests.samples import kept

KEYS = ("world-tie-cg", "world-srie-cg", "edival-03")
HABITS = ("exact", "returns-input", "new-image")
SCORES = {"world-tie-cg": (900, 400, 400), "world-srie-cg": (300, 900, 100), "edival-03": (900, 500, 300)}
"""What the judge gives exact, returns-input and new-image: all right, one pair the wrong way round, all right."""


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with init_workspace(tmp_path_factory.mktemp("gallery") / "w") as workspace:
        add_studio(workspace, KEYS)
        items = list(workspace.store.records(Item))
        modes = (Mode.SINGLE, Mode.MULTI_TURN, Mode.COMPLEX)
        edit_items(workspace, items, [studio_editor(habit) for habit in HABITS], EditSettings(modes=modes))
        keys = {item.item_id: item.key for item in items}
        outputs = list(workspace.store.records(Output))
        workspace.store.add(
            Judgment(
                work_id=output.output_id, judge="robot", item_id=output.item_id, turn=output.turn,
                left_id=output.output_id,
                score=SCORES[keys[output.item_id]][HABITS.index(str(output.editor).removeprefix("studio-"))],
            )
            for output in outputs
        )  # fmt: skip
        failed = Output(
            item_id=next(item for item, key in keys.items() if key == "world-tie-cg"),
            editor="studio-flaky", status=Status.TIMEOUT, error="No answer within 60 s.",
        )  # fmt: skip
        workspace.store.add([failed])
        yield workspace


def test_each_item_lists_the_errors_of_the_judge(arena: Workspace, tmp_path: Path) -> None:
    section = read_gallery(arena, Thumbnails(arena, tmp_path), 12)
    assert section is not None
    shown = {exhibit.title.split(" ")[0]: exhibit for exhibit in section.exhibits}
    right, wrong, chain = (" ".join(shown[key].remarks) for key in KEYS)
    assert (
        "no error here: of 3 clearly different pairs, it orders 2 correctly and none wrongly, and gives equal scores to 1 pair."
        in right
    )
    assert "No image from studio-flaky (timeout)." in right
    assert (
        "error here: it gives studio-returns-input (true quality 0.40) a score of 900 and studio-exact (true" in wrong
    )
    assert "orders 2 correctly and 1 wrongly" in wrong
    assert "robot makes no error here" in chain
    assert section.exhibits[-1] is shown["world-srie-cg"]  # most errors last
    names = [picture.caption for picture in shown["world-srie-cg"].pictures]
    assert names[2:] == ["studio-exact", "studio-returns-input", "studio-new-image"]  # the best first
    assert [picture.note for picture in shown["world-srie-cg"].pictures][2] == "robot 300, true 1.00"
    turns = {picture.caption for picture in shown["edival-03"].pictures}
    assert {"studio-exact, turn by turn", "studio-exact, all at once"} <= turns
    captions = [picture.caption for picture in shown["edival-03"].pictures]
    assert captions[:4] == [
        "source", "studio-exact, turn 1 of 3", "studio-exact, turn 2 of 3", "studio-exact, turn by turn",
    ]  # fmt: skip
    assert "and 1 wrongly" in section.text[1]


def test_without_a_known_truth_nothing_is_said_of_it(arena: Workspace, tmp_path: Path) -> None:
    section = read_gallery(arena, Thumbnails(arena, tmp_path), 12, {})
    assert section is not None
    assert len(section.text) == 1
    assert not any("true" in picture.note for exhibit in section.exhibits for picture in exhibit.pictures)
    assert not any("err" in remark for exhibit in section.exhibits for remark in exhibit.remarks)


@pytest.mark.slow
def test_a_chart_takes_the_colours_of_the_page_and_is_a_file_on_white(arena: Workspace, tmp_path: Path) -> None:
    page = write_report(arena, tmp_path / "report", gallery=1).read_text()
    assert "<svg" in page
    assert 'fill="currentColor"' in page
    assert "Bradley-Terry" in page
    assert "Known truth" in page
    assert re.search(r">studio-new-image</td>.*>draws another picture", page)
    assert "contradicts it, the judge is wrong." in page
    notes = re.findall(r"win share (\d+)% in \d+ battles, true quality ([01][.]\d\d)(: the judge is wrong here)?", page)
    assert notes
    for share, quality, wrong in notes:
        assert bool(wrong) == ((int(share) > 50) == (float(quality) < 0.5)), (share, quality)
    chapter = page[page.index("<h2>In the form of the papers</h2>") :]
    assert '<details class="chapter"' in page[: page.index("<h2>In the form of the papers</h2>")].rsplit("<h2", 1)[-1]
    assert "Tables and figures of CV-Arena" in chapter.partition("<h2 id")[2]
    lone = page[page.index("Not in this report</h2>") - 60 :]
    assert '<details class="section"' in lone[:60]
    names = sorted(path.name for path in (tmp_path / "report" / "tables").iterdir())
    assert "leaderboard-pairs-compared-by-the-judge-robot" not in names[0]
    assert any(name.startswith("leaderboard-scores-of-the-judge-robot") for name in names), names
    with Image.open(tmp_path / "report" / "plots" / "board-1-ratings.png") as light:
        assert light.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)
    assert "currentColor" not in (tmp_path / "report" / "plots" / "board-1-ratings.svg").read_text()


def test_items_without_images_take_no_place_in_the_gallery(tmp_path: Path) -> None:
    """An import of ratings alone adds items and outputs without images; the gallery has those with images."""
    with init_workspace(tmp_path / "w") as workspace:
        for number in range(12):
            item = Item(dataset="d", key=f"i{number}", turns=(Turn(instruction="red"),))
            image = kept(workspace, number) if number < 3 else None
            origin = Origin(source="ratings") if image is None else None
            workspace.store.add([item, Output(item_id=item.item_id, editor="ash", image=image, origin=origin)])
        section = read_gallery(workspace, Thumbnails(workspace, None), 3)
    assert section is not None
    assert all(any(image.file for image in one.pictures) for one in section.exhibits)


def test_the_input_of_a_later_turn_is_not_called_source(arena: Workspace, tmp_path: Path) -> None:
    write_report(arena, tmp_path / "out", gallery=0)
    assert re.search(r"turn [12] of 3 \(input\)", (tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
