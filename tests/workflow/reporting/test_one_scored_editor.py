"""A workspace in which a judge scored one editor alone: the report is written, and `route report` names the reason."""

from pathlib import Path

from tests.command import Imarena
from tests.small_data.small_arena import make_arena


def test_scores_of_one_editor_do_not_break_the_report(imarena: Imarena, tmp_path: Path) -> None:
    make_arena(tmp_path / "a", items=1, habits=("exact", "returns-input"))
    imarena("-w", "a", "judge", "-e", "studio-exact")
    ended = imarena("-w", "a", "route", "report", code=2)
    assert "There is no board of 'builtin'" in ended.err
    imarena("-w", "a", "report")
