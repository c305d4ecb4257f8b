"""Hypothesis strategies for every kind of record, derived from the fields' types."""

import types
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from imarena.core.records import ImageRef, Judgment, Output, Record, Status, Vote
from imarena.datasets.native.records import KINDS
from tests.unit.datasets.intake import MemoryIntake, picture

PICTURES = MemoryIntake()
IMAGES = [PICTURES.keep(picture(seed), name=str(seed)) for seed in range(4)]

text = st.text(st.characters(codec="utf-8"), max_size=12)
number = st.floats(allow_nan=False, allow_infinity=False)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | number | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
moment = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC))


def _of(annotation: Any, name: str) -> st.SearchStrategy[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _of(get_args(annotation)[0], name)
    if origin in {Union, types.UnionType}:
        return st.one_of([_of(part, name) for part in get_args(annotation)])
    if origin is tuple:
        parts = get_args(annotation)
        if len(parts) == 2 and parts[1] is Ellipsis:
            return st.lists(_of(parts[0], name), min_size=name == "turns", max_size=2).map(tuple)
        return st.tuples(*[_of(part, name) for part in parts])
    if origin is dict:
        return st.dictionaries(text, _of(get_args(annotation)[1], name), max_size=2)
    return _plain(annotation, name)


def _plain(annotation: Any, name: str) -> st.SearchStrategy[Any]:
    simple: dict[Any, st.SearchStrategy[Any]] = {
        type(None): st.none(),
        ImageRef: st.sampled_from(IMAGES),
        bool: st.booleans(),
        int: st.integers(0, 2**64 - 1) if name == "seed" else st.integers(0, 1000),
        float: number,
        str: text.filter(bool) if name in {"dataset", "key"} else text,
        datetime: moment,
    }
    if isinstance(annotation, type):
        if annotation in simple:
            return simple[annotation]
        if issubclass(annotation, Enum):
            return st.sampled_from(list(annotation))
        if issubclass(annotation, BaseModel):
            return _fields(annotation).map(annotation.model_validate)
    return json_value


def _fields(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    def strategy(name: str, field: FieldInfo) -> st.SearchStrategy[Any]:
        return _of(field.annotation, name)

    return st.fixed_dictionaries({name: strategy(name, field) for name, field in model.model_fields.items()})


def _consistent(model: type[Record], values: dict[str, Any]) -> dict[str, Any]:
    """Bend drawn values to the rules that the record itself enforces."""
    if model is Output:
        if values["status"] is not Status.OK:
            values["image"] = None
        elif values["image"] is None and values["origin"] is None:
            values["image"] = IMAGES[0]
    if model is Judgment:
        if values["status"] is not Status.OK:
            values |= {"preference": None, "score": None, "scores": {}}
        elif values["score"] is None and not values["scores"]:
            values["score"] = 1.0
        if values["right_id"] is None:
            values["preference"] = None
            if values["status"] is Status.OK:
                values["score"] = 0.5
    if model is Vote:
        values["scale"] = None
        values["right_id"] = values["right_id"] or "output_right"
        values["supersedes"] = values["supersedes"] or "vote_before"
        if values["preference"] is None and not values["ratings"]:
            values["retracted"] = True
    return values


def records_of(kind: str) -> st.SearchStrategy[Record]:
    """Any record of a kind."""
    model = KINDS[kind]
    return _fields(model).map(lambda values: model.model_validate(_consistent(model, values)))


any_record = st.sampled_from(sorted(KINDS)).flatmap(records_of)
