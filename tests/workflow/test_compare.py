"""A model team's first command: two folders of outputs, one verdict."""

import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.workflows.studies.comparing import ComparedFolders, ItemResult, elo_of, verdict_of, win_interval
from tests import samples
from tests.command import Imarena
from tests.small_arena import make_arena, write_folders

ITEMS = 8


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """items.csv, its pictures, and a folder of outputs for each of three editors."""
    root = tmp_path_factory.mktemp("folders")
    make_arena(root / "arena", items=ITEMS, habits=("exact", "artefacts", "returns-input"))
    write_folders(root / "arena", root / "data")
    return root / "data"


@pytest.fixture
def data(folders: Path, tmp_path: Path) -> Path:
    shutil.copytree(folders, tmp_path / "data")
    return tmp_path / "data"


def test_the_better_model_is_named_with_its_interval_and_examples(imarena: Imarena, data: Path, tmp_path: Path) -> None:
    words = ("data/outputs/studio-returns-input", "data/outputs/studio-exact", "--items", "data/items.csv")
    ended = imarena("compare", *words)
    assert "studio-exact is better than studio-returns-input." in ended.out
    assert "95 % interval" in ended.out
    page = (tmp_path / "compare-report" / "index.html").read_text()
    assert "studio-exact is better" in page
    for name in page.split('src="')[1:]:
        assert (tmp_path / "compare-report" / name.split('"')[0]).is_file()
    assert not (tmp_path / "arena.db").exists(), "without --workspace nothing is kept"


def test_json_mirrors_when_old_and_new_are_exchanged_and_a_kept_workspace_asks_nothing_twice(
    imarena: Imarena, data: Path
) -> None:
    old, new = "data/outputs/studio-artefacts", "data/outputs/studio-exact"
    there = imarena("-w", "kept", "--json", "compare", old, new, "--items", "data/items.csv").json
    back = imarena("-w", "kept", "--json", "compare", new, old, "--items", "data/items.csv").json
    assert there["judgments"] == back["judgments"] == {"ok": 2 * ITEMS}
    first, second = there["verdict"], back["verdict"]
    assert first["n_items"] == ITEMS
    assert first["wins"] + first["losses"] + first["ties"] == ITEMS
    assert (first["wins"], first["losses"]) == (second["losses"], second["wins"])
    assert first["win_rate"] == pytest.approx(1 - second["win_rate"])
    assert first["win_rate_low"] == pytest.approx(1 - second["win_rate_high"])
    assert first["win_rate_low"] < first["win_rate"] < first["win_rate_high"] or first["win_rate"] in (0.0, 1.0)
    gaps = [abs(row["gap"]) for row in there["differ_most"]]
    assert gaps == sorted(gaps, reverse=True)
    with_status = imarena("-w", "kept", "--json", "status").json
    assert with_status["judgments"]["builtin"] == {"ok": 2 * ITEMS}


def test_missing_and_broken_outputs_are_told_and_count_for_nobody(imarena: Imarena, data: Path) -> None:
    new = data / "outputs" / "studio-exact"
    files = sorted(new.iterdir())
    files[0].unlink()
    files[1].write_bytes(b"not a picture")
    (new / "stranger.png").write_bytes(files[2].read_bytes())
    words = ("data/outputs/studio-returns-input", new, "--items", "data/items.csv")
    found = imarena("-w", "kept", "compare", *words, "--json", code=3).json
    assert found["coverage"]["studio-exact"]["outputs"] == ITEMS - 2
    assert found["verdict"]["n_items"] == ITEMS - 2
    assert len(found["skips"]) == 2
    assert any("stranger" in skip for skip in found["skips"])
    assert (
        f"has no output for 2 of 8 items: {files[0].stem}, {files[1].stem}."
        in imarena("-w", "kept", "compare", *words, code=3).out
    )


def test_equal_outputs_are_all_ties_and_one_item_settles_nothing(imarena: Imarena, data: Path) -> None:
    exact = "data/outputs/studio-exact"
    shutil.copytree(data / "outputs" / "studio-exact", data / "copy")
    ended = imarena("compare", exact, "data/copy", "--items", "data/items.csv")
    assert f"0 won, 0 lost, {ITEMS} tied" in ended.out
    assert "this judge sees no difference" in ended.out
    for file in sorted((data / "copy").iterdir())[1:]:
        file.unlink()
    ended = imarena("compare", "data/outputs/studio-returns-input", "data/copy", "--items", "data/items.csv", code=3)
    assert "has no output for 7 of 8 items" in ended.out
    assert "and more." in ended.out
    assert "There is no clear difference between" in ended.out
    assert "1 won, 0 lost, 0 tied" in ended.out
    assert "About 5 more items would settle it" in ended.out  # six wins of six are the first clear sweep


