"""Judge variants: the judge with its version, prompt, parameters and orders. One row per variant.

Two judgments with the same variant answer the same question in the same way. ``workflows/views`` decides which
variant of a judge counts; here it only gets its identity.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

from imarena.core import canonical_json, sha256_hex
from imarena.core.records import Judgment

ORDERS = "orders"
"""The parameter that names how the single order of a battle was chosen; absent if both orders are asked."""
HIGHER = "higher_is_better"


@dataclass(frozen=True)
class JudgeVariant:
    """A judge as configured when it gave verdicts. `orders` is empty if both orders of a battle are asked."""

    judge: str
    dimension: str
    pairwise: bool
    imported: bool
    """Imported from elsewhere: the parameters are not known here and do not distinguish variants."""
    judge_version: str
    prompt_id: str
    prompt_version: str
    parser_version: str
    params: str
    orders: str
    higher_is_better: bool

    @cached_property
    def form_id(self) -> int:
        """A positive 63-bit number from the content."""
        content = canonical_json(list(asdict(self).values())).encode("utf-8", "surrogatepass")
        return int(sha256_hex(content)[:16], 16) >> 1

    def row(self) -> dict[str, Any]:
        """The variant's row in the table ``judge_forms``."""
        return {"id": self.form_id, **{name: _plain(value) for name, value in asdict(self).items()}}


def variant_of(judgment: Judgment) -> JudgeVariant:
    """The variant of a judgment. Called for every judgment that is stored; equal variants share one object."""
    imported = judgment.run_id is None
    higher = judgment.params.get(HIGHER) is not False
    return _variant(
        "" if imported else canonical_json(judgment.params),
        higher,
        judgment.judge,
        judgment.dimension,
        judgment.right_id is not None,
        imported,
        judgment.judge_version,
        judgment.prompt_id,
        judgment.prompt_version,
        judgment.parser_version,
    )


@lru_cache(4096)
def _variant(
    params: str, higher: bool, judge: str, dimension: str, pairwise: bool, imported: bool, *rest: str
) -> JudgeVariant:
    names = ("judge_version", "prompt_id", "prompt_version", "parser_version")
    parsed_params: dict[str, Any] = json.loads(params) if params else {HIGHER: higher}
    fields = dict(zip(names, rest, strict=True))
    return variant_from(parsed_params, judge=judge, dimension=dimension, pairwise=pairwise, imported=imported, **fields)


def variant_from(params: Mapping[str, Any], *, imported: bool, **fields: Any) -> JudgeVariant:
    """A variant from a judgment's parameters and its other identifying fields."""
    own_params = {} if imported else {name: value for name, value in params.items() if name != ORDERS}
    return JudgeVariant(
        **fields,
        imported=imported,
        params=canonical_json(own_params) if own_params else "{}",
        orders="" if imported else str(params.get(ORDERS) or ""),
        higher_is_better=params.get(HIGHER) is not False,
    )


def variant_of_row(row: Any) -> JudgeVariant:
    """The variant of a row of the table ``judge_forms``."""
    flags = ("pairwise", "imported", "higher_is_better")
    values: dict[str, Any] = {name: bool(row[name]) if name in flags else row[name] for name in row if name != "id"}
    return JudgeVariant(**values)


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value
