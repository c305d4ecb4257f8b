"""Versioned prompt files: validated when loaded, rendered deterministically."""

import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Literal, TypeVar

import yaml
from pydantic import Field, ValidationError, model_validator

from imarena.core import Exhibit, UserError, canonical_json, sha256_hex, unknown_name, validation_problem
from imarena.core.records import FrozenModel, JsonDict

M = TypeVar("M", bound=FrozenModel)
ImageSlot = Literal["source", "reference", "left", "right"]
_PLACEHOLDER = re.compile(r"\{(instruction|task|criteria|expected_objects)\}")


class PromptCriterion(FrozenModel):
    """One criterion: its definition, and descriptions of some values on its scale."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    definition: str
    anchors: dict[str, str] = Field(default_factory=dict)


class PromptInput(FrozenModel):
    """What an exhibit must contain for this prompt. An upper bound of None means any number."""

    instruction: bool = True
    sources: tuple[int, int | None] = (0, None)
    references: tuple[int, int | None] = (0, None)
    left: bool = True
    right: bool = False


class PromptPart(FrozenModel):
    """A part of the question: text, or all images of a slot, each with its label."""

    text: str = ""
    image: ImageSlot | None = None
    label: str = ""
    when: ImageSlot | None = None
    """Include the part only if the exhibit has an image in this slot."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "PromptPart":
        if bool(self.text) == (self.image is not None):
            raise ValueError("a part is either text or an image")
        return self


class Prompt(FrozenModel):
    """A prompt file: the question, the images to show and the form of the reply."""

    prompt_id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    version: str
    about: str
    system: str
    user: tuple[PromptPart, ...] = Field(min_length=1)
    input: PromptInput = PromptInput()
    criteria: tuple[PromptCriterion, ...] = ()
    scale: tuple[float, float] | None = None
    output: JsonDict

    @model_validator(mode="after")
    def _consistent(self) -> "Prompt":
        slots = {part.image for part in self.user if part.image is not None}
        text = self.system + "".join(part.text for part in self.user)
        if self.input.instruction != ("{instruction}" in text):
            raise ValueError("{instruction} has to stand in the prompt exactly when the input asks for it")
        if "{instruction}" in self.system:
            raise ValueError("the instruction is not ours and never stands in the system message")
        if "{expected_objects}" in self.system:
            raise ValueError("the expected objects are not ours and never stand in the system message")
        if self.input.left != ("left" in slots) or self.input.right != ("right" in slots):
            raise ValueError("the prompt shows other candidates than its input asks for")
        if self.input.sources[0] > 0 and "source" not in slots:
            raise ValueError("the prompt asks for a source and does not show it")
        if self.output.get("type") != "object":
            raise ValueError("the reply has to be a JSON object")
        return self

    @property
    def shows_objects(self) -> bool:
        """Does the prompt show the list of expected objects?"""
        return any("{expected_objects}" in part.text for part in self.user)

    def check(self, exhibit: Exhibit) -> None:
        """Raise if the exhibit lacks something that the prompt needs, before any call is paid for."""
        if self.input.right and exhibit.right is None:
            raise UserError(f"{self.prompt_id} compares two outputs and got one.", hint="Use it with `battle`.")
        if not self.input.right and exhibit.right is not None:
            raise UserError(f"{self.prompt_id} scores one output and got two.", hint="Use it with `judge`.")
        for name, bounds, have in (
            ("source", self.input.sources, len(exhibit.sources)),
            ("reference", self.input.references, len(exhibit.references)),
        ):
            low, high = bounds
            if have < low or (high is not None and have > high):
                needs = f"{low} to {high}" if high is not None else f"{low} or more"
                raise UserError(
                    f"{self.prompt_id} needs {needs} {name} images and got {have}.",
                    hint="Choose a judge for this kind of item: see docs/guide/judges.md.",
                )

    def preview(self, exhibit: Exhibit) -> tuple[str | bytes, ...]:
        """The system message and all parts, as they would be sent."""
        rendered = render_prompt(self, exhibit)
        return (rendered.system, *rendered.parts)

    @property
    def sha256(self) -> str:
        """Hash of the file's and the guard's content, which detects a change without a new version."""
        return sha256_hex((canonical_json(self.model_dump(mode="json")) + injection_guard()).encode())


