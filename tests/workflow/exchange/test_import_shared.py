"""Public human data, imported as a user would import it; the counts are those of the sources."""

from pathlib import Path

import pytest

from tests.command import Imarena


@pytest.mark.slow
def test_text_guided_editing_pixels_ratings_and_scores(imarena: Imarena, shared_data: Path) -> None:
    imarena("init", "a")
    imarena("-w", "a", "import", "imagenhub", shared_data / "imagenmuseum" / "Text-Guided_IE")
    ratings = shared_data / "imagenhub" / "human_ratings" / "Text-Guided_IE"
    imarena("-w", "a", "import", "imagenhub", ratings)
    found = imarena("-w", "a", "--json", "status").json
    assert found["items"] == {"imagenhub/Text-Guided_IE": 179}
    with_pixels = {name: row["ok"] for name, row in found["outputs"].items() if name != "Imagic"}
    assert len(with_pixels) == 8
    assert sum(with_pixels.values()) == 1_432
    assert found["outputs_without_pixels"] == {"Imagic": 179}
    assert len(found["votes"]) == 3
    assert found["totals"]["vote"] == 3 * 179 * 9
    again = imarena("-w", "a", "--json", "import", "imagenhub", ratings).json
    assert sum(again["new"].values()) == 0
    assert again["skipped"] == 0
    scores = shared_data / "viescore" / "judge_scores" / "gpt4o_0shot.json"
    imarena("-w", "a", "import", "viescore", scores, code=None)
    after = imarena("-w", "a", "--json", "status").json
    assert after["totals"]["judgment"] > 1_000
    assert after["items"]["imagenhub/Text-Guided_IE"] == 179
    assert imarena("-w", "a", "--json", "verify").json["clean"] is True


def test_genai_bench_and_editreward_votes(imarena: Imarena, shared_data: Path) -> None:
    imarena("init", "a")
    imarena("-w", "a", "import", "genai_bench", shared_data / "genai_bench" / "image_generation.json")
    found = imarena("-w", "a", "--json", "status").json
    assert found["totals"]["vote"] == 1_735
    assert len(found["judgments"]) == 18
    imarena("-w", "a", "import", "editreward_bench", shared_data / "editreward_genai" / "valid_dataset_1.json")
    found = imarena("-w", "a", "--json", "status").json
    assert found["totals"]["vote"] == 1_735 + 503
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True
