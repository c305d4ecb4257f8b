"""Find the reader of a stored reply: the judge of its kind, whatever the wording of its prompt.

The meaning of a reply depends on the judge's kind, its settings and its questions, not on the prompt's wording. So the
same reader reads replies to an older prompt or to the user's own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from imarena.core import (
    ChatAnswer,
    ChatPrompt,
    ImarenaError,
    Judge,
    ReplyReader,
    Settings,
    canonical_json,
    command_line,
    first_line,
)
from imarena.core.records import JsonDict, Judgment, Status
from imarena.judges.catalog import CARDS, JUDGES
from imarena.judges.orders import ORDERS_PARAM

PROMPTS = "prompt_sha256"
"""The parameter of a judgment with the hashes of its prompts, by question."""


@dataclass
class ReplyReaders:
    """Finds the reader of each judgment, once for all judgments with the same parameters."""

    settings: Settings
    options: JsonDict = field(default_factory=dict)
    """Options from the command line."""
    _known: dict[str, tuple[ReplyReader | None, str]] = field(default_factory=dict)

    def of(self, judgment: Judgment) -> tuple[ReplyReader | None, str]:
        """Return the reader and "", or None and the reason."""
        key = canonical_json([judgment.judge, judgment.params])
        if key not in self._known:
            self._known[key] = self._find(judgment)
        return self._known[key]

    def _find(self, judgment: Judgment) -> tuple[ReplyReader | None, str]:
        recorded = {name: value for name, value in judgment.params.items() if name not in (ORDERS_PARAM, PROMPTS)}
        questions = judgment.params.get(PROMPTS)
        kind = judgment.judge.partition("/")[0]
        why = f"no judge of the kind '{kind}' is known here; name it in imarena.toml or install its plug-in"
        for name, extra in self._tables(kind):
            if name in CARDS and CARDS[name].needs != "chat":
                why = f"it asks no model and has no reply to read; `{command_line('judge')}` makes its verdicts anew"
                continue
            settings = {key: value for key, value in recorded.items() if _is_option(key)}
            try:
                judge = JUDGES.get(name)({**settings, **extra}, _silent)
            except ImarenaError as error:
                why = f"its reader cannot be made: {first_line(error)}"
                continue
            reader, reason = _fits(judge, judgment.judge, recorded, questions)
            if reader is not None:
                return reader, ""
            why = reason or why
        return None, why

    def _tables(self, kind: str) -> Iterator[tuple[str, JsonDict]]:
        """Judges to try, each with options to add to the recorded ones: none, the CLI's, or those of imarena.toml."""
        names = [name for name in _stems(kind) if name in JUDGES]
        for name in names:
            yield name, {}
            if self.options:
                yield name, self.options
        for table_name, table in self.settings.judges.items():
            name = str(table.get("kind", table_name))
            if name in names:
                yield name, {key: table[key] for key in table if key not in ("kind", "endpoint") and _is_option(key)}


def _stems(kind: str) -> Iterator[str]:
    """Possible judge names: 'checklist-mine' may be a judge, or the judge 'checklist' with a list called 'mine'."""
    while kind:
        yield kind
        kind = kind.rpartition("-")[0]


def _is_option(name: str) -> bool:
    """Is this an option of the reader? Prompts do not matter, and the judge computes hashes itself."""
    return not name.endswith(("prompt", "_sha256")) and name != "checklist"


def _fits(judge: Judge, name: str, recorded: JsonDict, recorded_questions: Any) -> tuple[ReplyReader | None, str]:
    """The judge's reader if its name, parameters and questions match the judgment; else None and the reason."""
    reader = judge.traits.reader
    if judge.name != name or reader is None:
        return None, ""
    params = judge.params
    other = sorted(key for key in recorded if not key.endswith("prompt") and params.get(key) != recorded[key])
    if other:
        return None, f"the judge that can be made here has another {', '.join(other)}"
    questions = params.get(PROMPTS)
    if (
        isinstance(recorded_questions, dict)
        and isinstance(questions, dict)
        and set(recorded_questions) != set(questions)
    ):
        return None, f"it was asked {_names(recorded_questions)}; this version's reader knows {_names(questions)}"
    return reader, ""


def _names(questions: JsonDict) -> str:
    names = sorted(questions)
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


async def _silent(prompt: ChatPrompt) -> ChatAnswer:  # noqa: ARG001
    return ChatAnswer(Status.API_ERROR, error="a reader asks nobody")
