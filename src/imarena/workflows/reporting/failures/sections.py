"""The report's sections on failures: modes with counts and examples, raters' tags, and error areas."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from imarena.core import counted
from imarena.core.records import Item, Output
from imarena.reports import (
    Chart,
    GalleryItem,
    Section,
    columns,
    heat_map,
    histogram,
    issues_section,
)
from imarena.reports.tables import CellValue, Column, Table
from imarena.workflows.reporting.failures.error_areas import error_areas
from imarena.workflows.reporting.failures.examples import PictureLink, output_exhibit
from imarena.workflows.reporting.failures.modes import FailureMode, FoundBy, by_editor, failure_modes, find_failures
from imarena.workflows.serving import ISSUE_GRID, ISSUE_KINDS, IssueHeatMap, every_issue
from imarena.workflows.views import View

EXAMPLES = 3
"""Number of outputs shown per mode."""


def failure_sections(view: View, editors: Sequence[str], picture: PictureLink) -> Iterator[Section]:
    """Failure modes, issues that raters marked, and error areas. `editors`: only these; empty: all."""
    findings = find_failures(view)
    if any(source.checked for sources in findings.values() for source in sources):
        yield _modes(view, findings, editors, picture)
    issues = every_issue(view)
    issue_counts = {name: counts for name, counts in issues.by_editor.items() if not editors or name in editors}
    marked = issues_section(ISSUE_KINDS, issue_counts, issues.rated)
    if marked is not None:
        yield Section(marked.title, tables=marked.tables, charts=tuple(_heat_maps(issues, issue_counts)))
    areas = error_areas(view)
    if areas.shares or areas.empty or areas.full:
        left_out = f"{areas.empty:,} empty and {areas.full:,} full error masks are excluded."
        charts: tuple[Chart, ...] = ()
        if areas.shares:
            caption = (
                f"Share of the image marked as wrong, {counted(len(areas.shares), 'mask')} (ImagenWorld, figure 14)"
            )
            charts = (histogram("error-areas", caption, areas.shares, title="share of the image marked as wrong"),)
        yield Section("Error areas", (left_out,), charts=charts)


def _modes(view: View, findings: Mapping[str, list[FoundBy]], editors: Sequence[str], picture: PictureLink) -> Section:
    rows: list[tuple[CellValue, ...]] = []
    cells: dict[tuple[str, str], float] = {}
    exhibits: list[GalleryItem] = []
    for mode in failure_modes():
        sources = [source for source in findings[mode.name] if source.checked]
        if not sources:
            rows.append((mode.name, "not checked", None, None, None, None, mode.place))
        best = next((source for source in sources if source.failed), sources[0] if sources else None)
        rows += [_row(view, mode, source, editors, several=len(sources) > 1) for source in sources]
        if best is not None and best.failed:
            checked = by_editor(view, best.checked)
            failed = by_editor(view, best.failed)
            for editor in checked:
                if not editors or editor in editors:
                    cells[editor, mode.name] = failed.get(editor, 0) / checked[editor]
            exhibits += _examples(view, mode, best, editors, picture)
    head = columns(
        "failure mode", "found by", Column("outputs with it", ",", "–"), Column("outputs checked", ",", "–"),
        Column("share", ".1%", "–"),
        Column("most often (share of the editor's outputs)", absent="–", wrap=True), "paper",
    )  # fmt: skip
    notes = (
        "measurement: `edit` compares each output with its source and reference images (not imported outputs, "
        "nor outputs without such an image); builtin judge: its checks and facts; raters' tags: issues that raters "
        "marked, by kind or by words in their text.",
        "not checked: no measurement, judge or rater looked for it in these outputs.",
    )
    ordered = sorted({editor for editor, _ in cells})
    charts = (
        (heat_map("failure-modes", "Share of outputs with each failure mode", cells, title="share", rows=ordered),)
        if cells
        else ()
    )
    return Section(
        "Failure modes",
        tables=(Table(head, tuple(rows), notes=notes),),
        charts=charts,
        exhibits=tuple(exhibits),
    )


def _row(
    view: View, mode: FailureMode, source: FoundBy, editors: Sequence[str], *, several: bool
) -> tuple[CellValue, ...]:
    """A table row. `several`: more than one source checked this mode, so the row's name includes the source."""
    checked, failed = by_editor(view, source.checked), by_editor(view, source.failed)
    of = sum(number for editor, number in checked.items() if not editors or editor in editors)
    counts = {editor: number for editor, number in failed.items() if not editors or editor in editors}
    shares = sorted(
        ((number / checked[editor], editor) for editor, number in counts.items()), key=lambda s: (-s[0], s[1])
    )
    worst = ", ".join(f"{editor} {share:.0%}" for share, editor in shares[:3])
    total = sum(counts.values())
    name = f"{mode.name} ({source.source})" if several else mode.name
    return name, source.source, total, of, total / of if of else None, worst or None, mode.place


def _examples(
    view: View, mode: FailureMode, source: FoundBy, editors: Sequence[str], picture: PictureLink
) -> Iterator[GalleryItem]:
    """A few outputs with the failure, one per editor, in a fixed order."""
    entries = view.entries
    places = sorted((entries.index_of[key] for key in source.failed), key=lambda index: int(entries.order[index]))
    names = entries.editor.list(np.array(places, np.int64)) if places else []
    seen_editors: set[str | None] = set()
    output_ids: list[str] = []
    for index, name in zip(places, names, strict=True):
        if entries.pictured[index] and name not in seen_editors and (not editors or name in editors):
            seen_editors.add(name)
            output_ids.append(entries.id_of(index))
    outputs = view.workspace.store.records(Output, id=output_ids[:EXAMPLES])
    for output in sorted(outputs, key=lambda output: output_ids.index(output.output_id)):
        item = next(iter(view.workspace.store.records(Item, id=output.item_id)), None)
        if item is not None and output.image is not None:
            note = f"{mode.name}, found by {source.source}"
            yield output_exhibit(view, item, output, f"{mode.name} · {item.key}", note, picture)


def _heat_maps(issues: IssueHeatMap, issue_counts: Mapping[str, Mapping[str, int]]) -> Iterator[Chart]:
    cells = {
        (editor, kind.replace("_", " ")): counts.get(kind, 0) / issues.rated[editor]
        for editor, counts in issue_counts.items()
        if issues.rated.get(editor)
        for kind in ISSUE_KINDS
    }
    if cells:
        yield heat_map("issue-tags", "Issues per rating, by editor and kind", cells, title="per rating", spec=".2f")
    if issues.boxes:
        grid = {
            (f"{row + 1:02d}", f"{column + 1:02d}"): float(issues.cells[row, column])
            for row in range(ISSUE_GRID)
            for column in range(ISSUE_GRID)
        }
        caption = f"Where {counted(issues.boxes, 'box')} around mistakes are, on a grid over the image"
        yield heat_map("issue-places", caption, grid, title="boxes", spec=".0f", step=24)
