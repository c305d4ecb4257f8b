"""`imarena report`: what it is about can be chosen, its conclusion stands first, and its words are explained."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from imarena.core.records import Item, Judgment, Output, Rater, Status, Turn, Vote
from imarena.images import describe_image
from imarena.reports.rank_tables import COVERAGE
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.workflows.wiring import record_run
from tests.command import Imarena

SCORES = {"good": 900, "fair": 500, "poor": 100}
ITEMS = 12
SETTINGS = {"note": "x" * 300, "prompt_sha256": "0123456789abcdef"}


def picture(seed: int, size: tuple[int, int] = (24, 16), frames: int = 1, kind: str = "PNG") -> bytes:
    """A noisy picture, or an animation of several."""
    random, buffer = np.random.default_rng(seed), io.BytesIO()
    shown = [Image.fromarray(random.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)) for _ in range(frames)]
    more = {"save_all": True, "append_images": shown[1:]} if frames > 1 else {}
    shown[0].save(buffer, kind, **more)
    return buffer.getvalue()


def add_item(workspace: Workspace, number: int) -> None:
    """One item; `poor` delivers an animation of another size for the first two, and `fair` fails the first."""

    def keep(data: bytes) -> object:
        return workspace.keep(describe_image(data), data)

    source = keep(picture(number, frames=2, kind="GIF") if number == 0 else picture(number))
    task = "recolour" if number % 2 else "remove"
    asked = Item(dataset="d", key=f"i{number}", task=task, turns=(Turn(instruction="make it red"),), sources=(source,))
    workspace.store.add([asked])
    for place, (editor, score) in enumerate(SCORES.items()):
        seed = 100 * (place + 1) + number
        odd = editor == "poor" and number < 2
        failed = editor == "fair" and number == 0
        data = picture(seed, (30, 16), 3, "PNG" if number else "GIF") if odd else picture(seed)
        made = Output(
            item_id=asked.item_id, editor=editor, status=Status.TIMEOUT if failed else Status.OK,
            image=None if failed else keep(data), editor_version="2.1", params={"steps": 30 + place}, seed=number % 2,
        )  # fmt: skip
        workspace.store.add([made])
        for judge, sign in (("robot", 1), ("critic", -1)) if not failed else ():
            told = Judgment(
                work_id=f"{judge}{made.output_id}", judge=judge, item_id=asked.item_id, left_id=made.output_id,
                params=SETTINGS, run_id="run_1" if judge == "robot" else None,
                score=500 + sign * (score - 500) + (number * 7 + place * 13) % 5 * 110,
            )  # fmt: skip
            workspace.store.add([told])


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("report") / "w"
    with init_workspace(root) as workspace:
        for number in range(ITEMS):
            add_item(workspace, number)
    return root


def report(arena: Path, folder: str, *words: object) -> str:
    Imarena(arena.parent)("-w", arena, "report", folder, "--gallery", 2, *words)
    return (arena.parent / folder / "report.md").read_text()


def test_the_conclusion_stands_first(arena: Path) -> None:
    text = report(arena, "first", "--judge", "robot", "--title", "Ours")
    lines = [line for line in text.splitlines() if line]
    assert lines[0] == "# Ours"
    said = re.fullmatch(
        r"By the verdicts of judge robot, good is the best of 3 models: at least (\d+) rating points ahead of fair "
        r"\(95% interval, without an upper end\)\.",  # it won every battle
        lines[1],
    )
    assert said is not None, lines[1]
    ranked = Imarena(arena.parent)("--json", "-w", arena, "rank", "--judge", "robot").json
    assert int(said[1]) == round(ranked["details"]["pairs"]["difference_low"][0][1])
    assert lines[2].startswith("12 items, 3 editors, 35 outputs of 36 asked for")
    assert "one that is 100 rating points ahead wins about 64% of its battles" in lines[3]
    page = (arena.parent / "first" / "index.html").read_text()
    assert lines[3] in page
    assert page.index("good is the best of 3 models") < page.index("<h2")
    shown = Imarena(arena.parent)("-w", arena, "rank", "--judge", "robot").out
    assert shown.splitlines()[0].startswith(
        f"By the verdicts of judge robot, good is the best of 3 models: at least {said[1]} rating points ahead of fair"
    )
    assert f"coverage: {COVERAGE}" in shown


def test_judge_editors_and_groups_are_chosen(arena: Path) -> None:
    text = report(arena, "chosen", "--judge", "critic", "-e", "good,poor", "--by", "task")
    headings = re.findall("^## (.*)$", text, re.MULTILINE)
    assert headings == [
        "What is significant",
        "Outputs and questions",
        "Leaderboard: scores of the judge critic",
        "Leaderboard by task: scores of the judge critic",
        "Gallery",
        "Methods",
        "Not in this report",
    ]
    assert "fair" not in text
    said = next(line for line in text.splitlines() if line.startswith("By the verdicts of judge critic, "))
    assert said.endswith(". Only the models chosen for this report are compared.")
    absent = text[text.index("## Not in this report") :]
    needs = "measurements of images, a judge that looks for failures, or tags of raters"
    call = f"imarena -w {arena}"
    assert f"- Failure modes: needs {needs}. Command: {call} edit, then {call} judge." in absent
    assert "Judge health, Tables and figures of the papers: only in a report of all editors." in absent
    assert "Leaderboard by" not in absent, "only the column that was asked for"
    whole = Imarena(arena.parent)("-w", arena, "--json", "status").json["judgments"]["critic"]["ok"]
    judged = int(re.search(r"([\d,]+) judgments?,", text)[1])  # type: ignore[index]
    assert 0 < judged < whole, "judgments of the editor that was left out are not counted"
    assert re.search(rf"\| critic \| {judged} \|", text)
    assert "of the judge robot" not in text
    groups = text[text.index("by task") :]
    assert re.search(r"\| recolour \| 6 \|", groups)
    assert re.search(r"\| remove \| 6 \|", groups)
    assert len(re.findall(r"^\| (?:recolour|remove) \| \d \| (?:good|poor) \|", groups, re.MULTILINE)) == 4
    page = (arena.parent / "chosen" / "index.html").read_text()
    assert "critic" in page
    assert "<b>fair</b>" not in page
    everything = report(arena, "everything")
    absent = everything[everything.index("## Not in this report") :]
    assert "- Agreement among raters: needs two or more raters of the same outputs or pairs. Command: " in absent
    assert (
        "- Leaderboard by family, topic, track: needs verdicts on items with two or more values in that column"
        in absent
    )
    assert "- Leaderboard by dimension: needs ratings, votes or judgments about single dimensions. Command: " in absent
    assert "Judge health" not in absent
    assert "Gallery" not in absent
    assert {f"Leaderboard: scores of the judge {judge}" for judge in ("critic", "robot")} <= set(
        re.findall("^## (.*)$", everything, re.MULTILINE)
    )


def test_methods_have_every_setting_version_and_seed(arena: Path) -> None:
    with open_workspace(arena) as workspace, record_run(workspace, "edit", {"seed": 7, "items": ITEMS}) as run:
        run.counts = {"ok": 3}
    text = report(arena, "methods")
    methods = text[text.index("## Methods") : text.index("## Not in this report")]
    judges = methods[methods.index("**Judges**") : methods.index("**Boards**")]
    found = re.findall(r"\{.*?\}", judges.replace("\\", ""))
    assert [json.loads(one) for one in found] == [SETTINGS]
    assert re.search(r"\| critic \|.*\| imported \|", judges)
    assert re.search(r"\| good \| 2\.1 \| \{.steps.:30\} \| 0, 1 \| 12 \|", methods)
    assert re.search(r"\| poor \| 2\.1 \| \{.steps.:32\} \| 0, 1 \| 12 \|", methods)
    assert "Ratings are Bradley-Terry ratings on a scale where 400 rating points mean odds of 10 to 1" in methods
    assert "ties count as half a win each. Missing outputs are excluded. Intervals are 95% percentile" in methods
    assert re.search(r"\| edit \| \{.items.:12,.seed.:7\} \| done \| 3 ok \|", methods)


def test_methods_of_chosen_editors_count_what_concerns_them(arena: Path) -> None:
    """One rater rates an output of each editor and compares the first two, and the first with the last."""
    names = list(SCORES)
    with open_workspace(arena) as workspace:
        made = {output.editor: output for output in workspace.store.records(Output, status="ok")}
        workspace.store.add([Rater(rater_id="ann")])
        asked = [(name, None) for name in names] + [(names[0], names[1]), (names[0], names[2])]
        workspace.store.add(
            Vote(
                rater_id="ann", item_id=made[left].item_id, left_id=made[left].output_id,
                right_id=made[right].output_id if right else None, preference="left" if right else None,
                ratings={} if right else {"overall": 3}, scale=None if right else (1, 5), idempotency_key=f"{left}{right}",
            )
            for left, right in asked
        )  # fmt: skip
    text = report(arena, "some", "--judge", "critic", "-e", "good,poor")
    methods = text[text.index("## Methods") : text.index("## Not in this report")]
    assert "We evaluated 2 editors on 12 items with imarena " in methods
    assert "; 24 outputs were available. 1 judge answered 24 questions; " in methods
    assert "1 rater gave 3 answers that count." in methods
    assert "| ratings, overall | 2 |" in methods
    assert re.search(r"\| critic \|.*\| 24 \|", methods)
    assert not re.search("fair|robot", methods)
    assert re.search(r"\| good \| 2\.1 \| \{.steps.:30\} \| 0, 1 \| 12 \|", methods)


def test_a_choice_that_is_not_there_is_refused(arena: Path) -> None:
    imarena = Imarena(arena.parent)
    for words, message in (
        (("--judge", "nobody"), "no judgment by 'nobody'"),
        (("-e", "good", "-e", "other"), "No editor 'other' here."),
        (("-e", "good"), "A board needs two editors or more."),
        (("--by", "colour"), "No column 'colour'."),
    ):
        assert message in imarena("-w", arena, "report", "refused", *words, code=2).err
    assert not (arena.parent / "refused").exists()
    refused = imarena("-w", arena, "report", "refused.pdf", code=2).err
    assert "A report is one HTML file or a folder, and refused.pdf is neither." in refused
    assert not (arena.parent / "refused.pdf").exists()
    assert "--gallery" in imarena("-w", arena, "report", "refused", "--gallery", "-1", code=2).err


def test_words_sizes_and_animations_are_explained_where_they_stand(arena: Path) -> None:
    text = report(arena, "words")
    (head,) = [line for line in text.splitlines() if line.startswith("| editor | ok |")]
    assert head == "| editor | ok | timeout | asked for | coverage | attempts | other size | animated |"
    assert "| poor | 12 | 0 | 12 | 100% (12 of 12) | 12 | 2 | 2 |" in text
    assert "| good | 12 | 0 | 12 | 100% (12 of 12) | 12 |  |  |" in text
    assert "timeout: no answer in time." in text
    assert "Other size: outputs whose width or height is not that of the source image." in text
    assert "Animated: outputs with several frames. Only the first frame is shown and judged." in text
    assert "1 source or reference image with several frames" in text
    others = report(arena, "without", "-e", "good", "-e", "fair")
    assert "Other size" not in others
