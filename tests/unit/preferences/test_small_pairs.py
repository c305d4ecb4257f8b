"""Pairs for `pvc-small`: a packed file comes back as it was, and candidates differ where they are said to."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from imarena.preferences import damage_kinds
from tools.pvc_small.check_data import RECORD
from tools.pvc_small.packing import pack_pictures, packed_sha256, unpack_pictures
from tools.pvc_small.scenes import studio_hashes, versions
from tools.pvc_small.synthesis import EDITS, Dice, Stock, Synthesis, load_stock

SIDE = 128


def pictures(n: int, side: int = SIDE) -> NDArray[np.uint8]:
    rows, columns = np.mgrid[0:side, 0:side] / 7.0
    waves = [[np.sin(rows * (1 + 0.2 * i) + k) + np.cos(columns + i) for k in range(3)] for i in range(n)]
    return np.asarray(128 + 50 * np.array(waves).transpose(0, 2, 3, 1), np.uint8)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    alpha = np.zeros((2, 32, 32), np.uint8)
    alpha[:, 4:28, 6:26] = 255
    salient = np.zeros((9, SIDE // 4, SIDE // 4), np.uint8)
    salient[:, 4:9, 4:10] = 1
    edited = np.zeros((2, SIDE // 4, SIDE // 4), np.uint8)
    edited[:, 3:8, 3:8] = 255
    studio = np.repeat(pictures(1), 3, axis=0)
    studio[1:, 12:32, 12:32] = 200
    kinds = {k.name: [k.step, k.reach, *k.area, k.held_out] for k in damage_kinds().values()}
    file = tmp_path_factory.mktemp("packed") / "small.npz"
    arrays: dict[str, NDArray[np.uint8]] = {
        **pack_pictures("photo", pictures(9)), **pack_pictures("stamp", pictures(2, 32)),
        **pack_pictures("studio", studio), "salient": np.packbits(salient, axis=2), "alpha": alpha, "edited": edited,
        "kinds": np.frombuffer(json.dumps(kinds).encode(), np.uint8),
    }  # fmt: skip
    with file.open("wb") as sink:
        np.savez_compressed(sink, allow_pickle=False, **arrays)
    return file


@pytest.fixture(scope="module")
def stock(packed: Path) -> Stock:
    return load_stock(packed)


def test_packed_pictures_come_back() -> None:
    given = pictures(2)
    back = unpack_pictures("photo", pack_pictures("photo", given))
    assert back.shape == given.shape
    assert np.abs(back.astype(int) - given).mean() < 2


def test_packing_again_gives_the_same_bytes_and_another_picture_another_hash(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with (tmp_path / name).open("wb") as sink:
            np.savez_compressed(sink, allow_pickle=False, **pack_pictures("photo", pictures(2)))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    hashes = [packed_sha256(pack_pictures("photo", pictures(2, side))) for side in (SIDE, SIDE, SIDE // 2)]
    assert hashes[0] == hashes[1] != hashes[2]
    with np.load(tmp_path / "one") as archive:
        assert packed_sha256({name: archive[name] for name in archive.files}) == hashes[0]


def test_the_studio_part_of_the_training_data_is_the_recorded_one() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    first = record["studio"][0]
    made = studio_hashes(first["first"], first["count"])
    assert made["scenes_sha256"] == first["scenes_sha256"]
    if record["versions"] == versions():  # other versions may draw an edge in another way
        assert made["pixels_sha256"] == first["pixels_sha256"]
    assert studio_hashes(first["first"] + 1, first["count"])["scenes_sha256"] != first["scenes_sha256"]


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_changes_its_region_and_nothing_else(stock: Stock, kind: str) -> None:
    left, right = Synthesis(stock, Dice(1)).edits(kind, 2, (SIDE, SIDE), same=False)
    for side in (left, right):
        outside = side.region[..., 0] < 1e-3
        apart = np.abs(side.output - side.source).max(axis=3)
        assert apart[outside].max() < (
            0.06 if kind == "studio" else 1e-3
        )  # studio pictures were packed each for itself
        assert kind == "none" or apart[~outside].max() > 0.02


def test_damage_spares_the_region_and_a_level_is_kept(stock: Stock) -> None:
    synthesis = Synthesis(stock, Dice(2))
    left, _ = synthesis.edits("recolour", 2, (SIDE, SIDE), same=True)
    worse = synthesis.damage(left, "lightness", left.level + 5.0, everywhere=False)
    inside = left.region[..., 0] > 0.999
    assert np.allclose(worse.output[inside], left.output[inside], atol=1e-4)
    assert list(worse.level) == [5.0, 5.0]


def test_training_never_uses_a_held_out_kind(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    used = set()
    done = Synthesis.damage

    def noted(self: Synthesis, given: object, kind: str, *rest: object, **more: object) -> object:
        used.add(kind)
        return done(self, given, kind, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Synthesis, "damage", noted)
    synthesis = Synthesis(stock, Dice(3))
    for _ in range(60):
        left, right, _ = synthesis.training_pair(1, (SIDE, SIDE))
        assert (right.level > left.level).all()
    assert len(used) > 10
    assert not used & set(stock.kind_names(held_out=True))


def test_through_an_encoder_the_right_one_is_redrawn_more_or_damaged_more(stock: Stock) -> None:
    random = np.random.default_rng(5)

    def recode(images: Any, noise: Any, _: int) -> Any:
        return images + 0.05 * noise[:, None, None, None] * random.standard_normal(images.shape)

    synthesis = Synthesis(stock, Dice(3), recode)
    redrawn = 0
    for _ in range(40):
        left, right, told = synthesis.training_pair(1, (SIDE, SIDE))
        if told or (right.level > left.level).all():
            continue
        redrawn += 1
        rough = [
            float(np.abs(np.diff((side.output - side.source) * (side.region < 1e-3), axis=1)).mean())
            for side in (left, right)
        ]
        assert rough[0] < rough[1]
    assert redrawn > 5


@pytest.mark.torch
def test_training_runs_saves_and_exports(packed: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tools.pvc_small.training import TrainingPlan, load_weights, train_network

    plan = TrainingPlan(steps=3, encoder_steps=3, groups=2, group_size=2, test_pairs=1)
    lines: list[str] = []
    trained = train_network(packed, packed, tmp_path, plan, tell=lines.append)
    report = json.loads((tmp_path / "curves.json").read_text())
    assert report["steps"] == 3
    assert len(report["data_sha256"]["train"]) == 64
    assert set(report["held_out"]) == {"local_warp", "colour_cast", "texture_swap", "object_drift"}
    assert all(len(row) == 10 for row in report["trained"].values())
    source, output = torch.rand(2, 3, 128, 160), torch.rand(2, 3, 128, 160)
    with torch.no_grad():
        assert torch.equal(trained(source, output)[0], load_weights(tmp_path / "weights.npz")(source, output)[0])
