"""Words beside a board: what it is made from, what else there is and how to see it, and which editors are not on it."""

import shlex
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from imarena.core.errors import UserError
from imarena.core.plurals import counted, plural
from imarena.core.records import Judgment, Output, Status
from imarena.storage import Workspace
from imarena.workflows.battles import BattleTable, live_votes
from imarena.workflows.live import unanswered_places

FEW_VOTES = 30
"""Under so many votes a board of people's votes says little, whatever its intervals."""
SOURCES = {
    "auto": "auto", "all": "all",
    "human": "human", "humans": "human", "people": "human", "raters": "human", "votes": "human",
    "judge": "judge", "judges": "judge",
}  # fmt: skip
"""Whose verdicts a board is made from, in the words that a user may type."""
_TOLD = 5


def read_source(text: str) -> str:
    """One of auto, human, judge and all. Raises `UserError`."""
    if text not in SOURCES:
        raise UserError(f"No source '{text}'.", hint="Known: auto, human (or people), judge, all.")
    return SOURCES[text]


@dataclass(frozen=True)
class Evidence:
    """What a workspace holds to rank by."""

    votes: int
    """Live preferences of people."""
    judges: dict[str, tuple[int, int]]
    """Ok verdicts of each judge: on pairs, on single outputs."""

    def beside(self, source: str, judge: str | None) -> str:
        """What a board of this source leaves aside, and the option that shows it; empty where that is nothing."""
        others = {name: told for name, told in self.judges.items() if source == "human" or judge not in (None, name)}
        parts = []
        if source == "judge" and self.votes:
            parts.append(f"{counted(self.votes, 'vote')} of people (--source people)")
        if others and source in ("human", "judge"):
            names = sorted(others)
            verdicts = sum(sum(told) for told in others.values())
            who = f"judge {names[0]}" if len(names) == 1 else f"{len(names)} judges"
            option = "--source judge" if source == "human" else f"--judge {names[0]}"
            parts.append(f"{counted(verdicts, 'verdict')} of {who} ({option})")
        return " and ".join(parts)


def evidence_of(workspace: Workspace) -> Evidence:
    """Count what is there."""
    return Evidence(sum(row["preference"] is not None for row in live_votes(workspace)), _verdicts(workspace))


def _verdicts(workspace: Workspace) -> dict[str, tuple[int, int]]:
    every = workspace.store.count(Judgment, "judge", status=Status.OK.value)
    single = workspace.store.count(Judgment, "judge", status=Status.OK.value, right_id=None)
    return {str(key[0]): (number - single.get(key, 0), single.get(key, 0)) for key, number in every.items()}


def few_votes(evidence: Evidence, source: str, *, chosen: bool) -> tuple[str, ...]:
    """A warning where a board went over to people's votes and there are very few of them."""
    if source != "human" or chosen or evidence.votes >= FEW_VOTES:
        return ()
    words = f"This board is made from {counted(evidence.votes, 'vote')} of people alone, which says little so far"
    return (f"{words}; --source judge shows the judges' board." if evidence.judges else f"{words}.",)


def absent(
    workspace: Workspace, ranked: Collection[str], source: str, judge: str | None, folder: Path, command: str = ""
) -> tuple[str, ...]:
    """Editors with outputs that could be on this board and are not, with the command that puts them there.

    `command`: judge or battle where the board is made from one kind of verdict; else what the judge was asked before.
    """
    made = Counter(workspace.store.count(Output, "editor", status=Status.OK.value))
    made.subtract(workspace.store.count(Output, "editor", status=Status.OK.value, image_sha256=None))
    missing = sorted(str(key[0]) for key, number in made.items() if number > 0 and key[0] and key[0] not in ranked)
    if not missing:
        return ()
    verb, what = plural("has", len(missing)), plural("is", len(missing))
    begin = f"{_listed(missing)} {verb} outputs and {what} not on this board"
    if source == "human":
        return (f"{begin}: nobody has voted on them. `{_call(folder)} campaign create NAME` asks people.",)
    return (f"{begin}. To add: `{_adding(workspace, missing, judge, folder, command)}`.",)


def by_scores(table: BattleTable) -> int:
    """Battles of judges that nobody fought: two scores of one judge, where it did not compare the pair directly."""
    return sum(score is not None for score in _judged(table))


def _judged(table: BattleTable) -> list[float | None]:
    rows = zip(table.columns["source"], table.columns["score_left"], strict=True)
    return [score for source, score in rows if source == "judge"]


def scored_only(workspace: Workspace, table: BattleTable, judge: str | None, folder: Path) -> tuple[str, ...]:
    """A warning where some editors stand on a board by scores alone and others by direct comparisons."""
    if by_scores(table) in (0, len(_judged(table))):
        return ()
    rows = zip(*(table.columns[name] for name in ("left", "right", "source", "score_left")), strict=True)
    fought = {
        name for left, right, source, score in rows if source != "judge" or score is None for name in (left, right)
    }
    only = sorted({*table.columns["left"], *table.columns["right"]} - fought)
    if not only:
        return ()
    begin = f"{_listed(only)} {plural('stands', len(only))} here by scores alone, others by direct comparisons too"
    return (f"{begin}. To compare: `{_adding(workspace, only, judge, folder, 'battle')}`.",)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_TOLD]) + (f" and {len(names) - _TOLD:,} more" if len(names) > _TOLD else "")


def _adding(workspace: Workspace, missing: list[str], judge: str | None, folder: Path, command: str) -> str:
    judges = _verdicts(workspace)
    chosen = judge or max(judges, key=lambda name: sum(judges[name]), default="builtin")
    asked = [] if chosen == "builtin" else ["--judge", chosen.partition("/")[0]]
    if command == "battle" or (not command and judges.get(chosen, (0, 0))[0]):
        words = ["battle", *asked, *(["--sampler", f"new-model:{missing[0]}"] if len(missing) == 1 else [])]
    else:
        words = ["judge", *asked, *(word for name in missing for word in ("--editors", name))]
    return f"{_call(folder)} {shlex.join(words)}"


def _call(folder: Path) -> str:
    return "imarena" if folder == Path() else f"imarena -w {shlex.quote(str(folder))}"


def nothing_to_rank(workspace: Workspace, source: str, judge: str | None) -> UserError:
    """Why there is no board: nobody was asked, or nobody gave an answer that can be used."""
    failed: dict[str, Counter[str]] = {}
    for one in unanswered_places(workspace, **({"judge": judge} if judge else {})).values():
        failed.setdefault(one.judge, Counter())[one.status] += 1
    if source != "human" and failed:
        told = "; ".join(
            f"{name} was asked {counted(sum(counts.values()), 'question')} without one usable answer "
            f"({', '.join(f'{number:,} {state}' for state, number in counts.most_common())})"
            for name, counts in sorted(failed.items())
        )
        return UserError(
            f"There is nothing to rank: {told}.",
            hint="Run the same `judge` or `battle` command again: it asks only what has no answer, and tells why. For "
            "unparsable replies, `imarena reparse` reads the stored ones again.",
        )
    whose = {"human": "votes of people", "judge": "verdicts of judges"}.get(source, "votes or verdicts")
    return UserError(
        f"There are no {whose} in this workspace to rank by.",
        hint="Run `imarena judge` or `imarena battle`, collect or import votes, or rank a table with --from.",
    )
