"""How often CV-Agent calls an edit a success that is none, on the bundled chains of three changes.

    python -m benchmarks.editors.agent_success --editor one-thing

The loop is driven by `builtin` and stops at success as by default. An answer whose true quality (the studio's, 0 to 1,
which no judge sees) is below 0.75 lacks a change: `studio-timid`, which makes every change in part, reaches 0.83.
"""

import argparse
import asyncio
import json
from dataclasses import replace

from benchmarks.editors.agent_ablation import OneThing, quality, request_for
from imarena.agent import Agent
from imarena.core.protocols import Editor
from imarena.editors.studio.editors import studio_editor
from imarena.judges.catalog import JUDGES
from imarena.studio import entries

COMPLETE = 0.75


def main() -> None:
    """Run it and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--editor", default="one-thing", help="a studio editor's habit, or one-thing")
    options = parser.parse_args()
    habit = options.editor.removeprefix("studio-")
    editor: Editor = OneThing(studio_editor("timid")) if habit == "one-thing" else studio_editor(habit)
    agent = Agent("agent", editor, JUDGES.get("builtin")({}, None))
    counts = {"items": 0, "complete": 0, "success": 0, "false_success": 0, "unchecked": 0}
    edits = 0
    for entry in (entry for entry in entries() if len(entry.steps) > 1 and entry.scene is not None):
        request = replace(request_for(entry), seed=0)
        result = asyncio.run(agent.edit(request))
        made = [step for step in result.steps if step["stage"] == "edit"]
        chosen = next(step for step in made if step.get("image_sha256") == result.steps[-1].get("image_sha256"))
        complete = quality(entry, request, result.image) >= COMPLETE
        counts["items"] += 1
        counts["complete"] += complete
        counts["success"] += chosen["success"] is True
        counts["false_success"] += chosen["success"] is True and not complete
        counts["unchecked"] += chosen["success"] is None
        edits += len(made)
    print(json.dumps({"editor": habit, "version": agent.version, "edits": edits / counts["items"], **counts}))


if __name__ == "__main__":
    main()
