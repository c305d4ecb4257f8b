"""`edit --check`: try a new editor on the built-in cases, without a workspace and without storing anything."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import JsonValue

from imarena.core import Editor, EditResult, InvalidImage, adapt_editor, first_line
from imarena.core.records import Status
from imarena.editors import FunctionEditor, Ports, load_function
from imarena.images import describe_image
from imarena.workflows.studies import plugin_check
from imarena.workflows.studies.check_cases import NO_SOURCE, ODD_SOURCE, SEED, SIMPLE, edit_requests

AGAIN, OTHER_SEED = f"{SIMPLE}, asked again", f"{SIMPLE}, another seed"
_BROKEN = (Status.INVALID_IMAGE, Status.MISSING_OUTPUT)


def check_editor(
    path: str, options: Mapping[str, JsonValue] | None = None, *, limit_s: float = plugin_check.LIMIT_S
) -> plugin_check.PluginCheck:
    """Make the editor at `MODULE:NAME` and ask it for every built-in case.

    NAME is a function that takes an `EditRequest`, as for `function:`, or a factory that takes (name, options, ports)
    and returns an editor, as for an entry point.
    """
    findings = plugin_check.CheckFindings()
    call: Any = load_function(path)
    editor = findings.made(
        lambda: _make(call, path.rpartition(":")[2], options or {}),
        f"{path} cannot be called as `make(name, options, ports)`",
        "NAME is a function of one EditRequest, or a function of three arguments that returns an editor.",
    )
    if editor is None:
        return plugin_check.PluginCheck(path, "editor", "", "", to_fix=tuple(findings.to_fix))
    requests = edit_requests()
    simple = requests[SIMPLE]
    cases = {**requests, AGAIN: simple, OTHER_SEED: replace(simple, seed=SEED + 1)}
    calls = [(case, partial(editor.edit, request)) for case, request in cases.items()]
    results, unanswered = plugin_check.observe_calls(calls, editor.traits.opened, limit_s=limit_s)
    if unanswered:
        findings.fix(f"`edit` did not return within {limit_s:g} s", "An edit must end.", unanswered)
    for result in results:
        _check_result(editor, result, findings)
    _check_together(editor, results, simple.sources[0], findings)
    answers = (plugin_check.CaseAnswer(result.case, _answer(result), round(result.seconds, 3)) for result in results)
    return findings.checked(path, "editor", editor, (), answers, hangs=bool(unanswered))


def _make(call: Any, name: str, options: Mapping[str, JsonValue]) -> Editor:
    if _parameters(call) == 1 and not inspect.isclass(call):
        return FunctionEditor(name, call)
    return adapt_editor(call(name, options, Ports()), name)


def _parameters(call: Any) -> int:
    """The number of required positional arguments."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):  # a function of a compiled module may have no signature
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional and parameter.default is parameter.empty for parameter in parameters)


def _check_result(editor: Editor, result: plugin_check.Observation, findings: plugin_check.CheckFindings) -> None:
    if result.error is not None:
        explain = editor.traits.explain_error
        message = f"`edit` raised {plugin_check.error_text(result.error)}" if explain is None else explain(result.error)
        without = " Items without a source image have no `request.sources`." if result.case == NO_SOURCE else ""
        refuse = f"Return EditResult(Status.REFUSED, error=...) for what it cannot do.{without}"
        findings.fix(message, plugin_check.field_hint(result.error) or refuse, result.case)
        return
    problems = result_problems(result.returned)
    for problem in problems:
        findings.fix(problem, case=result.case)
    if problems or result.returned.status is Status.OK:
        return
    message = f"status {result.returned.status.value}: {result.returned.error or 'no error text'}"
    if result.returned.status in _BROKEN or result.case not in (NO_SOURCE, ODD_SOURCE):
        findings.fix(message, "An image is bytes of an image file, or a Pillow image.", result.case)
    else:
        findings.note(message, case=result.case)


def result_problems(returned: object) -> list[str]:
    """Every reason why an editor's return value cannot be stored as an output."""
    if not isinstance(returned, EditResult):
        return [f"it returned {type(returned).__name__}, not an EditResult (imarena.core.protocols)"]
    status: Any = returned.status
    if not isinstance(status, Status):
        return [f"EditResult: status is {status!r}, not a Status"]
    error: Any = returned.error
    problems = [] if isinstance(error, str) else [f"EditResult: error is {error!r}, not text"]
    numbers: dict[str, Any] = {"cost_usd": returned.cost_usd, "latency_s": returned.latency_s}
    for name, number in numbers.items():
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            problems.append(f"EditResult: {name} is {number!r}, not a number")
        elif number is not None and not (math.isfinite(number) and number >= 0):
            problems.append(f"EditResult: {name} is {number!r}; it must be 0 or more and finite, or None if not known")
    if status is Status.OK:
        problems += _image_problems(returned.image)
    elif returned.image is not None:
        problems.append(f"EditResult: status is {status.value}, but it has an image")
    return problems


def _image_problems(image: object) -> list[str]:
    if image is None:
        return ["EditResult: status is ok, but there is no image"]
    if not isinstance(image, bytes):
        return [f"EditResult: image is {type(image).__name__}, not bytes"]
    try:
        describe_image(image)
    except InvalidImage as error:
        return [f"EditResult: {first_line(error)}"]
    return []


def _check_together(
    editor: Editor, results: Sequence[plugin_check.Observation], source: bytes, findings: plugin_check.CheckFindings
) -> None:
    """Checks that need several answers: repeatability, blocking, an unchanged source, another size."""
    answers = {
        result.case: result.returned.image
        for result in results
        if result.error is None and not result_problems(result.returned) and result.returned.status is Status.OK
    }
    first, again, other = (answers.get(case) for case in (SIMPLE, AGAIN, OTHER_SEED))
    if first is not None and again is not None and first != again:
        findings.note("The same request with the same seed gives another image")
    if editor.traits.deterministic and first is not None and any(look not in (None, first) for look in (again, other)):
        findings.fix(
            "It declares `deterministic`, but the same request gives another image",
            "Leave out `deterministic`, or make the image depend on the request alone.",
        )
    if first is not None:
        before, after = describe_image(source), describe_image(first)
        if first == source:
            findings.note("It returned the source unchanged", case=SIMPLE)
        elif (before.width, before.height) != (after.width, after.height):
            findings.note(f"Its image is {after.width} x {after.height}, the source {before.width} x {before.height}")
    if not editor.traits.cpu_bound:
        findings.fix_blocking("edit", results)
    if editor.version == "unversioned":
        findings.note("It has no `version`", "Set one: outputs of a changed editor are then stored separately.")


def _answer(result: plugin_check.Observation) -> str:
    if result.error is not None:
        return f"raised {type(result.error).__name__}"
    if result_problems(result.returned):
        return "not a usable result"
    if result.returned.status is not Status.OK:
        return str(result.returned.status.value)
    image = describe_image(result.returned.image)
    return f"an image of {image.width} x {image.height}"
