"""A metric where low is good is ranked the right way round by every command, and shown as it was given."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from imarena.core.directions import higher_is_better
from imarena.core.ids import sha256_hex
from tests.command import Imarena
from tests.samples import png

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
    assert "low scores are good" in figures["LPIPS"]["bias_reason"]
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
