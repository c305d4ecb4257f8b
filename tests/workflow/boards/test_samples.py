"""Editors asked several times per item: `rank` shows pass@k, best of N, spread and cost per success."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from imarena.core.records import Item, Judgment, Output, Status
from imarena.storage import Workspace, init_workspace
from tests.command import Imarena
from tests.samples import item, picture_of

SCORES: dict[str, dict[str, list[float | None]]] = {
    "often": {"a": [9, 2, 2], "b": [9, 9, 2], "c": [None, 9, 1]},
    "never": {"a": [1, 1, 1], "b": [3, 1, 2], "c": [1, 1, 1]},
    "once": {"a": [9], "b": [2], "c": [8]},
}
"""Scores of the samples by editor and item; None: the output failed. A score of 6 is a success."""


def outputs_of(workspace: Workspace, items: dict[str, Item], editor: str) -> Iterable[tuple[Output, float | None]]:
    for key, scores in SCORES[editor].items():
        for sample, score in enumerate(scores):
            ok = score is not None
            yield (
                Output(
                    item_id=items[key].item_id,
                    editor=editor,
                    sample=sample,
                    status=Status.OK if ok else Status.TIMEOUT,
                    image=picture_of(workspace, f"{editor}{key}{sample}") if ok else None,
                    latency_s=2.0,
                    cost_usd=None if editor == "once" else 0.1,
                ),
                score,
            )


def fill(workspace: Workspace, *, judge: str = "robot", params: dict[str, float] | None = None) -> None:
    items = {key: item(key, dataset="first" if key == "a" else "second") for key in "abc"}
    workspace.store.add(items.values())
    for editor in SCORES:
        made = list(outputs_of(workspace, items, editor))
        workspace.store.add(output for output, _ in made)
        workspace.store.add(
            Judgment(
                work_id=output.output_id, judge=judge, item_id=output.item_id, left_id=output.output_id, score=score,
                params=dict(params or {}), run_id="run" if params else None,
            )
            for output, score in made if score is not None
        )  # fmt: skip


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    with init_workspace(tmp_path / "w") as workspace:
        fill(workspace)
    return tmp_path / "w"


def test_the_known_truth_of_samples(arena: Path) -> None:
    imarena = Imarena(arena.parent)
    found = imarena("--json", "-w", arena, "rank", "--success", 6).json["details"]["samples"]
    assert (found["judge"], found["success"], found["success_from"], found["k"]) == ("robot", 6, "option", [1, 2, 3])
    models = {model["model"]: model for model in found["models"]}
    often = models["often"]
    assert (often["items"], often["samples"], often["failed"], often["successes"]) == (3, 9, 1, 4)
    # items a, b, c have 1, 2 and 1 successes of 3 samples
    assert often["pass_at"]["1"]["value"] == pytest.approx(4 / 9)
    assert often["pass_at"]["2"]["value"] == pytest.approx((2 / 3 + 1 + 2 / 3) / 3)
    assert often["pass_at"]["3"]["value"] == 1.0
    assert often["pass_at"]["1"]["low"] < 4 / 9 < often["pass_at"]["1"]["high"]
    assert often["pass_at"]["1"]["interval"] == "percentile bootstrap over items, 1000 rounds, seed 0, 95%"
    # best of 2: a (9, 9, 2), b (9, 9, 9), c: 9 with 1, 9 and 1 beside the failure
    assert often["best_of"]["2"]["value"] == pytest.approx((20 / 3 + 9 + 19 / 3) / 3)
    assert often["cost_usd_per_success"]["value"] == pytest.approx(0.9 / 4)  # the failed one was paid for
    assert often["seconds_per_success"]["value"] == pytest.approx(18 / 4)
    assert models["never"]["pass_at"]["3"]["value"] == 0.0
    assert models["never"]["spread"]["value"] == pytest.approx(1 / 3)  # 0, 1 and 0
    assert models["never"]["cost_usd_per_success"] == {
        "value": None, "n": 0, "method": "total of all samples / number of successes", "status": "undefined",
        "reason": "no sample succeeded",
    }  # fmt: skip
    once = models["once"]
    assert once["pass_at"]["1"]["value"] == pytest.approx(2 / 3)
    assert once["pass_at"]["2"]["reason"] == "no item has 2 samples"
    assert once["cost_usd_per_success"]["reason"] == "no cost is stored"


def test_the_table_explains_its_words_and_counts_what_is_left_out(arena: Path) -> None:
    imarena = Imarena(arena.parent)
    shown = imarena("-w", arena, "rank", "--success", 6).out
    table = shown[shown.index("Samples: up to 3 per item") :]
    assert "Success: a score of 6 or more by robot (--success)." in table
    assert "pass@k: the chance that at least one of k samples succeeds." in table
    assert "A failed output is an unsuccessful sample; items that a model was not asked for are left out" in table
    assert "fewer than 3 samples are left out of pass@3: 3 of once" in table
    (row,) = [line.split() for line in table.splitlines() if line.startswith("often")]
    assert row[1:5] == ["3", "9", "1", "44.4%"]
    assert "once: no cost is stored" in table
    plain = imarena("-w", arena, "rank").out  # several samples are there: nobody has to ask
    assert "A success has no definition for robot: set one with --success SCORE" in plain
    assert "best of 3" in plain
    grouped = imarena("-w", arena, "rank", "--by", "dataset").out  # the words are explained once, not for each group
    assert grouped.count("Samples: up to") > 1
    assert grouped.count("pass@k: the chance that at least one of k samples succeeds.") == 1


def test_an_item_that_was_not_asked_for_counts_as_the_option_says(arena: Path) -> None:
    imarena = Imarena(arena.parent)
    with init_workspace(arena) as workspace:
        late = item("d", dataset="second")
        workspace.store.add([late])
        outputs = [
            Output(item_id=late.item_id, editor=name, image=picture_of(workspace, f"{name}d"))
            for name in ("never", "once")
        ]
        workspace.store.add(outputs)
        workspace.store.add(
            Judgment(work_id=o.output_id, judge="robot", item_id=late.item_id, left_id=o.output_id, score=7)
            for o in outputs
        )
    by_missing = {}
    for missing in ("exclude", "loss"):
        document = imarena("--json", "-w", arena, "rank", "--success", 6, "--missing", missing).json
        by_missing[missing] = {model["model"]: model for model in document["details"]["samples"]["models"]}
    assert by_missing["exclude"]["often"]["pass_at"]["1"]["value"] == pytest.approx(4 / 9)
    assert by_missing["loss"]["often"]["pass_at"]["1"]["value"] == pytest.approx(4 / 9 * 3 / 4)
    assert by_missing["loss"]["often"]["best_of"]["1"]["n"] == 3  # a failure is never a score
    assert by_missing["loss"]["once"] == by_missing["exclude"]["once"]


def test_groups_have_their_own_samples(arena: Path) -> None:
    imarena = Imarena(arena.parent)
    (board,) = imarena("--json", "-w", arena, "rank", "--success", 6, "--by", "task").json["boards"]
    assert board["scope"] == {"task": "recolour"}
    assert board["details"]["samples"]["models"][0]["items"] == 3
    refused = imarena("-w", arena, "rank", "--samples", "--by", "judge", code=2)
    assert "Samples cannot be grouped by judge." in refused.err


def test_the_threshold_comes_from_the_judge_or_the_settings(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "own") as workspace:
        fill(workspace, params={"success_threshold": 9})
    imarena = Imarena(tmp_path)
    found = imarena("--json", "-w", "own", "rank").json["details"]["samples"]
    assert (found["success"], found["success_from"]) == (9, "judge")
    with (tmp_path / "own" / "imarena.toml").open("a") as file:
        file.write("\n[board.success]\nrobot = 2\n")
    found = imarena("--json", "-w", "own", "rank").json["details"]["samples"]
    assert (found["success"], found["success_from"]) == (2, "settings")


def test_samples_need_scores_and_a_workspace(arena: Path, tmp_path: Path) -> None:
    imarena = Imarena(arena.parent)
    (tmp_path / "battles.csv").write_text("left,right,winner\na,b,left\nb,a,left\n")
    assert "--samples" in imarena("rank", "--from", "battles.csv", "--samples", code=2).err
    refused = imarena("-w", arena, "rank", "--samples", "--judge", "all", "--source", "all", code=2)
    assert "need the scores of one judge" in refused.err
    stored = imarena("--json", "-w", arena, "rank", "--interval", "none").json["details"]["samples"]
    assert "low" not in stored["models"][0]["best_of"]["1"]
