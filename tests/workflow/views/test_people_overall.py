"""People's overall by a named rule: what rank, agree and align make of ratings on several criteria."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imarena.core.records import Assignment, Campaign, Judgment, Order, Outcome, Output, Rater, Record, Vote
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.workflows.views import LEFT, TIE, View, rating_pairs, read_ratings
from tests import samples
from tests.command import Imarena
from tests.samples import png

WORLD = ("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts")


def rating(rater: str, output: Output, scale: tuple[float, float], **marks: float) -> Vote:
    return Vote(
        rater_id=rater, item_id=output.item_id, left_id=output.output_id, ratings=marks, scale=scale,
        idempotency_key=f"{rater}{output.output_id}{scale}",
    )  # fmt: skip


def raters(*names: str) -> list[Rater]:
    return [Rater(rater_id=name) for name in names]


# ---------------------------------------------------------------- ImagenWorld


def world(root: Path) -> Path:
    """Four items of two editors, a judge's marks, and the marks of two raters, all on 1 to 5."""
    random = np.random.default_rng(5)
    for number in range(4):
        entry = root / "TIG" / f"TIG_A_{number:06d}"
        (entry / "model_output").mkdir(parents=True)
        about = {"prompt": "draw", "prompt_refined": "Draw.", "task": "TIG", "cond_images": []}
        (entry / "metadata.json").write_text(json.dumps(about))
        for place, editor in enumerate(("one", "two")):
            (entry / "model_output" / f"{editor}.png").write_bytes(png(10 * number + place))

        def marks() -> dict[str, dict[str, int]]:
            return {editor: {name: int(random.integers(1, 6)) for name in WORLD} for editor in ("one", "two")}

        (entry / "gemini_result.json").write_text(json.dumps({"gemini": marks()}))
        (entry / "human_result.json").write_text(json.dumps({"ann": marks(), "bob": marks()}))
    return root


def whole_mark(marks: dict[str, int]) -> float:
    """The mean of the four criteria, on 0 to 1."""
    return float(np.mean([(marks[name] - 1) / 4 for name in WORLD]))


def test_imagenworld_has_an_overall_row_with_its_bias_on_a_named_scale(imarena: Imarena, tmp_path: Path) -> None:
    root = world(tmp_path / "data")
    imarena("init", "a")
    imarena("-w", "a", "import", "imagenworld", "data")
    found = imarena("-w", "a", "--json", "align", "--judge", "gemini", "--rounds", "0").json["scores"]
    assert found["settings"]["overall"] == "mean"
    rows = {(group["judge"], group["criterion"]): group for group in found["groups"]}
    assert {f"gemini: {name}" for name in WORLD} <= {judge for judge, _ in rows}
    people, judge = [], []
    for entry in sorted(root.rglob("metadata.json")):
        said = json.loads((entry.parent / "human_result.json").read_text())
        scored = json.loads((entry.parent / "gemini_result.json").read_text())["gemini"]
        for editor in ("one", "two"):
            people.append(np.mean([whole_mark(said[rater][editor]) for rater in said]))
            judge.append(whole_mark(scored[editor]))
    overall = rows["gemini", "overall"]
    assert overall["bias"] == pytest.approx(np.mean(judge) - np.mean(people), abs=1e-9)
    assert overall["bias_scale"] == "0 to 1, after mapping both ranges"
    assert rows["gemini: artifacts", "artifacts"]["bias_scale"] == overall["bias_scale"]
    shown = imarena("-w", "a", "align", "--judge", "gemini", "--rounds", "0").out
    assert "bias scale" in shown
    assert "0 to 1, after mapping both ranges" in shown
    assert "overall: the mean of each rater's ratings" in shown
    board = imarena("-w", "a", "--json", "rank", "--source", "people", "--rounds", "0").json
    assert board["n_battles"] == 4


# ---------------------------------------------------------------- rules and scales


def test_a_setting_names_the_rule_for_other_criteria(imarena: Imarena, tmp_path: Path) -> None:
    item = samples.item()
    one, two = samples.output(item, "one"), samples.output(item, "two")
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add(
            [
                item,
                one,
                two,
                *raters("r"),
                rating("r", one, (0, 1), fit=0.9, look=0.1),
                rating("r", two, (0, 1), fit=0.4, look=0.4),
            ]
        )
    settings = tmp_path / "a" / "imarena.toml"
    plain = settings.read_text()
    words = ("-w", "a", "--json", "rank", "--source", "people", "--rounds", "0")
    assert "People rated fit, look, and no rule combines these into one rating." in imarena(*words, code=2).err
    for rule, best in (("mean", "one"), ("geometric-mean", "two")):
        settings.write_text(f'{plain}\n[board]\noverall = "{rule}"\n')
        board = imarena(*words).json
        assert min(board["models"], key=lambda model: model["rank"])["model"] == best
        assert imarena("-w", "a", "--json", "agree", "--rounds", "0").json["settings"]["overall"] == rule
    settings.write_text(f'{plain}\n[board]\noverall = "median"\n')
    ended = imarena(*words, code=2)
    assert "no rule 'median'" in ended.err
    assert "geometric-mean, mean" in ended.err


