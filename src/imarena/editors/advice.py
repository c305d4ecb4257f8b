"""Advice for each status of a failed edit; the error message next to it says what happened."""

from collections.abc import Iterable, Mapping

from imarena.core.records import Status
from imarena.editors.function import RAISED

AGAIN = "The same command asks again for what is missing, and for nothing else."
ADVICE = {
    Status.REFUSED: "A refusal is the editor's own answer: it counts against its coverage, never as a verdict. Other "
    "words or another mode may pass; an item that does not suit the editor can be left out with --tasks or --items.",
    Status.TIMEOUT: "Raise timeout_s (for queues also template.job_timeout_s), or lower --concurrency.",
    Status.MISSING_OUTPUT: "No picture came. Does the model make pictures? --wrap adds the task to the prompt; for a "
    "program, look at what it writes to {output}; for a folder, at the "
    "file's name (`imarena status --items` lists them).",
    Status.INVALID_IMAGE: "The file is not a complete image. In a folder: replace the damaged file. From a "
    "service: look for a proxy or a time limit that cuts replies off, or for an address that answers with something "
    "else.",
    Status.UNPARSABLE: 'The reply cannot be used as it is. take = "first" uses the first of several pictures.',
    Status.API_ERROR: "Read the message: a wrong base_url or model, a server that is down, a key, a limit. Fix it, "
    "then run again.",
}


OF_FUNCTIONS = "The error comes from the function itself: fix the named line, then run again."


def failure_advice(statuses: Iterable[str], errors: Mapping[str, str]) -> dict[str, str]:
    """A sentence or two for each status that is not ok. `errors`: the messages, by `editor: status`."""
    known = {status.value: advice for status, advice in ADVICE.items()}
    failed = Status.API_ERROR.value
    messages = [message for where, message in errors.items() if where.endswith(f": {failed}")]
    if any(message.startswith(RAISED) for message in messages):
        only = all(message.startswith(RAISED) for message in messages)
        known[failed] = OF_FUNCTIONS if only else f"Where a function raised: {OF_FUNCTIONS} Else: {known[failed]}"
    return {status: f"{known[status]} {AGAIN}" for status in sorted(set(statuses)) if status in known}
