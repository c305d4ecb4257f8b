"""Tables of how few votes, items or raters decide a board."""

from typing import Any, cast

from imarena.core.records import Ranking
from imarena.reports.tables.table import CellValue, Column, Table, columns

_UNITS_SHOWN = 3
_VOTES_SHOWN = 2
_NAMES_SHOWN = 5
_ROWS_SHOWN = 10
"""Number of pairs of neighbours (most fragile first), and of models with clones, in the tables. JSON has all."""
_NONE = "not found"
_HALF = "Not found: no removal of up to half of the {units} was found that changes this order."
_GROUPS = "Some models never met: each group of models that met has its own rows, for its own first place and top."
_SIDES = (
    "ahead, behind: on the whole board. Without the removed units, the second is above the first, and both are still "
    "in one group of models that met."
)
_SHARED = (
    "shared: these models have equal ratings, so nothing decides their order. The first place or the top K is not "
    "searched if such a place is at its edge."
)
_CHECKED = "Each count was checked by fitting the board again without the removed units. A smaller set may exist."
_CLONES = (
    "A model that is entered several times and keeps its best result gains this many points on average, without being "
    "any better."
)


def fragility_tables(ranking: Ranking) -> list[Table]:
    """The fewest removals for each question, and the gain from clones; empty if fragility was not requested."""
    fragility = cast("dict[str, Any] | None", ranking.details.get("fragility"))
    if fragility is None:
        return []
    groups = any(notice.code == "groups_never_met" for notice in ranking.notices)
    return [_orders_table(fragility["orders"], fragility["shared"], groups), _clones_table(fragility["clones"])]


def _orders_table(orders: list[dict[str, Any]], shared: list[dict[str, Any]], groups: bool) -> Table:
    """`groups`: some models never met."""
    rows: list[tuple[CellValue, ...]] = [
        (f"place {one['place']}", "", "shared", None, _names(one["models"]), "", 0.0, "")
        for one in shared[:_ROWS_SHOWN]
    ]
    neighbours = [order for order in orders if order["question"] == "neighbours"]
    neighbours.sort(key=_share)
    listed_orders = [order for order in orders if order["question"] != "neighbours"] + neighbours[:_ROWS_SHOWN]
    for order in listed_orders:
        share = None if order["removed"] is None else _share(order)
        rows.append(
            (
                order["question"], order["unit"] + "s", order["removed"], share, order["ahead"], order["behind"],
                order["difference"], _unit_list(order["units"]),
            )
        )  # fmt: skip
    head = columns(
        "what changes",
        "remove",
        Column("fewest", ",", absent=_NONE),
        Column("share", ".3%", absent="–"),
        "ahead",
        "behind",
        Column("difference", ".1f"),
        Column("which", wrap=True),
    )
    units = list(dict.fromkeys(order["unit"] + "s" for order in listed_orders if order["removed"] is None))
    hidden = len(orders) - len(listed_orders)
    hidden_places = len(shared) - _ROWS_SHOWN
    more = [f"The {_ROWS_SHOWN} most fragile pairs of neighbours; --json has {hidden} more."] if hidden else []
    more += [f"The first {_ROWS_SHOWN} shared places; --json has {hidden_places} more."] if hidden_places > 0 else []
    not_found = [_HALF.format(units=_either(units))] if units else []
    about = [*([_SIDES, _CHECKED] if orders else []), *([_SHARED] if shared else []), *([_GROUPS] if groups else [])]
    notes = [*about, *more, *not_found]
    return Table(head, tuple(rows), "Fragility: the fewest removals that change the order", tuple(notes))


def _share(order: dict[str, Any]) -> float:
    """The share of the units that decides an order; 1 if no removal was found."""
    return 1.0 if order["removed"] is None else float(order["removed"]) / order["total"]


def _names(models: list[str]) -> str:
    """`a, b, c and 2 more`."""
    more = f" and {len(models) - _NAMES_SHOWN} more" if len(models) > _NAMES_SHOWN else ""
    return ", ".join(models[:_NAMES_SHOWN]) + more


def _either(words: list[str]) -> str:
    """`votes, items or raters`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _unit_list(units: list[dict[str, Any]]) -> str:
    texts = [_unit(unit) for unit in units[:_UNITS_SHOWN]]
    more = f" and {len(units) - _UNITS_SHOWN} more" if len(units) > _UNITS_SHOWN else ""
    return ", ".join(texts) + more


def _unit(unit: dict[str, Any]) -> str:
    """`2 x a over b (item 1 by ann; item 2 by bob)`."""
    name = f"{unit['count']} x {unit['name']}" if unit["count"] > 1 else unit["name"]
    votes = unit.get("votes", [])
    cast = [" by ".join(filter(None, (vote["item"], vote["rater"]))) for vote in votes[:_VOTES_SHOWN]]
    more = "; ..." if unit["count"] > len(cast) else ""
    return f"{name} ({'; '.join(cast)}{more})" if any(cast) else name


def _clones_table(clones: list[dict[str, Any]]) -> Table:
    head = columns("model", Column("best of 2", "+.1f"), Column("best of 10", "+.1f"))
    rows = tuple((line["model"], line["best_of_2"], line["best_of_10"]) for line in clones[:_ROWS_SHOWN])
    return Table(head, rows, "Clones: points gained by entering a model several times", (_CLONES,))
