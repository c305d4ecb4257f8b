"""`builtin`: a judge without a model, a network or a download. It reads the instruction, measures the pixels and
says what it cannot see. Four dimensions and a score like CV-Judge's (CV-Arena, section 4.2).
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from cachetools import LRUCache, cachedmethod
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, Verdict
from imarena.core.records import JsonDict, Outcome, Status
from imarena.images import decode
from imarena.judges.builtin.checks import (
    DONE,
    NOT_CHECKED,
    NOT_DONE,
    RuleInput,
    RuleResult,
    check_colour,
    check_object,
    check_remove,
    check_text,
)
from imarena.judges.builtin.curves import mean
from imarena.judges.builtin.dimensions import Dimensions, dimensions_of
from imarena.judges.builtin.facts import as_evidence, measure
from imarena.judges.builtin.generation import judge_generation
from imarena.judges.builtin.global_edits import check_background, check_enhance, check_style, check_view
from imarena.judges.builtin.likeness import Likeness
from imarena.judges.builtin.pair import Change, change_map, compare_changes
from imarena.judges.builtin.things import adjust_by_detections
from imarena.judges.cv_score import (
    EDITING,
    PERCEPTUAL,
    PROMPT,
    SEMANTIC,
    SUCCESS_THRESHOLD,
    WEIGHTS,
    CVScore,
    combine_dimensions,
)
from imarena.judges.options import read_judge_options
from imarena.language import Edit, EditKind, ParsedInstruction, is_english, read_instruction
from imarena.vision import (
    Difference,
    ModelLock,
    Region,
    TextLine,
    find_injections,
    frame_of,
    may_hold_text,
    measure_difference,
    read_lines,
    text_match,
)

VERSION = "6"
_CACHE_SIZE = 2048
_PLAIN = 400.0
"""Score gap (points) from which the confidence of a battle's verdict no longer grows."""
_MOST_LETTERS = 500
_NOTHING_ASKED = "There is no instruction: builtin cannot check whether the right thing was done. Add it to the item."
_FOREIGN = "builtin reads English only: it cannot check this instruction. Translate it, or ask a model."
_ELSE = re.compile(r"\b(?:everything|all|rest|else|others?|background|remaining|nothing|anything)\b")
_BLIND = (
    "recognises 80 everyday kinds of things (COCO's) and often misses them; whether any other thing was added,"
    " replaced or moved is inferred from where and how the pixels changed",
    "cannot judge faces, styles, physics or beauty",
)


