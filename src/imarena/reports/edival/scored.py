"""EdiVal's scores of single outputs, in the form that reports use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ScoredEdit:
    """One edit: its type, whether it was carried out (None: undecided) and why."""

    type: str
    passed: bool | None
    reason: str = ""
    replace_rules: Mapping[str, bool | None] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoredOutput:
    """One output of one editor with EdiVal's results; None or empty if there is no result."""

    item: str
    editor: str
    mode: str
    turn: int
    edits: tuple[ScoredEdit, ...] = ()
    """The edits up to this turn, in multi-turn mode each against the turn before, in complex mode against the base."""
    consistency: Mapping[str, float] = field(default_factory=dict)
    quality: Mapping[str, float] = field(default_factory=dict)
    square: bool = True
    """Is the base image square?"""
    resized: bool = False
    latency_s: float | None = None
    connector: str = ""
    """How the instructions of a complex edit were joined; empty for the default."""
    output_id: str = ""

    @property
    def asked(self) -> tuple[ScoredEdit, ...]:
        """The edits that this output was asked for: in complex mode all of the prompt, else the turn's own."""
        return self.edits if self.mode == "complex" else self.edits[-1:]

    @property
    def marginal(self) -> bool | None:
        """Was this turn's own edit carried out? None: undecided."""
        return self.edits[-1].passed if self.edits else None

    @property
    def success(self) -> bool | None:
        """Was every edit up to this turn carried out? None: undecided."""
        passed = [edit.passed for edit in self.edits]
        if False in passed:
            return False
        return None if None in passed or not passed else True


@dataclass(frozen=True)
class ScoredSet:
    """All outputs of a report, the missing ones, and the tools that made the scores."""

    outputs: tuple[ScoredOutput, ...]
    missing: Mapping[tuple[str, str, int], int] = field(default_factory=dict)
    """(editor, mode, turn) -> number of images without an output."""
    tools: Mapping[str, str] = field(default_factory=dict)
    name: str = "edival"
    unscored: Mapping[str, int] = field(default_factory=dict)
    """Reason for missing scores in a dimension -> number of outputs."""

    @property
    def turns(self) -> list[int]:
        """The turns that occur."""
        return sorted({output.turn for output in self.outputs})

    def of(self, editor: str, mode: str, turn: int) -> list[ScoredOutput]:
        """The outputs of one editor at one turn."""
        return [o for o in self.outputs if (o.editor, o.mode, o.turn) == (editor, mode, turn)]

    def editors(self, mode: str) -> list[str]:
        """The editors with outputs in a mode."""
        return sorted({output.editor for output in self.outputs if output.mode == mode})


def complete_cases(scored: ScoredSet) -> ScoredSet:
    """Keep only images for which the editor has an output for every turn in that mode."""
    last = max(scored.turns, default=0)
    turns: dict[tuple[str, str, str], set[int]] = {}
    for output in scored.outputs:
        turns.setdefault((output.editor, output.mode, output.item), set()).add(output.turn)
    every_turn = set(range(last + 1))
    outputs = tuple(o for o in scored.outputs if turns[o.editor, o.mode, o.item] >= every_turn)
    return ScoredSet(outputs, scored.missing, scored.tools, scored.name, scored.unscored)


def percent(share: float | None) -> float | None:
    """A share as a percentage."""
    return None if share is None else 100 * share


def known_mean(values: Sequence[float | None]) -> float | None:
    """The mean of the known values; None if there are none."""
    numbers = [float(value) for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None
