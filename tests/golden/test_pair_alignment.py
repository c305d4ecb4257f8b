"""GenAI-Bench's published four-way accuracies, by `import` and `align` alone."""

from pathlib import Path

from tests.command import Imarena

PUBLISHED = {"gpt4o": 45.59, "llava": 37.00, "idefics2": 42.25, "gemini-1.5-pro": 44.67}


def test_genai_bench_by_import_and_align(imarena: Imarena, shared_data: Path) -> None:
    imarena("init", "a")
    imarena("-w", "a", "import", "genai_bench", shared_data / "genai_bench")
    command = ("-w", "a", "--json", "align", "--against", "people")
    found = imarena(*command).json["verdicts"]
    groups = {group["judge"]: group for group in found["groups"]}
    for judge, accuracy in PUBLISHED.items():
        group = groups[judge]
        assert round(100 * group["four_way_accuracy_all_votes"], 2) == accuracy
        assert group["n"] + group["n_missing"] == group["n_votes"] == 1735
        assert sum(group["missing"].values()) == group["n_missing"]
        assert set(group["missing"]) <= {"unparsable"}
    assert groups["gemini-1.5-pro"]["n_missing"] == 50
    assert sum(row.get("equal", 0) for row in groups["gemini-1.5-pro"]["confusion"].values()) == 2
    one = imarena(*command, "--judge", "gpt4o", "--missing", "wrong").json["verdicts"]["groups"][0]
    assert round(100 * one["four_way_accuracy"], 2) == 45.59
    assert one["n"] == 1735
