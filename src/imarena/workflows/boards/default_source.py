"""Which source a board uses if the user chose none: one rule for the command line, the reports and the web."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from imarena.core import IntArray, UserError
from imarena.ranking import islands_of
from imarena.storage import JudgeVariant
from imarena.tables import row_slices
from imarena.workflows import views
from imarena.workflows.boards.query import ALL_JUDGES, WEIGHED, BoardQuery, Source


@dataclass(frozen=True)
class ChosenSource:
    """The source and judges that a query resolves to."""

    source: Source
    judges: tuple[str, ...] = ()
    asked: bool = False
    """The user named the source or the judge."""
    why: str = ""
    """Why this is the default although people voted; empty if they did not, or if their verdicts are the default."""

    @property
    def judge(self) -> str | None:
        """The one judge; None for people or for several pooled judges."""
        return self.judges[0] if len(self.judges) == 1 else None


class AvailableSources:
    """The sources that a view offers for ranking."""

    def __init__(self, view: views.View, window: views.Window) -> None:
        self.view = view
        self.window = window

    @cached_property
    def votes(self) -> int:
        """Number of people's preferences that count, on any dimension."""
        return len(views.people_battles(self.view, window=self.window))

    @cached_property
    def ratings(self) -> int:
        """Number of people's ratings of single outputs that count."""
        cast = views.live_votes(self.view, self.window)
        return int(((cast.right < 0) & (cast.preference == 0)).sum())

    @cached_property
    def judges(self) -> Mapping[str, tuple[int, int]]:
        """Number of ok verdicts per judge, by counting variants: on pairs, on single outputs."""
        variants = {variant.form_id: variant for variant in self.view.variants.counting()}
        counts: dict[str, tuple[int, int]] = {}
        for identity, number in self.view.verdicts.items():
            if number:
                pairs, singles = counts.get(variants[identity].judge, (0, 0))
                pairwise = variants[identity].pairwise
                counts[variants[identity].judge] = (pairs + number * pairwise, singles + number * (not pairwise))
        return dict(sorted(counts.items()))

    def widest(self, dimension: str | None) -> str | None:
        """Return the judge with verdicts on the most outputs, on this dimension (None: overall if any, else all)."""
        variants = self.view.variants.counting(dimension=dimension)
        if dimension is None:
            variants = [variant for variant in variants if variant.dimension == views.WHOLE] or variants
        names = sorted({variant.judge for variant in variants} & self.judges.keys())
        if len(names) < 2:
            return names[0] if names else None
        judged: dict[str, set[int]] = {name: set() for name in names}
        for variant in variants:
            if variant.judge in judged:
                judgments = self.view.judgments([variant])
                judged[variant.judge] |= set(np.unique(judgments.left[judgments.ok]).tolist())
                judged[variant.judge] |= set(np.unique(judgments.right[judgments.ok]).tolist()) - {-1}
        return max(names, key=lambda name: (len(judged[name]), sum(self.judges[name]), name != "builtin"))

    def battles_of(self, judge: str, query: BoardQuery) -> views.BattleColumns:
        """Return a judge's battles between named editors, on the query's dimension."""
        variants = self.view.variants.counting((judge,), query.dimension)
        if query.dimension is None:
            variants = [variant for variant in variants if variant.dimension == views.WHOLE] or variants
        battles = views.judge_battles(self.view, variants, once=True, window=self.window)
        return views.battles_between_named(battles, self.view.entries, ())


def choose(view: views.View, query: BoardQuery, evidence: AvailableSources) -> ChosenSource:
    """Return the requested source, else the default."""
    if query.kind is not None and query.source in ("human", "all"):
        raise UserError("--kind is about the verdicts of a judge.", hint="Leave it out, or choose a --judge.")
    if query.judge is not None:
        if query.source == "human":
            raise UserError("--source people and --judge contradict each other.", hint="Leave one of them out.")
        return ChosenSource(
            "all" if query.source == "all" else "judge", _judges(view, query.judge, evidence), asked=True
        )
    if query.source in ("human", "all"):
        return ChosenSource(query.source, tuple(evidence.judges) if query.source == "all" else (), asked=True)
    if query.source == "judge" or query.kind is not None:
        return _by_judge(evidence, query.dimension, asked=True)
    if query.options.method in WEIGHED:  # these methods weigh all sources themselves
        return ChosenSource("all", tuple(evidence.judges))
    return _default(view, query, evidence)


