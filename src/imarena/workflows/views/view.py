"""A view of a workspace: its columns at one moment, read when first needed and then kept.

Only this package decides what counts. Boards, reports, routing, health, agreement, alignment, the web pages and
exports all read a view.
"""

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sqlalchemy import ColumnElement, Connection, func, select

from imarena.core import IntArray
from imarena.core.records import Mode, Status
from imarena.storage import ColumnCache, JudgeVariant, Workspace, microseconds, reading
from imarena.storage.schema import judgments
from imarena.workflows.views.cached import (
    read_judgments_cached,
    uncommitted_window,
    worth_storing,
    write_judgments_cached,
)
from imarena.workflows.views.chains import ONE_SIDE, one_sided_judgments, pages
from imarena.workflows.views.codes import MODES, Names
from imarena.workflows.views.entries import ITEM_LABELS, Entries, read_entries
from imarena.workflows.views.item_columns import ItemColumns, read_item_columns
from imarena.workflows.views.judge_variants import EARLIER, JudgeVariants, count_live, read_variants
from imarena.workflows.views.judgments import (
    NOTHING,
    JudgmentColumns,
    join_judgments,
    join_same_form,
    read_judgments,
    superseded_since,
)
from imarena.workflows.views.votes import VoteColumns, open_campaigns, read_votes
from imarena.workflows.views.watermarks import Watermarks, read_watermarks
from imarena.workflows.views.window import midnight

T = TypeVar("T")


_LAST_ENTRIES: "WeakKeyDictionary[object, tuple[tuple[int, int, int], weakref.ref[Entries]]]" = WeakKeyDictionary()
"""The newest entries of each open store, with the last item and output and the number of removals, while
a view holds them."""


