"""``imarena agent``."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, session
from imarena.cli.options import EditInstruction, parse_pairs

if TYPE_CHECKING:
    from imarena.workflows.editing import AgentRun


# Over 60 lines for its options alone: each is one line of the contract.
def command(
    context: typer.Context,
    instruction: EditInstruction,
    source: Annotated[
        list[str] | None,
        typer.Argument(help="The source image, then references. It may also come before the instruction."),
    ] = None,
    editor: Annotated[str, typer.Option("--editor", "-e", help="The editor that the agent wraps.")] = "classical",
    output: Annotated[Path, typer.Option("--output", "-O", help="File for the edited image.")] = Path(
        "agent-output.png"
    ),
    judge: Annotated[str, typer.Option("--judge", "-j", help="The judge that drives the loop.")] = "builtin",
    stages: Annotated[
        str, typer.Option("--stages", metavar="<none|understand|plan|full>", help="How many of the agent's stages run.")
    ] = "full",
    steps: Annotated[int, typer.Option("--steps", min=1, max=32, help="Maximum number of edits (T in the paper).")] = 4,
    best_of: Annotated[
        int, typer.Option("--best-of", min=0, max=999, help="Baseline: the best of N edits instead of the agent.")
    ] = 0,
    mind: Annotated[str, typer.Option("--mind", help="builtin, or an endpoint of imarena.toml.")] = "builtin",
    seed: Annotated[int, typer.Option("--seed", help="Seed for the editor; -1 sends none.")] = 42,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="key=value, for the agent or its editor.")
    ] = None,
    trust: Annotated[bool, typer.Option("--trust", help="Run commands that imarena.toml names.")] = False,
) -> None:
    """Edit one image with CV-Agent: understand, plan, edit in a closed loop. Shows every step.

    Needs no workspace. Inside one (or with -w DIR), names from its imarena.toml can be used and the images are stored.
    """
    from imarena.core.records import Status
    from imarena.workflows.editing import choose_agent, run_agent, workspace_for
    from imarena.workflows.wiring import EditorArguments, parse_option_values

    agent = choose_agent(editor, stages=stages, best_of=best_of)
    options: dict[str, Any] = {"judge": judge, **({"mind": mind} if mind != "builtin" else {})}
    if not best_of:
        options["steps"] = steps
    wish = EditorArguments({**options, **parse_option_values(parse_pairs(option))}, trust)
    instruction, pictures = _split_arguments(instruction, source or [])
    with workspace_for(session(context).workspace) as workspace:
        done = run_agent(workspace, agent, pictures, instruction, output, wish, None if seed < 0 else seed)
    result = done.result
    document = {
        "status": result.status.value,
        "error": result.error,
        "output": str(done.output) if done.output else None,
        "cost_usd": result.cost_usd,
        "latency_s": result.latency_s,
        **{name: _choice_step(result.steps).get(name) for name in _FINDINGS},
        "steps": list(result.steps),
    }

    def show(console: Console) -> None:
        for step in result.steps:
            printed_step = (
                {**step, "error": ""} if step.get("error") == result.error else step
            )  # it is printed at the end
            console.print(_line(printed_step, result.steps))
        for line in _end(done, bool(pictures)):
            console.print(line)

    emit(context, document, show)
    if result.status is not Status.OK or document["success"] is False:
        raise typer.Exit(Exit.PARTIAL)


_FINDINGS = ("success", "result", "done", "missing", "not_checked")
"""The judge's findings on the parts of the instruction; null if no judge was asked."""


def _choice_step(steps: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return next((step for step in steps if step["stage"] == "choose"), {})


def _split_arguments(instruction: str, source: list[str]) -> tuple[str, list[Path]]:
    """Return the instruction and the images; if an image comes first, the one text after it is the instruction."""
    texts = [text for text in source if not _names_picture(text)]
    if _names_picture(instruction) and len(texts) == 1:
        return texts[0], [Path(text) for text in (instruction, *source) if text != texts[0]]
    return instruction, [Path(text) for text in source]


def _names_picture(text: str) -> bool:
    from imarena.images import SUFFIXES

    if text.lower().endswith((*SUFFIXES.values(), ".jpeg", ".tif")):
        return True
    try:
        return Path(text).is_file()
    except OSError:  # text that is too long for a file name
        return False


def _end(done: "AgentRun", images_shown: bool) -> Iterator[str]:
    result, folder = done.result, done.steps[0].parent if done.steps else None
    if done.output is None:
        yield f"{result.status.value}: {result.error}"
        if not images_shown:
            yield "No image was given: name it after the instruction."
        return
    yield from _findings(_choice_step(result.steps))
    yield f"ok: {done.output}" + (f" (each step's image: {folder}{os.sep})" if folder else "")


def _findings(choice: Mapping[str, Any]) -> Iterator[str]:
    """Yield the judge's findings on the chosen image, part by part."""
    missing, unchecked = ("; ".join(choice.get(name) or ()) for name in ("missing", "not_checked"))
    if choice.get("success"):
        yield f"success: every part of the instruction is done ({'; '.join(choice['done'])})"
    elif choice.get("success") is False:
        yield "The judge does not call it a success" + (f": not done yet: {missing}." if missing else ".")
        if unchecked:
            yield f"Not checked: {unchecked}."
    elif unchecked:
        yield f"{choice['result']}; not checked: {unchecked}. Look at the image yourself."


def _chosen_edit(steps: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the edit that made the chosen image."""
    last = _choice_step(steps)
    edits = [step for step in steps if step["stage"] == "edit" and step.get("image_sha256")]
    return next((step for step in edits if step["image_sha256"] == last.get("image_sha256")), None)


def _line(step: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> str:
    stage = step["stage"]
    if stage == "understand":
        return f"understood: {step['instruction']}\n  changes: {'; '.join(step['changes']) or 'none read'}"
    if stage == "plan":
        orders = "".join(f"\n  {number + 1}. {order}" for number, order in enumerate(step["steps"]))
        first = ", the whole order first" if step.get("tentative") else ""
        count = len(step["steps"])
        return f"planned: {count} step{'s' * (count != 1)}, at most {step['budget']} edits{first}{orders}"
    if stage == "judge":
        return f"the {step['of']} itself: {_score(step)}"
    if stage == "edit":
        return _edited(step)
    return _choice(step, steps) if stage == "choose" else str(stage)


def _edited(step: Mapping[str, Any]) -> str:
    error = "" if step["status"] == "ok" else str(step.get("error") or "")
    success = "no success yet" if step.get("success") is False else step.get("result") or ""
    score = "" if step.get("score") is None else _score(step)
    dropped = "no better: dropped" if step.get("dropped") else ""
    parts = ", ".join(filter(None, (str(step["status"]), error, score, success, step.get("feedback"), dropped)))
    stopped = f"\n  stopped: {step['stopped']}" if step.get("stopped") else ""
    return f"edit {step['step']}: {parts}\n  asked: {step['instruction']}{stopped}"


def _choice(step: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> str:
    edit = _chosen_edit(steps)
    if edit is None:
        return "chosen: none of the edits"
    scores = [other["score"] for other in steps if other["stage"] == "edit" and other.get("score") is not None]
    higher = step.get("score") is not None and any(score > step["score"] for score in scores)
    why = "; another has a higher score, but less of the order begun" if higher else ""
    return f"chosen: the image of edit {edit['step']}, {_score(step)}{why}"


def _score(step: Mapping[str, Any]) -> str:
    return "no score" if step.get("score") is None else f"score {step['score']:.0f}"