def _default(view: views.View, query: BoardQuery, evidence: AvailableSources) -> ChosenSource:
    """Return the lead's setting; else people, unless the board of the widest judge is better connected than theirs."""
    setting = view.workspace.settings.board
    if setting.judge:
        return ChosenSource("judge", _judges(view, setting.judge, evidence))
    if setting.source:
        return ChosenSource("human") if setting.source == "people" else _by_judge(evidence, query.dimension)
    # the source does not depend on the grouping or on the selected editors
    voted = people_battles_for(view, replace(query, by=None, dimensions_together=False, editors=()))
    editors = editors_beside(view, voted)
    people = read_links(view, voted, setting.min_battles, editors)
    if len(voted) and people.groups == 1:
        return ChosenSource("human")
    widest = _by_judge(evidence, query.dimension)
    if not widest.judges:
        return ChosenSource("human") if len(people_battles_for(view, query)) else widest
    if not len(voted):
        return widest
    judged = read_links(view, evidence.battles_of(widest.judges[0], query), 1, editors)
    better = judged.editors >= people.editors and judged.groups < people.groups
    if not better:
        return ChosenSource("human")
    linked = read_links(view, voted, 1, editors).groups == 1
    few = f"people judged fewer than {setting.min_battles} battles of some editors"
    return replace(widest, why=few if linked else "people's battles do not connect all editors")


def _judges(view: views.View, name: str, evidence: AvailableSources) -> tuple[str, ...]:
    return tuple(evidence.judges) if name == ALL_JUDGES else (judge_called(view, name),)


def _by_judge(evidence: AvailableSources, dimension: str | None, *, asked: bool = False) -> ChosenSource:
    name = evidence.widest(dimension)
    return ChosenSource("judge", (name,) if name else (), asked=asked)


def people_battles_for(view: views.View, query: BoardQuery) -> views.BattleColumns:
    """Return people's battles between named editors on the query's dimension: votes, and pairs of mean ratings.

    Overall, ratings of single criteria replace votes (by a rule) only if nobody compared two outputs.
    """
    if query.by == "dimension" and query.dimension is None:
        battles = views.people_battles(view, window=query.window)
        compared = views.WHOLE in battles.dimension.list()
        for criterion in views.read_ratings(view, query.window).criterion.names:
            if compared and criterion == views.WHOLE:
                continue
            battles = views.rating_battles(view, battles, criterion, query.window)
        return views.battles_between_named(battles, view.entries, query.editors)
    about = query.dimension if query.dimension is not None or query.dimensions_together else views.WHOLE
    voted = views.people_battles(view, dimension=about, window=query.window)
    if about == views.WHOLE and len(voted):
        return views.battles_between_named(voted, view.entries, query.editors)
    battles = views.rating_battles(view, voted, about, query.window)
    if query.dimension is None and not len(battles):  # votes on one dimension: the board says so
        battles = views.people_battles(view, window=query.window)
    return views.battles_between_named(battles, view.entries, query.editors)


@dataclass(frozen=True)
class Links:
    """How the battles of a source connect a set of editors."""

    editors: int
    """Number of editors with battles."""
    groups: int
    """Number of groups that never met; an editor with too few battles forms its own group."""


def editors_beside(view: views.View, battles: views.BattleColumns) -> IntArray:
    """Return the editors with outputs for the items of these battles; the others could not have fought them."""
    entries = view.entries
    fought = np.zeros(len(entries.item_id), bool)
    for rows in row_slices(len(battles)):
        fought[entries.item[battles.left[rows]]] = True
    editors: IntArray = np.unique(entries.editor.of[entries.ok & (entries.editor.of >= 0) & fought[entries.item]])
    return editors.astype(np.int64)


def read_links(view: views.View, battles: views.BattleColumns, least: int, editors: IntArray) -> Links:
    """Return how these battles connect these editors, if each needs at least `least` of them."""
    entries = view.entries
    left, right = entries.editor.of[battles.left], entries.editor.of[battles.right]
    number = len(entries.editor.names)
    fought = np.bincount(left, minlength=number) + np.bincount(right, minlength=number)
    enough = fought[editors] >= max(least, 1)
    groups = np.unique(islands_of(left, right, number)[editors[enough]]).size + int((~enough).sum())
    return Links(int((fought[editors] > 0).sum()), groups)


def judge_called(view: views.View, name: str) -> str:
    """Return the judge of this name, or the only one of this kind (`mood` for `mood/some-model`)."""
    fitting = views.judges_called(view, [name])
    if name not in fitting and len(fitting) > 1:
        raise UserError(f"Several judges are called '{name}'.", hint=f"Choose one with --judge: {', '.join(fitting)}.")
    return name if name in fitting else fitting[0]


def judge_data(variants: list[JudgeVariant]) -> dict[str, str]:
    """Return the judges, prompts, parsers and orders of these variants."""

    def joined(values: set[str]) -> str:
        return ", ".join(sorted(values - {""}))

    return {
        "judge": joined(
            {
                f"{variant.judge}@{variant.judge_version}" if variant.judge_version else variant.judge
                for variant in variants
            }
        ),
        "prompt": joined(
            {f"{variant.prompt_id}@{variant.prompt_version}" for variant in variants if variant.prompt_id}
        ),
        "parser": joined({variant.parser_version for variant in variants}),
        "orders": joined({variant.orders or "both" for variant in variants if variant.pairwise}),
    }
