"""The report of a workspace with ImagenHub and VIEScore: their tables, with the published figures and those of commands."""

import csv
import json
import math
from pathlib import Path

import pytest

from tests.golden.tables import imarena

pytestmark = pytest.mark.slow
GENERATORS = ("DALLE", "DeepFloydIF", "OpenJourney", "SD", "SDXL")
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def root(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ratings of both tasks and the recorded scores, and the report in the folder `out`."""
    folder = tmp_path_factory.mktemp("published")
    arena = str(folder / "arena")
    imarena("init", arena)
    imarena("-w", arena, "import", "imagenhub", str(shared_data / "imagenhub"))
    imarena("-w", arena, "import", "viescore", str(shared_data / "viescore"))
    imarena("-w", arena, "report", str(folder / "out"), "--gallery", "0")
    return folder


def rows_with(root: Path, *titles: str) -> Rows:
    """The first table of the report that has all these columns."""
    for path in sorted((root / "out" / "tables").glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        if rows and set(titles) <= rows[0].keys():
            return rows
    raise AssertionError(f"no table has the columns {titles}")


def test_imagenhub_s_table_is_the_published_one(root: Path, shared_data: Path) -> None:
    published = json.loads((shared_data / "imagenhub" / "published.json").read_text())
    rows = rows_with(root, "task", "model", "SC", "PQ", "overall", "kappa", "alpha")
    assert {(row["task"], row["model"]) for row in rows} == {
        (task, model) for task, models in published.items() for model in models
    }
    for row in rows:
        known = published[row["task"]][row["model"]]
        for column, name in (("SC", "SC_avg"), ("PQ", "PQ_avg"), ("overall", "O_avg"), ("overall ±", "O_std")):
            assert float(row[column]) == pytest.approx(known[name], abs=1e-6), (row, name)
        for column, name in (("kappa", "O_kappa"), ("alpha", "O_alpha")):
            if math.isnan(known[name]) or math.isnan(known["O_alpha"]):
                assert row[column] in ("", "undefined")
            else:
                assert float(row[column]) == pytest.approx(known[name], abs=1e-6), (row, name)


def test_viescore_s_table_has_the_recomputed_figures(root: Path) -> None:
    """Raters .6302 through Fisher's z, and the judges' .589, .427, .403, .213 and .035 over all models together."""
    rows = rows_with(root, "task", "raters or judge", "SC", "PQ", "overall")
    raters = {row["task"]: row for row in rows if row["raters or judge"] == "each rater against the others"}
    assert round(float(raters["Text-To-Image"]["SC"]), 4) == 0.6302
    assert int(raters["Text-To-Image"]["models"]) == len(GENERATORS)
    together = {
        row["raters or judge"]: round(float(row["overall, all models together"]), 3)
        for row in rows if row["task"] == "Text-Guided_IE"
    }  # fmt: skip
    expected = {"gpt4o_0shot": 0.589, "gemini_0shot": 0.427, "gpt4v_0shot": 0.403, "LPIPS": 0.213, "llava_0shot": 0.035}
    assert {name: together[name] for name in expected} == expected


def test_its_figures_are_those_that_the_commands_print(root: Path) -> None:
    rows = rows_with(root, "task", "raters or judge", "SC", "PQ", "overall")
    task, arena = "Text-To-Image", str(root / "arena")
    only = [word for name in GENERATORS for word in ("--only", f"model={name}")]
    agreed = imarena(
        "-w", arena, "agree", "--by", "model", "--leave-one-out", "--rounds", "0", "--only", f"task={task}", *only
    )
    (raters,) = [row for row in rows if row["task"] == task and row["raters or judge"].startswith("each rater")]
    printed = {line["criterion"]: line["leave_one_out"]["spearman"] for line in agreed["averages"]}
    assert {name: float(raters[name]) for name in ("SC", "PQ", "overall")} == pytest.approx(printed, abs=1e-6)
    words = ("--judge", "gpt4o_0shot", "--by", "model", "--rounds", "0", "--only", f"task={task}", *only)
    lines = {(line["judge"], line["criterion"]): line["spearman"] for line in imarena(
        "-w", arena, "align", *words)["scores"]["averages"]}  # fmt: skip
    (judge,) = [row for row in rows if row["task"] == task and row["raters or judge"] == "gpt4o_0shot"]
    assert float(judge["overall"]) == pytest.approx(lines["gpt4o_0shot", "overall"], abs=1e-6)
    for name in ("SC", "PQ"):
        assert float(judge[name]) == pytest.approx(lines[f"gpt4o_0shot: {name}", name], abs=1e-6)


def test_agreement_by_score_gap_is_the_published_one(root: Path) -> None:
    rows = rows_with(root, "task", "judge", "(0, 50)", "400 and more", "gap 0")
    (line,) = [row for row in rows if (row["task"], row["judge"]) == ("Text-Guided_IE", "gpt4o_0shot")]
    assert [line[name] for name in ("(0, 50)", "[50, 100)", "[100, 200)", "[200, 400)", "400 and more", "gap 0")] == [
        "0.474 of 97", "0.600 of 110", "0.675 of 255", "0.856 of 613", "0.948 of 957", "150",
    ]  # fmt: skip


def test_the_page_shows_the_tables_by_name(root: Path) -> None:
    text = (root / "out" / "report.md").read_text(encoding="utf-8")
    section = text.partition("## Tables and figures of ImagenHub and VIEScore")[2].partition("\n## ")[0]
    for title in ("ImagenHub. Human ratings", "VIEScore. Raters and judges against people by task", "Score gaps."):
        assert f"**{title}" in section
    assert "| 0.6302 |" in section
    assert "| 0.474 of 97 |" in section
