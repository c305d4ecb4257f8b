"""A metric where low is good is ranked the right way round by every command, and shown as it was given."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imarena.core.directions import higher_is_better
from imarena.core.ids import sha256_hex
from imarena.core.records import Item, Judgment, Output, Rater, Turn, Vote
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.workflows.boards import Boards
from imarena.workflows.reporting.papers.contrasts import contrasts
from imarena.workflows.reporting.papers.cv_arena import MAKERS
from imarena.workflows.reporting.papers.data import PaperData
from imarena.workflows.reporting.papers.imagenworld import ratings_by_task
from imarena.workflows.views import View
from tests.command import Imarena
from tests.samples import kept, png

EDITORS = ("good", "fair", "poor")
UNITS = 6


def metrics() -> dict[str, dict[str, dict[str, float]]]:
    """A metrics file: LPIPS is lowest for `good`; CLIP is highest for it."""
    return {
        f"ImagenHub_Text-Guided_IE/{editor}.json": {
            f"u{unit}.jpg": {"LPIPS": 0.1 + 0.3 * place + unit / 100, "CLIP": 0.9 - 0.3 * place - unit / 100}
            for unit in range(UNITS)
        }
        for place, editor in enumerate(EDITORS)
    }


def write_ratings(folder: Path) -> None:
    """Three raters who all prefer `good`, then `fair`."""
    for rater in (1, 2, 3):
        with (folder / f"Text-Guided_IE_rater{rater}.tsv").open("w", newline="") as file:
            table = csv.writer(file, delimiter="\t")
            table.writerow(["uid", *EDITORS])
            for unit in range(UNITS):
                table.writerow([f"u{unit}.jpg", "[1, 1]", "[0.5, 0.5]", "[0, 0.5]"])


@pytest.fixture
def arena(imarena: Imarena, tmp_path: Path) -> str:
    (tmp_path / "ratings").mkdir()
    (tmp_path / "metrics").mkdir()
    write_ratings(tmp_path / "ratings")
    (tmp_path / "metrics" / "autometrics.json").write_text(json.dumps(metrics()))
    imarena("init", "a")
    imarena("-w", "a", "import", "imagenhub", "ratings")
    imarena("-w", "a", "import", "viescore", "metrics")
    return "a"


def order(board: Any) -> list[str]:
    return [model["model"] for model in sorted(board["models"], key=lambda model: model["rank"])]


@pytest.mark.parametrize("judge", ["LPIPS", "CLIP"])
def test_rank_puts_the_best_first(imarena: Imarena, arena: str, judge: str) -> None:
    assert order(imarena("-w", arena, "--json", "rank", "--judge", judge, "--rounds", "0").json) == list(EDITORS)


def test_align_needs_no_option_and_has_no_bias_for_it(imarena: Imarena, arena: str) -> None:
    found = imarena("-w", arena, "--json", "align", "--only", "criterion=overall", "--rounds", "0").json["scores"]
    figures = {group["judge"]: group for group in found["groups"]}
    assert figures["LPIPS"]["spearman"] == pytest.approx(figures["CLIP"]["spearman"])
    assert figures["LPIPS"]["spearman"] > 0.9
    assert figures["LPIPS"]["bias"] is None
    assert "lower scores are better" in figures["LPIPS"]["bias_reason"]
    assert found["settings"]["lower_is_better"] == ["LPIPS"]


def test_health_follows_people_and_shows_the_metric_as_it_was_given(imarena: Imarena, arena: str) -> None:
    judges = {one["judge"]: one for one in imarena("-w", arena, "--json", "health").json["judges"]}
    lines = {(line["name"], line["group"]): line["value"] for line in judges["LPIPS"]["lines"]}
    assert lines["spearman", "overall"] > 0.9
    assert lines["LPIPS", "good"] == pytest.approx(0.125)
    assert lines["LPIPS", "poor"] == pytest.approx(0.725)


def test_the_stored_number_stays(imarena: Imarena, arena: str, tmp_path: Path) -> None:
    imarena("-w", arena, "export", "native", "out")
    lines = (tmp_path / "out" / "records" / "judgment.jsonl").read_text().splitlines()
    records = [json.loads(line)["record"] for line in lines]
    scores = [record["score"] for record in records if record["judge"] == "LPIPS"]
    assert len(scores) == len(EDITORS) * UNITS
    assert min(scores) == pytest.approx(0.1)


@pytest.mark.parametrize(("option", "best"), [((), "low"), (("--option", "higher_is_better=true"), "high")])
def test_recorded_scores_of_a_known_metric(
    imarena: Imarena, tmp_path: Path, option: tuple[str, ...], best: str
) -> None:
    """The judge `recorded` goes by the metric's name, unless it is told otherwise."""
    rows = []
    for number, editor in enumerate(("low", "high")):
        (tmp_path / "data" / "outputs" / editor).mkdir(parents=True)
        for unit in range(3):
            picture = png(10 * number + unit)
            (tmp_path / "data" / "outputs" / editor / f"k{unit}.png").write_bytes(picture)
            rows.append({"left_sha256": sha256_hex(picture), "score": 0.2 + 0.5 * number})
    (tmp_path / "data" / "sources").mkdir()
    with (tmp_path / "data" / "items.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["key", "instruction", "source"])
        for unit in range(3):
            (tmp_path / "data" / "sources" / f"k{unit}.png").write_bytes(png(900 + unit))
            table.writerow([f"k{unit}", "x", f"sources/k{unit}.png"])
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    imarena("init", "a")
    imarena("-w", "a", "import", "table", "data")
    words = ("--option", f"path={tmp_path / 'rows.jsonl'}", "--option", "name=LPIPS", *option, "--yes")
    imarena("-w", "a", "judge", "--judge", "recorded", *words)
    assert order(imarena("-w", "a", "--json", "rank", "--judge", "LPIPS", "--rounds", "0").json)[0] == best


@pytest.mark.parametrize("name", ["LPIPS", "lpips-alex", "DreamSim", "Structure_Distance", "FID", "L1"])
def test_low_is_good(name: str) -> None:
    assert not higher_is_better(name)


@pytest.mark.parametrize("name", ["CLIP_Score", "DINO", "gpt4o_0shot", "L14-clip", "builtin", "fidelity"])
def test_high_is_good(name: str) -> None:
    assert higher_is_better(name)


JUDGES: dict[str, Callable[[float], float]] = {
    "LPIPS": lambda mark: 1 - mark / 10,
    "near": lambda mark: (mark + 6) / 2,
    "far": lambda mark: 100 * mark,
}
"""Scores by people's mark, from 0 to 6; `near` is on the same scale, `far` on none that is known."""


def scored_arena(root: Path, *, rated: bool) -> None:
    """Outputs that people mark from 0 to 6, and judges whose scores follow the marks; LPIPS downwards."""
    with init_workspace(root) as workspace:
        workspace.store.add([Rater(rater_id="ann")])
        for number in range(7):
            item = Item(
                dataset="d",
                key=f"i{number}",
                task="t",
                turns=(Turn(instruction="x"),),
                sources=(kept(workspace, number),),
            )
            workspace.store.add([item])
            for place, editor in enumerate(("new", "old")):
                mark = (number * 5 + place) % 7
                image = kept(workspace, 100 + 10 * number + place)
                output = Output(item_id=item.item_id, editor=editor, image=image)
                about = {"item_id": item.item_id, "left_id": output.output_id}
                workspace.store.add([output])
                workspace.store.add([
                    Judgment(
                        work_id=f"{judge}{output.output_id}", judge=judge, judge_version="1", run_id="r",
                        score=score(mark), params={} if judge != "LPIPS" else {"higher_is_better": False}, **about,
                    )
                    for judge, score in JUDGES.items() if rated or judge == "LPIPS"
                ])  # fmt: skip
                if rated:
                    vote = {"ratings": {"overall": float(mark)}, "scale": (0, 6), "idempotency_key": output.output_id}
                    workspace.store.add([Vote(rater_id="ann", **about, **vote)])


def paper_data(workspace: Workspace) -> PaperData:
    view = View(workspace)
    return PaperData(view, Boards(view), None, lambda image: image.sha256)


def test_paper_tables_agree_with_align(imarena: Imarena, tmp_path: Path) -> None:
    """Table 3 of ImagenWorld and the last contrast of its appendix A.5, beside what `align` prints."""
    scored_arena(tmp_path / "s", rated=True)
    command = ("-w", "s", "--json", "align", "--rounds", "0")
    groups = imarena(*command, "--by", "model", "--by", "task").json["scores"]["groups"]
    rho = {(group["group"]["model"], group["judge"]): group["spearman"] for group in groups}
    biases = {group["judge"]: group for group in imarena(*command).json["scores"]["groups"]}
    with open_workspace(tmp_path / "s") as workspace:
        data = paper_data(workspace)
        (table,) = ratings_by_task(data).tables
        (tests,) = contrasts(data).tables
    keys = [column.key or column.title for column in table.columns]
    assert "LPIPS (lower is better): mean" in keys
    for row in table.rows:
        cells: dict[str, Any] = dict(zip(keys, row, strict=True))
        assert cells["LPIPS (lower is better): mean"].startswith("0.7")  # as it was given
        for judge in JUDGES:
            assert cells[f"{judge} rho"] == pytest.approx(rho[cells["model"], judge]) == pytest.approx(1)
    last = [row for row in tests.rows if str(row[0]).startswith("V.")]
    assert [row[0] for row in last] == ["V. judge near and people (judge's range 0 to 6)"]
    assert last[0][6] == pytest.approx(biases["near"]["bias"] / 6) == pytest.approx(0.25)
    for judge in ("LPIPS", "far"):
        assert biases[judge]["bias"] is None
        reason = biases[judge]["bias_reason"]
        sentence = f"Contrast V leaves out {judge}, which has no common scale with people: {reason}."
        assert sentence in tests.notes


def test_failure_cases_are_the_worst_items(tmp_path: Path) -> None:
    """Figure 7 of CV-Arena: the marks of an item are (0, 1), (5, 6), (3, 4), (1, 2), (6, 0), (4, 5) and (2, 3)."""
    scored_arena(tmp_path / "s", rated=False)
    with open_workspace(tmp_path / "s") as workspace:
        shown = MAKERS["gallery_failures"](paper_data(workspace)).exhibits
    assert [exhibit.title for exhibit in shown] == ["i0 · t", "i3 · t"]
