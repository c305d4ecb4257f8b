"""Tables of an object-centric benchmark: outcomes of images, types per turn (table 2), statistics (appendix A)."""

from collections.abc import Mapping, Sequence

from imarena.core import SceneObject
from imarena.instructions import SceneStatistics
from imarena.reports.tables import CellValue, Column, Table


def build_tables(statistics: SceneStatistics, outcomes: Mapping[str, int]) -> list[Table]:
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
    names = ("name", "object", "color", "material", "text", "count")
    rows = tuple((*(getattr(thing, name) for name in names), "yes" if thing.foreground else "no") for thing in objects)
    return Table(tuple(Column(name) for name in (*names, "foreground")), rows, "Objects").filled
