"""Gates: `compare --fail-if` and `rank --fail-if`, their exit codes, and the files for a build server."""

import os
import shutil
from itertools import permutations, product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from imarena.stats import compare_points
from tests.command import Imarena
from tests.small_data.small_arena import make_arena, write_folders

EXACT, RETURNS = "data/outputs/studio-exact", "data/outputs/studio-returns-input"
ITEMS = ("--items", "data/items.csv")
HOSTILE = "v2 | <b>*bold*</b> & \x07\x1b[31m"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """items.csv, its pictures, and a folder of outputs for each of two editors."""
    root = tmp_path_factory.mktemp("folders")
    make_arena(root / "arena", items=8, habits=("exact", "returns-input"))
    write_folders(root / "arena", root / "data")
    return root / "data"


@pytest.fixture
def data(folders: Path, tmp_path: Path) -> Path:
    shutil.copytree(folders, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture(scope="module")
def asked_once(folders: Path) -> Imarena:
    """Compares in one workspace that is kept: the judge sees each pair once for all the tests."""
    shutil.copytree(folders / "outputs" / "studio-exact", folders / "copy")
    compare = Imarena(folders.parent)
    compare("-w", "kept", "compare", EXACT, RETURNS, *ITEMS)
    return compare


def write_battles(path: Path, *pairs: tuple[str, str, int, int], missing: int = 0) -> Path:
    """A table of battles: the left model wins and loses against the right one on so many items."""
    rows = [
        f"{left},{right},{'left' if item < won else 'right'},i{item},ok"
        for left, right, won, lost in pairs
        for item in range(won + lost)
    ]
    rows += [f"{pairs[0][0]},{pairs[0][1]},,m{item},refused" for item in range(missing)]
    path.write_text("left,right,winner,item,status_left\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def read_xml(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_bytes())  # noqa: S314 (our own file)


# ---------------------------------------------------------------- compare


@pytest.mark.parametrize(
    ("old", "new", "rule", "code"),
    [
        (RETURNS, EXACT, "worse", 0),
        (RETURNS, EXACT, "not-better", 0),
        (EXACT, RETURNS, "worse", 4),
        (EXACT, RETURNS, "not-better", 4),
        (EXACT, "data/copy", "worse", 0),
        (EXACT, "data/copy", "not-better", 4),
    ],
)
def test_compare_ends_with_the_code_of_its_gate(asked_once: Imarena, old: str, new: str, rule: str, code: int) -> None:
    ended = asked_once("-w", "kept", "compare", old, new, *ITEMS, "--fail-if", rule, code=code)
    assert f"Gate '{rule}': {'failed' if code else 'passed'}." in ended.out


def test_the_same_verdict_on_a_repeated_run_and_another_level(asked_once: Imarena) -> None:
    """Once with a workspace that is kept, once with a judge that has seen nothing."""
    imarena, kept = asked_once, ("-w", "kept")
    words = ("compare", EXACT, RETURNS, *ITEMS, "--fail-if", "worse", "--json")
    files = ("--junit", "gate.xml", "--summary", "gate.md")
    first = imarena(*kept, *words, *files, code=4)
    texts = [(imarena.folder / name).read_bytes() for name in ("gate.xml", "gate.md")]
    again = imarena(*words, *files, code=4)
    assert (first.json["gate"], first.json["verdict"]) == (again.json["gate"], again.json["verdict"])
    assert texts == [(imarena.folder / name).read_bytes() for name in ("gate.xml", "gate.md")]
    assert first.json["gate"]["outcome"] == "failed"
    # eight of eight: clear at 95%, and not at 99.9%
    stricter = imarena(*kept, *words, "--level", "0.999").json
    assert stricter["verdict"]["level"] == 0.999
    assert stricter["verdict"]["win_rate_high"] > 0.5 > first.json["verdict"]["win_rate_high"]
    assert "99.9% interval" in imarena(*kept, *words[:-1], "--level", "0.999").out
    assert "between 0.5 and 1" in imarena(*words, "--level", "1.5", code=2).err


def test_missing_files_end_with_3_whatever_the_interval(imarena: Imarena, data: Path) -> None:
    min((data / "outputs" / "studio-exact").iterdir()).unlink()
    for rule, (old, new) in product(("worse", "not-better"), permutations((EXACT, RETURNS))):
        ended = imarena("-w", "less", "compare", old, new, *ITEMS, "--fail-if", rule, "--junit", "j.xml", code=3)
        assert "The gate is not decided, because the data are incomplete" in ended.out
        suite = read_xml(imarena.folder / "j.xml")[0]
        assert suite.get("errors") == "2"
        assert suite.get("failures") == "0"
        assert f"Gate '{rule}': not decided. With the data so far it would " in ended.out
        assert "has no output for 1 of 8 items" in str(suite.findall("testcase/error")[0].get("message"))
    rank = ("-w", "less", "rank", "--judge", "builtin", "--fail-if", "studio-exact below studio-returns-input")
    assert "studio-exact has 87.5% of the outputs that the items of this board need" in imarena(*rank, code=3).out


def test_an_unknown_rule_and_a_junit_file_without_a_gate_are_refused(imarena: Imarena, data: Path) -> None:
    ended = imarena("compare", EXACT, RETURNS, *ITEMS, "--fail-if", "wrose", code=2)
    assert "Did you mean 'worse'?" in ended.err
    assert "--fail-if" in imarena("compare", EXACT, RETURNS, *ITEMS, "--junit", "j.xml", code=2).err
    assert data.is_dir()


def test_hostile_names_are_text_in_xml_and_markdown(asked_once: Imarena) -> None:
    tmp_path = asked_once.folder
    words = ("-w", "kept", "compare", EXACT, RETURNS, *ITEMS, "--new-name", HOSTILE, "--fail-if", "worse")
    ended = asked_once(*words, "--junit", "out/j.xml", "--summary", "out/s.md", code=4)
    assert "\x1b" not in ended.out.split("Gate ")[1]
    failure = read_xml(tmp_path / "out" / "j.xml").findall(".//failure")[0]
    assert r"v2 | <b>*bold*</b> & \u0007\u001b[31m" in str(failure.get("message"))
    text = (tmp_path / "out" / "s.md").read_text(encoding="utf-8")
    assert text.startswith(r"### v2 \| \<b\>\*bold\*\</b\> &amp; ")
    assert "gate failed" in text.splitlines()[0]
    assert "<b>" not in text
    assert "| worse | failed |" in text


BRIGHTNESS = """
import os

import numpy as np

from imarena.core.protocols import Verdict
from imarena.core.records import Outcome, Status
from imarena.images import decode


class Brightness:
    name, version, prompt_id, prompt_version = "brightness", "1", "", ""
    params = {}

    async def judge(self, exhibit):
        left, right = (float(np.asarray(decode(side)).mean()) / 255 for side in (exhibit.left, exhibit.right))
        if max(left, right) > 0.5 and os.environ.get("FAILS"):
            return Verdict(Status.API_ERROR, error="the endpoint is down")
        return Verdict(Status.OK, preference=Outcome.LEFT if left > right else Outcome.RIGHT)


def make(options, chat):
    return Brightness()
"""


def test_failed_calls_end_with_3_and_the_same_command_again_decides(
    imarena: Imarena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NEW is brighter on every item; both calls about its brightest output fail at first."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    (tmp_path / "bright.py").write_text(BRIGHTNESS, encoding="utf-8")
    (tmp_path / "items.csv").write_text(
        "key,instruction\n" + "".join(f"k{n},Draw a grey wall.\n" for n in range(8)), encoding="utf-8"
    )
    for name, base in (("old", 20), ("new", 70)):
        (tmp_path / name).mkdir()
        for n in range(8):
            Image.new("RGB", (16, 16), (base + 9 * n,) * 3).save(tmp_path / name / f"k{n}.png")
    words = ("-w", "kept", "compare", "old", "new", "--items", "items.csv", "--judge", "function:bright:make")
    for rule in ("worse", "not-better"):
        ended = imarena(*words, "--fail-if", rule, code=3, env={"FAILS": "1"})
        assert "Judgments without a verdict: 2 api_error" in ended.out
        assert "The gate is not decided" in ended.out
    rank = ("-w", "kept", "rank", "--judge", "brightness", "--fail-if")
    for rule in ("new below old", "old below new"):
        assert "2 questions to the judge have no answer yet" in imarena(*rank, rule, code=3).out
    assert "Gate 'not-better': passed." in imarena(*words, "--fail-if", "not-better").out
    imarena(*rank, "new below old")
    imarena(*rank, "old below new", code=4)


# ---------------------------------------------------------------- rank


def test_rank_ends_with_the_code_of_its_gates(imarena: Imarena, tmp_path: Path) -> None:
    """The interval of the difference counts: two intervals may overlap where it does not hold 0."""
    write_battles(tmp_path / "b.csv", ("a", "b", 24, 6), ("b", "c", 16, 14), ("a", "c", 24, 6))
    words = ("rank", "--from", "b.csv")
    assert "Gate 'a below b': passed." in imarena(*words, "--fail-if", "a below b", "--fail-if", "b below c").out
    failed = imarena(*words, "--fail-if", "a below b", "--fail-if", "c below a", "--json", code=4).json
    assert [gate["outcome"] for gate in failed["gate"]["gates"]] == ["passed", "failed"]
    assert failed == imarena(*words, "--fail-if", "a below b", "--fail-if", "c below a", "--json", code=4).json | {
        "created_at": failed["created_at"]
    }
    models = failed["details"]["pairs"]["models"]
    row, column = models.index("c"), models.index("a")
    gate = failed["gate"]["gates"][1]
    assert gate["high"] == failed["details"]["pairs"]["difference_high"][row][column] < 0
    csv = imarena(*words, "--csv", "--fail-if", "c below a", code=4)
    assert csv.out.startswith("model,")
    assert "Gate" not in csv.out
    assert "Gate 'c below a': failed." in csv.err


def test_two_close_models_are_told_apart_by_their_difference(imarena: Imarena, tmp_path: Path) -> None:
    """Intervals of ratings overlap by far; the difference of the pair that met most does not hold 0."""
    write_battles(tmp_path / "b.csv", ("a", "b", 70, 30), ("a", "c", 3, 2), ("b", "c", 3, 2))
    found = imarena("rank", "--from", "b.csv", "--fail-if", "b below a", "--json", code=4).json
    rows = {row["model"]: row for row in found["models"]}
    assert rows["b"]["high"] > rows["a"]["low"]


def test_unknown_models_are_refused_with_a_suggestion(imarena: Imarena, tmp_path: Path) -> None:
    write_battles(tmp_path / "b.csv", ("new model", "old below zero", 5, 3), ("new model", "third", 5, 3))
    words = ("rank", "--from", "b.csv", "--fail-if")
    assert "Did you mean 'new model'?" in imarena(*words, "new-model below third", code=2).err
    assert "Unknown rule 'new model under third'" in imarena(*words, "new model under third", code=2).err
    assert "twice" in imarena(*words, "third below third", code=2).err
    imarena(*words, "new model below old below zero")
    assert "needs intervals" in imarena(*words, "new model below third", "--interval", "none", code=2).err


def test_a_clean_sweep_has_an_exact_end_on_one_side(imarena: Imarena, tmp_path: Path) -> None:
    """Six items of six are the first clear sweep at 95%, five of five are not; the same bound as `compare` has."""
    for items, code in ((5, 0), (6, 4)):
        write_battles(tmp_path / "sweep.csv", ("a", "b", items, 0))
        words = ("rank", "--from", "sweep.csv", "--json", "--fail-if")
        lost = imarena(*words, "b below a", code=code).json["gate"]["gates"][0]
        won = imarena(*words, "a below b").json["gate"]["gates"][0]
        verdict = compare_points([1.0] * items, "b", "a")
        assert (won["low"], won["high"]) == (pytest.approx(verdict.elo_low), None)
        assert (lost["low"], lost["high"]) == (None, pytest.approx(-(verdict.elo_low or 0)))
    (tmp_path / "repeated.csv").write_text(
        "left,right,winner,item\n" + "a,b,left,x\n" * 30 + "a,b,left,y\n" * 30, encoding="utf-8"
    )
    imarena("rank", "--from", "repeated.csv", "--fail-if", "b below a")  # sixty battles on two items are two


@pytest.mark.parametrize(("won", "lost", "code"), [(7, 1, 0), (8, 1, 4), (20, 12, 0)])
def test_two_models_have_the_interval_of_compare(
    imarena: Imarena, tmp_path: Path, won: int, lost: int, code: int
) -> None:
    """Seven of eight come by chance in 7% of comparisons of equal models: a resampled interval would not hold 0."""
    write_battles(tmp_path / "b.csv", ("a", "b", won, lost))
    gate = imarena("rank", "--from", "b.csv", "--fail-if", "b below a", "--json", code=code).json["gate"]["gates"][0]
    verdict = compare_points([0.0] * won + [1.0] * lost, "a", "b")
    assert (gate["low"], gate["high"]) == (pytest.approx(verdict.elo_low), pytest.approx(verdict.elo_high))
    assert verdict.settled == (code == 4)


@pytest.mark.parametrize(("items", "code"), [(3, 3), (5, 3), (6, 4)])
def test_fewer_than_six_items_decide_no_gate(imarena: Imarena, tmp_path: Path, items: int, code: int) -> None:
    """Four votes of five for `a` on every item but one: the resampled interval lies below 0 on three items too."""
    rows = [
        f"a,b,{'left' if vote < (3 if item else 4) else 'right'},i{item}" for item in range(items) for vote in range(5)
    ]
    (tmp_path / "b.csv").write_text("\n".join(["left,right,winner,item", *rows]) + "\n", encoding="utf-8")
    ended = imarena("rank", "--from", "b.csv", "--fail-if", "b below a", code=code).out
    undecided = f"{items} items cannot show a difference of b and a: at least 6 are needed."
    assert (undecided in ended) == (code == 3)


def test_what_has_no_interval_is_not_passed_in_silence(imarena: Imarena, tmp_path: Path) -> None:
    write_battles(tmp_path / "islands.csv", ("a", "b", 8, 4), ("c", "d", 7, 5))
    ended = imarena("rank", "--from", "islands.csv", "--fail-if", "a below c", "--junit", "j.xml", code=3)
    assert "not decided. a and c are in groups that never met: nothing compares them." in ended.out
    assert read_xml(tmp_path / "j.xml")[0].get("errors") == "1"
    # within each of the two groups the difference is in the data, whichever group the board is centred on
    write_battles(tmp_path / "islands.csv", ("a", "b", 8, 4), ("c", "d", 70, 50))
    alone = write_battles(tmp_path / "alone.csv", ("c", "d", 70, 50))
    for rule in ("c below d", "d below c"):
        gates = [
            imarena("rank", "--from", file, "--fail-if", rule, "--json").json["gate"]["gates"][0]
            for file in ("islands.csv", alone.name)
        ]
        assert [gate["outcome"] for gate in gates] == ["passed", "passed"]
        for end in ("low", "high"):
            assert gates[0][end] == pytest.approx(gates[1][end], abs=15)
    write_battles(tmp_path / "clear.csv", ("a", "b", 8, 4), ("c", "d", 24, 3), ("a", "e", 5, 4))
    imarena("rank", "--from", "clear.csv", "--fail-if", "d below c", code=4)
    (tmp_path / "one.csv").write_text(
        "left,right,winner,item\n" + "a,b,left,x\n" * 9 + "a,b,right,x\n" * 4, encoding="utf-8"
    )
    for rule in ("a below b", "b below a"):
        ended = imarena("rank", "--from", "one.csv", "--fail-if", rule, code=3)
        assert "not decided" in ended.out
        assert "only one item" in ended.out
        assert "only one item to resample" in ended.err
        imarena("rank", "--from", "one.csv", "--cluster", "battle", "--fail-if", rule)


def test_battles_without_an_output_end_with_3_whatever_the_interval(imarena: Imarena, tmp_path: Path) -> None:
    write_battles(tmp_path / "b.csv", ("a", "b", 24, 6), missing=2)
    for rule in ("a below b", "b below a"):
        ended = imarena("rank", "--from", "b.csv", "--fail-if", rule, "--summary", "s.md", code=3)
        assert "Battles without a verdict or an output: 2 missing output." in ended.out
        assert "**Incomplete:** Battles without" in (tmp_path / "s.md").read_text(encoding="utf-8")


def test_a_workspace_board_has_a_gate(asked_once: Imarena) -> None:
    rank = ("-w", "kept", "rank", "--judge", "builtin", "--fail-if")
    ended = asked_once(*rank, "studio-exact below studio-returns-input", "--summary", "s.md")
    assert "(95% interval without an upper bound)" in ended.out
    assert "studio-exact" in (asked_once.folder / "s.md").read_text(encoding="utf-8")