@dataclass(frozen=True)
class RenderedPrompt:
    """A question that is ready to send."""

    system: str
    parts: tuple[str | bytes, ...]
    output: JsonDict

    @cached_property
    def sha256(self) -> str:
        """Hash of every word, every image and the form of the reply."""
        digests = [sha256_hex(part) if isinstance(part, bytes) else part for part in self.parts]
        return sha256_hex(canonical_json([self.system, digests, self.output]).encode("utf-8", "surrogatepass"))


@cache
def injection_guard() -> str:
    """The part of every system message that tells the model to treat images and instructions as data."""
    return resources.files("imarena.judges").joinpath("prompts/guard.txt").read_text(encoding="utf-8").strip()


def load_prompt(name: str) -> Prompt:
    """Load a bundled prompt by its name, or your own by the path of its YAML file."""
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.is_file():
            raise UserError(f"There is no prompt file {name}.", hint="Give the path of a YAML file.")
        return read_prompt(path.read_text(encoding="utf-8"), name)
    return _bundled(name)


@cache
def _bundled(name: str) -> Prompt:
    file = resources.files("imarena.judges").joinpath(f"prompts/{name}.yaml")
    if not file.is_file():
        raise unknown_name("There is no prompt called", name, prompt_names())
    return read_prompt(file.read_text(encoding="utf-8"), name)


@cache
def prompt_names() -> tuple[str, ...]:
    """Names of the bundled prompts."""
    folder = resources.files("imarena.judges").joinpath("prompts")
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".yaml")))


def read_prompt(text: str, name: str) -> Prompt:
    """Parse and validate a prompt file; an error names the place of the mistake."""
    return read_yaml_model(Prompt, text, f"The prompt file {name}")


def read_yaml_model(model: type[M], text: str, name: str) -> M:
    """Parse and validate a YAML file of a judge; an error begins with `name` and names the place of the mistake."""
    try:
        return model.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise UserError(f"{name} is not valid: {error}", hint="See docs/guide/judges.md.") from error
    except ValidationError as error:
        problem = validation_problem(error, model)
        hint = f"{problem.hint} See docs/guide/judges.md.".strip()
        raise UserError(f"{name} is not valid: {problem.text}.", hint=hint) from error


# ---------------------------------------------------------------- rendering


def quote_untrusted(text: str) -> str:
    """Wrap untrusted text in marks that it cannot contain, because they include its hash."""
    mark = sha256_hex(text.encode("utf-8", "surrogatepass"))[:12]
    return f"<<<DATA {mark}\n{text}\n{mark} DATA>>>"


def render_prompt(prompt: Prompt, exhibit: Exhibit) -> RenderedPrompt:
    """Fill in a prompt. The same prompt and exhibit always give the same bytes."""
    prompt.check(exhibit)
    values = {
        "instruction": quote_untrusted(exhibit.instruction),
        "task": quote_untrusted(exhibit.task or "not stated"),
        "criteria": _criteria_text(prompt),
        "expected_objects": quote_untrusted("\n".join(exhibit.expected_objects) or "nothing is listed"),
    }

    def fill(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: values[match[1]], text).strip()

    parts: list[str | bytes] = []
    for part in prompt.user:
        if part.when is not None and not slot_pictures(exhibit, part.when):
            continue
        if part.image is None:
            parts.append(fill(part.text))
            continue
        pictures = slot_pictures(exhibit, part.image)
        for number, picture in enumerate(pictures, start=1):
            counted = f" {number} of {len(pictures)}" if len(pictures) > 1 else ""
            parts += [f"{part.label or part.image}{counted}:", picture]
    return RenderedPrompt(f"{fill(prompt.system)}\n\n{injection_guard()}", tuple(parts), prompt.output)


def slot_pictures(exhibit: Exhibit, slot: ImageSlot) -> tuple[bytes, ...]:
    """The exhibit's images for a slot."""
    if slot == "source":
        return exhibit.sources
    if slot == "reference":
        return exhibit.references
    if slot == "left":
        return (exhibit.left,)
    return () if exhibit.right is None else (exhibit.right,)


def _criteria_text(prompt: Prompt) -> str:
    lines = []
    for criterion in prompt.criteria:
        lines.append(f"- {criterion.name}: {criterion.definition.strip()}")
        lines += [f"    {value}: {meaning.strip()}" for value, meaning in criterion.anchors.items()]
    return "\n".join(lines)
