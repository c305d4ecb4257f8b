"""Progress in a log: plain lines, rarely."""

import pytest

from imarena.cli import console as room


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LINE_EVERY_S", 0.0)
    with room.progress_bars("import") as tell:
        tell("rows", 1200, 5000)
        tell("pictures", 3, None)
    said = capsys.readouterr()
    assert said.err.splitlines() == ["import: rows: 1,200 of 5,000", "import: pictures: 3"]
    assert said.out == ""


def test_what_ends_soon_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with room.progress_bars("import") as tell:
        tell("rows", 1, 2)
    assert capsys.readouterr().err == ""
