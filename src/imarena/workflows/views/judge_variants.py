"""Which variants of a judge count: its newest version, prompt and parameters, and imported verdicts that state none."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from imarena.core.records import Status
from imarena.judges import CARDS
from imarena.storage import JudgeVariant, variant_of_row
from imarena.storage.schema import judge_forms, judgments

EARLIER = "by an earlier version, prompt or setting of the judge"
"""Why a verdict does not count although nothing replaced it."""

Version = tuple[str, str, str, str]
"""Judge version, prompt, prompt version and parameters."""
UNKNOWN: Version = ("", "", "", "{}")
"""The version of imported verdicts whose source states none: they always count."""


@dataclass(frozen=True)
class JudgeVariants:
    """All variants of all judges, and which of them count."""

    every: tuple[JudgeVariant, ...]
    earlier: frozenset[int]
    """Ids of the variants that do not count: the judge has a newer one, or their recorded dimension is outdated."""

    def counting(
        self,
        judges: Sequence[str] | None = None,
        dimension: str | None = None,
        *,
        pairwise: bool | None = None,
        versions: Sequence[str] | None = None,
    ) -> list[JudgeVariant]:
        """The variants that count. `versions`: the variants of these judge versions instead of the newest."""
        variants = self.chosen(judges, dimension, pairwise=pairwise)
        if versions is not None:
            return [variant for variant in variants if variant.judge_version in versions]
        return [variant for variant in variants if variant.form_id not in self.earlier]

    def chosen(
        self, judges: Sequence[str] | None = None, dimension: str | None = None, *, pairwise: bool | None = None
    ) -> list[JudgeVariant]:
        """The variants of these judges and this dimension, whether they count or not."""
        return [
            variant
            for variant in self.every
            if (judges is None or variant.judge in judges)
            and (dimension is None or variant.dimension == dimension)
            and (pairwise is None or variant.pairwise == pairwise)
        ]

    @property
    def judges(self) -> list[str]:
        """Names of the judges."""
        return sorted({variant.judge for variant in self.every})


def version_of(variant: JudgeVariant) -> Version:
    """What distinguishes versions of a judge. The number of orders and the reply parser do not matter."""
    return variant.judge_version, variant.prompt_id, variant.prompt_version, variant.params


def read_variants(connection: Connection, before_us: int | None = None) -> JudgeVariants:
    """Read all variants and decide which count. A judge whose version, prompt or parameters changed is another judge.

    `before_us`: decide by the judgments before this moment, in microseconds.
    """
    rows = connection.execute(select(judge_forms).order_by(judge_forms.c.judge, judge_forms.c.id)).mappings()
    every = tuple(variant_of_row(row) for row in rows)
    rivals: dict[tuple[str, str, bool], list[JudgeVariant]] = defaultdict(list)
    for variant in every:
        if not variant.imported or version_of(variant) != UNKNOWN:
            rivals[variant.judge, variant.dimension, variant.pairwise].append(variant)
    contested = [variants for variants in rivals.values() if len({version_of(variant) for variant in variants}) > 1]
    last = _last(connection, [variant.form_id for variants in contested for variant in variants], before_us)
    earlier = {variant.form_id for variant in every if has_outdated_dimension(variant)}
    for variants in contested:
        newest = version_of(max(variants, key=lambda variant: last.get(variant.form_id, 0)))
        earlier |= {variant.form_id for variant in variants if version_of(variant) != newest}
    return JudgeVariants(every, frozenset(earlier))


def _last(connection: Connection, variants: list[int], before_us: int | None) -> dict[int, int]:
    if not variants:
        return {}
    query = select(judgments.c.form_id, func.max(judgments.c.seq)).where(judgments.c.form_id.in_(variants))
    if before_us is not None:
        query = query.where(judgments.c.created_us < before_us)
    return dict(connection.execute(query.group_by(judgments.c.form_id)).tuples().all())


def has_outdated_dimension(variant: JudgeVariant) -> bool:
    """Whether the variant is of a one-dimension measure, such as `clip-i`, that was recorded here as overall."""
    card = CARDS.get(variant.judge.partition("/")[0])
    return card is not None and card.dimension != variant.dimension == "overall" and not variant.imported


def count_live(connection: Connection, variants: Iterable[int], *, ok: bool = False) -> Counter[int]:
    """Number of judgments of each variant that no later record replaced; `ok`: only those with a verdict."""
    variant_ids = list(variants)
    if not variant_ids:
        return Counter()
    query = select(judgments.c.form_id, func.count()).where(
        judgments.c.form_id.in_(variant_ids), judgments.c.superseded == 0
    )
    if ok:
        query = query.where(judgments.c.status == Status.OK.value)
    return Counter(dict(connection.execute(query.group_by(judgments.c.form_id)).tuples().all()))
