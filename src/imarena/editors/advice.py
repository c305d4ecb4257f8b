"""Advice for each status of a failed edit; the error message next to it says what happened."""

from collections.abc import Iterable, Mapping

from imarena.core import fill_in_commands, package_yaml
from imarena.core.records import Status
from imarena.editors.folder import NO_FILE
from imarena.editors.function import RAISED

AGAIN = "Run the same command to ask again only for the missing outputs."
ADVICE: Mapping[str, str] = package_yaml("imarena.editors", "advice.yaml")
"""Advice by status."""
OF_FOLDERS = (
    "No file for these items. Name files as `{imarena} status --items` lists them, then run the same command again."
)
OF_FUNCTIONS = "The error comes from the function itself: fix the named line, then run again."


def failure_advice(statuses: Iterable[str], errors: Mapping[str, str]) -> dict[str, str]:
    """A sentence or two for each status that is not ok. `errors`: the messages, by `editor: status`."""
    texts = dict(ADVICE)
    failed = Status.API_ERROR.value
    messages = [message for status, message in errors.items() if status.endswith(f": {failed}")]
    if any(message.startswith(RAISED) for message in messages):
        only = all(message.startswith(RAISED) for message in messages)
        texts[failed] = OF_FUNCTIONS if only else f"Where a function raised: {OF_FUNCTIONS} Else: {texts[failed]}"
    advice = {status: f"{texts[status]} {AGAIN}" for status in sorted(set(statuses)) if status in texts}
    missing = Status.MISSING_OUTPUT.value
    messages = [message for status, message in errors.items() if status.endswith(f": {missing}")]
    if missing in advice and any(NO_FILE in message for message in messages):
        only = all(NO_FILE in message for message in messages)
        of_folders = fill_in_commands(OF_FOLDERS)
        advice[missing] = of_folders if only else f"For a folder: {of_folders} Else: {advice[missing]}"
    return advice