class View:
    """Columns of a workspace as it was when the view was made. Never changes; `refreshed` returns the next view.

    Threads may share a view: a thread that needs a column that another thread is reading waits for it.
    """

    def __init__(
        self,
        workspace: Workspace,
        marks: Watermarks | None = None,
        cache: ColumnCache | None = None,
        *,
        until: str | None = None,
        keep_judgments: bool = True,
    ) -> None:
        """`until`: use what counted at the end of this day (YYYY-MM-DD), even if it was replaced or undone since.

        `keep_judgments`: keep the columns of judgments for later calls; they are most of a large view's memory.
        """
        self.workspace = workspace
        self._before_us = None if until is None else microseconds(midnight(until) + timedelta(days=1))
        self.cache = cache or workspace.columns
        self.marks = marks or read_watermarks(workspace)
        self.recent = self.count_recent(self.marks.judgments)
        """How many judgment numbers just before the last are taken; if more are later, some were committed late."""
        self._by_variant: dict[int, JudgmentColumns] = {}
        self._keep_judgments = keep_judgments
        self._reading = threading.RLock()
        self.computed: dict[object, Any] = {}
        """Results that readers computed from this view and share."""

    def count_recent(self, until_seq: int) -> int:
        """How many of the judgments just before a number, which may be committed late, exist now."""
        lag = uncommitted_window(self)
        if not lag:
            return 0
        query = select(func.count()).where(judgments.c.seq > until_seq - lag, judgments.c.seq <= until_seq)
        with reading(self.workspace.store.engine) as connection:
            return int(connection.execute(query).scalar_one())

    def lag(self, until_seq: int, recent: int) -> int:
        """How many numbers before `until_seq` to read again, if `recent` of them were taken when they were read."""
        return uncommitted_window(self) if self.count_recent(until_seq) != recent else 0

    @cached_property
    def entries(self) -> Entries:
        """Items and outputs; views of the same records share them."""
        return self._read_once("entries", self._shared_entries)

    def _shared_entries(self, connection: Connection) -> Entries:
        marks = _entry_marks(self.marks)
        known_marks, entries_ref = _LAST_ENTRIES.get(self.workspace.store, (None, None))
        entries = entries_ref() if entries_ref is not None and known_marks == marks else None
        if entries is None:
            entries = read_entries(connection)
            _LAST_ENTRIES[self.workspace.store] = marks, weakref.ref(entries)
        return entries

    @cached_property
    def item_columns(self) -> ItemColumns:
        """Columns besides `ITEM_LABELS` by which items can be grouped, from the table that they were imported from."""
        item_ids = self.entries.item_id
        return self._read_once("item_columns", lambda connection: read_item_columns(connection, item_ids))

    def item_label(self, name: str) -> Names | None:
        """(m,) the value of each item in one of `ITEM_LABELS` or imported columns; None if there is no such column."""
        return self.entries.labels[name] if name in ITEM_LABELS else self.item_columns.get(name)

    @cached_property
    def variants(self) -> JudgeVariants:
        """The variants of all judges, and which of them count."""
        with reading(self.workspace.store.engine) as connection:
            return read_variants(connection, self._before_us)

    @cached_property
    def votes(self) -> VoteColumns:
        """All votes, each with the reason why it does not count."""
        return self._read_once("votes", self._read_votes)

    @cached_property
    def asking(self) -> frozenset[str]:
        """The open campaigns."""
        with reading(self.workspace.store.engine) as connection:
            return open_campaigns(connection)

    def judgments(self, variants: Sequence[JudgeVariant]) -> JudgmentColumns:
        """The live judgments of these variants."""
        parts = [self._of(variant) for variant in variants]
        return join_judgments(parts) if parts else NOTHING

    def _of(self, variant: JudgeVariant) -> JudgmentColumns:
        with self._reading:
            columns = self._by_variant.get(variant.form_id)
            if columns is None:
                is_now = self._before_us is None
                cached = read_judgments_cached(self, variant) if is_now else None
                with reading(self.workspace.store.engine) as connection:
                    if cached is None:
                        columns = self._read_variant(connection, variant, 0)
                    else:
                        columns = self._continue(connection, *cached)
                if is_now and worth_storing(len(columns), len(cached[0]) if cached else 0):
                    write_judgments_cached(self, variant, columns)
                if self._keep_judgments:
                    self._by_variant[variant.form_id] = columns
        return columns

    def _read_variant(self, connection: Connection, variant: JudgeVariant, after: int) -> JudgmentColumns:
        """The judgments of one variant after a number, without those that were shown the source of only one side."""
        columns = read_judgments(
            connection, variant, self.entries, after=after, until_seq=self.marks.judgments, before_us=self._before_us
        )
        one_sided = self.one_sided if variant.pairwise else ()
        return columns.where(~np.isin(columns.seq, one_sided)) if len(one_sided) else columns

    @cached_property
    def one_sided(self) -> IntArray:
        """(n,) sorted `seq` of judgments that do not count because of `ONE_SIDE`."""
        return self._read_once("one_sided", lambda connection: self._one_sided(connection, 0))

    def _one_sided(self, connection: Connection, after: int) -> IntArray:
        if not self._has_later_turns:
            return np.zeros(0, np.int64)
        return one_sided_judgments(connection, after, self.marks.judgments)

    @property
    def _has_later_turns(self) -> bool:
        entries = self.entries
        return bool(((entries.turn > 0) & (entries.mode == MODES.index(Mode.MULTI_TURN.value))).any())

    def _read_votes(self, connection: Connection) -> VoteColumns:
        return read_votes(connection, self.entries.at, self._before_us, later_turns=self._has_later_turns)

    @cached_property
    def verdicts(self) -> Counter[int]:
        """Number of live ok judgments of each variant that counts."""
        return self._read_once("verdicts", self._count_verdicts)

    def _count_verdicts(self, connection: Connection) -> Counter[int]:
        counting = self.variants.counting()
        if self._before_us is not None:
            return Counter({variant.form_id: int(self._of(variant).ok.sum()) for variant in counting})
        variants = [variant.form_id for variant in counting]
        cached = {
            form_id: int(self._by_variant[form_id].ok.sum()) for form_id in variants if form_id in self._by_variant
        }
        counted = count_live(connection, [variant for variant in variants if variant not in cached], ok=True)
        without = self._count_one_sided(connection, counted, judgments.c.status == Status.OK.value)
        return Counter({**cached, **{variant: number - without[variant] for variant, number in counted.items()}})

    def _count_one_sided(
        self, connection: Connection, variants: Iterable[int], *where: ColumnElement[bool]
    ) -> Counter[int]:
        """Number of judgments by variant that were shown the source of only one side, without superseded ones."""
        counts: Counter[int] = Counter()
        variant_ids = list(variants)
        for page in pages(self.one_sided.tolist()):
            query = select(judgments.c.form_id, func.count()).where(judgments.c.seq.in_(page))
            query = query.where(judgments.c.superseded == 0, judgments.c.form_id.in_(variant_ids), *where)
            counts.update(dict(connection.execute(query.group_by(judgments.c.form_id)).tuples().all()))
        return counts

    def _read_once(self, name: str, load: Callable[[Connection], T]) -> T:
        """The value of a cached property: threads that need it while another one reads it wait for that."""
        with self._reading:
            if name not in self.__dict__:
                with reading(self.workspace.store.engine) as connection:
                    self.__dict__[name] = load(connection)
            value: T = self.__dict__[name]
        return value

    def uncounted(self, variants: Sequence[JudgeVariant]) -> Counter[str]:
        """Number of judgments of these variants that do not count although nothing replaced them, by reason."""
        earlier = self.variants.earlier
        old = [variant.form_id for variant in variants if variant.form_id in earlier]
        with reading(self.workspace.store.engine) as connection:
            numbers = {
                EARLIER: count_live(connection, old).total(),
                ONE_SIDE: self._count_one_sided(
                    connection, (variant.form_id for variant in variants if variant.form_id not in earlier)
                ).total(),
            }
        return +Counter(numbers)

    def refreshed(self, marks: Watermarks) -> "View":
        """A view of the workspace as it is now. Keeps the columns that were read, and adds newer records to them."""
        fresh = View(self.workspace, marks, self.cache)
        same_entries = _entry_marks(marks) == _entry_marks(self.marks)
        if "entries" in self.__dict__:
            if same_entries:
                fresh.__dict__["entries"] = self.entries
            if "one_sided" in self.__dict__:
                fresh.__dict__["one_sided"] = self._one_sided_since(fresh)
            if same_entries or _goes_on(self.entries, fresh.entries):
                fresh._by_variant = self._grow(fresh)
        same_votes = all(
            getattr(marks, name) == getattr(self.marks, name) for name in ("votes", "assignments", "exclusions")
        )
        if same_entries and same_votes and "votes" in self.__dict__:
            fresh.__dict__["votes"] = self.votes
        return fresh

    def _one_sided_since(self, fresh: "View") -> IntArray:
        """The one-sided judgments of a later view; only judgments added since are checked."""
        after = max(0, self.marks.judgments - fresh.lag(self.marks.judgments, self.recent))
        with reading(self.workspace.store.engine) as connection:
            return np.union1d(self.one_sided, fresh._one_sided(connection, after))

    def _grow(self, fresh: "View") -> dict[int, JudgmentColumns]:
        """The judgments that were read, with those added since and without those superseded since."""
        if fresh.marks.judgments == self.marks.judgments:
            return dict(self._by_variant)
        with reading(self.workspace.store.engine) as connection:
            return {
                identity: fresh._continue(connection, columns, self.marks.judgments, self.recent)
                for identity, columns in dict(self._by_variant).items()
            }

    def _continue(
        self, connection: Connection, earlier: JudgmentColumns, until_seq: int, recent: int
    ) -> JudgmentColumns:
        """Update judgments of one variant that were read up to a number to this view."""
        lag = self.lag(until_seq, recent)
        if until_seq == self.marks.judgments and not lag:
            return earlier
        after = max(0, until_seq - lag)
        superseded = superseded_since(connection, after)
        live = earlier.where(~np.isin(earlier.seq, superseded)) if superseded.size else earlier
        new = self._read_variant(connection, earlier.variants[0], after)
        if lag:
            new = new.where(~np.isin(new.seq, live.seq[live.seq > after]))
        return join_same_form(live, new) if len(new) else live


def _entry_marks(marks: Watermarks) -> tuple[int, int, int]:
    """The marks that change with the items or outputs."""
    return marks.items, marks.outputs, marks.removals


def _goes_on(earlier: Entries, fresh: Entries) -> bool:
    """Whether all outputs are where they were. New ones come last, but PostgreSQL may commit an early one late."""
    return np.array_equal(earlier.seq, fresh.seq[: earlier.seq.size])
