"""Shared parts of requests for viewing: filters that can be part of a link, cursors, limits."""

from collections.abc import Sized
from contextlib import suppress
from datetime import date
from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import AfterValidator

from imarena.web.callers import Caller
from imarena.web.wire import NO_NUL, Wire
from imarena.workflows.boards import Source
from imarena.workflows.serving import BattleFilters

FilterText = Annotated[str | None, Query(max_length=200, pattern=NO_NUL)]
PathId = Annotated[str, Path(max_length=100, pattern=NO_NUL)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]


def _real(day: str) -> str:
    """A valid calendar day: a pattern would accept a thirteenth month and then filter by nonsense."""
    with suppress(ValueError):
        if date.fromisoformat(day).isoformat() == day:
            return day
    raise ValueError("should be a day, such as 2026-01-31")


Day = Annotated[str, Query(json_schema_extra={"format": "date"}), AfterValidator(_real)] | None
BoardMethod = Literal["bt", "davidson", "elo"]


class FilterParams(Wire):
    """Filters of verdicts. All of them can be part of a link."""

    source: Source = "all"
    judge: FilterText = None
    dimension: FilterText = None
    dataset: FilterText = None
    family: FilterText = None
    task: FilterText = None
    topic: FilterText = None
    track: FilterText = None
    mode: FilterText = None
    since: Day = None
    until: Day = None


class BoardFilters(FilterParams):
    """The same filters for a board; the default source is the one that `imarena rank` shows without options."""

    source: Source = "auto"


class BoardParams(BoardFilters):
    """Filters and the ranking method."""

    method: BoardMethod = "bt"


class HistoryQuery(BoardParams):
    """A board at several times."""

    points: Annotated[int, Query(ge=2, le=50)] = 12


class DuelQuery(BoardFilters):
    """Two models compared."""

    left: Annotated[str, Query(max_length=200, pattern=NO_NUL)]
    right: Annotated[str, Query(max_length=200, pattern=NO_NUL)]


class ModelQuery(BoardParams):
    """One model's results."""

    model: Annotated[str, Query(max_length=200, pattern=NO_NUL)]


class HeatQuery(FilterParams):
    """Issues, of one editor or of all."""

    editor: FilterText = None


class BattleQuery(FilterParams):
    """Battles of one model, or between two."""

    left: FilterText = None
    right: FilterText = None


class BattlesPageQuery(BattleQuery):
    """A page of battles."""

    cursor: Cursor = None
    limit: Limit = 50


class ItemQuery(Wire):
    """Filters of items."""

    dataset: FilterText = None
    family: FilterText = None
    task: FilterText = None
    topic: FilterText = None
    track: FilterText = None


class ItemsPageQuery(ItemQuery):
    """A page of items."""

    cursor: Cursor = None
    limit: Limit = 50


def filters_of(query: FilterParams, caller: Caller) -> BattleFilters:
    """The filters of a request; callers who are not leads only see votes of closed campaigns."""
    columns = {name: getattr(query, name) for name in FilterParams.model_fields}
    return BattleFilters(**columns, released=not caller.leads)


def page_of(rows: Sized, cursor: str | None, limit: int) -> tuple[slice, str | None]:
    """The slice of a list for one page, and the cursor of the next page."""
    start = int(cursor) if cursor else 0
    more = str(start + limit) if start + limit < len(rows) else None
    return slice(start, start + limit), more
