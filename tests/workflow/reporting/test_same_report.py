"""A report does not depend on the order in which outputs and judgments arrived."""

import re
from pathlib import Path

import pytest

from tests.command import Imarena

EDITORS = ("studio-artefacts", "studio-wrong-target", "studio-exact")


def report(imarena: Imarena, folder: Path, editors: tuple[str, ...]) -> str:
    """The report of a new workspace, without days, times and paths."""
    workspace = ("-w", str(folder))
    imarena("init", str(folder))
    for editor in editors:
        imarena(*workspace, "edit", "--studio", "--limit", "3", "-e", editor)
        imarena(*workspace, "judge", "--judge", "builtin", "--editors", editor)
    imarena(*workspace, "battle", "--judge", "builtin")
    imarena(*workspace, "report", str(folder / "report.html"), "--title", "same")
    text = (folder / "report.html").read_text(encoding="utf-8").replace("<wbr>", "").replace(str(folder), "")
    return re.sub(r"\d{4}-\d{2}-\d{2}[T ]?[\d:.]*", "", text)


@pytest.mark.slow
def test_the_order_of_arrival_changes_no_report(imarena: Imarena, tmp_path: Path) -> None:
    first, second = (report(imarena, tmp_path / name, order) for name, order in (("a", EDITORS), ("b", EDITORS[::-1])))
    # the runs of the methods section are in the order in which they were started
    assert first.partition("Methods</h2>")[0] == second.partition("Methods</h2>")[0]
