"""GenArena's battle logs with one combined verdict per line, and its audit logs with both raw replies.

A log grows line by line, so a row's identity is its content (subset, experiment, models, sample, number of earlier
occurrences in the file), not the hash of its file. If an audit line exists, its two judgments with their replies
replace the combined verdict: the battle log records a failed call as a tie, the audit line does not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imarena.core import Importable, Skip, UserError, canonical_json
from imarena.core.records import (
    Item,
    JsonDict,
    Judgment,
    Moment,
    Order,
    Origin,
    Outcome,
    Reply,
    Status,
    Turn,
    now,
)
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder, read_json
from imarena.datasets.genarena.replies import PARSER, call_status, strict_preference
from imarena.datasets.imported import judgment_facts
from imarena.datasets.rows import labelled_rows, read_each

SOURCE = "genarena"
AUDIT = "raw_outputs"
UNRECORDED = "genarena-judge-not-recorded"
_FIELDS = ("model_a", "model_b", "sample_index", "final_winner")

BattleKey = tuple[str, str, int, int]


@dataclass
class Log:
    """The state of reading one experiment's folder."""

    subset: str
    experiment: str
    index: DatasetIndex
    judge: str
    prompt: str
    stamp: Moment
    strict: bool
    """The benchmark is known, so a sample that is not in it is an error."""
    homes: dict[tuple[str, str], str] = field(default_factory=dict)
    """The file that contains a pair's battles."""


@dataclass(frozen=True)
class LoggedBattle:
    """One validated line."""

    left: str
    right: str
    index: int
    outcome: Outcome | None
    """None if an audit line has no winner because a call failed."""
    consistent: bool | None
    repeat: int
    timestamp: str


@dataclass(frozen=True)
class LoggedCall:
    """One of a battle's two calls: the raw reply, or why there is none."""

    raw: str
    error: str


@dataclass(frozen=True)
class _Place:
    key: str
    file: str
    row: str


def read_experiment(
    log_path: Path, subset: str, folder: Folder, index: DatasetIndex, judge: str | None
) -> Iterator[Importable]:
    """Read the judgments of one experiment (a folder of `pk_logs`, or a single log file)."""
    battles: dict[str, Path] = {}
    audits: dict[str, Path] = {}
    if log_path.is_file() and log_path.parent.name == AUDIT:
        home, audits = log_path.parent.parent, {log_path.name: log_path}
    else:
        home = log_path.parent if log_path.is_file() else log_path
        battles = {path.name: path for path in ([log_path] if log_path.is_file() else sorted(home.glob("*.jsonl")))}
        beside = {path.name: path for path in sorted((home / AUDIT).glob("*.jsonl"))}
        audits = {name: path for name, path in beside.items() if log_path.is_dir() or name in battles}
    config = _config(home, folder)
    log = Log(
        subset=subset,
        experiment=home.name,
        index=index,
        judge=judge or str(config.get("judge_model") or UNRECORDED),
        prompt=str(config.get("prompt") or ""),
        stamp=now(),
        strict=index.is_described(f"{subset}/"),
    )
    for name in sorted({*battles, *audits}):
        covered: set[BattleKey] = set()
        for path, audit in ((audits.get(name), True), (battles.get(name), False)):
            if path is None:
                continue
            try:
                folder.file(folder.name(path))
            except UserError as error:
                yield Skip(folder.name(path), "", str(error))
            else:
                yield from _read_file(path, folder, log, covered, audit=audit)


def _config(home: Path, folder: Folder) -> Mapping[str, Any]:
    path = home / "config.json"
    if not path.is_file() or not path.resolve().is_relative_to(folder.base):
        return {}
    try:
        config = read_json(folder.file(folder.name(path)))
    except UserError as error:
        raise UserError(f"{folder.name(path)}: {error}") from error
    return config if isinstance(config, dict) else {}


def _read_file(path: Path, folder: Folder, log: Log, covered: set[BattleKey], *, audit: bool) -> Iterator[Importable]:
    name = folder.name(path)
    counts: Counter[tuple[str, str, int]] = Counter()

    def read_row(row: str, values: dict[str, Any]) -> Iterator[Importable]:
        battle = _check(values, counts, audit=audit)
        calls = _calls(values) if audit else None
        key = (battle.left, battle.right, battle.index, battle.repeat)
        if calls is not None:
            covered.add(key)
        elif key in covered:
            return
        yield from _record(battle, calls, name, row, log)

    return read_each(labelled_rows(path, name), name, read_row)


def _record(
    battle: LoggedBattle, calls: tuple[LoggedCall, LoggedCall] | None, file: str, row: str, log: Log
) -> Iterator[Importable]:
    """The records of one battle and everything they refer to, or the reason why there are none."""
    log_name = file.rpartition("/")[2]
    home = log.homes.setdefault((battle.left, battle.right), log_name)
    key = f"{log.subset}/{battle.index}"
    if home != log_name:
        yield Skip(file, row, f"the battles of '{battle.left}' and '{battle.right}' are in {home} already")
    elif log.strict and log.index.item_id(key) is None:
        yield Skip(file, row, f"there is no item '{key}'")
    else:
        yield from _placeholders(battle, key, file, log)
        if calls is None:
            facts = _facts(battle, key, file, log, Order.BOTH)
            yield Judgment(**facts, preference=battle.outcome, consistent=battle.consistent)
        else:
            yield from _audited(battle, calls, _Place(key, file, row), log)


