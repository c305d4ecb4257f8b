"""`judge --check`: try a new judge on the built-in cases, without a workspace and without storing anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import TypeAdapter, ValidationError

from imarena.core import Exhibit, Judge, Settings, UserError, Verdict, has_coroutine
from imarena.core.records import JsonDict, Order, Outcome, Status
from imarena.judges import CARDS, stated_scale, to_recorded_sides, verdict_problems
from imarena.workflows.studies import check_cases as cases
from imarena.workflows.studies import plugin_check
from imarena.workflows.views import View
from imarena.workflows.wiring import EndpointArguments, WiredJudge, wire_judge

_STATUS = "Return Verdict(Status.INVALID_IMAGE, error=...) or another status: a failure is a status."
_NEEDS_SOURCE = (
    "Some items have no source image or no references. A judge that needs a source declares "
    "`traits = JudgeTraits(needs_source=True)`; otherwise return a Verdict with a status."
)

AGAIN = f"{cases.SUCCESS}, asked again"
SWAPPED = ", swapped"
SCORES, COMPARES = "scores", "compares"
_PARAMS = TypeAdapter[JsonDict](JsonDict)


def check_judge(
    settings: Settings, path: str, arguments: EndpointArguments | None = None, *, limit_s: float | None = None
) -> plugin_check.PluginCheck:
    """Make the judge at `MODULE:NAME` (or the installed one of that name) and ask it about every built-in case."""
    findings = plugin_check.CheckFindings()
    wired = findings.made(
        lambda: wire_judge(settings, f"function:{path}" if ":" in path else path, arguments),
        f"{path} cannot be called as `make(options, chat)`",
        "NAME is a function of two arguments, the options and the endpoint's chat or None, that returns the judge.",
    )
    if wired is None:
        return plugin_check.PluginCheck(path, "judge", "", "", to_fix=tuple(findings.to_fix))
    judge = wired.judge
    _check_names(judge, findings)
    if not findings.to_fix and wired.kind not in CARDS:  # a built-in judge may use `scale` for another setting
        _check_scale(judge, findings)
    calls = [] if findings.to_fix else list(_calls(judge, findings))
    opening = wired.client.opened if wired.client is not None else None
    limit_s = limit_s or (plugin_check.LIMIT_S if opening is None else plugin_check.ENDPOINT_LIMIT_S)
    results, unanswered = plugin_check.observe_calls(calls, opening, limit_s=limit_s) if calls else ([], "")
    if unanswered:
        findings.fix(f"`judge` did not return within {limit_s:g} s", "A question must end.", unanswered)
    does = _check_answers(wired, results, findings) if results else ()
    fitting = [result for result in results if len(does) != 1 or _is_pair(result.case) == (COMPARES in does)]
    answers = (plugin_check.CaseAnswer(result.case, _answer(result), round(result.seconds, 3)) for result in fitting)
    return findings.checked(path, "judge", judge, does, answers, hangs=bool(unanswered))


def _check_names(judge: Judge, findings: plugin_check.CheckFindings) -> None:
    """Check the method `judge` and the attributes that identify a judge."""
    if not has_coroutine(judge, "judge"):
        findings.fix("`judge` is not a coroutine function", "Write `async def judge(self, exhibit)`.")
    names: dict[str, Any] = {
        "name": judge.name, "version": judge.version, "prompt_id": judge.prompt_id,
        "prompt_version": judge.prompt_version,
    }  # fmt: skip
    for name, text in names.items():
        if not isinstance(text, str):
            findings.fix(f"`{name}` is {text!r}, not text", "The names identify a judge's verdicts.")
    try:
        _PARAMS.validate_python(judge.params)
    except ValidationError:
        findings.fix(f"`params` is {judge.params!r}, which JSON cannot hold", "Use text, numbers, lists and the like.")
    if judge.version == "unversioned":
        findings.note("It has no `version`", "Set one: otherwise verdicts of a changed judge count as the same.")


def _check_scale(judge: Judge, findings: plugin_check.CheckFindings) -> None:
    """Check that a stated scale is two increasing numbers: `align` ignores any other."""
    ends: Any = judge.params.get("scale")
    scale = stated_scale(judge, "")
    if ends is not None and (scale is None or not scale[0] < scale[1]):
        findings.fix(
            f'`params["scale"]` is {ends!r}, not two numbers, the lowest score and the highest',
            'Write `"scale": [0, 1]`, or leave it out.',
        )


def _calls(judge: Judge, findings: plugin_check.CheckFindings) -> Sequence[plugin_check.PluginCall]:
    """Each single output, the first one twice, and each pair in both orders; skips those that do not fit the judge."""
    traits = judge.traits
    missing = [kind for kind in traits.evidence if kind not in cases.BOX_KINDS]
    if traits.evidence and len(missing) == len(traits.evidence):
        findings.note(
            f"It was not asked: it needs evidence of the kind {' or '.join(missing)}, which the built-in cases lack"
        )
        return []
    with_source = traits.needs_source or bool(traits.evidence)
    singles = cases.single_exhibits(with_source=with_source, evidence=traits.evidence)
    pairs = [*singles.items(), (AGAIN, singles[cases.SUCCESS])]
    for case, orders in cases.paired_exhibits(with_source=with_source, evidence=traits.evidence).items():
        pairs += [(case, orders[0]), (f"{case}{SWAPPED}", orders[1])]
    return [(case, partial(judge.judge, exhibit)) for case, exhibit in pairs if _fits(judge, exhibit)]


def _fits(judge: Judge, exhibit: Exhibit) -> bool:
    try:
        for prompt in judge.traits.prompts.values():
            prompt.check(exhibit)
    except UserError:
        return False
    return True


def only_compares(wired: WiredJudge, view: View) -> bool:
    """Whether a judge compares two outputs and cannot score one. A judge that does both counts as one that scores.

    For a judge of the catalog, its entry decides. For others it is the prompts, then the stored judgments, and last the
    answers to the built-in cases, if asking costs nothing.
    """
    if wired.kind in CARDS:
        return wired.shape == "pairwise"
    judge = wired.judge
    if judge.traits.prompts:
        single = cases.single_exhibits(with_source=True)[cases.SUCCESS]
        return not _fits(judge, single) and _fits(judge, cases.paired_exhibits(with_source=True)[cases.PAIR][0])
    stored = {variant.pairwise for variant in view.variants.chosen([judge.name])}
    if stored or wired.client is not None:
        return stored == {True}
    calls = _calls(judge, plugin_check.CheckFindings())
    results, _ = plugin_check.observe_calls(calls) if calls else ([], "")
    return _check_answers(wired, results, plugin_check.CheckFindings()) == (COMPARES,)


# ---------------------------------------------------------------- what the answers show


@dataclass(frozen=True)
class _Answers:
    """The valid verdicts, by case."""

    verdicts: dict[str, Verdict]

    def score(self, case: str) -> float | None:
        verdict = self.verdicts.get(case)
        return None if verdict is None or verdict.score is None else float(verdict.score)

    def winner(self, case: str) -> Outcome | None:
        """The winner with the better output counted as left, whatever order was shown."""
        verdict = self.verdicts.get(case)
        if verdict is None or verdict.preference is None:
            return None
        order = Order.RIGHT_FIRST if case.endswith(SWAPPED) else Order.LEFT_FIRST
        return to_recorded_sides(verdict, order).preference


def _check_answers(
    wired: WiredJudge, results: Sequence[plugin_check.Observation], findings: plugin_check.CheckFindings
) -> tuple[str, ...]:
    """Report problems, and return what the judge does (`scores`, `compares`)."""
    judge = wired.judge
    good = {
        result.case: result.returned
        for result in results
        if result.error is None and not verdict_problems(result.returned) and result.returned.status is Status.OK
    }
    answers = _Answers(good)
    scores = any(good[case].score is not None or good[case].scores for case in good if not _is_pair(case))
    compares = any(good[case].preference is not None for case in good if _is_pair(case))
    for result in results:
        other_shape = (scores and not compares) if _is_pair(result.case) else (compares and not scores)
        if not other_shape or _wrong_type(result):
            _check_one(result, findings)
    if not scores and not compares and not findings.to_fix:
        findings.fix("It gave neither a score nor a preference on any case", "See the answers below.")
    if scores:
        _check_scores(wired, answers, findings)
    if compares:
        _check_orders(answers, findings)
    if not judge.traits.cpu_bound:
        findings.fix_blocking("judge", results)
    return (*((SCORES,) if scores else ()), *((COMPARES,) if compares else ()))


def _is_pair(case: str) -> bool:
    return case.startswith((cases.PAIR, cases.UNUSUAL_PAIR))


def _wrong_type(result: plugin_check.Observation) -> bool:
    """Whether the return value has a wrong type, regardless of whether a pair or a single output was shown."""
    verdict = result.returned
    has_answer = isinstance(verdict, Verdict) and (verdict.preference is not None or verdict.score is not None)
    return result.error is None and (has_answer or not isinstance(verdict, Verdict)) and bool(verdict_problems(verdict))


def _check_one(call: plugin_check.Observation, findings: plugin_check.CheckFindings) -> None:
    if call.error is not None:
        findings.fix(
            f"`judge` raised {plugin_check.error_text(call.error)}",
            plugin_check.field_hint(call.error) or (_NEEDS_SOURCE if isinstance(call.error, IndexError) else _STATUS),
            call.case,
        )
        return
    problems = verdict_problems(call.returned)
    for problem in problems:
        findings.fix(f"Verdict: {problem}", case=call.case)
    if not problems and call.returned.status is not Status.OK:
        message = f"status {call.returned.status.value}: {call.returned.error or 'no error text'}"
        if call.case.startswith((cases.UNUSUAL, cases.UNUSUAL_PAIR)) or call.returned.status is Status.REFUSED:
            findings.note(message, case=call.case)
        else:
            findings.fix(message, "This case is an ordinary one.", call.case)


def _check_scores(wired: WiredJudge, answers: _Answers, findings: plugin_check.CheckFindings) -> None:
    judge = wired.judge
    scale = stated_scale(judge, wired.kind)
    for case in (cases.SUCCESS, cases.FAILURE, cases.UNUSUAL):
        score = answers.score(case)
        if scale is not None and score is not None and not scale[0] <= score <= scale[1]:
            findings.fix(f"A score is outside the scale that the judge states, {scale[0]:g} to {scale[1]:g}", case=case)
    first, again, failure = (answers.score(case) for case in (cases.SUCCESS, AGAIN, cases.FAILURE))
    if first is not None and again is not None and first != again:
        message = f"Two answers to the same question differ: {first:g} and {again:g}"
        if judge.traits.cpu_bound:
            findings.fix(message, "A judge that computes here has to repeat its verdicts: fix its seeds.")
        else:
            findings.note(message, "`judge --repeats 5` and `health` measure how much.")
    higher = judge.params.get("higher_is_better", True) is not False
    if first is not None and first == failure:
        findings.note(
            f"The {cases.SUCCESS} and the {cases.FAILURE} both score {first:g}: the judge does not distinguish them"
        )
    elif first is not None and failure is not None and (first < failure if higher else first > failure):
        findings.note(
            f"The {cases.SUCCESS} scores {first:g} and the {cases.FAILURE} {failure:g}",
            'If lower scores are better, set `"higher_is_better": False` in `params`.',
        )


def _check_orders(answers: _Answers, findings: plugin_check.CheckFindings) -> None:
    for case in (cases.PAIR, cases.UNUSUAL_PAIR):
        first, second = answers.winner(case), answers.winner(f"{case}{SWAPPED}")
        sides = {Outcome.LEFT, Outcome.RIGHT}
        if first in sides and second in sides and first is not second:
            position = "first" if first is Outcome.LEFT else "second"
            findings.fix(
                f"The preference depends on the order: the output shown {position} wins in both orders",
                "`preference` is Outcome.LEFT for `exhibit.left`, which is shown first.",
                case,
            )
    if answers.winner(cases.PAIR) is Outcome.RIGHT is answers.winner(f"{cases.PAIR}{SWAPPED}"):
        findings.note(f"It prefers the {cases.FAILURE} to the {cases.SUCCESS}, in both orders")


def _answer(result: plugin_check.Observation) -> str:
    """One case's answer in a few words."""
    if result.error is not None:
        return f"raised {type(result.error).__name__}"
    verdict = result.returned
    if verdict_problems(verdict):
        return "not a usable verdict"
    if verdict.status is not Status.OK:
        return str(verdict.status.value)
    if verdict.preference is not None:
        return str(verdict.preference.value)
    return (
        f"{verdict.score:g}"
        if verdict.score is not None
        else ", ".join(f"{k} {v:g}" for k, v in verdict.scores.items())
    )
