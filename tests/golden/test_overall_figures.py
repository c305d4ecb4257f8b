"""The O figures of ImagenHub and VIEScore: `import`, then one command each, without a table made by hand."""

import csv
import json
import math
from pathlib import Path

import pytest

from imarena.core.records import Ranking
from imarena.reports import board_conclusion, significance_section
from tests.golden.tables import imarena

JUDGES = ("gpt4o_0shot", "gpt4v_0shot", "gemini_0shot", "llava_0shot", "LPIPS")


def imported(folder: Path, shared_data: Path, task: str, *, scores: bool = False) -> str:
    """A workspace with the ratings of one task, and with the recorded scores of judges and metrics."""
    root = str(folder / "arena")
    imarena("init", root)
    imarena("-w", root, "import", "imagenhub", str(shared_data / "imagenhub" / "human_ratings" / task))
    if scores:
        imarena("-w", root, "import", "viescore", str(shared_data / "viescore"))
    return root


@pytest.fixture(scope="module")
def editing(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return imported(tmp_path_factory.mktemp("editing"), shared_data, "Text-Guided_IE", scores=True)


@pytest.fixture(scope="module")
def generation(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return imported(tmp_path_factory.mktemp("generation"), shared_data, "Text-To-Image")


@pytest.mark.parametrize("task", ["Text-Guided_IE", "Text-To-Image"])
def test_kappa_and_alpha_of_the_overall(shared_data: Path, task: str, editing: str, generation: str) -> None:
    published = json.loads((shared_data / "imagenhub" / "published.json").read_text())[task]
    root = editing if task == "Text-Guided_IE" else generation
    document = imarena("-w", root, "agree", "--by", "model", "--only", "criterion=overall", "--rounds", "0")
    assert document["settings"]["overall"] == "geometric-mean"
    found = {group["group"]["model"]: group for group in document["groups"]}
    assert found.keys() == published.keys()
    for model, group in found.items():
        if math.isnan(published[model]["O_alpha"]):
            assert (group["status"], group["alpha"]["ordinal"], group["fleiss_kappa"]) == ("undefined", None, None)
        else:
            assert group["fleiss_kappa"] == pytest.approx(published[model]["O_kappa"], abs=1e-9), model
            assert group["alpha"]["ordinal"] == pytest.approx(published[model]["O_alpha"], abs=1e-9), model


def test_spearman_of_the_overall_pooled_over_editors(editing: str) -> None:
    words = [word for judge in JUDGES for word in ("--judge", judge)]
    found = imarena("-w", editing, "align", *words, "--only", "criterion=overall", "--rounds", "0")["scores"]
    groups = {group["judge"]: group for group in found["groups"]}
    assert {judge: round(group["spearman"], 3) for judge, group in groups.items()} == {
        "gpt4o_0shot": 0.589, "gemini_0shot": 0.427, "gpt4v_0shot": 0.403, "LPIPS": 0.213, "llava_0shot": 0.035,
    }  # fmt: skip
    assert groups["gpt4o_0shot"]["n"] == 1432
    assert groups["gpt4o_0shot"]["bias_scale"] == "0 to 1, after mapping both ranges"
    assert groups["LPIPS"]["bias"] is None
    assert found["settings"]["overall"] == "geometric-mean"


def test_agreement_by_score_gap(editing: str) -> None:
    """The edges 50, 100, 200 and 400 on a scale of 0 to 1000, for a judge of 0 to 10."""
    words = ("--judge", "gpt4o_0shot", "--only", "criterion=overall", "--gaps", "0.5,1,2,4", "--rounds", "0")
    (line,) = imarena("-w", editing, "align", *words)["scores"]["pairs"]
    assert [(band["low"], band["high"], round(band["agreement"], 3), band["n"]) for band in line["by_gap"]] == [
        (0, 0.5, 0.474, 97), (0.5, 1, 0.600, 110), (1, 2, 0.675, 255), (2, 4, 0.856, 613), (4, None, 0.948, 957),
    ]  # fmt: skip
    assert line["n_gap_zero"] == 150


@pytest.mark.parametrize(("recipe", "expected"), [("fisher", 0.6302), ("paper-compat", 0.5044)])
def test_a_rater_against_the_mean_of_the_others(generation: str, recipe: str, expected: float) -> None:
    models = ("DALLE", "DeepFloydIF", "OpenJourney", "SD", "SDXL")
    words = [word for model in models for word in ("--only", f"model={model}")]
    options = ("--by", "model", "--only", "criterion=SC", *words, "--leave-one-out", "--rounds", "0")
    (line,) = imarena("-w", generation, "agree", *options, "--average", recipe)["averages"]
    assert line["leave_one_out"]["spearman"] == pytest.approx(expected, abs=5e-5)
    assert line["n_groups"] == len(models)


def test_people_rank_the_editors_by_the_overall(shared_data: Path, editing: str) -> None:
    published = json.loads((shared_data / "imagenhub" / "published.json").read_text())["Text-Guided_IE"]
    board = imarena("-w", editing, "rank", "--source", "people", "--rounds", "0")
    assert board["n_battles"] == 179 * 36
    order = [model["model"] for model in sorted(board["models"], key=lambda model: model["rank"])]
    assert order[0] == max(published, key=lambda model: published[model]["O_avg"]) == "MagicBrush"
    assert order[-1] == min(published, key=lambda model: published[model]["O_avg"]) == "Imagic"


@pytest.mark.slow
def test_the_report_has_the_tables_of_imagenhub_and_viescore(shared_data: Path, editing: str, tmp_path: Path) -> None:
    """Kappa and alpha of each model, and the judge's correlation, as published, in the tables of the report."""
    out = tmp_path / "out"
    imarena("-w", editing, "report", str(out), "--judge", "gpt4o_0shot", "--gallery", "0")
    tables = [list(csv.DictReader(path.open(encoding="utf-8"))) for path in sorted((out / "tables").glob("*.csv"))]
    published = json.loads((shared_data / "imagenhub" / "published.json").read_text())["Text-Guided_IE"]
    agreed = next(rows for rows in tables if rows and {"criterion", "model", "kappa", "ordinal"} <= rows[0].keys())
    found = {row["model"]: row for row in agreed if row["criterion"] == "overall"}
    assert found.keys() == published.keys()
    for model, row in found.items():
        if math.isnan(published[model]["O_alpha"]):
            assert row["kappa"] in ("", "undefined")
        else:
            assert float(row["kappa"]) == pytest.approx(published[model]["O_kappa"], abs=1e-6), model
            assert float(row["ordinal"]) == pytest.approx(published[model]["O_alpha"], abs=1e-6), model
    aligned = next(rows for rows in tables if rows and {"judge", "criterion", "Spearman", "bias"} <= rows[0].keys())
    (line,) = [row for row in aligned if row["judge"] == "gpt4o_0shot" and row["criterion"] == "overall"]
    assert round(float(line["Spearman"]), 3) == 0.589
    page = (out / "report.md").read_text()
    assert "MagicBrush" in page
    assert "Table 3. Human ratings by task, with judge and agreement" in page


@pytest.mark.slow
def test_editing_and_generation_never_met_and_are_concluded_apart(shared_data: Path, tmp_path: Path) -> None:
    root = str(tmp_path / "whole")
    imarena("init", root)
    imarena("-w", root, "import", "imagenhub", str(shared_data / "imagenhub"))
    ranking = Ranking.model_validate(imarena("-w", root, "rank"))
    said = board_conclusion(ranking)
    assert said.startswith("The 16 models form 2 groups that never met. Group 1 (MagicBrush, ")
    assert "MagicBrush is the best of 9 models: 132 rating points ahead of InstructPix2Pix" in said
    assert said.endswith("among 7: the lead of DALLE3 over Midjourney is not significant (95% confidence).")
    section = significance_section(ranking)
    assert section is not None
    assert section.points[0].startswith("50 of 57 pairs of models differ significantly")
    assert "about 3 would appear significant by chance" in section.points[-1]
