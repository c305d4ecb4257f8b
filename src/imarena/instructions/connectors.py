"""Join several instructions to one (complex mode): concatenation and the three other connectors of table 5."""

from collections.abc import Sequence
from random import Random
from typing import Literal

Connector = Literal["concatenate", "shuffle", "sequential", "keep-unchanged"]
CONNECTORS: dict[Connector, str] = {
    "concatenate": "the instructions in their order",
    "shuffle": "the instructions in random order, the same for every editor",
    "sequential": "first, ..., then, ..., last, ...",
    "keep-unchanged": "the instructions in their order, then the objects that must not change",
}


def join_instructions(
    instructions: Sequence[str], connector: Connector = "concatenate", *, key: str = "", unchanged: Sequence[str] = ()
) -> str:
    """One instruction for all. `key` fixes a random order; `unchanged` names objects to keep."""
    steps = [step for step in (instruction.strip().rstrip(".") for instruction in instructions) if step]
    if connector == "shuffle":
        Random(key).shuffle(steps)
    if connector == "sequential" and len(steps) > 1:
        words = ["First", *["then"] * (len(steps) - 2), "last"]
        joined = ", ".join(f"{word}, {_lowered(step)}" for word, step in zip(words, steps, strict=True))
        return f"{joined}."
    sentences = [step[:1].upper() + step[1:] for step in steps]
    if connector == "keep-unchanged" and unchanged:
        nouns = [f"the {name}" for name in unchanged]
        names = nouns[0] if len(nouns) == 1 else f"{', '.join(nouns[:-1])} and {nouns[-1]}"
        sentences.append(f"Keep {names} unchanged")
    return ". ".join(sentences) + "."


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
