"""Details of a board besides its standings: coefficients, tie parameters, reliabilities, stability, neighbours."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from imarena.core.notices import sentence, sentences
from imarena.core.records import Ranking
from imarena.reports.tables import CellValue, Column, Table
from imarena.reports.tables.table import columns, count_cell, interval

_ALIKE_SHOWN, _GROUPS_SHOWN = 2, 5
"""Number of warnings of one kind that are printed in full, and of groups named in one line."""


def interval_level_text(ranking: Ranking) -> str:
    """The level of the intervals, such as `95%`; empty if the board has none."""
    level = ranking.settings.get("level")
    return f"{level * 100:g}%" if isinstance(level, int | float) else ""


def detail_tables(ranking: Ranking) -> list[Table]:
    """Tables of what the method estimated besides the ratings, if anything."""
    level = interval_level_text(ranking)
    tables = [
        _coefficients(_lines(ranking, "coefficients"), level),
        _parameters("Tie parameter by dimension (0: no ties)", "dimension", _lines(ranking, "ties"), level),
        _parameters(
            f"Reliability q by {ranking.settings.get('reliability', 'group')} (1: always credible, 0: a coin)",
            str(ranking.settings.get("reliability", "group")),
            _lines(ranking, "reliability"),
            level,
        ),
    ]
    return [table for table in tables if table.rows]


def _lines(ranking: Ranking, key: str) -> Sequence[Mapping[str, Any]]:
    lines = ranking.details.get(key)
    return [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []


def _coefficients(lines: Sequence[Mapping[str, Any]], level: str) -> Table:
    rows = tuple(
        (
            "left side" if line["name"] == "position" else f"{line['name']}, per standard deviation",
            line["rating_points"],
            interval(line["low"], line["high"]),
            None if line["name"] == "position" else line["per"],
        )
        for line in lines
    )
    head = (
        Column("coefficient"),
        Column("rating points", "+.1f"),
        Column(f"{level} interval".strip(), "+.1f", absent="–"),
        Column("standard deviation", ".4g"),
    )
    return Table(head, rows, "Advantage in rating points")


def _parameters(title: str, name: str, lines: Sequence[Mapping[str, Any]], level: str) -> Table:
    rows = tuple((str(x["group"]), x["value"], interval(x["low"], x["high"]), count_cell(x["battles"])) for x in lines)
    head = (
        Column(name),
        Column("value", ".3f"),
        Column(f"{level} interval".strip(), ".3f", absent="–"),
        Column("battles", ","),
    )
    return Table(head, rows, title)


def stability_text(ranking: Ranking) -> str:
    """How stable the order is, in one line; empty without resampling and predictions."""
    stability = ranking.details.get("stability")
    if not isinstance(stability, dict):
        return ""
    parts = []
    if isinstance(stability.get("mean_spearman"), float):
        parts.append(
            f"mean Spearman correlation of resampled boards {stability['mean_spearman']:.3f} (1: always one order)"
        )
    if isinstance(stability.get("rank_std"), float):
        parts.append(f"standard deviation of ranks (RankStd) {stability['rank_std']:.2f} (0: always one rank)")
    if isinstance(stability.get("accuracy"), float):
        parts.append(f"share of decided battles that the board predicts: {stability['accuracy']:.1%} (50%: a coin)")
    within = " (within groups)" if len(ranking.groups) > 1 else ""
    return f"Stability{within}: {'; '.join(parts)}" if parts else ""


def neighbours_table(ranking: Ranking) -> Table:
    """How certain the order of each two neighbours is, and how many battles would settle it."""
    rounds = ranking.settings.get("rounds")
    rows = tuple(
        (
            line["above"], line["below"], line["difference"], _sure(line["probability_above"], rounds),
            count_cell(line["battles_met"]), line["battles_to_separate"],
        )
        for line in _lines(ranking, "neighbours")
    )  # fmt: skip
    head = columns(
        "above",
        "below",
        Column("difference", ".1f"),
        Column("sure", ".1%", absent="–"),
        Column("met", ","),
        Column("battles needed", ",", absent="–"),
    )
    return Table(head, rows, "Neighbours: direct battles needed to detect the difference (80% power, 5% level)")


def _sure(probability: float | None, rounds: Any) -> CellValue:
    """The probability; if all rounds of the bootstrap agree, what that many rounds can show: `> 99.9%` for 1,000."""
    if probability != 1 or not isinstance(rounds, int) or rounds < 1:
        return probability
    digits = max(0, int(math.log10(rounds + 1)) - 2)
    return f"> {math.floor(rounds / (rounds + 1) * 10 ** (digits + 2)) / 10**digits:.{digits}f}%"


def board_warnings(boards: Sequence[Ranking], stated: Collection[str] = ()) -> list[str]:
    """Warnings of several boards: those of all boards once, those of some groups once with the groups' names.

    Of warnings of one kind with different figures, the first ones are printed, then the names of the other groups.
    `stated`: codes of notices that are printed elsewhere.
    """
    shared = (
        [notice for notice in boards[0].notices if all(notice in board.notices for board in boards)] if boards else []
    )
    lines = sentences(notice for notice in shared if notice.code not in stated)
    by_kind: dict[str, dict[str, list[str]]] = {}
    for board in boards if len(boards) > 1 else []:
        name = ", ".join(f"{key} {value}" for key, value in board.scope.items())
        for notice in board.notices:
            if notice not in shared and notice.code not in stated:
                by_kind.setdefault(notice.code, {}).setdefault(sentence(notice), []).append(name)
    for groups_by_text in by_kind.values():
        texts = list(groups_by_text.items())
        printed = texts if len(texts) <= _ALIKE_SHOWN + 1 else texts[:_ALIKE_SHOWN]
        lines += [f"{_group_list(groups)}: {text}" for text, groups in printed]
        further_groups = [group for _, groups in texts[len(printed) :] for group in groups]
        if further_groups:
            lines.append(
                f"{_group_list(further_groups)}: as in the line before, with other figures (--json lists all)."
            )
    return lines


def _group_list(groups: Sequence[str]) -> str:
    n_hidden = len(groups) - _GROUPS_SHOWN
    return ", ".join(groups[:_GROUPS_SHOWN]) + (f" and {n_hidden:,} more" if n_hidden > 0 else "")
