"""`imarena measure`: metrics of two files, with and without a mask, and files that cannot be read."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from imarena import measure_edit
from tests.command import Imarena


def test_a_change_is_measured_where_it_is(imarena: Imarena, tmp_path: Path) -> None:
    source = np.full((200, 240, 3), 120, np.uint8)
    source[::4] = 90
    output = source.copy()
    output[50:100, 60:120] = (200, 40, 40)
    mask = np.zeros((200, 240), np.uint8)
    mask[50:100, 60:120] = 255
    for name, pixels in (("source", source), ("output", output), ("mask", mask)):
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    measured = imarena("--json", "measure", "source.png", "output.png", "--mask", "mask.png").json
    shares = measured["metrics"]["changed_share"]
    assert shares == {"whole": pytest.approx(3000 / 48000), "inside": 1.0, "outside": 0.0}
    assert measured["metrics"]["ssim"]["outside"] == 1.0
    assert measured["metrics"]["ssim"]["inside"] < 0.6
    assert measured["metrics"]["psnr"]["outside"] is None
    assert measured["metrics"]["colour_difference"]["inside"] > 20
    assert measured["metrics"]["st_lpips"]["whole"] > 0.05
    assert measured["metrics"]["st_lpips"]["outside"] == 0.0
    assert measured["metrics"]["st_lpips"]["inside"] > measured["metrics"]["st_lpips"]["whole"]
    assert measured["metrics"]["ms_ssim"]["outside"] == pytest.approx(1.0)
    assert measured["metrics"]["ms_ssim"]["inside"] is None, "the region has fewer than 176 pixels a side"
    assert measured["metrics"]["face_likeness"] == {"whole": None, "inside": None, "outside": None}
    assert measured["output"]["luminance_p99"]["inside"] == pytest.approx(200 * 0.2126 + 40 * 0.7874)
    assert not measured["resized"]
    shown = imarena("measure", "source.png", "output.png").out
    assert "ssim" in shown
    assert "just visible" in shown
    assert "inside" not in shown
    copied = measure_edit(tmp_path / "source.png", tmp_path / "source.png").metrics
    assert copied["l1"].whole == 0.0
    assert copied["st_lpips"].whole == 0.0


def test_only_a_mask_is_taken_for_one(imarena: Imarena, tmp_path: Path) -> None:
    ramp = np.linspace(0, 255, 60 * 40 * 3).reshape(40, 60, 3).astype(np.uint8)
    mask = np.zeros((40, 60), np.uint8)
    mask[10:20, 10:30] = 255
    Image.fromarray(ramp).save(tmp_path / "source.png")
    Image.fromarray(mask).save(tmp_path / "mask.jpg", quality=60)
    Image.fromarray(mask[:20]).save(tmp_path / "small.png")
    command = ("measure", "source.png", "source.png", "--mask")
    imarena(*command, "mask.jpg")
    for value, note in ((0, "all black: nothing is inside"), (255, "all white: nothing is outside")):
        Image.fromarray(np.full_like(mask, value)).save(tmp_path / "plain.png")
        assert note in imarena(*command, "plain.png").out
    assert "source.png is not a mask: only " in imarena(*command, "source.png", code=2).err
    assert "the mask is 60 x 20, the source 60 x 40" in imarena(*command, "small.png", code=2).err


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "I;16"])
def test_gray_transparent_and_turned_images_are_measured(tmp_path: Path, mode: str) -> None:
    ramp = np.linspace(0, 250, 45 * 33).reshape(33, 45).astype(np.uint8)
    gray = Image.fromarray(ramp)
    image = Image.fromarray(ramp.astype(np.uint16) * 257) if mode == "I;16" else gray.convert(mode)
    image.save(tmp_path / "image.png")
    turned = Image.Exif()
    turned[0x0112] = 6
    gray.convert("RGB").save(tmp_path / "turned.png", exif=turned)
    upright = gray.transpose(Image.Transpose.ROTATE_270)
    upright.save(tmp_path / "upright.png")
    assert measure_edit(tmp_path / "image.png", tmp_path / "image.png").metrics["st_lpips"].whole == 0.0
    assert measure_edit(tmp_path / "turned.png", tmp_path / "upright.png").metrics["st_lpips"].whole == 0.0
    other = measure_edit(tmp_path / "image.png", tmp_path / "turned.png").metrics["st_lpips"].whole
    assert other is not None
    assert other > 0.01


def test_what_cannot_be_read_is_one_line(imarena: Imarena, tmp_path: Path) -> None:
    Image.new("RGB", (1, 1)).save(tmp_path / "dot.png")
    dot = imarena("--json", "measure", "dot.png", "dot.png").json["metrics"]
    assert dot["ssim"]["whole"] == 1.0
    assert dot["st_lpips"]["whole"] is None, "it needs 21 pixels a side"
    (tmp_path / "text.png").write_text("not an image")
    refused = imarena("measure", "dot.png", "text.png", code=2)
    assert "text.png is not an image" in refused.err
    assert "Traceback" not in refused.err
    assert "absent.png cannot be read" in imarena("measure", "absent.png", "dot.png", code=2).err
