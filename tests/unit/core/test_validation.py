"""Errors of pydantic in plain words: the field, what was given, what is expected."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from imarena.core import validation_problem, value_problem
from imarena.core.validation import ValidationProblem


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size: int = 1
    color: str = ""


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    rounds: int = 1
    share: float = Field(default=0.5, ge=0, le=1)
    fast: bool = False
    mode: Literal["single", "complex"] = "single"
    notes: Annotated[str, Field(max_length=5)] = ""
    parts: list[Part] = Field(default_factory=list, max_length=2)
    table: dict[str, Part] = Field(default_factory=dict)
    limit: int | list[int] | None = None
    api_key: int = 0

    @field_validator("name")
    @classmethod
    def _checked(cls, value: str) -> str:
        if not value:
            raise ValueError("a name has letters.")
        return value


def problem_of(**values: Any) -> ValidationProblem:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate({"name": "a", **values})
    return validation_problem(caught.value, Whole)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"rounds": "many"}, "rounds is 'many', and must be a whole number"),
        ({"rounds": 1.5}, "rounds is 1.5, and must be a whole number"),
        ({"rounds": None}, "rounds is empty, and must be a whole number"),
        ({"share": "half"}, "share is 'half', and must be a number"),
        ({"share": 2}, "share is 2, and must be at most 1.0"),
        ({"fast": "maybe"}, "fast is 'maybe', and must be true or false"),
        ({"mode": "sinle"}, "mode is 'sinle', and must be 'single' or 'complex'"),
        ({"notes": "too long"}, "notes is 'too long', and must be at most 5 characters long"),
        ({"name": 3}, "name is 3, and must be text"),
        ({"name": ""}, "name: a name has letters"),
        ({"parts": "x"}, "parts is 'x', and must be a list"),
        ({"parts": [{}, {}, {}]}, "parts is a list, and must be a list of 2 or fewer"),
        ({"parts": [3]}, "parts.0 is 3, and must be a table of names and values"),
        ({"limit": "x"}, "limit is 'x', and must be a whole number"),
        ({"api_key": "sk-secret"}, "api_key must be a whole number"),
        ({"rounds": "r" * 100}, f"rounds is '{'r' * 59}..., and must be a whole number"),
    ],
)
def test_each_kind_of_error_names_field_value_and_what_is_expected(values: dict[str, Any], text: str) -> None:
    assert problem_of(**values) == ValidationProblem(text, "")


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate({})
    assert validation_problem(caught.value).text == "the field 'name' is missing"


def test_an_unknown_field_gets_a_suggestion() -> None:
    text, hint = problem_of(rouns=3)
    assert text == "there is no field 'rouns'"
    assert hint.startswith("Did you mean 'rounds'? Known: api_key, fast,")


@pytest.mark.parametrize("values", [{"parts": [{"colour": "red"}]}, {"table": {"x": {"colour": "red"}}}])
def test_an_unknown_field_of_a_part_is_compared_with_the_fields_of_the_part(values: dict[str, Any]) -> None:
    assert problem_of(**values).hint == "Did you mean 'color'? Known: color, size."


def test_several_errors_are_listed_up_to_three() -> None:
    text, _ = problem_of(rounds="x", share="x", fast="x", mode="x", notes=3)
    assert text.count("must be") == 3
    assert text.endswith("; and 2 more")


def test_texts_without_values_are_equal_for_equal_mistakes() -> None:
    texts = set()
    for value in ("x", "y"):
        with pytest.raises(ValidationError) as caught:
            Whole.model_validate({"name": "a", "rounds": value})
        texts.add(validation_problem(caught.value, given=False).text)
    assert texts == {"rounds must be a whole number"}


def test_json_that_cannot_be_read() -> None:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate_json("{")
    assert validation_problem(caught.value).text.startswith("not JSON (EOF while parsing")


def test_a_single_value_needs_no_name() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(int).validate_python("x")
    assert value_problem(caught.value) == "the value is 'x', and must be a whole number"
