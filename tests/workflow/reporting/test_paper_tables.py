"""`imarena report`: each table and figure of the papers that the data allow, with figures worked out by hand."""

import math
import re
import statistics
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from imarena.workflows.reporting.papers.catalogue import paper_entries
from tests.command import Imarena
from tests.workflow.reporting.edival_arena import make_edival_arena
from tests.workflow.reporting.paper_arena import (
    EDITORS,
    ITEMS,
    PERIOD,
    REPEATS,
    SCORER,
    make_paper_arena,
    overall,
    point_score,
)
from tests.workflow.reporting.report_tables import missing_places, paper_tables, written_numbers

pytestmark = pytest.mark.slow
BOARD = "model,rating\nGPT,1200\nbagel,1150\nomnigen2,1180\n"
OTHER_BOARD = ("--leaderboard", "lmarena.csv", "--names", "gpt-image-1=GPT")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    make_paper_arena(folder / "w")
    (folder / "lmarena.csv").write_text(BOARD)
    run = Imarena(folder)
    run("-w", "w", "route", "calibrate", "--judge", SCORER)
    run("-w", "w", "report", "out", "--gallery", 0, *OTHER_BOARD)
    return folder


@pytest.fixture(scope="module")
def text(arena: Path) -> str:
    return (arena / "out" / "report.md").read_text(encoding="utf-8")


def test_only_what_has_no_data_is_missing(text: str) -> None:
    edival = {("002", entry.place) for entry in paper_entries() if entry.paper == "002"}
    assert missing_places(text) == {("000", "table 11"), ("001", "video"), ("004", "figure 14"), *edival}


# ---------------------------------------------------------------- CV-Arena


def test_cv_arena_trials_are_those_of_route_report(arena: Path, text: str) -> None:
    tables = paper_tables(text, "000")
    asked = ("route", "report", "--judge", SCORER, "--seeds", 20, "--no-groups")
    document = Imarena(arena)("--json", "-w", "w", *asked).json
    for place, key in (("Table 2.", "policies"), ("Table 9.", "thresholds"), ("Table 10.", "weights")):
        (rows,) = [
            rows[1:] for title, rows in tables.items() if title.startswith(place) and "board on all" not in title
        ]
        lines = document[key]["lines"]
        assert len(rows) == len(lines) > 0
        for row, line in zip(rows, lines, strict=True):
            assert line["policy"] in row
            assert f"{line['accuracy']['mean']:.3f}" in row, (place, row, line)
    (boards,) = [rows[1:] for title, rows in tables.items() if "corrected board on all votes" in title]
    assert [row[0] for row in boards] == ["default", "uniform", "edit-heavy"]
    assert all(float(row[2]) == 1 for row in boards), "the order is the same under every weighting"


def test_cv_arena_boards_state_what_they_rank_by(text: str) -> None:
    note = f"These boards rank by scores of {SCORER} and by votes, on pairs of outputs in single mode that both have a "
    note += "score or were voted on. The first leaderboard of this report ranks by people. The orders can differ."
    for place in ("Table 3. Top of the board", "Table 4. All editors by setting"):
        part = text[text.index(f"**{place}") :].partition("\n**")[0]
        assert note in part.replace("\\", ""), place


def test_cv_arena_agreement_by_score_gap(text: str) -> None:
    """In 24 items, the mean of two scores brings one gap down to 25. Wrong: 3 of 23, 2 of 24, 2 of 23 pairs."""
    (rows,) = [rows[1:] for title, rows in paper_tables(text, "000").items() if title.startswith("Table 5.")]
    assert [row[:3] for row in rows[:4]] == [
        ["0 to below 50", "1.000", "4"],
        ["50 to below 100", f"{20 / 23:.3f}", "92"],
        ["100 to below 200", f"{22 / 24:.3f}", "96"],
        ["200 and more", f"{21 / 23:.3f}", "92"],
    ]


