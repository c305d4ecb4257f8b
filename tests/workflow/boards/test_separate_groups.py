"""Ranks of models that never met: `rank`, the report and the site give each group its own."""

import re
from pathlib import Path

import pytest

from tests.command import Imarena
from tests.small_data.separate_groups import GROUPS, ITEMS, fill


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    fill(tmp_path / "w")
    return tmp_path / "w"


def test_every_group_has_its_own_ranks(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    board = imarena("-w", arena, "--json", "rank", "--source", "human").json
    places = {one["model"]: (one["rank"], one["rank_low"], one["rank_high"]) for one in board["models"]}
    assert [place[0] for place in places.values()] == [1, 2, 3, 1, 2]
    assert [*places] == [*GROUPS[0], *GROUPS[1]]
    assert (places["oak"], places["dog"], places["cat"]) == ((1, 1, 1), (1, 1, 1), (2, 2, 2))
    printed = imarena("-w", arena, "rank", "--source", "human", "--markdown").out
    assert "| group | rank | model |" in printed
    assert "| 2 | 1 | dog |" in printed
    assert "ratings, intervals and ranks hold within a group" in printed
    assert "Stability (within groups)" in printed
    table = imarena("-w", arena, "rank", "--source", "human", "--csv").out.splitlines()
    assert table[0].startswith("group,model,")
    imarena("-w", arena, "report", tmp_path / "out")
    report = (tmp_path / "out" / "report.md").read_text()
    assert "| group | rank | model |" in report
    assert "| 2 | 1 | dog |" in report
    plots = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.svg"))
    assert "group 2: ratings hold within the group" in plots
    imarena("-w", arena, "site", tmp_path / "site", "--licence", "CC0-1.0")
    page = (tmp_path / "site" / "index.html").read_text()
    assert ">group</th>" in page
    points = [float(end) for end in re.findall(r'<rect class="point" x="([-\d.]+)"', page)]
    assert points[3] + points[4] == pytest.approx(98.4, abs=0.1), "the second group is centred on a scale of its own"


def test_every_group_has_intervals_around_its_own_mean(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    board = imarena("-w", arena, "--json", "rank", "--source", "human").json
    for models in GROUPS:
        own = [one for one in board["models"] if one["model"] in models]
        assert sum(one["rating"] for one in own) / len(own) == pytest.approx(1000)
        assert all(one["low"] < one["rating"] < one["high"] and one["note"] == "" for one in own)
    assert board["details"]["group_units"] == [ITEMS, ITEMS]
    notice = "Each group has its own scale, with its own mean and intervals: do not compare ratings"
    assert any(notice in warning for warning in board["warnings"])
    legend = "group: models that met each other; ratings, intervals and ranks hold within a group"
    assert legend in imarena("-w", arena, "rank", "--source", "human", "--markdown").out
