"""One variant per editor name: outputs made with other options are not mixed under the same name."""

import json
from collections import Counter
from collections.abc import Sequence

from pydantic import JsonValue

from imarena.core import Editor, UserError, counted, plural
from imarena.core.records import JsonDict, Mode, Output, Status
from imarena.storage import Workspace
from imarena.workflows.editing.plan import EditSettings

_SHOWN = 60


def is_same_variant(output: Output, editor: Editor) -> bool:
    """Return whether this version made it with these options. Prices depend on these, not on instruction wrapping."""
    then = {key: value for key, value in output.params.items() if key not in ("wrap", "connector")}
    return output.origin is not None or (output.editor_version == editor.version and then == _params(editor))


def check_same_variant(workspace: Workspace, editors: Sequence[Editor], settings: EditSettings) -> None:
    """Raise if stored outputs of one of these editors were made with other options than the given ones.

    Another version of the same editor passes: the estimate only reports it, so that a run can be finished after an
    update. Imported outputs do not record how they were made, and pass.
    """
    by_name = {editor.name: editor for editor in editors}
    differences: dict[str, Counter[str]] = {name: Counter() for name in by_name}
    for output in workspace.store.records(Output, editor=list(by_name), status=Status.OK.value):
        if output.origin is None:
            differences[output.editor or ""].update([_difference(output, by_name[output.editor or ""], settings)])
    for name, counts in differences.items():
        differing = {difference: number for difference, number in counts.items() if difference}
        if differing:
            number = sum(differing.values())
            usual = max(differing, key=differing.__getitem__)
            raise UserError(
                f"{counted(number, 'output')} of '{name}' made in another way {plural('is', number)} stored: {usual}.",
                hint=f"Store the new ones under another name: --as {name}-2. Or add --mixed: stored outputs stay, and "
                "only missing ones are made in the new way.",
            )


def _difference(output: Output, editor: Editor, settings: EditSettings) -> str:
    """Describe the differences; empty if there are none."""
    then, now = _flat(output.params), _flat(_params(editor))
    if settings.wrap and editor.traits.wrappable:
        now["wrap"] = "1"
    if output.mode is Mode.COMPLEX and settings.connector != "concatenate":
        now["connector"] = settings.connector
    if not editor.traits.deterministic:
        then["seed"] = output.seed
        now["seed"] = None if settings.seed is None else settings.seed + output.sample
    return "; ".join(
        f"{name} was {_value_text(then, name)} and is {_value_text(now, name)}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    )


def _params(editor: Editor) -> JsonDict:
    """Return an editor's options as stored in a record."""
    params: JsonDict = json.loads(json.dumps(dict(editor.params)))
    return params


def _flat(options: JsonDict) -> JsonDict:
    """Flatten nested tables to names such as `agent.steps`, so that only the difference itself is named."""
    flat: JsonDict = {}
    for name, value in options.items():
        inner = _flat(value) if isinstance(value, dict) else None
        flat |= {f"{name}.{key}": inner_value for key, inner_value in inner.items()} if inner else {name: value}
    return flat


def _value_text(options: JsonDict, name: str) -> str:
    value: JsonValue = options.get(name)
    return "not set" if value is None else json.dumps(value)[:_SHOWN]
