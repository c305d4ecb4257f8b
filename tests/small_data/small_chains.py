"""A small workspace of rendered chains: several editors, both modes, and the odd cases that scores have rules for."""

from pathlib import Path

import numpy as np
from PIL import Image

from imarena.core import plan_provenance
from imarena.core.records import ImageRef, Item, Mode, Output, Rater, Status, Turn, Vote
from imarena.storage import Workspace, init_workspace
from imarena.studio import Scene, apply_edit, encode_pixels, entry_plan, render_scene
from imarena.studio.entries_edival import edival_entries
from imarena.workflows.exchange.importing import WorkspaceIntake

SIZES = ((128, 128), (128, 96))
"""A square item and one that is not."""
STYLE = "Change the style of the image to watercolor."


class _Maker:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.intake = workspace, WorkspaceIntake(workspace)

    def keep(self, scene: Scene, name: str, side: int | None = None) -> ImageRef:
        pixels = render_scene(scene).pixels
        if side is not None:
            pixels = np.asarray(Image.fromarray(pixels).resize((side, side)), np.uint8)
        kept = self.intake.keep(encode_pixels(pixels), name=f"{name}.png")
        self.intake.flush()
        return kept

    def chain(self, item: Item, editor: str, images: list[ImageRef | None]) -> None:
        """Multi-turn outputs, each made from the one before; None: no output, and none after it."""
        parent = None
        for turn, image in enumerate(images):
            status = Status.OK if image is not None else Status.REFUSED
            output = Output(
                item_id=item.item_id, editor=editor, turn=turn, mode=Mode.MULTI_TURN, parent_id=parent, image=image,
                status=status,
            )  # fmt: skip
            self.workspace.store.add([output])
            if image is None:
                return
            parent = output.output_id


def make_chains(folder: Path) -> None:
    """Two chains of three turns. `exact` edits the scene, `lazy` returns the source, both in both modes.

    `odd` returns another size, and refuses the second turn of the second item.
    """
    with init_workspace(folder) as workspace:
        maker = _Maker(workspace)
        for number, entry in enumerate(edival_entries(2)):
            assert entry.scene is not None
            width, height = SIZES[number]
            small = entry.model_copy(
                update={"scene": entry.scene.model_copy(update={"width": width, "height": height})}
            )
            plan = entry_plan(small)
            assert plan is not None
            assert small.scene is not None
            base = maker.keep(small.scene, f"base-{number}")
            turns = tuple(Turn(instruction=step.instruction, task=step.task) for step in small.steps)
            item = Item(
                dataset="chains", key=str(number), turns=turns, sources=(base,), task=small.task,
                provenance=plan_provenance(plan),
            )  # fmt: skip
            workspace.store.add([item])
            scenes, scene = [], small.scene
            for step in small.steps:
                scene = apply_edit(scene, step.edit)
                scenes.append(scene)
            exact = [maker.keep(one, f"exact-{number}-{turn}") for turn, one in enumerate(scenes)]
            odd = [maker.keep(one, f"odd-{number}-{turn}", 100) for turn, one in enumerate(scenes)]
            maker.chain(item, "exact", [*exact])
            maker.chain(item, "lazy", [base] * 3)
            maker.chain(item, "odd", [*odd] if number == 0 else [odd[0], None])
            for editor, images in (("exact", exact), ("lazy", [base] * 3)):
                workspace.store.add(
                    Output(
                        item_id=item.item_id, editor=editor, turn=turn, mode=Mode.COMPLEX, image=image,
                        params={"connector": "concatenate"},
                    )
                    for turn, image in enumerate(images)
                )  # fmt: skip
            _add_style(maker, number, base, exact[0])


def _add_style(maker: _Maker, number: int, base: ImageRef, image: ImageRef) -> None:
    """An item about a style, in both modes."""
    item = Item(
        dataset="styles", key=str(number), turns=(Turn(instruction=STYLE),), sources=(base,), task="style_change"
    )
    maker.workspace.store.add([item])
    for mode in (Mode.MULTI_TURN, Mode.COMPLEX):
        maker.workspace.store.add([Output(item_id=item.item_id, editor="exact", turn=0, mode=mode, image=image)])


def add_ratings(workspace: Workspace) -> None:
    """Two raters: edits of `exact` are right, those of `lazy` are not; they disagree on one. Both see the style."""
    raters = [Rater(rater_id=name) for name in ("ann", "bob")]
    workspace.store.add(raters)
    items = {item.item_id: item for item in workspace.store.records(Item)}
    doubted = True
    for output in list(workspace.store.records(Output, status=Status.OK.value)):
        styled = items[output.item_id].dataset == "styles"
        if output.editor not in ("exact", "lazy") or (output.mode is not Mode.MULTI_TURN and not styled):
            continue
        marks = {"style": 1.0} if styled else {"instruction_following": float(output.editor == "exact")}
        for rater in raters:
            if doubted and rater.rater_id == "bob" and output.editor == "lazy":
                marks, doubted = {"instruction_following": 1.0}, False
            workspace.store.add([
                Vote(
                    rater_id=rater.rater_id, item_id=output.item_id, left_id=output.output_id, ratings=marks,
                    scale=(0, 1), idempotency_key=f"{rater.rater_id}{output.output_id}",
                )
            ])  # fmt: skip
