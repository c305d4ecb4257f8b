"""A small workspace with EdiVal scores that can be worked out by hand: three editors, two chains of three turns."""

from pathlib import Path

from imarena.core import plan_provenance
from imarena.core.records import Item, Judgment, Mode, Output, Rater, Turn, Vote
from imarena.images import describe_image
from imarena.storage import Workspace, init_workspace
from imarena.studio import entry_plan
from imarena.studio.entries_edival import edival_entries
from tests.workflow.reporting.test_report_command import picture

CONSISTENCY = {"exact": 0.90, "once": 0.95, "lazy": 1.0}
QUALITY = {"exact": 6.0, "once": 5.0, "lazy": 7.0}
TURNS = 3
TYPES = ("color_alter", "subject_remove", "subject_add")


def is_done(editor: str, turn: int) -> bool:
    """`exact` carries out every edit, `once` the first, `lazy` none."""
    return editor == "exact" or (editor == "once" and turn == 0)


def _judgments(output: Output, editor: str, mode: Mode, turn: int, tools: str) -> list[Judgment]:
    edits = [{"type": TYPES[at], "passed": is_done(editor, at), "reason": "seen"} for at in range(turn + 1)]
    consistency = CONSISTENCY[editor] - (0.05 if tools == "other" else 0)
    marks = {
        "instruction_following": {"instruction_following": float(is_done(editor, turn))},
        "consistency": {"consistency": consistency, "objects": consistency, "background": consistency},
        "quality": {
            "quality": QUALITY[editor], "base_quality": 6.5, "luminance_p999": 200.0 + 10 * turn,
            "base_luminance_p999": 190.0,
        },
    }  # fmt: skip
    return [
        Judgment(
            work_id=f"{tools}{dimension}{output.output_id}", judge="edival", judge_version="1", run_id="r",
            params={"features": tools, "dimension": dimension}, item_id=output.item_id, turn=turn,
            left_id=output.output_id, dimension=dimension, score=next(iter(scores.values())), scores=scores,
            reasons={"tools": {"features": f"{tools}@1"}, **({"edits": edits} if dimension.endswith("ing") else {})},
        )
        for dimension, scores in marks.items()
    ]  # fmt: skip


def _outputs(workspace: Workspace, item: Item, number: int) -> None:
    for place, editor in enumerate(CONSISTENCY):
        for mode in (Mode.MULTI_TURN, Mode.COMPLEX):
            parent = None
            for turn in range(TURNS):
                data = picture(100 + 50 * number + 10 * place + turn)
                output = Output(
                    item_id=item.item_id, editor=editor, mode=mode, turn=turn, parent_id=parent,
                    image=workspace.keep(describe_image(data), data),
                    params={"connector": "then"} if mode is Mode.COMPLEX else {},
                )  # fmt: skip
                workspace.store.add([output])
                parent = output.output_id if mode is Mode.MULTI_TURN else None
                for tools in ("other", "first"):  # the newest set of tools is the main one
                    workspace.store.add(_judgments(output, editor, mode, turn, tools))
                if mode is Mode.MULTI_TURN:
                    yes = float(is_done(editor, turn) or editor == "once")
                    workspace.store.add([
                        Vote(rater_id="ann", item_id=item.item_id, turn=turn, left_id=output.output_id, scale=(0, 1),
                             ratings={"instruction_following": yes}, idempotency_key=output.output_id)
                    ])  # fmt: skip


def make_edival_arena(root: Path) -> None:
    """Fill a new workspace. People say that `once` carried out every edit."""
    with init_workspace(root) as workspace:
        workspace.store.add([Rater(rater_id="ann")])
        for number, entry in enumerate(edival_entries(2)):
            plan = entry_plan(entry)
            assert plan is not None
            data = picture(number, (24, 24) if number else (24, 16))
            item = Item(
                dataset="chains", key=str(number), sources=(workspace.keep(describe_image(data), data),),
                turns=tuple(Turn(instruction=step.instruction, task=step.task) for step in entry.steps[:TURNS]),
                provenance=plan_provenance(plan),
            )  # fmt: skip
            workspace.store.add([item])
            _outputs(workspace, item, number)
