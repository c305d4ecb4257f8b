"""Removed items by their key and removed raters by their name, where a board has only the ids of a workspace."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from sqlalchemy import select

from imarena.core.records import Ranking, Rater
from imarena.storage import Workspace, reading
from imarena.storage.schema import items


def with_fragility_names(workspace: Workspace, ranking: Ranking) -> Ranking:
    """The ranking with names in its answers to `rank --fragility`; the same ranking where nothing was asked."""
    fragility = cast("dict[str, Any] | None", ranking.details.get("fragility"))
    if fragility is None:
        return ranking
    names = {"item": _item_names(workspace), "rater": _rater_names(workspace)}
    orders = [
        {**order, "units": [_named(unit, names, order["unit"]) for unit in order["units"]]}
        for order in fragility["orders"]
    ]
    return ranking.model_copy(update={"details": {**ranking.details, "fragility": {**fragility, "orders": orders}}})


def _named(unit: dict[str, Any], names: Mapping[str, Mapping[str, str]], kind: str) -> dict[str, Any]:
    if kind in names:
        return {**unit, "name": names[kind].get(unit["name"], unit["name"]), "id": unit["name"]}
    if "votes" not in unit:
        return unit
    votes = [{by: names[by].get(value, value) for by, value in vote.items()} for vote in unit["votes"]]
    return {**unit, "votes": votes}


def _item_names(workspace: Workspace) -> dict[str, str]:
    """Item id to key, with the data set where several have the key."""
    with reading(workspace.store.engine) as connection:
        rows = list(connection.execute(select(items.c.id, items.c.dataset, items.c.key)))
    times = Counter(key for _, _, key in rows)
    return {identity: key if times[key] == 1 else f"{dataset}/{key}" for identity, dataset, key in rows}


def _rater_names(workspace: Workspace) -> dict[str, str]:
    return {rater.rater_id: rater.name or rater.rater_id for rater in workspace.store.records(Rater)}
