"""Settings that make no sense are refused with a word, never a traceback or a silent board."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from imarena.cli.app import app
from imarena.core.errors import UserError

ROWS = ["a,b,left,r,human", "b,a,left,j,judge", "a,b,tie,j,judge", "b,a,left,r,human"] * 5


@pytest.fixture
def votes(tmp_path: Path) -> str:
    file = tmp_path / "votes.csv"
    file.write_text("left,right,winner,rater,source\n" + "\n".join(ROWS) + "\n", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        ("elo", "k=nan"), ("elo", "k=inf"), ("elo", "k=0"), ("elo", "centre=nan"), ("bt", "scale=nan"), ("bt", "base=1"),
        ("active-elo", "alpha=nan"), ("active-elo", "alpha=-1"), ("active-elo", "scale_floor=nan"),
        ("active-elo", "k_human=inf"), ("active-elo", "q_judge=2"), ("active-elo", "q_human=-1"),
        ("active-elo", "q_by_gap=0:5"), ("active-elo", "q_by_gap=nan:0.5"), ("mixture", "q_human=0"),
        ("mixture", "gap_bins=0"),
    ],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused(votes: str, method: str, setting: str) -> None:
    result = CliRunner().invoke(app, ["rank", "--from", votes, "--method", method, "--set", setting])
    assert isinstance(result.exception, UserError), result.output


@pytest.mark.parametrize("option", [("--seed", "-1"), ("--rounds", "1"), ("--rounds", "-5"), ("--level", "nan")])
def test_an_option_out_of_range_is_refused(votes: str, option: tuple[str, str]) -> None:
    result = CliRunner().invoke(app, ["rank", "--from", votes, *option])
    assert isinstance(result.exception, UserError), result.output


def test_a_setting_reaches_every_method_that_has_it(votes: str) -> None:
    """Both active Elo and the mixture have a q_human."""
    for method in ("active-elo", "mixture"):
        arguments = ["--json", "rank", "--from", votes, "--method", method, "--set", "q_human=0.9"]
        document = json.loads(CliRunner().invoke(app, arguments).stdout)
        assert document["settings"]["q_human"] == 0.9
        if method == "mixture":
            assert {"group": "people", "value": pytest.approx(0.9)}.items() <= document["details"]["reliability"][
                -1
            ].items()
