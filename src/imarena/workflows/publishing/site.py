"""site: a workspace's boards, models and battles as a static web site that opens from disk or any web server."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue
from sqlalchemy import func, select

from imarena.core import Progress, UserError, command_line, counted, new_folder, require_licence
from imarena.core.notices import Notice
from imarena.core.records import Campaign, Ranking
from imarena.ranking import Options
from imarena.reports import GROUP_COLUMNS, ModelPage, Site, SiteBoard, WinCounts, write_site_pages
from imarena.reports.tables import Table
from imarena.storage import Workspace, reading
from imarena.storage.schema import judgments, votes
from imarena.workflows.boards import Board, BoardQuery, board_queries, describe_source, matrix_of, with_samples
from imarena.workflows.publishing.record_redaction import NO_LICENCE, RecordRedaction
from imarena.workflows.publishing.site_battles import SiteBattles
from imarena.workflows.publishing.site_images import SiteImages
from imarena.workflows.publishing.workspace_redaction import check_outside, redact_workspace
from imarena.workflows.serving import BattleFilters, Leaderboards, model_results
from imarena.workflows.views import BattleColumns

GROUPS = ("task", "topic", "family", "track")
MARK = "imarena-site.txt"
"""The file that marks a folder as a site that may be replaced."""


@dataclass(frozen=True)
class SiteSettings:
    """What a site shows."""

    title: str = ""
    licence: str = ""
    """Licence of items that state none."""
    by: tuple[str, ...] = GROUPS
    """Labels: each board is also shown per value of these."""
    image_px: int = 480
    """Longer side of images, in pixels."""
    seed: int = 0
    force: bool = False
    """Whether an earlier site may be replaced."""


@dataclass(frozen=True)
class SiteReport:
    """What was written, and what was left out."""

    page: str
    boards: int
    """Number of boards of all items."""
    group_boards: int
    """Number of boards of one group of items each."""
    models: int
    battles: int
    images: int
    images_left_out: dict[str, int] = field(default_factory=dict)
    open_campaigns: tuple[str, ...] = ()
    """Names of campaigns whose raters can see their results on the site."""

    @property
    def without_licence(self) -> int:
        """Number of images left out because no licence is stated."""
        return self.images_left_out.get(NO_LICENCE, 0)


def write_site(
    workspace: Workspace, directory: Path, settings: SiteSettings, *, progress: Progress | None = None
) -> SiteReport:
    """Write the folder as a whole or not at all. The same records, settings and seed give the same bytes."""
    check_outside(workspace, directory)
    if settings.licence:
        require_licence(settings.licence)
    redaction = redact_workspace(workspace, directory, licence=settings.licence)
    maker = _SiteMaker(workspace, redaction, settings, progress or (lambda *_: None))
    boards = maker.boards()
    with new_folder(directory, lambda folder: _why_kept(folder, settings.force)) as part:
        site, images = maker.write(part, boards)
    campaigns = sorted(c.name for c in workspace.store.records(Campaign) if c.open)
    return SiteReport(
        str(directory / "index.html"),
        len(site.boards),
        sum(map(len, site.groups.values())),
        len(site.models),
        site.battles,
        images,
        dict(site.left_out),
        tuple(campaigns),
    )


class _SiteMaker:
    """Builds the pages. Names and texts pass the filter of `publish` before they reach a page."""

    def __init__(
        self, workspace: Workspace, redaction: RecordRedaction, settings: SiteSettings, progress: Progress
    ) -> None:
        self.workspace = workspace
        self.redaction = redaction
        self.settings = settings
        self.progress = progress
        self.leaderboards = Leaderboards(workspace)
        snapshot = self.leaderboards.snapshot()
        self.made = snapshot.boards
        self.entries = snapshot.view.entries
        self.names = {name: redaction.scrub.name(name) for name in self.entries.editor.names}
        self.until = _newest_verdict(workspace)
        self._files: set[str] = set()

    def boards(self) -> list[tuple[Board, BoardQuery]]:
        """Return the board that `imarena rank` prints, then every other board that the data allow; at least one."""
        options = Options(seed=self.settings.seed)
        queries = [("", BoardQuery(options=options, samples="auto"))]
        queries += [
            (title, replace(query, options=options, samples="auto")) for title, query in board_queries(self.made)
        ]
        boards: list[tuple[Board, BoardQuery]] = []
        first: UserError | None = None
        for number, (title, query) in enumerate(queries):
            self.progress("boards", number, len(queries))
            try:
                board = self.made.board(query)
            except UserError as error:  # fewer than two models, or no decisions: there is no such board
                first = first or error
                continue
            index = next((i for i, (earlier, _) in enumerate(boards) if earlier.same_as(board)), None)
            if index is None:
                boards.append((replace(board, title=title), query))
            elif not boards[index][0].title:  # the first board, with the name that it has in a report
                boards[index] = replace(boards[index][0], title=title), boards[index][1]
        if not boards and first is not None:
            raise UserError(f"There is no board to show yet. {first.args[0]}", hint=first.hint)
        return [(replace(board, title=board.title or describe_source(board.chosen)), query) for board, query in boards]

    def write(self, folder: Path, boards: list[tuple[Board, BoardQuery]]) -> tuple[Site, int]:
        """Write all pages and images; return their contents, and the number of images."""
        columns = [board.battles for board, _ in boards]
        images = SiteImages(folder, self.redaction, self.settings.image_px)
        images.read(self.workspace, self.entries, columns, self.progress)
        site_boards = [self._board(number, board) for number, (board, _) in enumerate(boards)]
        groups = {number: list(self._groups(site_boards[number], query)) for number, (_, query) in enumerate(boards)}
        models = sorted({name for board in site_boards for name in board.models})
        pages = {name: self._file("models", name) for name in models}
        battles = SiteBattles(self.entries, columns, [self.names[name] for name in self.entries.editor.names], images)
        battles.write(folder, models)
        summaries = [self._model(name, pages[name], site_boards, images) for name in models]
        site = Site(
            title=self.redaction.scrub.name(self.settings.title or self.workspace.settings.name or "Leaderboard"),
            boards=site_boards,
            groups=groups,
            models=summaries,
            facts=f"{counted(len(images.items), 'item')}, {counted(len(models), 'model')}, "
            f"{counted(battles.number, 'battle')}.",
            left_out=dict(sorted(self.redaction.left_out.items())),
            images=images.number,
            battles=battles.number,
            parts=battles.parts,
            labels=battles.labels(),
        )
        write_site_pages(folder, site)
        (folder / MARK).write_text(
            f"A leaderboard site, made by `{command_line('site', workspace=Path())}`. Open index.html.\n",
            encoding="utf-8",
        )
        return site, images.number

    # ------------------------------------------------------------------ boards

    def _board(self, number: int, board: Board) -> SiteBoard:
        title = self.redaction.scrub.text(board.title)
        file = "index.html" if number == 0 else self._file("boards", title)
        return self._site_board(file, title, board, self._public_ranking(with_samples(board)), number)

    def _site_board(
        self, file: str, title: str, board: Board, ranking: Ranking, number: int, scope: str = ""
    ) -> SiteBoard:
        items = int(np.unique(self.entries.item[board.battles.left]).size)
        return SiteBoard(file, title, ranking, self._duels(board.battles), scope, number, items, self.until)

    def _groups(self, parent: SiteBoard, query: BoardQuery) -> Iterator[SiteBoard]:
        for by in self.settings.by:
            try:
                groups = self.made.boards(replace(query, by=by))
            except UserError:  # no item has this label
                continue
            for board in groups if len(groups) > 1 else ():
                ranking = self._public_ranking(with_samples(board))
                if len(ranking.models) < 2:
                    continue
                scope = ", ".join(f"{name}: {value}" for name, value in ranking.scope.items())
                file = self._file("boards", f"{parent.title}-{scope}")
                yield self._site_board(file, parent.title, board, ranking, parent.number, scope)

    def _duels(self, battles: BattleColumns) -> dict[tuple[str, str], WinCounts]:
        duels: dict[tuple[str, str], WinCounts] = {}
        for counts in matrix_of(self.entries, battles):
            left, right, ties = self.names[counts.left], self.names[counts.right], counts.ties + counts.both_bad
            duels[left, right] = WinCounts(counts.wins, counts.losses, ties)
            duels[right, left] = WinCounts(counts.losses, counts.wins, ties)
        return duels

    def _public_ranking(self, ranking: Ranking) -> Ranking:
        """Return the same ranking with names and texts in published form."""
        update: dict[str, Any] = {
            "models": tuple(row.model_copy(update={"model": self._text(row.model)}) for row in ranking.models),
            "settings": self._json({name: value for name, value in ranking.settings.items() if name != "beside"}),
            "details": self._json(ranking.details),
            "excluded": self._json(ranking.excluded),
            "scope": self._json(ranking.scope),
            "notices": tuple(Notice(code=notice.code, values=self._json(notice.values)) for notice in ranking.notices),
        }
        return ranking.model_copy(update=update)

    def _text(self, text: str) -> str:
        return self.names.get(text) or self.redaction.scrub.benchmark_text(text)

    def _json(self, value: Mapping[str, Any]) -> Any:
        def of(value: JsonValue) -> JsonValue:
            if isinstance(value, str):
                return self._text(value)
            if isinstance(value, list | tuple):
                return [of(entry) for entry in value]
            return {self._text(name): of(entry) for name, entry in value.items()} if isinstance(value, dict) else value

        return of(dict(value))

    # ------------------------------------------------------------------ models

    def _model(self, name: str, file: str, boards: list[SiteBoard], images: SiteImages) -> ModelPage:
        original = next(private_name for private_name, published in self.names.items() if published == name)
        results = model_results(self.leaderboards, original, BattleFilters(source="auto"))
        places = [(board, board.place(row)) for board in boards for row in board.ranking.models if row.model == name]
        opponents = [
            (self.names[duel.right], WinCounts(duel.wins, duel.losses, duel.ties + duel.both_bad))
            for duel in results.opponents
        ]
        rows = []
        for group in results.groups:
            several = sum(other.by == group.by for other in results.groups) > 1
            counts = WinCounts(group.counts.wins, group.counts.losses, group.counts.ties + group.counts.both_bad)
            if several and counts.battles:
                value = self._text(group.value) or "not stated"
                rows.append(
                    (group.by, value, counts.battles, counts.wins, counts.losses, counts.ties, counts.share)
                )  # fmt: skip
        return ModelPage(
            file, name, boards[0], places, opponents, Table(GROUP_COLUMNS, tuple(rows)),
            [images.example(result) for result in results.best], [images.example(result) for result in results.worst],
        )  # fmt: skip

    # ------------------------------------------------------------------ helpers

    def _file(self, folder: str, name: str) -> str:
        """Return a file name for a name: plain letters and digits, and a number if two names would share one."""
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "page"
        number = 1
        while (file := f"{folder}/{plain}{f'-{number}' if number > 1 else ''}.html") in self._files:
            number += 1
        self._files.add(file)
        return file


def _newest_verdict(workspace: Workspace) -> str:
    """When the newest verdict was given (the date of writing would differ between sites of the same records)."""
    with reading(workspace.store.engine) as connection:
        times = [connection.scalar(select(func.max(table.c.created_at))) for table in (votes, judgments)]
    newest = max((str(time) for time in times if time), default="")
    return f"newest verdict of {newest[:10]}" if newest else ""


def _why_kept(folder: Path, force: bool) -> str:
    """Return why a non-empty folder may not be replaced; empty if it may."""
    if not (folder / MARK).is_file() or (folder / ".git").exists():
        return "Name a new or empty folder."
    return "" if force else "It is an earlier site: --force replaces it."