def test_a_folder_that_fits_no_item_is_one_clear_message(imarena: Imarena, data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    words = ("--items", "data/items.csv")
    ended = imarena("compare", "data/outputs/studio-exact", "empty", *words, code=2)
    assert "<key>.png" in ended.err
    assert "no folder" in imarena("compare", "data/outputs/studio-exact", "nowhere", *words, code=2).err
    assert "no file" in imarena("compare", "empty", "data/outputs/studio-exact", "--items", "x.csv", code=2).err


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=60))
def test_the_interval_holds_the_rate_mirrors_and_is_never_a_certainty(points: list[float]) -> None:
    rate, low, high = win_interval(points)
    assert 0 <= low <= rate <= high <= 1
    assert high - low > 0.01
    mirrored = win_interval([1 - point for point in points])
    assert mirrored == pytest.approx((1 - rate, 1 - high, 1 - low))


def test_the_interval_without_ties_is_wilsons() -> None:
    """15 of 20: Wilson's interval with n - 1 in the variance; statsmodels gives .531 to .888 with n."""
    rate, low, high = win_interval([1.0] * 15 + [0.0] * 5)
    assert rate == 0.75
    assert low == pytest.approx(0.531, abs=0.01)
    assert high == pytest.approx(0.888, abs=0.01)
    assert elo_of(0.75) == pytest.approx(190.85, abs=0.01)
    assert elo_of(1.0) is None


@pytest.mark.parametrize("ties", [0, 20])
def test_chance_alone_is_seldom_called_a_difference(ties: int) -> None:
    """How often two equal models are told apart, by counting every way in which so many items can go."""
    for decided in range(1, 31):
        wrong = 0.0
        for won in range(decided + 1):
            _, low, high = win_interval([1.0] * won + [0.0] * (decided - won) + [0.5] * ties)
            wrong += math.comb(decided, won) / 2**decided * (low > 0.5 or high < 0.5)
        assert wrong <= 0.05, (decided, wrong)
        assert decided > 5 or wrong == 0


def results_of(points: list[float]) -> list[ItemResult]:
    made = [samples.item(f"i{number}") for number in range(len(points))]
    return [
        ItemResult(item, samples.output(item, "old"), samples.output(item, "new"), point, None)
        for item, point in zip(made, points, strict=True)
    ]


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=40))
def test_better_is_said_only_where_the_interval_of_the_difference_says_so(points: list[float]) -> None:
    found = verdict_of(results_of(points), ComparedFolders(Path("old"), Path("new"), "old", "new"))
    assert found.win_rate_low is not None
    assert found.win_rate_high is not None
    assert ("is better" in found.words) == (found.win_rate_low > 0.5)
    assert ("is worse" in found.words) == (found.win_rate_high < 0.5)
    assert found.settled == ("is better" in found.words or "is worse" in found.words)


def test_seven_wins_of_eight_are_no_clear_difference() -> None:
    """The sign test gives 7 %; Wilson's interval alone would begin at 50.5 %."""
    sides = ComparedFolders(Path("old"), Path("new"), "old", "new")
    found = verdict_of(results_of([1.0] * 7 + [0.0]), sides)
    assert found.words == "There is no clear difference between new and old yet."
    assert found.win_rate_low == pytest.approx(0.47349, abs=1e-5)  # binomtest(7, 8).proportion_ci()
    assert found.elo_low is not None
    assert found.elo_low < 0
    assert found.more_items is not None
    assert verdict_of(results_of([1.0] * 8 + [0.0]), sides).words == "new is better than old."


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    import numpy as np

    random = np.random.default_rng(1)
    for chances in ([0.3, 0.1, 0.6], [0.2, 0.6, 0.2], [0.05, 0.0, 0.95]):
        truth = 0.5 * chances[1] + chances[2]
        hits = 0
        for _ in range(1000):
            _, low, high = win_interval(list(random.choice([0.0, 0.5, 1.0], size=40, p=chances)))
            hits += low <= truth <= high
        assert hits / 1000 > 0.92


def test_without_items_the_message_says_what_they_are(imarena: Imarena) -> None:
    told = imarena("compare", "old", "new", code=2).err
    assert "--items items.csv" in told
    assert "key (the files are called KEY.png), instruction" in told
