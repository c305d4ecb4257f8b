"""What the words in the output of `edit` and `compare` mean stands where they are printed."""

from pathlib import Path

from PIL import Image, ImageDraw

from tests.command import Imarena


def test_edit_explains_the_flags_it_counts(tmp_path: Path) -> None:
    imarena = Imarena(tmp_path)
    imarena("init", "w")
    editors = ("-e", "studio-returns-input", "-e", "studio-new-image")
    shown = imarena("-w", "w", "edit", "--studio", "--items", "world-tie-cg", *editors, "--no-sheet").out
    assert "studio-returns-input: 1 ok; 1 unchanged" in shown
    assert "  unchanged: the output is its input" in shown
    assert "  new_image: the output keeps nothing of its source" in shown
    assert "wrong_shape" not in shown  # only what was counted
    exact = imarena("-w", "w", "edit", "--items", "world-tie-cg", "-e", "studio-exact", "--no-sheet").out
    assert "unchanged" not in exact


def test_compare_explains_by_how_much_one_is_ahead(tmp_path: Path) -> None:
    rows = ["key,instruction,source"]
    for number in range(3):
        picture = Image.new("RGB", (96, 96), (40, 90, 160))
        ImageDraw.Draw(picture).ellipse((20 + number, 20, 70, 70), fill=(60, 160, 60))
        for folder in ("source", "old", "new"):
            (tmp_path / folder).mkdir(exist_ok=True)
            if folder == "new":
                ImageDraw.Draw(picture).ellipse((20 + number, 20, 70, 70), fill=(220, 30, 30))
            picture.save(tmp_path / folder / f"k{number}.png")
        rows.append(f"k{number},make the circle red,source/k{number}.png")
    (tmp_path / "items.csv").write_text("\n".join(rows) + "\n")
    shown = Imarena(tmp_path)("compare", "old", "new", "--items", "items.csv").out
    assert "ahead by" in shown
    assert "ahead by: the difference of the judge's two scores" in shown
    page = (tmp_path / "compare-report" / "index.html").read_text()
    assert "“ahead by” is the difference of the judge&#39;s two scores" in page
