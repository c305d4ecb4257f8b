"""`imarena pvc`: candidates, pairs, exports and meta-evaluation through the command line."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image

from imarena.core.records import Evidence, Outcome
from imarena.images import EDIT_BOXES, boxes_in
from imarena.preferences import PreferencePair, read_pair_file
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.small_data.pair_scenes import DAMAGE, SIZE, scene, write_arena


def _made(imarena: Imarena, folder: Path, **options: Any) -> Path:
    """A workspace `ws` beside the arena's folder."""
    write_arena(folder / "arena", **options)
    imarena("init", "ws")
    imarena("-w", "ws", "import", "table", "arena")
    return folder / "ws"


def _sides(pair: PreferencePair) -> dict[str, Any]:
    return {name: pair.provenance[name] for name in ("left", "right")}


def test_pairs_prefer_what_keeps_more_and_come_back_through_every_export(imarena: Imarena, tmp_path: Path) -> None:
    _made(imarena, tmp_path, items=5)
    report = imarena("--json", "-w", "ws", "pvc", "pairs", "pairs").json
    pairs = read_pair_file(tmp_path / "pairs")
    assert report["pairs"] == len(pairs) > 4
    assert report["thresholds"]["color_alter"]["outside"]["from"] == "published"
    order = list(DAMAGE)
    for pair in pairs:
        sides = _sides(pair)
        winner, loser = ("left", "right") if pair.winner is Outcome.LEFT else ("right", "left")
        assert order.index(sides[winner]["editor"]) < order.index(sides[loser]["editor"])
        assert sides["left"]["region"]["how"] == "changes"
        assert (tmp_path / "pairs" / "images" / f"{pair.source.sha256}.png").is_file()
    assert {pair.winner for pair in pairs} == {Outcome.LEFT, Outcome.RIGHT}
    whole = ("--split", "1,0,0")
    rows = imarena("--json", "pvc", "export", "training", "pairs", "chats", *whole).json["rows"]
    assert rows == {"train": len(pairs)}
    line = json.loads((tmp_path / "chats/train.jsonl").read_text().splitlines()[0])
    assert [message["role"] for message in line["messages"]] == ["system", "user", "assistant"]
    shown = [part["image"] for part in line["messages"][1]["content"] if part["type"] == "image"]
    assert len(shown) == 3
    assert all((tmp_path / "chats" / name).is_file() for name in shown)
    assert json.loads(line["messages"][2]["content"][0]["text"]) == {"winner": line["winner"]}
    imarena("pvc", "export", "trl", "pairs", "trl", *whole)
    line = json.loads((tmp_path / "trl/train.jsonl").read_text().splitlines()[0])
    assert line["chosen"] != line["rejected"]
    assert len(line["images"]) == 3
    imarena("pvc", "export", "diffusion-dpo", "pairs", "dpo", *whole)
    table = pq.read_table(tmp_path / "dpo/train.parquet").to_pylist()
    assert {row["label_0"] for row in table} == {0.0, 1.0}
    assert all(row["jpg_0"] and row["jpg_1"] and row["caption"] for row in table)
    assert "is not empty" in imarena("pvc", "export", "trl", "pairs", "trl", code=2).err
    assert "no export called" in imarena("pvc", "export", "csv", "pairs", "other", code=2).err


def test_an_exported_benchmark_is_imported_judged_and_evaluated(imarena: Imarena, tmp_path: Path) -> None:
    _made(imarena, tmp_path, items=3)
    imarena("-w", "ws", "pvc", "pairs", "pairs")
    pairs = read_pair_file(tmp_path / "pairs")
    imarena("pvc", "export", "vcreward", "pairs", "bench", "--split", "0,0,1")
    imarena("init", "two")
    imarena("-w", "two", "import", "vcreward", "bench")
    assert "no verdicts" in imarena("-w", "two", "pvc", "evaluate", code=2).err
    for judge in ("ssim", "st-lpips"):
        imarena("-w", "two", "judge", "--judge", judge, "--yes")
    result = imarena("--json", "-w", "two", "pvc", "evaluate", "--against", "ssim", "--rounds", "100").json
    rows = {(row["judge"], row["task"]): row for row in result["rows"]}
    for judge in ("ssim", "st-lpips"):
        row = rows[judge, "all"]
        assert (row["pairs"], row["scheme"], row["dimension"]) == (len(pairs), "pointwise", "visual_consistency")
        assert row["strict"]["value"] == 1.0
        assert row["strict"]["low"] < 1.0
        assert row["order_consistency"]["status"] == "undefined"
    assert [each["judge"] for each in result["differences"]] == ["st-lpips (pointwise)"]
    shown = imarena("-w", "two", "pvc", "evaluate").out
    assert "paper-compat" in shown
    # the experts' votes make the same pairs again
    made = imarena("--json", "-w", "two", "pvc", "pairs", "again", "--from", "votes").json
    assert made["pairs"] == len(pairs)
    chosen = {(pair.source.sha256, pair.chosen.sha256, pair.rejected.sha256) for pair in pairs}
    again = read_pair_file(tmp_path / "again")
    assert {(pair.source.sha256, pair.chosen.sha256, pair.rejected.sha256) for pair in again} == chosen


