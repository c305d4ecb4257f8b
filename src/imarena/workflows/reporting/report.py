"""report: a workspace as a folder that opens in a browser."""

from collections.abc import Sequence
from pathlib import Path

from imarena.core import Progress, counted
from imarena.reports import (
    Page,
    Section,
    board_section,
    issues_section,
    overview_section,
    report_lead,
    write_html,
    write_markdown,
)
from imarena.storage import Workspace
from imarena.workflows.boards import Boards, all_boards, store_boards
from imarena.workflows.questions import findings, findings_table
from imarena.workflows.reporting.gallery import read_gallery
from imarena.workflows.reporting.known_truth import KnownTruth, known_truth
from imarena.workflows.serving import KINDS, every_issue
from imarena.workflows.upkeep import workspace_status
from imarena.workflows.views import View

GALLERY_ITEMS = 12
WORDS_TOLD = 50


def write_report(
    workspace: Workspace,
    folder: Path,
    *,
    title: str = "",
    extra: Sequence[Section] = (),
    next_steps: Sequence[str] = (),
    gallery: int = GALLERY_ITEMS,
    known: KnownTruth | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write the report; returns the page. `extra` sections come before the gallery, which shows `gallery` items.

    `known` is the truth about the bundled items; without it, it is worked out where studio editors made the outputs.
    """
    tell = progress or (lambda *_: None)
    stands = workspace_status(workspace)
    view = View(workspace)
    made = all_boards(Boards(view))
    store_boards(workspace, [board.ranking for board in made])
    tell("report", 1, 4)
    sections: list[Section | None] = [
        overview_section(stands.outputs, stands.judgments, stands.coverage, stands.attempts),
        *(board_section(board.title, board.ranking, folder, index) for index, board in enumerate(made)),
    ]
    tell("report", 2, 4)
    known = known or known_truth(workspace, made)
    issues = every_issue(view)
    sections += [
        *extra,
        known.section if known else None,
        issues_section(KINDS, issues.by_editor, issues.rated),
        _words(workspace),
    ]
    sections.append(read_gallery(workspace, folder, gallery, known.qualities if known else None))
    lead = report_lead(stands.outputs, stands.judgments, stands.totals)
    page = Page(title or stands.name, lead, tuple(s for s in sections if s is not None), tuple(next_steps))
    tell("report", 3, 4)
    write_markdown(page, folder)
    path = write_html(page, folder)
    tell("report", 4, 4)
    return path


def _words(workspace: Workspace) -> Section | None:
    """Pictures that speak to a judge; nothing where `imarena scan` never ran."""
    found = findings(workspace)
    if not found.read:
        return None
    table = findings_table(found, WORDS_TOLD)
    more = (f"The first {WORDS_TOLD} of {len(found.found):,} are listed.",) if len(found.found) > WORDS_TOLD else ()
    brought = {one.image for one in found.found if one.output_id is not None and not one.excuse}
    warned = (
        (f"Such words that neither source nor instruction has: in {counted(len(brought), 'output')}.",)
        if brought
        else ()
    )
    return Section(
        "Words that address a judge", (found.in_words(), *more), warned, tables=(table,) if table.rows else ()
    )