def test_cv_arena_means_by_dimension(text: str) -> None:
    """In 24 items: 17 scores of 700, one of 665, six of 640, all plus 100 on average."""
    (rows,) = [rows for title, rows in paper_tables(text, "000").items() if title.startswith("Table 6.")]
    cells = {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[1:]}
    mean = 100 + (17 * 700 + 665 + 6 * 640) / 24
    assert float(cells["gpt-image-1"]["editing_success"]) == pytest.approx(mean, abs=0.5)
    assert float(cells["gpt-image-1"]["perceptual_quality"]) == pytest.approx(mean - 40, abs=0.5)
    assert float(cells["omnigen2"]["semantic_consistency"]) == 900


def test_cv_arena_other_metrics(text: str) -> None:
    """clip-i puts the second editor before the first: one of three pairs of ranks is exchanged."""
    (rows,) = [rows for title, rows in paper_tables(text, "000").items() if title.startswith("Table 8.")]
    assert rows[1:] == [["clip-i", "0.500", "0.333", "3 of 3", "1"]]


def test_cv_arena_galleries(arena: Path) -> None:
    page = (arena / "out" / "index.html").read_text(encoding="utf-8")
    for figure in ("Figure 5. Reasoning and complex", "Figure 6. Low-level tasks", "Figure 7. Failure cases"):
        titles = re.findall(rf"{figure}[^<]*· (i\d\d)", page)
        assert len(titles) == 2, figure
        numbers = [int(key[1:]) for key in titles]
        if figure.startswith("Figure 5"):
            assert all(number % PERIOD >= 12 for number in numbers), "the track is Reasoning"
        elif figure.startswith("Figure 6"):
            assert all(number % PERIOD < 6 for number in numbers), "the family is Restoration"
        else:
            assert all(number % 6 == 0 for number in numbers), "the lowest mean rating: 3, 4 and 1"


# ---------------------------------------------------------------- GenArena


def test_genarena_accuracy_by_protocol(text: str) -> None:
    """In 24 items 71 pairs that people decide; twice the items, two raters, two answers of the judge: 568."""
    tables = paper_tables(text, "001")
    rows = tables["Table 1. Accuracy with people, pointwise and pairwise"][1:]
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == [
        (SCORER, "pointwise", f"{(64 + 63) / 142:.1%}", "568"),
        ("genarena/tiny", "pairwise", f"{(65 + 64) / 142:.1%}", "568"),
    ]
    rows = tables["Table 6. Accuracy with people by track"][1:]
    assert rows == [
        [SCORER, f"{61 / 70:.1%}", f"{66 / 72:.1%}", f"{127 / 142:.1%}", "568"],
        ["genarena/tiny", f"{63 / 70:.1%}", f"{66 / 72:.1%}", f"{129 / 142:.1%}", "568"],
    ]


def test_genarena_verdicts_are_those_of_judges_of_the_whole(text: str) -> None:
    """Not of the three judges of one dimension, nor of the metric."""
    titles = [title for title in paper_tables(text, "001") if title.startswith("Table 5.")]
    assert [re.search(r"Verdicts of people and of (\S+) on", title)[1] for title in titles] == [SCORER, "genarena/tiny"]  # type: ignore[index]


def test_genarena_self_consistency(text: str) -> None:
    """One of 72 pairs changes between the two runs. The expected disagreement follows from the outcomes."""
    rows = paper_tables(text, "001")["Table 3. Self-consistency, pointwise and pairwise"][1:]
    assert [row[:2] + row[4:] for row in rows] == [
        [SCORER, "pointwise", "144", "2"],
        ["genarena/tiny", "pairwise", "144", "2"],
    ]
    observed = 4 / 288
    for row, most in zip(rows, (0.5, 2 / 3), strict=True):  # two outcomes, or three with ties
        assert 1 - observed / 0.4 < float(row[2]) <= 1 - observed / most


