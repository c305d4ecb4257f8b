"""`imarena agent-ablation`: four settings of the agent are edited, compared and ranked; the report has the table.

The command is that of report.md, with fewer items and a faster editor.
"""

from pathlib import Path

import pytest

from imarena.storage import open_workspace
from imarena.workflows.boards import Boards
from imarena.workflows.reporting.papers.cv_arena import MAKERS
from imarena.workflows.reporting.papers.data import PaperData
from imarena.workflows.views import View
from tests.command import Imarena
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.services import fitted

SETTINGS = ["editor only", "+ understanding", "+ understanding and planning", "full agent (closed loop)"]


@pytest.mark.slow
def test_the_stages_are_ranked_and_the_report_has_the_same_table(tmp_path: Path) -> None:
    imarena = Imarena(tmp_path)
    imarena("init", "arena")
    few = {"classical": "studio-timid", "--limit 10": "--items world-tie-cg --items world-tie-a"}
    (block,) = fitted(blocks_of("report.md", __file__), few)
    (words,) = block.commands()
    stages = imarena("--json", *words).json["stages"]
    assert [stage["setting"] for stage in stages] == SETTINGS
    assert [stage["editor"] for stage in stages] == [
        f"{kind}:studio-timid" for kind in ("agent-none", "agent-understand", "agent-plan", "agent")
    ]
    assert all(stage["outputs"] == 2 for stage in stages)
    shown = imarena(*words).out  # nothing is made twice
    assert "full agent (closed loop)" in shown
    with open_workspace(tmp_path / "arena") as workspace:
        view = View(workspace)
        (table,) = MAKERS["agent_stages"](PaperData(view, Boards(view), None, lambda _: "")).tables
    assert [(row[0], row[1]) for row in table.rows] == [(stage["setting"], stage["editor"]) for stage in stages]
    ratings = [row[2] for row in table.rows]
    assert ratings == pytest.approx([stage["rating"] for stage in stages])
