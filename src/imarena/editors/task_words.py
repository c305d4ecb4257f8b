"""The optional task wrapper (004, appendix A.8): task, definition, topic, images and request in one prompt."""

from functools import cache
from typing import Any

from imarena.core import EditRequest, package_yaml


@cache
def _words() -> dict[str, Any]:
    words: dict[str, Any] = package_yaml("imarena.editors", "task_words.yaml")
    return words


def task_type(request: EditRequest) -> str:
    """Which of the six tasks a request is, judged by its images: TIG, TIE, SRIG, SRIE, MRIG or MRIE."""
    many = "" if not request.references else ("S" if len(request.references) == 1 else "M")
    kind = "E" if request.sources else "G"
    return f"{many}RI{kind}" if many else f"TI{kind}"


def wrap_instruction(request: EditRequest) -> str:
    """The instruction with the context that a model should know."""
    texts = _words()
    task = texts["tasks"][task_type(request)]
    topic = texts["topics"].get((request.topic or "").upper(), request.topic or "")
    lines = [f"You make pictures on request. This request is {task['name']}.", task["definition"]]
    if topic:
        lines.append(f"Kind of picture: {topic}.")
    lines.append(f"Pictures that come with it: {_pictures(request)}.")
    lines.append(f"The request: {request.instruction.strip()}")
    lines.append("Answer with one picture that does what the request says and stays true to the task.")
    return "\n".join(lines)


def _pictures(request: EditRequest) -> str:
    notes = [f"picture {n + 1} is the one to change" for n in range(len(request.sources))]
    first = len(request.sources) + 1
    notes += [f"picture {first + n} is a reference" for n in range(len(request.references))]
    return "; ".join(notes) or "none"
