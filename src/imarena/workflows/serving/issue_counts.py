"""Issues marked by raters: boxes on a grid over the image, objects by name, segments and tags by editor."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import CodeArray, IntArray
from imarena.core.records import Output
from imarena.workflows import views
from imarena.workflows.serving.leaderboards import BattleFilters, Leaderboards
from imarena.workflows.serving.snapshot import ViewSnapshot

ISSUE_GRID = 16
ISSUE_KINDS = ("object", "segment", "box", "new_image", "returned_input", "other")
"""Kinds of issues that are counted: an explicit "none" is an answer, not an issue."""
_AT_ONCE = 500


@dataclass(frozen=True)
class IssueColumns:
    """n issues. `vote` (n,) is the row of the vote in the view, `cells` (n, 4) the first and last column and row."""

    vote: IntArray
    kind: CodeArray
    label: views.Names
    criterion: views.Names
    cells: NDArray[np.int16]
    """-1 if there is no box, or no image to place it on."""


@dataclass(frozen=True)
class IssueHeatMap:
    """Where boxes were drawn, as counts on a grid over the image, and which other issues were marked."""

    boxes: int = 0
    cells: NDArray[np.int64] = field(default_factory=lambda: np.zeros((ISSUE_GRID, ISSUE_GRID), np.int64))
    labels: Counter[str] = field(default_factory=Counter)
    by_editor: Mapping[str, Counter[str]] = field(default_factory=dict)
    """Issues of each kind for each editor that was rated."""
    rated: Counter[str] = field(default_factory=Counter)
    """Number of ratings per editor, to put the counts in proportion."""


def issue_heat_map(leaderboards: Leaderboards, editor: str | None, filters: BattleFilters) -> IssueHeatMap:
    """Issues that raters marked, for one editor or for all; the filter `dimension` selects the criterion."""
    snapshot = leaderboards.snapshot()
    filters = leaderboards.settled(filters, snapshot)
    return snapshot.get_or_compute(("heat", editor, filters), lambda: _heat(snapshot, editor, filters), "glances")


def _heat(snapshot: ViewSnapshot, editor: str | None, filters: BattleFilters) -> IssueHeatMap:
    if filters.source == "judge" or filters.judge:
        return IssueHeatMap()
    view = snapshot.view
    issues = snapshot.get_or_compute("issues", lambda: read_issues(view), "lists")
    cast, entries = view.votes, view.entries
    selected = views.live_vote_rows(view, filters.window) & snapshot.boards.outputs_with(filters.of_items)[cast.left]
    if editor is not None:
        code = entries.editor.names.index(editor) if editor in entries.editor.names else -2
        selected &= entries.editor.of[cast.left] == code
    return _of_votes(view, issues, selected, filters.dimension)


def every_issue(view: views.View) -> IssueHeatMap:
    """Issues that raters marked in all votes that count."""
    return _of_votes(view, read_issues(view), view.votes.counts, None)


def _of_votes(
    view: views.View, issues: IssueColumns, selected: NDArray[np.bool_], criterion: str | None
) -> IssueHeatMap:
    """The issues of the votes that are kept (n,), about one criterion or about none in particular."""
    cast = view.votes
    rows = selected[issues.vote]
    if criterion is not None:
        names = issues.criterion.names
        about = names.index(criterion) if criterion in names else -2
        rows &= (issues.criterion.of == about) | (issues.criterion.of < 0)
    places = np.flatnonzero(rows)
    kind = issues.kind[places]
    boxes = places[(kind == ISSUE_KINDS.index("box")) & (issues.cells[places, 0] >= 0)]
    cells = np.zeros((ISSUE_GRID, ISSUE_GRID), np.int64)
    for left, top, right, bottom in issues.cells[boxes].tolist():
        cells[top : bottom + 1, left : right + 1] += 1
    labels = Counter(label for label in issues.label.list(places[kind == ISSUE_KINDS.index("object")]) if label)
    alone = np.flatnonzero(selected & (cast.right < 0) & (cast.preference == views.NONE))
    rated = Counter(_editor_names(view.entries, cast.left[alone]))
    marked: dict[str, Counter[str]] = {name: Counter() for name in rated}
    for name, code in zip(_editor_names(view.entries, cast.left[issues.vote[places]]), kind.tolist(), strict=True):
        marked.setdefault(name, Counter())[ISSUE_KINDS[code]] += 1
    return IssueHeatMap(int(boxes.size), cells, labels, dict(sorted(marked.items())), rated)


def _editor_names(entries: views.Entries, outputs: CodeArray) -> list[str]:
    return [
        name or views.UNNAMED_EDITOR for name in views.Names(entries.editor.of[outputs], entries.editor.names).list()
    ]


def read_issues(view: views.View) -> IssueColumns:
    """The issues of all votes."""
    pairs = [(vote, issue) for vote, issues in views.vote_issues(view) for issue in issues if issue.kind in ISSUE_KINDS]
    sizes = dict(_sizes(view, {vote for vote, issue in pairs if issue.box}))
    return IssueColumns(
        vote=np.array([vote for vote, _ in pairs], np.int64),
        kind=np.array([ISSUE_KINDS.index(issue.kind) for _, issue in pairs], np.int32),
        label=views.encode_names(issue.label or None for _, issue in pairs),
        criterion=views.encode_names(issue.criterion for _, issue in pairs),
        cells=np.array([_cells(issue.box, sizes.get(vote)) for vote, issue in pairs], np.int16).reshape(-1, 4),
    )


def _sizes(view: views.View, positions: set[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Width and height of the images that these votes are about."""
    owner: dict[str, list[int]] = {}
    for vote in sorted(positions):
        owner.setdefault(view.entries.id_of(int(view.votes.left[vote])), []).append(vote)
    ids = sorted(owner)
    for begin in range(0, len(ids), _AT_ONCE):
        for output in view.workspace.store.records(Output, id=ids[begin : begin + _AT_ONCE]):
            if output.image is not None:
                size = (output.image.width or 1, output.image.height or 1)
                yield from ((vote, size) for vote in owner[output.output_id])


def _cells(box: Any, size: tuple[int, int] | None) -> tuple[int, int, int, int]:
    if not box or size is None:
        return -1, -1, -1, -1
    width, height = size
    left, top = max(0, int(box[0] / width * ISSUE_GRID)), max(0, int(box[1] / height * ISSUE_GRID))
    return (
        left,
        top,
        min(ISSUE_GRID - 1, int(box[2] / width * ISSUE_GRID)),
        min(ISSUE_GRID - 1, int(box[3] / height * ISSUE_GRID)),
    )
