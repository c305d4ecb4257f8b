"""VIEScore's recorded scores become judgments on ImagenHub's outputs."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Output, Vote
from imarena.datasets import imagenhub, viescore
from tests.unit.datasets.intake import MemoryIntake, import_all

EDITING = "imagenhub/Text-Guided_IE"


def write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def told(intake: MemoryIntake) -> list[str]:
    return [str(skip) for skip in intake.skips]


def test_the_recorded_scores_come_in_by_the_thousand(shared_data: Path) -> None:
    intake = import_all(imagenhub.read, shared_data / "imagenhub" / "human_ratings")
    before = len(intake.taken)
    intake.take(viescore.read(shared_data / "viescore", intake, {}))
    assert told(intake) == []
    new = Counter(type(record).__name__ for record in intake.taken[before:])
    assert set(new) == {"Judgment"}, "every score is about an output that people rated"
    judges = Counter(judgment.judge for judgment in intake.all(Judgment))
    assert judges["LPIPS"] == 1432
    assert judges["CLIP_Score"] == 985
    assert judges["gpt4o_0shot"] == 1432 + 985
    assert len({judgment.judgment_id for judgment in intake.all(Judgment)}) == len(intake.all(Judgment))
    whole = [j for j in intake.all(Judgment) if j.judge == "gpt4v_1shot" and j.score is not None]
    assert len(whole) < judges["gpt4v_1shot"], "what the judge refused is missing, not made up"


def test_the_published_agreement_comes_out(shared_data: Path) -> None:
    """Spearman of O with the human mean, pooled over eight editors: GPT-4o .589, LPIPS .213 (shared README)."""
    from scipy.stats import spearmanr

    intake = import_all(imagenhub.read, shared_data / "imagenhub" / "human_ratings" / "Text-Guided_IE")
    intake.take(viescore.read(shared_data / "viescore", intake, {}))
    people: dict[str, list[float]] = {}
    for vote in intake.all(Vote):
        people.setdefault(vote.left_id, []).append((vote.ratings["SC"] * vote.ratings["PQ"]) ** 0.5)
    for judge, expected in {"gpt4o_0shot": 0.589, "llava_0shot": 0.035, "LPIPS": 0.213}.items():
        pairs = [
            (j.score if j.params.get("higher_is_better", True) else -j.score, round(sum(people[j.left_id]) / 3, 9))
            for j in intake.all(Judgment)
            if j.judge == judge and j.score is not None and j.left_id in people
        ]
        machine, human = zip(*pairs, strict=True)
        assert spearmanr(machine, human).statistic == pytest.approx(expected, abs=0.0006)


def test_scores_are_read_as_viescore_defines_them(tmp_path: Path) -> None:
    content = {"ImagenHub_Text-Guided_IE": {"Ed": {"SC": {"a.jpg": [9, 4], "b.jpg": 3}, "PQ": {"a.jpg": [1]}}}}
    intake = import_all(viescore.read, write(tmp_path / "gpt4o_1shot.json", content))
    first, second = intake.all(Judgment)
    assert first.scores == {"SC": 4.0, "SC.1": 9.0, "SC.2": 4.0, "PQ": 1.0, "PQ.1": 1.0}
    assert first.score == 2.0
    assert (second.scores, second.score) == ({"SC": 3.0}, None)
    assert (first.judge, first.params["shots"]) == ("gpt4o_1shot", 1)
    assert [item.dataset for item in intake.all(Item)] == [EDITING] * 2
    assert all(output.image is None for output in intake.all(Output))


def test_names_are_those_of_the_rating_tables() -> None:
    assert viescore.imagenhub_names("ImagenHub_Text-Guided_IG", "DALLE2") == ("Text-To-Image", "DALLE")
    assert viescore.imagenhub_names("ImagenHub_Text-Guided_IE", "SDEdit") == ("Text-Guided_IE", "SDEdit")


def test_a_second_import_makes_nothing_new(tmp_path: Path) -> None:
    path = write(tmp_path / "j.json", {"ImagenHub_T": {"Ed": {"SC": {"a.jpg": 1}}}})
    intake = import_all(viescore.read, path)
    ids = {judgment.judgment_id for judgment in intake.all(Judgment)}
    count = len(intake.taken)
    intake.take(viescore.read(path, intake, {}))
    assert {judgment.judgment_id for judgment in intake.all(Judgment)} == ids
    assert len(intake.taken) == count + 1


@pytest.mark.parametrize(
    ("scores", "complaint"),
    [
        ({"SC": {"a": 41}}, "T/Ed/a: SC is 41, not a number from 0 to 10"),
        ({"SC": {"a": [1, -1]}}, "SC is -1"),
        ({"SC": {"a": "7"}}, "SC is '7'"),
        ({"SC": {"a": True}}, "SC is True"),
        ({"SC": {"a": []}}, "SC is an empty list"),
        ({"SC": {"a": None}}, "SC is None"),
        ({"XY": {"a": 1}}, "the criterion XY is not SC or PQ"),
        ([], "expected SC and PQ"),
    ],
)
def test_a_bad_score_is_named_and_the_others_stay(tmp_path: Path, scores: Any, complaint: str) -> None:
    path = write(tmp_path / "j.json", {"T": {"Ed": scores, "Good": {"PQ": {"a": 2}}}})
    intake = import_all(viescore.read, path)
    (line,) = told(intake)
    assert line.startswith("j.json, T/Ed")
    assert complaint in line
    assert [judgment.scores for judgment in intake.all(Judgment)] == [{"PQ": 2.0}]


def test_bad_metrics_are_named(tmp_path: Path) -> None:
    content = {"T/Ed.json": {"a": {"LPIPS": 0.5, "CLIP": "x"}, "b": 3}, "T/Other.json": 1}
    intake = import_all(viescore.read, write(tmp_path / "autometrics.json", content))
    assert [(j.judge, j.score, j.params) for j in intake.all(Judgment)] == [("LPIPS", 0.5, {"higher_is_better": False})]
    assert len(told(intake)) == 3


@pytest.mark.parametrize(("content", "complaint"), [("", "empty"), ("[]", "expected an object"), ("{", "not JSON")])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "bad.json").write_text(content)
    write(tmp_path / "good.json", {"T": {"Ed": {"SC": {"a": 1}}}})
    intake = import_all(viescore.read, tmp_path)
    (line,) = told(intake)
    assert line.startswith("bad.json: ")
    assert complaint in line
    assert len(intake.all(Judgment)) == 1


def test_a_folder_without_results_and_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no JSON files"):
        import_all(viescore.read, tmp_path)
    with pytest.raises(UserError, match="no option"):
        import_all(viescore.read, tmp_path, judges="x")
