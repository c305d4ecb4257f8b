"""Published agreement figures, through the command line: plain tables in, JSON out."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.golden.tables import CRITERIA, imagenhub, imarena, write_table


def test_krippendorffs_example(shared_data: Path, tmp_path: Path) -> None:
    with (shared_data / "evalica" / "codings.csv").open() as file:
        codings = list(csv.reader(file))
    rows = [(f"u{unit}", f"r{rater}", cell) for rater, row in enumerate(codings) for unit, cell in enumerate(row)]
    table = write_table(tmp_path / "ratings.csv", ("unit", "rater", "value"), rows)
    (group,) = imarena("agree", "--from", str(table))["groups"]
    assert group["alpha"] == pytest.approx(
        {"nominal": 0.743421, "ordinal": 0.8154, "interval": 0.8491, "ratio": 0.7974}, abs=5e-5
    )
    assert group["alpha"]["nominal"] == pytest.approx(0.743421, abs=5e-7)
    assert (group["n_units"], group["n_raters"], group["n_missing"]) == (12, 4, 7)
    assert group["status"] == "ok"
    for level, value in group["alpha"].items():
        assert group["alpha_interval"][level]["low"] < value < group["alpha_interval"][level]["high"]


@pytest.mark.parametrize("task", ["Text-Guided_IE", "Text-To-Image"])
def test_imagenhub_by_model(shared_data: Path, tmp_path: Path, task: str) -> None:
    published = json.loads((shared_data / "imagenhub" / "published.json").read_text())[task]
    table = write_table(
        tmp_path / "ratings.csv",
        ("unit", "rater", "model", "criterion", "value"),
        [
            (unit, f"r{rater}", model, criterion, value)
            for model, unit, rater, values in imagenhub(shared_data, task)
            for criterion, value in zip(CRITERIA, values, strict=True)
        ],
    )
    document = imarena("agree", "--from", str(table), "--by", "model", "--rounds", "200")
    seen = {(group["group"]["model"], group["criterion"]): group for group in document["groups"]}
    assert len(seen) == len(published) * len(CRITERIA)
    undefined = []
    for (model, criterion), group in seen.items():
        kappa, alpha = published[model][f"{criterion}_kappa"], published[model][f"{criterion}_alpha"]
        assert group["n_units"] == published[model]["n"]
        if math.isnan(alpha):
            undefined.append((model, criterion))
            _says_undefined(group)
        else:
            assert group["fleiss_kappa"] == pytest.approx(kappa, abs=1e-9), (model, criterion)
            assert group["alpha"]["ordinal"] == pytest.approx(alpha, abs=1e-9), (model, criterion)
            assert group["status"] == "ok"
    assert undefined == ([("Imagic", "O"), ("Imagic", "SC")] if task == "Text-Guided_IE" else [])


def _says_undefined(group: dict[str, Any]) -> None:
    assert group["status"] == "undefined"
    assert set(group["alpha"].values()) == {None}
    assert group["fleiss_kappa"] is None
    assert group["pairwise_agreement"] == 1.0
    assert "no variation" in group["reason"]


@pytest.mark.parametrize(("recipe", "expected"), [("fisher", 0.6302), ("paper-compat", 0.5044)])
def test_viescore_human_against_human(shared_data: Path, tmp_path: Path, recipe: str, expected: float) -> None:
    """Each rater against the mean of the other two, semantic consistency, over the paper's five generators."""
    models = ("DALLE", "DeepFloydIF", "OpenJourney", "SD", "SDXL")
    rows = [
        (unit, f"r{rater}", model, values[0])
        for model, unit, rater, values in imagenhub(shared_data, "Text-To-Image")
        if model in models
    ]
    table = write_table(tmp_path / "ratings.tsv", ("unit", "rater", "model", "value"), rows)
    options = ("--by", "model", "--leave-one-out", "--rounds", "0")
    (line,) = imarena("agree", "--from", str(table), *options, "--average", recipe)["averages"]
    assert line["leave_one_out"]["spearman"] == pytest.approx(expected, abs=5e-5)
    assert line["recipe"] == recipe
    assert line["n_groups"] == len(models)


def test_the_default_average_is_fishers(shared_data: Path, tmp_path: Path) -> None:
    rows = [
        (unit, f"r{rater}", values[0])
        for model, unit, rater, values in imagenhub(shared_data, "Text-To-Image")
        if model == "SD"
    ]
    table = write_table(tmp_path / "ratings.jsonl", ("unit", "rater", "value"), rows)
    document = imarena("agree", "--from", str(table), "--leave-one-out", "--rounds", "0")
    assert document["settings"]["average"] == "fisher"
    folds = [fold["spearman"] for fold in document["groups"][0]["leave_one_out"]["folds"]]
    by_hand = math.tanh(sum(math.atanh(fold) for fold in folds) / 3)
    assert document["groups"][0]["leave_one_out"]["spearman"] == pytest.approx(by_hand, abs=1e-12)
