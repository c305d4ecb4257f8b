"""Which forms of a judge count: its newest version, prompt and parameters, and imported verdicts that state none."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from imarena.core.records import Status
from imarena.judges import CARDS
from imarena.storage import Form, form_of_row
from imarena.storage.schema import judge_forms, judgments

EARLIER = "by an earlier version, prompt or setting of the judge"
"""Why a verdict does not count although nothing replaced it."""

Version = tuple[str, str, str, str]
"""Judge version, prompt, prompt version and parameters."""
UNKNOWN: Version = ("", "", "", "{}")
"""The version of imported verdicts whose source states none: they always count."""


@dataclass(frozen=True)
class JudgeForms:
    """All forms of all judges, and which of them count."""

    every: tuple[Form, ...]
    earlier: frozenset[int]
    """Ids of the forms that do not count: the judge has a newer one, or their recorded dimension is outdated."""

    def counting(
        self,
        judges: Sequence[str] | None = None,
        dimension: str | None = None,
        *,
        pairwise: bool | None = None,
        versions: Sequence[str] | None = None,
    ) -> list[Form]:
        """The forms that count. `versions`: the forms of these judge versions instead of the newest."""
        forms = self.chosen(judges, dimension, pairwise=pairwise)
        if versions is not None:
            return [form for form in forms if form.judge_version in versions]
        return [form for form in forms if form.form_id not in self.earlier]

    def chosen(
        self, judges: Sequence[str] | None = None, dimension: str | None = None, *, pairwise: bool | None = None
    ) -> list[Form]:
        """The forms of these judges and this dimension, whether they count or not."""
        return [
            form
            for form in self.every
            if (judges is None or form.judge in judges)
            and (dimension is None or form.dimension == dimension)
            and (pairwise is None or form.pairwise == pairwise)
        ]

    @property
    def judges(self) -> list[str]:
        """Names of the judges."""
        return sorted({form.judge for form in self.every})


def version_of(form: Form) -> Version:
    """What distinguishes versions of a judge. The number of orders and the reply parser do not matter."""
    return form.judge_version, form.prompt_id, form.prompt_version, form.params


def read_forms(connection: Connection, before_us: int | None = None) -> JudgeForms:
    """Read all forms and decide which count. A judge whose version, prompt or parameters changed is another judge.

    `before_us`: decide by the judgments before this moment, in microseconds.
    """
    rows = connection.execute(select(judge_forms).order_by(judge_forms.c.judge, judge_forms.c.id)).mappings()
    every = tuple(form_of_row(row) for row in rows)
    rivals: dict[tuple[str, str, bool], list[Form]] = defaultdict(list)
    for form in every:
        if not form.imported or version_of(form) != UNKNOWN:
            rivals[form.judge, form.dimension, form.pairwise].append(form)
    contested = [forms for forms in rivals.values() if len({version_of(form) for form in forms}) > 1]
    last = _last(connection, [form.form_id for forms in contested for form in forms], before_us)
    earlier = {form.form_id for form in every if has_outdated_dimension(form)}
    for forms in contested:
        newest = version_of(max(forms, key=lambda form: last.get(form.form_id, 0)))
        earlier |= {form.form_id for form in forms if version_of(form) != newest}
    return JudgeForms(every, frozenset(earlier))


def _last(connection: Connection, forms: list[int], before_us: int | None) -> dict[int, int]:
    if not forms:
        return {}
    query = select(judgments.c.form_id, func.max(judgments.c.seq)).where(judgments.c.form_id.in_(forms))
    if before_us is not None:
        query = query.where(judgments.c.created_us < before_us)
    return dict(connection.execute(query.group_by(judgments.c.form_id)).tuples().all())


def has_outdated_dimension(form: Form) -> bool:
    """Whether the form is of a one-dimension measure, such as `clip-i`, that was recorded here as overall."""
    card = CARDS.get(form.judge.partition("/")[0])
    return card is not None and card.dimension != form.dimension == "overall" and not form.imported


def count_live(connection: Connection, forms: Iterable[int], *, ok: bool = False) -> Counter[int]:
    """Number of judgments of each form that no later record replaced; `ok`: only those with a verdict."""
    form_ids = list(forms)
    if not form_ids:
        return Counter()
    query = select(judgments.c.form_id, func.count()).where(
        judgments.c.form_id.in_(form_ids), judgments.c.superseded == 0
    )
    if ok:
        query = query.where(judgments.c.status == Status.OK.value)
    return Counter(dict(connection.execute(query.group_by(judgments.c.form_id)).tuples().all()))