def test_genarena_boards_and_another_leaderboard(text: str) -> None:
    """The leaderboard exchanges the second and the third: Spearman 0.5 with every order of ours."""
    tables = paper_tables(text, "001")
    head, *rows, last = tables["Table 2. Leaderboard by track"]
    assert head == ["model", "Basic: Elo", "rank", "Reasoning: Elo", "rank", "lmarena: rating", "rank"]
    assert [(row[0], row[2], row[4], row[5], row[6]) for row in rows] == [
        ("gpt-image-1", "1", "1", "1200", "1"),
        ("bagel", "2", "2", "1150", "3"),
        ("omnigen2", "3", "3", "1180", "2"),
    ]
    assert (last[0], last[1], last[3]) == ("Spearman with lmarena", "0.50", "0.50")
    (rows,) = [rows[1:] for title, rows in tables.items() if title.startswith("Table 4.")]
    assert [row[:3] + row[4:5] + row[6:] for row in rows[:3]] == [
        ["gpt-image-1", "783.5", "1", "1", "1", "1200", "1"],
        ["bagel", "755", "2", "2", "2", "1150", "3"],
        ["omnigen2", "600", "3", "3", "3", "1180", "2"],
    ]
    assert [(row[0], row[1], row[3]) for row in rows[3:]] == [
        ("Spearman with people", "1.00", "1.00"),
        ("Spearman with lmarena", "0.50", "0.50"),
    ]


def test_genarena_confusion_and_score_differences(arena: Path, text: str) -> None:
    """The judge calls 12 pairs a tie that people decide (48 comparisons), and never a pair that people call one."""
    tables = paper_tables(text, "001")
    (rows,) = [rows for title, rows in tables.items() if title.endswith("of genarena/tiny on the same battles")]
    ties = rows[0].index("judge: tie")
    cells = {row[0]: [int(cell) for cell in row[1:]] for row in rows[1:]}
    assert cells["left"][ties - 1] + cells["right"][ties - 1] == 48
    assert cells["tie"] == [8, 0, 0, 8]
    assert sum(row[-1] for row in cells.values()) == 576
    right = 64 / 71
    assert f"of 284 votes that decide, {right:.1%} have a higher score for the preferred output and 0.0% equal" in text
    assert (arena / "out" / "plots" / "paper-001-score-differences-1.svg").exists()


def test_genarena_one_pair_by_two_protocols(arena: Path) -> None:
    page = (arena / "out" / "index.html").read_text(encoding="utf-8")
    start = page.index("Figures A.4 to A.6. One pair judged pointwise and pairwise")
    part = page[start : start + 3000]
    title = re.search(r"cv-judge/tiny and genarena/tiny · i(\d\d)", part)
    assert title is not None
    number = int(title[1])
    point = re.search(r"Pointwise \(cv-judge/tiny\): prefers ([\w-]+)\.", part)
    together = re.search(r"Pairwise, all orders together: (tie|prefers [\w-]+)\.", part)
    assert point is not None
    assert together is not None
    assert together[1] != f"prefers {point[1]}", "a pair on which the two protocols differ"
    scores = {f"{point_score(number, editor):g}" for editor in EDITORS}
    assert set(re.findall(r"pointwise score (\d+)", part)) <= scores


# ---------------------------------------------------------------- GEditBench v2


def test_judge_study_prints_the_same_tables(arena: Path, text: str) -> None:
    run = Imarena(arena)
    printed = run("-w", "w", "judge-study", *OTHER_BOARD, "--markdown").out
    shown = paper_tables(text, "001")
    study = paper_tables(f"## Tables and figures of GenArena\n{printed}", "001")
    assert len(study) >= 6
    assert study == {title: rows for title, rows in shown.items() if title in study}
    assert "Figure A.3: cv-judge/tiny: of 284 votes that decide, 90.1% have" in printed
    document = run("--json", "-w", "w", "judge-study", "--judge", "genarena").json
    assert [one["place"] for one in document["missing"]] == ["Table 4", "Figure A.3"], "nothing scores"
    (accuracy,) = [table for table in document["tables"] if table["title"].startswith("Table 1.")]
    assert [row[:2] for row in accuracy["rows"]] == [["genarena/tiny", "pairwise"]]
    assert accuracy["rows"][0][2] == pytest.approx(129 / 142)
    wrong = run("-w", "w", "judge-study", "--leaderboard", "lmarena.csv", "--names", "bagel=Bagle", code=2).err
    assert "no model 'Bagle'" in wrong


