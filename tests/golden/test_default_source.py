"""Whose board is the default where people rated all editors in two groups that never met: ImagenHub and VIEScore."""

from pathlib import Path

from tests.golden.tables import imarena
from tests.golden.test_overall_figures import imported


def test_people_who_rated_all_editors_are_the_default(shared_data: Path, tmp_path: Path) -> None:
    """No judge links the two groups, and each lacks editors: no judge's board is better connected."""
    root = imported(tmp_path, shared_data, "Text-Guided_IE", scores=True)
    imarena("-w", root, "import", "imagenhub", str(shared_data / "imagenhub" / "human_ratings" / "Text-To-Image"))
    found = imarena("-w", root, "rank", "--interval", "none")
    assert found["settings"]["verdicts"] == "people"
    assert len(found["models"]) == 16
    assert len(imarena("-w", root, "rank", "--judge", "gemini_0shot", "--interval", "none")["models"]) < 16
