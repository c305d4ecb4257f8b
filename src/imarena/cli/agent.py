"""``imarena agent``."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, session
from imarena.cli.options import pairs


def command(
    context: typer.Context,
    instruction: Annotated[str, typer.Argument(help="What shall be done.")],
    source: Annotated[list[Path] | None, typer.Argument(help="The picture; more are references.")] = None,
    editor: Annotated[str, typer.Option("--editor", "-e", help="The editor that the agent wraps.")] = "classical",
    output: Annotated[Path, typer.Option("--output", "-O", help="Where the picture goes.")] = Path("agent-output.png"),
    judge: Annotated[str, typer.Option("--judge", "-j", help="The judge that drives the loop.")] = "builtin",
    stages: Annotated[str, typer.Option("--stages", help="none, understand, plan or full (table 11).")] = "full",
    steps: Annotated[int, typer.Option("--steps", min=1, max=32, help="T: edits at most.")] = 4,
    best_of: Annotated[int, typer.Option("--best-of", min=0, max=999, help="The baseline: best of so many.")] = 0,
    mind: Annotated[str, typer.Option("--mind", help="builtin, or an endpoint of imarena.toml.")] = "builtin",
    seed: Annotated[int, typer.Option("--seed", help="-1 sends none.")] = 42,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="key=value, for the agent or its editor.")
    ] = None,
    trust: Annotated[bool, typer.Option("--trust", help="Run commands that imarena.toml names.")] = False,
) -> None:
    """Edit one picture with CV-Agent: understand, plan, edit in a closed loop. Shows every step."""
    from imarena.core.records import Status
    from imarena.storage import open_workspace
    from imarena.workflows.agent_run import run_agent
    from imarena.workflows.editor_wiring import Wish
    from imarena.workflows.wiring import read_values

    kind = {"full": "agent", "plan": "agent-plan", "understand": "agent-understand", "none": "agent-none"}
    if stages not in kind:
        from imarena.core.errors import UserError

        raise UserError(f"There are no stages called '{stages}'.", hint=f"Known: {', '.join(kind)}.")
    wrapped = f"best-of-{best_of}:{editor}" if best_of else f"{kind[stages]}:{editor}"
    said: dict[str, Any] = {"judge": judge, **({"mind": mind} if mind != "builtin" else {})}
    if not best_of:
        said["steps"] = steps
    wish = Wish({**said, **read_values(pairs(option))}, trust)
    with open_workspace(session(context).workspace) as workspace:
        done = run_agent(workspace, wrapped, source or [], instruction, output, wish, None if seed < 0 else seed)
    result = done.result
    document = {
        "status": result.status.value,
        "error": result.error,
        "output": str(done.output) if done.output else None,
        "cost_usd": result.cost_usd,
        "latency_s": result.latency_s,
        "steps": list(result.steps),
    }

    def show(console: Console) -> None:
        for step in result.steps:
            console.print(_line(step), markup=False)
        console.print(f"{result.status.value}: {done.output or result.error}", markup=False)

    emit(context, document, show)
    if result.status is not Status.OK:
        raise typer.Exit(Exit.PARTIAL)


def _line(step: dict[str, Any]) -> str:
    stage = step["stage"]
    if stage == "understand":
        return f"understood: {step['instruction']}  changes: {'; '.join(step['changes']) or 'none read'}"
    if stage == "plan":
        orders = "".join(f"\n  {number + 1}. {words}" for number, words in enumerate(step["steps"]))
        first = ", the whole order first" if step.get("tentative") else ""
        return f"planned: {len(step['steps'])} step(s), at most {step['budget']} edits{first}{orders}"
    if stage == "judge":
        return f"the {step['of']} itself: score {step['score']}"
    if stage == "edit":
        score = "" if step.get("score") is None else f", score {step['score']:.0f}, success {step.get('success')}"
        told = f", {step['feedback']}" if step.get("feedback") else ""
        dropped = ", no better: dropped" if step.get("dropped") else ""
        stopped = f"\n  stopped: {step['stopped']}" if step.get("stopped") else ""
        return f"edit {step['step']}: {step['status']}{score}{told}{dropped}\n  asked: {step['instruction']}{stopped}"
    return f"chosen: {step.get('image_sha256', '')[:12]} with score {step.get('score')}" if stage == "choose" else stage