def test_geditbench_ratings_by_task(text: str) -> None:
    """Three wins to one are 400 log10(3) points; half and half none; one to three as many less."""
    tables = paper_tables(text, "003")
    half = 200 * math.log10(3)
    ahead, behind = f"{1000 + half:.0f}", f"{1000 - half:.0f}"
    assert len(tables) == 3
    for title, (head, *rows) in tables.items():
        assert title.endswith(("all tasks", "task TIE", "task TIG"))
        assert head == ["model", "IF: Elo", "rank", "VQ: Elo", "rank", "VC: Elo", "rank"]
        assert rows == [
            ["gpt-image-1", ahead, "1", "1000", "1", behind, "2"],
            ["bagel", behind, "2", "1000", "1", ahead, "1"],
        ]


# ---------------------------------------------------------------- ImagenWorld


def test_imagenworld_coverage_and_subtopics(text: str) -> None:
    tables = paper_tables(text, "004")
    assert tables["Table 2. Architecture and task coverage"][1:] == [
        ["bagel", "autoregressive", "open", "24", "24"],
        ["gpt-image-1", "not published", "closed", "24", "24"],
        ["omnigen2", "autoregressive and diffusion", "open", "24", "24"],
    ]
    assert tables["Tables 6 and 7. Subtopics by task and topic"][1:] == [
        ["TIE", "Artworks", "s1 (8), s3 (8)"],
        ["TIE", "Screenshots", "s1 (4), s3 (4)"],
        ["TIG", "Artworks", "s0 (8), s2 (8)"],
        ["TIG", "Screenshots", "s0 (4), s2 (4)"],
    ]


def test_imagenworld_raters_against_each_other(text: str) -> None:
    tables = paper_tables(text, "004")
    (rows,) = [rows[1:] for title, rows in tables.items() if "Each rater against the mean of the others" in title]
    marks = [
        (first, second)
        for number in range(ITEMS)
        for editor in EDITORS
        if (first := overall(number, editor, "ann")) is not None
        and (second := overall(number, editor, "bob")) is not None
    ]
    rho = spearmanr([first for first, _ in marks], [second for _, second in marks]).statistic
    assert [row[:3] for row in rows if row[0] == "overall"] == [["overall", f"{rho:.4f}", "0.0000"]]
    assert any("Against the mean of all raters but one" in title for title in tables)


def test_imagenworld_automatic_scores(text: str) -> None:
    """Half of the odd items have the scores of two editors exchanged; the third is rated on even items only."""
    tables = paper_tables(text, "004")
    every = tables["Table 8. Automatic scores on all outputs"]
    rated = tables["Table 9. Automatic scores on the outputs that people rated"]
    assert every[0] == rated[0] == ["task", "model", "clip-i, visual_consistency", SCORER]
    means = {
        (task, editor): [
            statistics.mean(point_score(number, editor, repeat) for repeat in REPEATS)
            for number in range(task == "TIE", ITEMS, 2)
        ]
        for task in ("TIE", "TIG")
        for editor in sorted(EDITORS)
    }
    assert [[row[0], row[1], row[3]] for row in every[1:]] == [
        [*key, f"{statistics.mean(values):.2f}±{statistics.stdev(values):.2f}"] for key, values in means.items()
    ]
    assert rated[1:] == [row for row in every[1:] if row[:2] != ["TIE", "omnigen2"]]
    assert [row[2].partition("±")[0] for row in every[1:4]] == ["0.80", "0.70", "0.30"], "of odd items"