class BuiltinSettings(BaseModel):
    """`margin`: scores at most this far apart tie in a battle. `ocr`: read text never, when needed, or always."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weights: tuple[float, float, float, float] = WEIGHTS
    success_threshold: float = Field(default=SUCCESS_THRESHOLD, ge=0, le=1000)
    margin: float = Field(default=10.0, ge=0, le=1000)
    ocr: Literal["never", "auto", "always"] = "auto"


@dataclass(frozen=True)
class Assessment:
    """The assessment of one output."""

    score: CVScore
    confidence: float
    evidence: JsonDict
    change: Change | None = None
    """A small map of the change from the source; None without a source."""
    not_done: bool = False
    """Part of the instruction was not done, which the four dimensions, averages over all parts, may hide."""


def _flags(lines: tuple[TextLine, ...] | None) -> list[JsonValue]:
    return [
        {"kind": injection.kind, "text": injection.text, "box": [round(v, 3) for v in injection.box]}
        for injection in find_injections(lines or ())
    ]


def _check_entry(check: RuleResult) -> JsonDict:
    return {
        "done": round(check.done, 3), "finding": check.finding, "trust": check.trust, "note": check.note,
        **check.evidence,
    }  # fmt: skip


def _keep_findings(reading: ParsedInstruction, preserved: bool) -> list[JsonValue]:
    """Findings for what must stay: checked for the background or "everything else", `not checked` for other things."""
    return [
        {"clause": clause, "finding": (DONE if preserved else NOT_DONE) if _ELSE.search(clause) else NOT_CHECKED}
        for clause in reading.keep
    ]


def _around(regions: tuple[Region, ...]) -> tuple[float, float, float, float]:
    """One box around all changes or, if they are far apart, around the largest one."""
    lefts, tops, rights, bottoms = zip(*(region.box for region in regions), strict=True)
    box = (min(lefts), min(tops), max(rights), max(bottoms))
    return box if (box[2] - box[0]) * (box[3] - box[1]) < 0.25 else regions[0].box


def _key(_: object, exhibit: Exhibit, __: ParsedInstruction, output: bytes) -> bytes:
    parts = (exhibit.instruction.encode("utf-8", "surrogatepass"), *exhibit.sources, *exhibit.references, output)
    return b"".join(hashlib.sha256(part).digest() for part in parts)


class BuiltinJudge:
    """Scores one output, or compares two by the same scores. Deterministic, and exactly symmetric in left and right."""

    name = "builtin"
    version = VERSION
    prompt_id = ""
    prompt_version = ""
    traits = JudgeTraits(cpu_bound=True)

    def __init__(self, settings: BuiltinSettings | None = None, likeness: Likeness | None = None) -> None:
        """`likeness` adds the similarity of image and text to the evidence; it needs an installed model."""
        self.settings = settings or BuiltinSettings()
        self._likeness = likeness
        self._assessments: LRUCache[bytes, Assessment] = LRUCache(_CACHE_SIZE)
        self._lock = ModelLock()
        combine_dimensions(0, 0, 0, 0, self.settings.weights, self.settings.success_threshold)

    @property
    def params(self) -> JsonDict:
        """The settings that a verdict depends on."""
        return {**self.settings.model_dump(mode="json")}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Judge the exhibit. An image that cannot be decoded gives `invalid_image`; an instruction without words,
        or in another language than English, gives `refused`: never a score.
        """
        if not any(letter.isalnum() for letter in exhibit.instruction):
            return Verdict(status=Status.REFUSED, error=_NOTHING_ASKED)
        if not is_english(exhibit.instruction):
            return Verdict(status=Status.REFUSED, error=_FOREIGN)
        reading = read_instruction(exhibit.instruction)
        outputs = [data for data in (exhibit.left, exhibit.right) if data is not None]
        try:
            assessed = [self._assessment(exhibit, reading, output) for output in outputs]
        except InvalidImage as error:
            return Verdict(status=Status.INVALID_IMAGE, error=str(error))
        shared = self._shared(exhibit, reading)
        if len(assessed) == 1:
            return self._pointwise(assessed[0], shared)
        return self._pairwise(assessed[0], assessed[1], shared)

    @cachedmethod(attrgetter("_assessments"), key=_key, lock=attrgetter("_lock"))
    def _assessment(self, exhibit: Exhibit, reading: ParsedInstruction, output: bytes) -> Assessment:
        """Assess each output once; all its battles share the assessment."""
        picture = decode(output)
        if exhibit.sources:
            return self._assess(reading, decode(exhibit.sources[0]), picture)
        return self._assess_generated(reading, picture, [decode(data) for data in exhibit.references])

    def _shared(self, exhibit: Exhibit, reading: ParsedInstruction) -> JsonDict:
        cannot = list(_BLIND)
        if reading.unread:
            cannot.append(f"did not understand: {'; '.join(reading.unread)}"[:_MOST_LETTERS])
        if not exhibit.sources:
            cannot.append("there is no source: only quality, named colours and quoted words were judged")
        if len(exhibit.sources) > 1 or exhibit.references:
            cannot.append("looked at the first source only; other sources and references were not used")
        edits: list[JsonValue] = [
            {"kind": e.kind.value, "target": e.target, "value": e.value, "clause": e.clause} for e in reading.edits
        ]
        return {"asked": edits, "must_keep": list(reading.keep), "cannot_judge": list(cannot)}

    def _pointwise(self, assessment: Assessment, shared: JsonDict) -> Verdict:
        reasons: JsonDict = {
            **shared,
            **assessment.evidence,
            "initial": assessment.score.initial,
            "caps": list(assessment.score.caps),
        }
        return Verdict(
            status=Status.OK,
            score=assessment.score.score,
            scores=assessment.score.dimensions,
            success=assessment.score.success and not assessment.not_done,
            confidence=assessment.confidence,
            reasons=reasons,
            raw=json.dumps(reasons, sort_keys=True),
            model=f"builtin-{VERSION}",
        )

    def _pairwise(self, left: Assessment, right: Assessment, shared: JsonDict) -> Verdict:
        direct = None if left.change is None or right.change is None else compare_changes(left.change, right.change)
        gap = left.score.score - right.score.score
        if direct is not None and direct.comparable:
            gap = self._apart(left, right) + direct.points
        gap = round(gap, 6)
        outcome = Outcome.TIE if abs(gap) <= self.settings.margin else (Outcome.LEFT if gap > 0 else Outcome.RIGHT)
        scores = {"left.score": left.score.score, "right.score": right.score.score}
        for side, assessment in (("left", left), ("right", right)):
            scores |= {f"{side}.{name}": value for name, value in assessment.score.dimensions.items()}
        reasons: JsonDict = {**shared, "gap": gap, "left": left.evidence, "right": right.evidence}
        if direct is not None:
            reasons["direct"] = direct.evidence
        return Verdict(
            status=Status.OK,
            preference=outcome,
            scores=scores,
            confidence=min(left.confidence, right.confidence) * min(1.0, abs(gap) / _PLAIN),
            reasons=reasons,
            raw=json.dumps(reasons, sort_keys=True),
            model=f"builtin-{VERSION}",
        )

    def _apart(self, left: Assessment, right: Assessment) -> float:
        """The score difference of two outputs that make the same change. Dimensions about that change are weighted by
        the checks' trust, because the checks saw the same thing twice.
        """
        trust = min(left.confidence, right.confidence)
        w_s, w_e, w_i, w_p = self.settings.weights
        weights = {SEMANTIC: w_s, EDITING: trust * w_e, PROMPT: trust * w_i, PERCEPTUAL: w_p}
        ours, theirs = left.score.dimensions, right.score.dimensions
        return math.fsum(weight * (ours[name] - theirs[name]) for name, weight in weights.items())

    def _assess(self, reading: ParsedInstruction, source: Image.Image, output: Image.Image) -> Assessment:
        difference = measure_difference(frame_of(source), output)
        facts = measure(difference)
        lines = self._read(reading, difference, output)
        old_lines = self._read_source(reading, source) if lines is not None else None
        scene = RuleInput(difference, facts, lines, old_lines, self._likeness)
        checks = tuple(check_edit(edit, scene) for edit in reading.edits)
        dimensions = dimensions_of(reading, scene, checks)
        evidence: JsonDict = {
            "facts": as_evidence(facts),
            "checks": [_check_entry(check) for check in checks],
            "kept": _keep_findings(reading, dimensions.semantic > self.settings.success_threshold),
            "injection": _flags(lines),
        }
        trust = mean(c.trust for c in checks) if checks else 0.1
        certain = max(trust, 0.9) if facts.returned_input else trust
        not_done = any(check.finding == NOT_DONE for check in checks)
        return Assessment(self._combined(dimensions), round(certain, 3), evidence, change_map(difference), not_done)

    def _read(
        self, reading: ParsedInstruction, difference: Difference, output: Image.Image
    ) -> tuple[TextLine, ...] | None:
        """Read the output's text; if the requested words are missing, read the changed area again, enlarged."""
        if self.settings.ocr == "never":
            return None
        if not (reading.about_text or self.settings.ocr == "always" or may_hold_text(difference)):
            return None
        lines = read_lines(output)
        texts = [edit.text for edit in reading.edits if edit.text]
        if difference.regions and any(text_match(text, lines) < 1.0 for text in texts):
            lines = (*lines, *read_lines(output, _around(difference.regions)))
        return lines

    def _read_source(self, reading: ParsedInstruction, source: Image.Image) -> tuple[TextLine, ...] | None:
        """Read the source's text if an edit changes text without naming the old text."""
        if not any(e.kind is EditKind.TEXT and not e.old_text for e in reading.edits):
            return None
        return read_lines(source)

    def _assess_generated(
        self, reading: ParsedInstruction, output: Image.Image, references: list[Image.Image]
    ) -> Assessment:
        for reference in references:
            if measure(measure_difference(frame_of(reference), output)).returned_input:
                copied = Dimensions(0.0, 0.0, 0.0, 1000.0)
                return Assessment(self._combined(copied), 0.9, {"facts": {"returned_reference": True}, "injection": []})
        must_read = self.settings.ocr == "always" or (self.settings.ocr == "auto" and reading.about_text)
        lines = read_lines(output) if must_read else None
        dimensions, confidence, evidence = judge_generation(reading.instruction, frame_of(output), lines)
        return Assessment(self._combined(dimensions), confidence, {"facts": evidence, "injection": _flags(lines)})

    def _combined(self, d: Dimensions) -> CVScore:
        s = self.settings
        return combine_dimensions(d.semantic, d.editing, d.prompt, d.perceptual, s.weights, s.success_threshold)


def make(options: Mapping[str, JsonValue], _: Chat | None = None) -> BuiltinJudge:
    """The judge from a table of options."""
    return BuiltinJudge(read_judge_options(BuiltinSettings, options, "builtin"))


_EditRule = Callable[[Edit, RuleInput], RuleResult]

RULES: dict[EditKind, _EditRule] = {
    EditKind.COLOUR: check_colour,
    EditKind.REMOVE: check_remove,
    EditKind.TEXT: check_text,
    EditKind.BACKGROUND: check_background,
    EditKind.STYLE: check_style,
    EditKind.ENHANCE: check_enhance,
    EditKind.EXTEND: check_view,
    EditKind.VIEW: check_view,
}


def check_edit(edit: Edit, scene: RuleInput) -> RuleResult:
    """Apply the rule for the edit's kind; kinds without a rule are checked as a change of an object."""
    return adjust_by_detections(RULES.get(edit.kind, check_object)(edit, scene), edit, scene)
