"""Details of a board besides its standings: coefficients, tie parameters, reliabilities, stability, neighbours."""

from collections.abc import Mapping, Sequence
from typing import Any

from imarena.core.notices import sentences
from imarena.core.records import Ranking
from imarena.reports.tables import Cell, Column, Number, Table
from imarena.reports.tables.table import columns, count_cell, interval

NAMES_SHOWN = 10


def interval_level_text(ranking: Ranking) -> str:
    """The level of the intervals, such as `95 %`; empty where the board has none."""
    level = ranking.settings.get("level")
    return f"{level * 100:g} %" if isinstance(level, int | float) else ""


def detail_tables(ranking: Ranking) -> list[Table]:
    """Tables of what the method estimated beside the ratings; none where it estimated nothing else."""
    level = interval_level_text(ranking)
    made = [
        _coefficients(_lines(ranking, "coefficients"), level),
        _parameters("Tie parameter by dimension (0: no ties)", "dimension", _lines(ranking, "ties"), level),
        _parameters(
            f"Reliability q by {ranking.settings.get('reliability', 'group')} (1: always credible, 0: a coin)",
            str(ranking.settings.get("reliability", "group")),
            _lines(ranking, "reliability"),
            level,
        ),
    ]
    return [table for table in made if table is not None]


def _lines(ranking: Ranking, key: str) -> Sequence[Mapping[str, Any]]:
    found = ranking.details.get(key)
    return [line for line in found if isinstance(line, dict)] if isinstance(found, list) else []


def _coefficients(lines: Sequence[Mapping[str, Any]], level: str) -> Table | None:
    if not lines:
        return None
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


def _parameters(title: str, name: str, lines: Sequence[Mapping[str, Any]], level: str) -> Table | None:
    if not lines:
        return None
    rows = tuple((str(x["group"]), x["value"], interval(x["low"], x["high"]), count_cell(x["battles"])) for x in lines)
    head = (
        Column(name),
        Column("value", ".3f"),
        Column(f"{level} interval".strip(), ".3f", absent="–"),
        Column("battles", ","),
    )
    return Table(head, rows, title)


def stability_text(ranking: Ranking) -> str:
    """How stable the order is, in one line; empty where nothing was resampled and nothing is predicted."""
    found = ranking.details.get("stability")
    if not isinstance(found, dict):
        return ""
    parts = []
    if isinstance(found.get("mean_spearman"), float):
        parts.append(f"mean Spearman correlation of resampled boards {found['mean_spearman']:.3f}")
    if isinstance(found.get("rank_std"), float):
        parts.append(f"standard deviation of ranks (RankStd) {found['rank_std']:.2f}")
    if isinstance(found.get("accuracy"), float):
        parts.append(f"decided battles that the board predicts {found['accuracy']:.1%}")
    return f"Stability: {'; '.join(parts)}" if parts else ""


def neighbours_table(ranking: Ranking) -> Table:
    """How sure the order of every two neighbours is, and how many battles would settle it."""
    rows = tuple(
        (
            line["above"], line["below"], line["difference"], line["probability_above"],
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
    return Table(head, rows, "Neighbours: direct battles that find the difference 4 times in 5 (5 % level)")


def comparison_table(compared: Mapping[str, Any]) -> Table:
    """How a board agrees with an outside one, and which models only one of them has."""
    dated = f" of {compared['date']}" if compared["date"] else ""
    rows: list[tuple[Cell, ...]] = [(name, compared[name]) for name in ("spearman", "kendall", "pearson")]
    rows.append(("mean distance of ranks", Number(compared["footrule"], ".2f")))
    notes = [f"undefined: {compared['reason']}"] if compared.get("reason") else []
    for key, words in (("only_ours", "Only on this board"), ("only_theirs", "Only on the other board")):
        names = list(compared.get(key) or ())
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        notes += [f"{words}: {', '.join(names[:NAMES_SHOWN])}{more}."] if names else []
    title = f"against {compared['board']}{dated}, {compared['n']} common models"
    return Table(columns("measure", Column("value", ".4f", "undefined")), tuple(rows), title, tuple(notes))


def board_warnings(boards: Sequence[Ranking]) -> list[str]:
    """What holds for all boards once; what holds for some groups with the group's name."""
    shared = (
        [notice for notice in boards[0].notices if all(notice in board.notices for board in boards)] if boards else []
    )
    found = sentences(shared)
    for board in boards if len(boards) > 1 else []:
        name = ", ".join(f"{key} {value}" for key, value in board.scope.items())
        found += [f"{name}: {text}" for text in sentences(one for one in board.notices if one not in shared)]
    return found