def test_imagenworld_maps_and_bars(arena: Path, text: str) -> None:
    tables = paper_tables(text, "004")
    assert tables["Figure 15. Best editor by task and topic"][1:] == [
        ["TIE", "gpt-image-1 0.88", "bagel 0.62"],
        ["TIG", "gpt-image-1 1.00", "bagel 0.75"],
    ]
    out = arena / "out"
    assert "editors with every task: bagel, gpt-image-1" in text
    assert written_numbers(out, "paper-004-overall-by-task-and-topic") == ["0.75", "0.50", "0.88", "0.63"]
    assert written_numbers(out, "paper-004-items-by-topic") == ["32", "16"]
    topics, tasks = (written_numbers(out, f"paper-004-ratings-by-{label}") for label in ("topic", "task"))
    artefacts = "0.50"  # a rating of 3 everywhere
    assert sorted(topics) == sorted([artefacts, "0.70", artefacts, "0.45"])
    assert sorted(tasks) == sorted([artefacts, f"{21 / 36:.2f}", artefacts, f"{16 / 24:.2f}"])


# ---------------------------------------------------------------- EdiVal


@pytest.fixture(scope="module")
def edival(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edival")
    make_edival_arena(folder / "w")
    (folder / "analysis.csv").write_text("model,rank\nexact,1\nlazy,2\nunknown,3\n")
    Imarena(folder)("-w", "w", "report", "out", "--gallery", 0, "--leaderboard", "analysis.csv")
    return folder / "out"


def test_edival_tables_are_in_the_report(edival: Path) -> None:
    text = (edival / "report.md").read_text(encoding="utf-8")
    assert {place for paper, place in missing_places(text) if paper == "002"} == {"appendix F"}
    tables = paper_tables(text, "002")
    head, *rows = tables["Table 3. EdiVal scores by turn: EdiVal scores (multi-turn), percent"]
    scores = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert [scores[name]["IF T3"] for name in ("exact", "once", "lazy")] == ["100.00", "0.00", "0.00"]
    assert [scores["once"][f"IF T{turn}"] for turn in (1, 2, 3)] == ["100.00", "0.00", "0.00"]
    assert scores["exact"]["O T3"] == f"{100 * math.sqrt(0.9):.2f}"
    assert scores["exact"]["rank"] == "1"
    (swaps,) = [rows[1:] for title, rows in tables.items() if title.startswith("Tables 6 and 7.")][:1]
    assert swaps
    people = next(rows for title, rows in tables.items() if title.startswith("Table 13."))
    overall_rows = [row for row in people[1:] if row[0] == "overall" and row[1] == "edival"]
    assert overall_rows[0][2:4] == ["18", f"{100 * 14 / 18:.1f}"], "people say yes to two more edits of `once`, twice"
    (ranks,) = [rows for title, rows in tables.items() if title.startswith("Table 14.")]
    assert ranks == [
        ["model", "analysis: rank", "EdiVal: rank"],
        ["exact", "1", "1"],
        ["lazy", "2", "2"],
        ["Spearman", "", "1.00"],
    ]


def test_edival_fronts_are_tables_and_plots(edival: Path) -> None:
    tables = paper_tables((edival / "report.md").read_text(encoding="utf-8"), "002")
    (title,) = [title for title in tables if title.startswith("Figures 10, 14 and 15.") and "(multi-turn)" in title]
    fronts = {(row[0], row[1]): row[2] for row in tables[title][1:]}
    assert fronts["T1", "IF and CC"] == "lazy, once"  # (0, 1) and (1, 0.95); exact has (1, 0.9)
    assert fronts["T3", "IF and CC"] == "exact, lazy"  # (1, 0.9) and (0, 1); once has (0, 0.95)
    assert fronts["T3", "CC and VQ"] == "lazy"
    for turn in (1, 2, 3):
        for axes in ("if-cc", "if-vq", "cc-vq"):
            plot = (edival / "plots" / f"paper-002-pareto-multi_turn-{turn}-{axes}.svg").read_text(encoding="utf-8")
            assert all(f">{editor}</text>" in plot for editor in ("exact", "once", "lazy"))
    page = (edival / "index.html").read_text(encoding="utf-8")
    assert "Figures 10, 14 and 15. IF and CC at turn 3, multi-turn" in page
    for name in ("last-instruction-multi-turn", "luminance-multi-turn", "passing-multi-turn"):
        assert (edival / "plots" / f"paper-002-{name}.png").stat().st_size > 0
