"""The catalogue of paper tables names functions and commands that exist, and misses no table."""

import re
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest

from imarena.cli.app import LazyGroup
from imarena.core import fill_in_commands
from imarena.datasets.formats import READERS
from imarena.judges.catalog import CARDS
from imarena.judges.chat.genarena_pairwise import GenArenaSettings
from imarena.judges.edival.settings import EdiValSettings
from imarena.routing.campaign_plan import CampaignKind
from imarena.workflows.reporting.failures.modes import failure_modes
from imarena.workflows.reporting.papers.catalogue import makers, paper_entries
from imarena.workflows.reporting.papers.data import spread_cell

OPTIONS = {*EdiValSettings.model_fields, *GenArenaSettings.model_fields}
EXPECTED = {
    "000": {*(f"table {n}" for n in range(2, 12)), *(f"figure {n}" for n in range(3, 8))},
    "001": {*(f"table {n}" for n in range(1, 7)), "figure A.3", "figure A.4", "figure A.5", "figure A.6"},
    "002": {f"table {n}" for n in range(2, 28) if n != 9},
    "004": {
        *(f"table {n}" for n in range(2, 10)), "figure 4", "figure 5", "figure 6", "appendix A.5",
        *(f"figure {n}" for n in range(14, 20)),
    },
}  # fmt: skip
MODES = {
    "new image", "returned input", "missing objects", "missing or unreadable text", "numbers that do not agree",
    "chart and legend errors", "skipped parts", "ignored or copied references", "shadows", "distorted figures",
    "misplaced objects", "misaligned boxes", "misread depth maps", "canvas changed", "luminance drift", "over-exposure",
}  # fmt: skip


def places(text: str) -> set[str]:
    """`tables 16 and 19`, `tables 22 to 25`, `figures A.4 to A.6` as single places."""
    kind, _, rest = text.partition(" ")
    kind = kind.removesuffix("s")
    found = set()
    for part in re.split(r", | and ", rest):
        first, _, last = part.partition(" to ")
        if not last:
            found.add(f"{kind} {first}")
            continue
        letter = "A." if first.startswith("A.") else ""
        low, high = (int(end.removeprefix("A.")) for end in (first, last))
        found |= {f"{kind} {letter}{number}" for number in range(low, high + 1)}
    return found


@pytest.mark.parametrize("paper", sorted(EXPECTED))
def test_no_table_of_a_paper_is_missing(paper: str) -> None:
    listed = set().union(*(places(entry.place) for entry in paper_entries() if entry.paper == paper))
    assert EXPECTED[paper] - listed == set()


def test_every_entry_names_a_function_or_tables() -> None:
    known = makers()
    for entry in paper_entries():
        assert entry.make in known or entry.starts or entry.charts, entry
        assert entry.needs


def calls(text: str) -> list[list[str]]:
    """`imarena judge --repeats 5 and imarena battle, then imarena health` as the words of each call."""
    return [
        re.split(r"[\s,()]+", part.strip(" ,().")) for part in re.split(r"\bimarena ", text)[1:]
    ]  # fmt: skip


@pytest.mark.parametrize("text", sorted({fill_in_commands(entry.command) for entry in paper_entries()} - {"none"}))
def test_a_command_exists_with_its_options(text: str) -> None:
    assert calls(text)
    for words in calls(text):
        command: Any = LazyGroup().get_command(None, words[0])
        assert command is not None, words
        if hasattr(command, "list_commands"):
            command = command.get_command(None, words[1])
            assert command is not None, words
        options = {name for parameter in command.params for name in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, words
        if words[0] == "import" and len(words) > 1:
            assert words[1] in READERS, words
        for option, value in pairwise(words):
            if option == "--judge":
                assert value in CARDS, words
            if option == "--kind":
                assert value in get_args(CampaignKind), words
            if option == "--option":
                assert value.partition("=")[0] in OPTIONS, words


def test_the_failure_modes_are_those_of_the_paper() -> None:
    assert {mode.name for mode in failure_modes()} == MODES
    assert all(mode.flags or mode.judged or mode.brighter or mode.tags or mode.words for mode in failure_modes())


def test_one_value_has_no_standard_deviation() -> None:
    assert spread_cell(np.array([0.8, np.nan])) == "0.80"
    assert spread_cell(np.array([0.5, 1.0])) == "0.75±0.35"
    assert spread_cell(np.array([np.nan])) is None
