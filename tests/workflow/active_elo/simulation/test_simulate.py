"""`imarena simulate` on simulated judges and raters: what it prints, and what it refuses."""

from pathlib import Path

import pytest

from tests.command import Imarena

SMALL = ("--models", 6, "--items", 60, "--seeds", 8, "--rounds", 3, "--budgets", "30,60")


def test_simulated_data(imarena: Imarena, tmp_path: Path) -> None:
    document = imarena("simulate", *SMALL, "--json", "--csv", tmp_path / "table.csv").json
    policies = [line["policy"] for line in document["policies"]]
    assert policies[::2] == ["human-only", "judge-only", "quality-only", "ambiguity-only", "two-gate", "information"]
    for line in document["policies"]:
        for key in ("accuracy", "spearman", "rank_std"):
            assert line[key]["low"] <= line[key]["mean"] <= line[key]["high"]
    assert document["settings"]["deferral"] == pytest.approx(0.337, abs=0.02)
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 13
    again = imarena("simulate", *SMALL, "--json").json
    assert again == document


def test_every_policy_runs(imarena: Imarena) -> None:
    document = imarena("simulate", *SMALL, "--policies", "all", "--seeds", 3, "--json").json
    found = {line["policy"]: line["accuracy"]["mean"] for line in document["policies"]}
    assert {"two-gate, online without rho", "two-gate, constant q", "two-gate, corrected"} <= found.keys()
    assert all(0.3 < value < 1 for value in found.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budgets", "0"), "asks nobody"),
        (("--budgets", "ten"), "whole numbers"),
        (("--policies", "magic"), "No policy 'magic'"),
        (("--tau", 2000), "let nothing through"),
        (("--from", "scores.csv"), "two tables"),
        (("--seeds", 1), "two seeds"),
        (("--range", "0:10"), "Simulated scores are of 0 to 1000"),
        (("--budgets", "100000"), "battles are left"),
    ],
)
def test_clear_refusals(imarena: Imarena, arguments: tuple[object, ...], message: str) -> None:
    ended = imarena("simulate", "--models", 4, "--items", 20, "--seeds", 2, "--budgets", "9", *arguments, code=2)
    assert message in ended.err
    assert "Traceback" not in ended.err