def _check(values: Mapping[str, Any], counts: Counter[tuple[str, str, int]], *, audit: bool) -> LoggedBattle:
    """Validate a line as a battle; raises `UserError` with the reason."""
    for name in _FIELDS:
        if name not in values:
            raise UserError(f"the field {name} is missing")
    left, right, index = values["model_a"], values["model_b"], values["sample_index"]
    if not _is_name(left) or not _is_name(right):
        raise UserError("a model's name is not a text")
    if left == right:
        raise UserError(f"'{left}' cannot battle itself")
    check_count("sample_index", index)
    no_winner = audit and values["final_winner"] is None
    outcome = None if no_winner else _outcome(left, right, values["final_winner"])
    consistent = values.get("is_consistent")
    if consistent is not None and not isinstance(consistent, bool):
        raise UserError(f"is_consistent is {consistent!r}, not true or false")
    repeat = values.get("imarena_repeat", counts[left, right, index])
    check_count("imarena_repeat", repeat)
    counts[left, right, index] = repeat + 1
    timestamp = values.get("timestamp") or ""
    if not _is_text(timestamp):
        raise UserError("timestamp is not a text")
    return LoggedBattle(left, right, index, outcome, consistent, repeat, timestamp)


def check_count(name: str, value: Any) -> None:
    """Raise unless the value is a number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UserError(f"{name} is {value!r}, not a number from 0 on")


def _outcome(left: str, right: str, winner: Any) -> Outcome:
    if winner == "tie":
        if "tie" in (left, right):
            raise UserError("final_winner 'tie' may be a tie or the model of that name")
        return Outcome.TIE
    if winner not in (left, right):
        raise UserError(f"unknown outcome {winner!r}: expected '{left}', '{right}' or 'tie'")
    return Outcome.LEFT if winner == left else Outcome.RIGHT


def _calls(values: Mapping[str, Any]) -> tuple[LoggedCall, LoggedCall]:
    calls: list[LoggedCall] = []
    for name in ("original_call", "swapped_call"):
        call = values.get(name)
        if not isinstance(call, dict):
            raise UserError(f"the field {name} is missing")
        raw = call.get("raw_response") or ""
        error = call.get("parse_error") or "no reply"
        if not _is_text(raw) or not _is_text(error):
            raise UserError(f"{name}: raw_response or parse_error is not a text")
        calls.append(LoggedCall(raw, error))
    return calls[0], calls[1]


def _is_name(value: Any) -> bool:
    return _is_text(value) and bool(value.strip())


def _is_text(value: Any) -> bool:
    """Can this text be stored? JSON can contain half a surrogate pair, UTF-8 cannot."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any(0xD800 <= ord(letter) <= 0xDFFF for letter in value)


def placeholder(key: str, subset: str, file: str, dataset: str) -> Item:
    """An item of which only the number is known, without its text and images."""
    return Item(
        dataset=dataset,
        key=key,
        turns=(Turn(instruction=""),),
        absent=(f"the images and the instruction of {key}",),
        taxonomy="genarena",
        track=subset,
        origin=Origin(source=SOURCE, file=file, row=key),
    )


def _placeholders(battle: LoggedBattle, key: str, file: str, log: Log) -> Iterator[Importable]:
    """Yield the item and outputs that a battle names, without text and pixels, if they are unknown."""
    index = log.index
    if index.item_id(key) is None:
        yield index.place_item(placeholder(key, log.subset, file, index.dataset), file, key)
    for editor in (battle.left, battle.right):
        origin = Origin(source=SOURCE, file=file, row=canonical_json([key, editor]))
        yield from index.named_output(key, editor, origin, key)


def _audited(
    battle: LoggedBattle, calls: tuple[LoggedCall, LoggedCall], location: _Place, log: Log
) -> Iterator[Importable]:
    """Yield two judgments with their replies. The first call shows `model_a` first, the second `model_b`."""
    records: list[Importable] = []
    outcomes: list[Outcome | None] = []
    for call, order in zip(calls, (Order.LEFT_FIRST, Order.RIGHT_FIRST), strict=True):
        facts = _facts(battle, location.key, location.file, log, order)
        verdict, error = strict_preference(call.raw) if call.raw else (None, call.error)
        if verdict is not None and order is Order.RIGHT_FIRST:
            verdict = verdict.mirrored()
        outcomes.append(verdict)
        if call.raw:
            reply = Reply(created_at=log.stamp, work_id=facts["work_id"], raw=call.raw)
            records.append(reply)
            facts.update(reply_id=reply.reply_id, parser_version=PARSER)
        if verdict is not None:
            records.append(Judgment(**facts, preference=verdict))
        else:
            status = Status.UNPARSABLE if call.raw else call_status(error)
            records.append(Judgment(**facts, status=status, error=error))
    if battle.outcome in (Outcome.LEFT, Outcome.RIGHT) and None not in outcomes and battle.outcome not in outcomes:
        yield Skip(location.file, location.row, "final_winner contradicts both raw replies")
    else:
        yield from records


def _facts(battle: LoggedBattle, key: str, file: str, log: Log, order: Order) -> dict[str, Any]:
    index = log.index
    row = canonical_json([log.subset, log.experiment, battle.left, battle.right, battle.index, battle.repeat])
    origin = Origin(source=SOURCE, file=file, row=row)
    left_id, right_id = index.output_id(key, battle.left) or "", index.output_id(key, battle.right) or ""
    params: JsonDict = {"experiment": log.experiment}
    if battle.timestamp:
        params["timestamp"] = battle.timestamp
    return {
        **judgment_facts(origin, log.judge, index.item_id(key) or "", left_id, right_id, order),
        "created_at": log.stamp,
        "prompt_id": log.prompt,
        "params": params,
        "repeat": battle.repeat,
    }
