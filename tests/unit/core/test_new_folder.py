"""A folder that is written as a whole or not at all."""

from pathlib import Path

from imarena.core import new_folder


def test_a_folder_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    with new_folder(tmp_path / "out", lambda _: "") as one:
        (one / "a").write_text("1")
        with new_folder(tmp_path / "out", lambda _: "") as other:
            (other / "b").write_text("2")
        assert (one / "a").is_file()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a"]