def test_every_data_set_has_its_own_rule(workspace: Workspace) -> None:
    hub, world_item = samples.item("h", dataset="hub"), samples.item("w", dataset="world")
    edited, drawn = samples.output(hub, "e"), samples.output(world_item, "e")
    workspace.store.add(
        [
            hub, world_item, edited, drawn, *raters("r", "s"),
            rating("r", edited, (0, 1), SC=1.0, PQ=0.25),
            rating("r", drawn, (1, 5), **dict(zip(WORLD, (1, 3, 5, 5), strict=True))),
            rating("s", drawn, (0, 1), instruction_following=1.0),
        ]
    )  # fmt: skip
    found = read_ratings(View(workspace))
    rows = found.of("overall")
    values = dict(zip(found.output[rows].tolist(), found.value[rows].tolist(), strict=True))
    assert found.rule == "geometric-mean, mean"
    assert values == pytest.approx({0: 0.5, 1: (0 + 0.5 + 1 + 1) / 4})


def test_imported_and_own_marks_of_a_criterion_have_one_scale(imarena: Imarena, tmp_path: Path) -> None:
    """Raters on 1 to 5 and raters on 0 to 1 who mean the same agree fully, in a workspace and in its table."""
    data = tmp_path / "data"
    (data / "outputs" / "alpha").mkdir(parents=True)
    (data / "sources").mkdir()
    items = [("key", "instruction", "source")]
    marks: list[tuple[object, ...]] = [("key", "editor", "rater", "scale", "look")]
    for number in range(5):
        (data / "outputs" / "alpha" / f"k{number}.png").write_bytes(png(number))
        (data / "sources" / f"k{number}.png").write_bytes(png(50 + number))
        items.append((f"k{number}", "x", f"sources/k{number}.png"))
        marks += [
            (f"k{number}", "alpha", "r", "1-5", number + 1),
            (f"k{number}", "alpha", "s", "1-5", number + 1),
            (f"k{number}", "alpha", "own", "0-1", number / 4),
        ]
    for name, rows in (("items.csv", items), ("ratings.csv", marks)):
        with (data / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    imarena("init", "a")
    imarena("-w", "a", "import", "table", "data")
    (group,) = imarena("-w", "a", "--json", "agree", "--rounds", "0").json["groups"]
    assert (group["n_raters"], group["alpha"]["interval"]) == (3, pytest.approx(1.0))
    imarena("-w", "a", "export", "table", "out")
    (again,) = imarena("--json", "agree", "--from", "out/ratings.csv", "--rounds", "0").json["groups"]
    assert (again["n_raters"], again["alpha"]) == (3, pytest.approx(group["alpha"]))


# ---------------------------------------------------------------- a judge that compares, against ratings


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Six items of two editors. People like `one` on four, `two` on one, both the same on one; the judge says `one`."""
    records: list[Record] = [*raters("r", "s")]
    for number in range(6):
        item = samples.item(f"k{number}")
        one, two = samples.output(item, "one"), samples.output(item, "two")
        marks = (1.0, 0.5) if number < 4 else (0.5, 1.0) if number == 4 else (0.5, 0.5)
        records += [item, one, two]
        for output, mark in zip((one, two), marks, strict=True):
            records += [rating(rater, output, (0, 1), SC=mark, PQ=mark) for rater in ("r", "s")]
        for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST):
            records.append(
                Judgment(
                    work_id=f"{number}{order}", judge="pairwise", item_id=item.item_id, left_id=two.output_id,
                    right_id=one.output_id, order=order, preference=Outcome.RIGHT,
                )
            )  # fmt: skip
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add(records)
    return tmp_path / "a"


def test_a_pairwise_judge_is_held_against_ratings(imarena: Imarena, rated: Path) -> None:
    found = imarena("-w", "a", "--json", "align", "--judge", "pairwise", "--against", "people").json
    (group,) = found["verdicts"]["groups"]
    assert (group["n"], group["n_missing"]) == (6, 0)
    assert group["decisive_accuracy"] == pytest.approx(4 / 5)
    assert group["three_way_accuracy"] == pytest.approx(4 / 6)
    assert any("equal means are a tie" in warning for warning in found["warnings"])


def test_pairs_of_mean_ratings_have_a_winner_and_a_gap(rated: Path) -> None:
    with open_workspace(rated) as workspace:
        view = View(workspace)
        pairs = rating_pairs(view)
        named = [
            (view.entries.editor.list()[left], gap) for left, gap in zip(pairs.left.tolist(), pairs.gap, strict=True)
        ]
        assert len(named) == 6
        assert sorted(abs(gap) for _, gap in named) == [0.0, 0.5, 0.5, 0.5, 0.5, 0.5]
        ties = pairs.winner == TIE
        assert int(ties.sum()) == 1
        assert ((pairs.winner == LEFT)[~ties] == (pairs.gap > 0)[~ties]).all()


# ---------------------------------------------------------------- exported tables


def campaign(kind: str, workspace: Workspace, count: int = 4) -> Campaign:
    """A campaign of two raters with `count` real tasks, and one practice task and one repeat that must not count."""
    made = Campaign(campaign_id=f"campaign-{kind}", name=kind, kind=kind)
    records: list[Record] = [made, *raters("r", "s")]
    for number in range(count):
        item = samples.item(f"k{number}")
        one, two = (
            Output(item_id=item.item_id, editor=editor, image=samples.kept(workspace, 2 * number + place))
            for place, editor in enumerate(("one", "two"))
        )
        records += [item, one, two]
        purposes = ["vote", *(["practice", "repeat"] if number == 0 else [])]
        for purpose in purposes:
            for rater in ("r", "s"):
                records += _answer(made, kind, purpose, rater, one, two, number)
    workspace.store.add(records)
    return made


def _answer(made: Campaign, kind: str, purpose: str, rater: str, one: Output, two: Output, number: int) -> list[Record]:
    pair = kind == "preference"
    task = Assignment(
        campaign_id=made.campaign_id, rater_id=rater, item_id=one.item_id, left_id=one.output_id,
        right_id=two.output_id if pair else None, purpose=purpose, unit=f"u{number}",
    )  # fmt: skip
    honest = purpose == "vote"
    said: dict[str, Any] = (
        {"preference": Outcome.LEFT if (number % 2 == 0) == honest else Outcome.RIGHT, "right_id": two.output_id}
        if pair
        else {"ratings": {"look": float(number + 1 if honest else 5 - number)}, "scale": (1.0, 5.0)}
    )
    vote = Vote(
        rater_id=rater, item_id=one.item_id, left_id=one.output_id, assignment_id=task.assignment_id,
        idempotency_key=f"{rater}{purpose}{number}", **said,
    )  # fmt: skip
    return [task, vote]


@pytest.mark.parametrize("kind", ["preference", "rating"])
def test_agree_reads_what_a_campaign_exports(imarena: Imarena, tmp_path: Path, kind: str) -> None:
    with init_workspace(tmp_path / "a") as workspace:
        campaign(kind, workspace)
    imarena("-w", "a", "campaign", "export", kind, "--to", "votes.csv")
    text = (tmp_path / "votes.csv").read_text()
    assert text.count(",practice,") == text.count(",repeat,") == 2
    (group,) = imarena("--json", "agree", "--from", "votes.csv", "--rounds", "0").json["groups"]
    assert (group["n_units"], group["n_raters"], group["n_missing"]) == (4, 2, 0)
    assert group["alpha"]["nominal"] == pytest.approx(1.0)
    assert group["criterion"] == ("overall" if kind == "preference" else "look")


def test_export_table_leaves_out_what_tests_the_rater(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "a") as workspace:
        campaign("preference", workspace)
    ended = imarena("-w", "a", "export", "table", "out", code=None)
    said = ended.out + ended.err
    assert "2 votes (practice)" in said
    assert "2 votes (repeat)" in said
    (group,) = imarena("--json", "agree", "--from", "out/votes.csv", "--rounds", "0").json["groups"]
    assert (group["n_units"], group["n_raters"], group["alpha"]["nominal"]) == (4, 2, pytest.approx(1.0))


def test_only_keeps_the_ratings_that_fit_beside_votes(imarena: Imarena, rated: Path) -> None:
    """Ratings of SC, PQ and the overall, and a vote about the whole: `--only` does not fail for what lacks a value."""
    with open_workspace(rated) as workspace:
        one, two = list(workspace.store.records(Output))[:2]
        workspace.store.add([samples.vote(Rater(rater_id="r"), one, two, key="v")])
    found = imarena("-w", "a", "--json", "agree", "--only", "criterion=SC", "--rounds", "0").json
    assert [group["criterion"] for group in found["groups"]] == ["SC"]
    assert "votes" not in found
    assert "no criterion 'XX'" in imarena("-w", "a", "agree", "--only", "criterion=XX", code=2).err