def test_other_names_and_another_order_make_the_same_pairs(imarena: Imarena, tmp_path: Path) -> None:
    found = []
    for name, names in (("one", {}), ("two", {"clean": "zz", "broken": "aa", "slight": "mm"})):
        home = tmp_path / name
        home.mkdir()
        write_arena(home / "arena", items=2, names=names)
        imarena("init", f"{name}/ws")
        imarena("-w", f"{name}/ws", "import", "table", f"{name}/arena", "--option", "dataset=arena")
        imarena("-w", f"{name}/ws", "pvc", "pairs", f"{name}/pairs")
        pairs = read_pair_file(home / "pairs")
        found.append([(pair.pair_id, pair.left, pair.winner, pair.strength) for pair in pairs])
    assert found[0] == found[1]
    assert found[0]


def test_bad_input_has_a_stated_result(imarena: Imarena, tmp_path: Path) -> None:
    folder = write_arena(tmp_path / "arena", items=4)
    lines = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    lines[0]["task"] = "style_transfer"
    lines[1]["task"] = "juggling"
    (folder / "items.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    for editor in DAMAGE:  # k2: every output is the source; k3: another size
        Image.fromarray(scene(2)).save(folder / f"outputs/{editor}/k2.png")
        picture = Image.open(folder / f"outputs/{editor}/k3.png")
        picture.resize((48, 48)).save(folder / f"outputs/{editor}/k3.png")
    imarena("init", "ws")
    imarena("-w", "ws", "import", "table", "arena")
    report = imarena("--json", "-w", "ws", "pvc", "pairs", "pairs").json
    assert report["skipped"]["left_to_a_judge"] == 1
    assert report["skipped"]["task_without_rule: juggling"] == 1
    assert report["skipped"]["region_covers_nothing"] == 4
    pairs = read_pair_file(tmp_path / "pairs")
    assert all(_sides(pair)["left"]["resized"] for pair in pairs)
    assert "need a judge" in imarena("-w", "ws", "pvc", "pairs", "more", "--from", "judgments", code=2).err
    assert "no votes or ratings" in imarena("-w", "ws", "pvc", "evaluate", code=2).err


def test_candidates_become_items(imarena: Imarena, tmp_path: Path) -> None:
    rows = ["image,instruction,task"]
    for number in range(8):
        Image.fromarray(scene(number // 2)).save(tmp_path / f"{number}.png")
        rows.append(f"{number}.png,{'remove the cup' if number < 4 else 'add a red hat'},subject_remove")
    rows += ["0.png,read the chart,chart_editing", "none.png,remove it,subject_remove"]
    (tmp_path / "pool.csv").write_text("\n".join(rows) + "\n")
    report = imarena("--json", "pvc", "candidates", "pool.csv", "chosen", "--per-task", "4").json
    assert report["tasks"] == [{"task": "subject_remove", "rows": 8, "chosen": 4, "radius": pytest.approx(0, abs=1)}]
    assert len(report["skipped"]) == 2
    imarena("init", "ws")
    assert imarena("--json", "-w", "ws", "import", "table", "chosen").json
    items = [json.loads(line) for line in (tmp_path / "chosen/items.jsonl").read_text().splitlines()]
    assert len({item["source"] for item in items}) >= 3  # copies of one picture come last
    assert "has no column" in imarena("pvc", "candidates", "chosen/items.jsonl", "x", code=2).err


def test_judgments_in_both_orders_make_pairs(imarena: Imarena, tmp_path: Path) -> None:
    _made(imarena, tmp_path, items=2)
    imarena("-w", "ws", "battle", "--judge", "builtin", "--yes")
    made = imarena(
        "--json", "-w", "ws", "pvc", "pairs", "pairs", "--from", "judgments", "--judge", "builtin",
        "--dimension", "overall",
    ).json  # fmt: skip
    assert made["pairs"] + made["ties"] == 12
    for pair in read_pair_file(tmp_path / "pairs"):
        assert (pair.made_by, pair.dimension) == ("judgments", "overall")


def test_the_campaign_template_makes_a_campaign_about_consistency(imarena: Imarena, tmp_path: Path) -> None:
    _made(imarena, tmp_path, items=1)
    imarena("pvc", "campaign", "settings.json")
    assert "exists" in imarena("pvc", "campaign", "settings.json", code=2).err
    create = ("campaign", "create", "experts", "--settings", "settings.json")
    refused = imarena("-w", "ws", *create, code=2).err
    assert "none of its items has one" in refused
    assert "imarena -w ws pvc regions" in refused
    report = imarena("--json", "-w", "ws", "pvc", "regions").json
    assert report == {"items": 1, "regions": 1, "found_by": {"changes": 1}, "skipped": {}}
    with open_workspace(tmp_path / "ws") as workspace:
        (evidence,) = workspace.store.records(Evidence, kind=EDIT_BOXES)
    assert evidence.params["instruction"] == "make the tile blue"
    ((left, top, right, bottom),) = (found.box for found in boxes_in(evidence, SIZE, SIZE))
    for end, edge in zip((left, top, right, bottom), (34, 30, 66, 62), strict=True):
        assert abs(end - edge) <= 6, "the box of the square, and a margin"
    made = imarena("--json", "-w", "ws", *create).json
    assert (made["units"], made["slots"]) == (6, 18)
    imarena("-w", "ws", "judge", "--judge", "inside-boxes", "--yes")
    again = imarena("--json", "-w", "ws", "pvc", "regions").json
    assert again["regions"] == 1
    with open_workspace(tmp_path / "ws") as workspace:
        assert len(list(workspace.store.records(Evidence, kind=EDIT_BOXES))) == 1, "twice is the same as once"
