"""`imarena pvc evaluate`: one model asked pairwise and by the pointwise baselines NC and SC (GEditBench v2, figure 2).

The model is a server that knows the images, so that each accuracy is known: pairwise it is right on all four pairs; by
NC it gives both outputs of the last pair one mark; by SC it is wrong on the third and gives no mark on the last.
"""

import json
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imarena.clients import Endpoint
from imarena.clients.fake_answers import ChatQuery
from imarena.core.ids import sha256_hex
from imarena.images.prepare import prepare_with
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.pair_scenes import edited, png_bytes, scene

PAIRS = 4
WORDS = "make the tile blue"


def images(number: int) -> tuple[bytes, bytes, bytes]:
    """The source, the edit that kept the rest, and the one that did not."""
    source = scene(number)
    return png_bytes(source), png_bytes(edited(source, 0.0)), png_bytes(edited(source, 40.0, number))


@cache
def known() -> dict[str, tuple[int, bool]]:
    """By the hash of an output as it is sent: its pair, and whether it is the better one."""
    preparation = Endpoint(base_url=("http://127.0.0.1",), model="fake-vlm").preparation
    found = {}
    for number in range(PAIRS):
        for data, good in zip(images(number)[1:], (True, False), strict=True):
            found[sha256_hex(prepare_with(preparation, data).data)] = (number, good)
    return found


def answer(query: ChatQuery) -> str:
    """What the model replies; the server loads this function."""
    wanted = (query.schema or {})["properties"]
    pair, good = known()[query.images[-1]]
    if "winner" in wanted:
        return json.dumps({"reason": "it kept more", "winner": wanted["winner"]["enum"][1 if good else 0]})
    if "non_edit_consistency" in wanted:
        return json.dumps({"reasoning": "as seen", "non_edit_consistency": 7 if pair == 3 else 9 if good else 4})
    if pair == 3:
        return "I cannot tell."
    mark = 20 if good != (pair == 2) else 10
    return json.dumps({"reasoning": "as seen", "editing_success": 25, "over_editing": mark})


@pytest.fixture
def benchmark(imarena: Imarena, tmp_path: Path) -> None:
    rows = []
    for number in range(PAIRS):
        source, good, bad = ({"bytes": data, "path": None} for data in images(number))
        shown, winner = ([good, bad], "Image A") if number % 2 else ([bad, good], "Image B")
        rows.append({
            "key": f"color_alter_pair_{number}", "instruction": WORDS, "source_image": source, "edited_images": shown,
            "winner": winner, "task": "color_alter",
        })  # fmt: skip
    (tmp_path / "bench").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "bench" / "test.parquet")
    imarena("init", "ws")
    imarena("-w", "ws", "import", "vcreward", "bench")


@pytest.mark.usefixtures("benchmark")
def test_a_model_asked_pairwise_stands_beside_its_nc_and_sc_marks(imarena: Imarena, tmp_path: Path) -> None:
    with fake_server("--answer", f"{__name__}:answer") as server:
        point_at(tmp_path / "ws", server.url)
        ask = ("--endpoint", "fake", "--yes")
        pairwise = "geditbench-visual-consistency"
        imarena("-w", "ws", "battle", "--judge", pairwise, "--sampler", "voted", *ask)
        imarena("-w", "ws", "judge", "--judge", "consistency-nc", *ask)
        imarena("-w", "ws", "judge", "--judge", "consistency-sc", *ask, code=3)
    result = imarena("--json", "-w", "ws", "pvc", "evaluate", "--rounds", "200").json
    rows = {row["judge"]: row for row in result["rows"] if row["task"] == "all"}
    nc, sc = rows["consistency-nc/fake-vlm"], rows["consistency-sc/fake-vlm"]
    assert (nc["dimension"], nc["scheme"]) == ("visual_consistency", "pointwise")
    assert (nc["strict"]["value"], nc["paper_compat"]["value"], nc["ties"]) == (0.75, 1.0, 1)
    assert sc["strict"]["value"] == 0.5
    assert sc["paper_compat"]["value"] == pytest.approx(2 / 3)
    assert sc["failures"] == {"unparsable": 1}
    assert rows[f"{pairwise}/fake-vlm"]["order_consistency"]["value"] == 1.0
    schemes = {each["pointwise"]: each for each in result["schemes"]}
    assert set(schemes) == {"consistency-nc/fake-vlm", "consistency-sc/fake-vlm"}
    for each, gap in zip(schemes.values(), (0.25, 0.5), strict=True):
        assert (each["model"], each["pairwise"]) == ("fake-vlm", f"{pairwise}/fake-vlm")
        assert each["pairwise_strict"]["value"] == 1.0
        assert each["difference"]["value"] == gap
        assert each["difference"]["low"] <= gap <= each["difference"]["high"]
    shown = imarena("-w", "ws", "pvc", "evaluate").out
    assert "Pairwise less pointwise, same model and pairs" in shown


@pytest.mark.usefixtures("benchmark")
def test_different_models_are_not_two_schemes_of_one(imarena: Imarena) -> None:
    imarena("-w", "ws", "judge", "--judge", "ssim", "--yes")
    imarena("-w", "ws", "judge", "--judge", "pvc-small", "--yes")
    imarena("-w", "ws", "battle", "--judge", "pvc-small", "--sampler", "voted", "--yes")
    result = imarena("--json", "-w", "ws", "pvc", "evaluate", "--rounds", "100").json
    assert [(each["model"], each["pointwise"]) for each in result["schemes"]] == [("pvc-small", "pvc-small")]
    assert result["schemes"][0]["difference"]["value"] == 0.0
