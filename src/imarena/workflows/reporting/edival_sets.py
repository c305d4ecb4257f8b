"""Which EdiVal scores belong together: those by the same tools, thresholds and filters, over all dimensions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imarena.core import canonical_json
from imarena.storage import Form
from imarena.workflows.views import ChosenJudge, View

_OWN = ("dimension", "tools", "also_quality", "images")


@dataclass(frozen=True)
class ToolSet:
    """The scores of one judge by one set of tools."""

    judge: ChosenJudge
    settings: Mapping[str, Any]

    def changes(self, other: "ToolSet") -> str:
        """What is replaced in this set, seen from the other one: `threshold 0.45`, `features dino`."""
        mine, theirs = _flat(self.settings), _flat(other.settings)
        parts = [
            f"{name} {'not set' if mine.get(name) is None else mine[name]}"
            for name in sorted({*mine, *theirs})
            if mine.get(name) != theirs.get(name)
        ]
        return ", ".join(parts) or "version of a tool"


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in _OWN}


def tool_sets(view: View, judge: str) -> list[ToolSet]:
    """The sets of tools of a judge that have scores: the one with the most dimensions first, then the newest."""
    groups: dict[str, list[Form]] = {}
    for form in view.forms.chosen([judge], pairwise=False):
        params = json.loads(form.params)
        params.pop("dimension", None)
        groups.setdefault(f"{form.judge_version} {canonical_json(params)}", []).append(form)
    ordered = sorted(groups.values(), key=lambda forms: (len({f.dimension for f in forms}), _newest(view, forms)))
    sets = [ToolSet(ChosenJudge(judge, judge, tuple(forms)), json.loads(forms[0].params)) for forms in ordered[::-1]]
    if not sets:
        return []
    first, named = sets[0], [sets[0]]
    for number, one in enumerate(sets[1:], 2):
        changes = one.changes(first)
        label = f"{judge}: {changes}"
        if label in {other.judge.name for other in named}:
            label = f"{label} ({number})"
        named.append(ToolSet(ChosenJudge(label, judge, one.judge.forms), one.settings))
    return named


def _newest(view: View, forms: Sequence[Form]) -> int:
    return int(view.judgments(forms).seq.max(initial=0))
