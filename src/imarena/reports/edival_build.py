"""Tables of an object-centric benchmark: outcomes of images, types per turn (table 2), statistics (appendix A)."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from imarena.core import SceneObject
from imarena.reports.tables import CellValue, Column, Table


class BuildStatistics(Protocol):
    """The statistics that the tables are made from."""

    @property
    def objects(self) -> int: ...
    @property
    def distinct_objects(self) -> int: ...
    @property
    def categories(self) -> Mapping[str, int]: ...
    @property
    def scenes(self) -> Mapping[str, int]: ...
    @property
    def lighting(self) -> Mapping[str, int]: ...
    @property
    def types(self) -> Mapping[str, tuple[int, ...]]: ...
    @property
    def fall_backs(self) -> int: ...


def build_tables(statistics: BuildStatistics, outcomes: Mapping[str, int]) -> list[Table]:
    """Tables of the outcomes of images, instructions per type and turn, and the statistics of appendix A."""
    tables = [_counts("Images", "outcome", outcomes)]
    turns = max((len(counts) for counts in statistics.types.values()), default=0)
    if turns:
        columns = (Column("type"), *(Column(f"T{turn + 1}") for turn in range(turns)), Column("total"))
        rows: tuple[tuple[CellValue, ...], ...] = tuple(
            (kind, *counts, sum(counts)) for kind, counts in statistics.types.items()
        )
        notes = (f"{statistics.fall_backs} additions replace a type that did not fit the scene.",)
        tables.append(
            Table(columns, tuple(rows), "Instructions per type and turn", notes if statistics.fall_backs else ())
        )
        about = f"Objects by category ({statistics.objects} objects, {statistics.distinct_objects} different nouns)"
        tables.append(_counts(about, "category", statistics.categories))
        tables.append(_counts("Scenes", "scene", statistics.scenes))
        tables.append(_counts("Lighting", "lighting", statistics.lighting))
    return tables


def _counts(title: str, column: str, counts: Mapping[str, int]) -> Table:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return Table((Column(column), Column("count")), tuple(ordered), title)


def objects_table(objects: Sequence[SceneObject]) -> Table:
    """The objects of one image."""
    columns = tuple(Column(title) for title in ("name", "object", "color", "material", "text", "count", "foreground"))
    rows = tuple(
        (
            thing.name,
            thing.object,
            thing.color,
            thing.material,
            thing.text,
            thing.count,
            "yes" if thing.foreground else "no",
        )
        for thing in objects
    )
    return Table(columns, rows, "Objects").filled
