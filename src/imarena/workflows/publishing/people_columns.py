"""Columns of imported tables that name people: which they are, and pseudonyms for what they hold."""

import re
import secrets

from pydantic import JsonValue

_PEOPLE = frozenset(
    {
        "annotator", "rater", "worker", "labeler", "labeller", "evaluator", "reviewer", "assessor", "participant",
        "respondent", "voter", "person", "user", "username", "login", "nickname", "email", "mail", "phone", "telephone",
        "expert", "judger", "crowdworker", "turker", "prolific", "prolificpid", "pid", "firstname", "lastname",
        "fullname", "surname", "collector",
    }
)  # fmt: skip
_ABOUT = frozenset(
    {"id", "ids", "uid", "name", "names", "email", "mail", "hash", "code", "key", "number", "no", "address"}
)
"""Words after the person: `worker_id`, `rater_name`. `user_prompt` names nobody."""
_OWN_NAMES = frozenset({"first", "last", "full", "family", "given", "nick", "real"})
_DONE = frozenset(
    {"annotated", "rated", "labeled", "labelled", "evaluated", "reviewed", "voted", "checked", "written", "submitted",
     "collected", "edited", "judged"}
)  # fmt: skip
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def names_people(column: str) -> bool:
    """Does a column hold the names, ids or addresses of people, by its own name?

    Attribution (`author`, `photographer`, `creator`) does not count: licences ask for it.
    """
    words = [word.lower() for word in _WORDS.findall(column)]
    if not words:
        return False
    if words == ["name"] or (len(words) > 1 and words[-1] == "name" and words[-2] in _OWN_NAMES):
        return True
    if len(words) > 1 and words[-1] == "by":
        return words[-2] in _DONE
    while len(words) > 1 and words[-1] in _ABOUT:
        words.pop()
    return words[-1] in _PEOPLE or words[-1].removesuffix("s") in _PEOPLE


class PeoplePseudonyms:
    """Pseudonyms drawn for one publication: the same value has the same one, and none can be computed."""

    def __init__(self) -> None:
        self._drawn: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._drawn)

    def replace(self, value: JsonValue) -> JsonValue:
        """The value with every text and number in it replaced."""
        if isinstance(value, list):
            return [self.replace(entry) for entry in value]
        if isinstance(value, dict):
            return {name: self.replace(entry) for name, entry in value.items()}
        if value is None or isinstance(value, bool) or value == "":
            return value
        return self._drawn.setdefault(str(value), f"person-{secrets.token_hex(8)}")
