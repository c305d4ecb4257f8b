"""One line with everything that affects a board's numbers. Two boards with the same signature have the same numbers."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from imarena.core import VERSION, UserError, canonical_json, command_line, package_yaml, sha256_hex
from imarena.core.records import Ranking
from imarena.ranking.encode import CodedTable
from imarena.tables import row_slices

SIGNATURE, CONTENT_KEY = "signature", "content_key"
_SAFE = " +-._/,@#()="
_SHORT = 12
AT_ONCE = 50_000
_DESCRIPTIVE = frozenset({SIGNATURE, CONTENT_KEY, "beside", "default_because", "verdicts", "by_scores", "made_at"})
"""Settings that follow from others or are only descriptive."""


def signature(ranking: Ranking, data: Mapping[str, str]) -> str:
    """The signature of a board; `data` describes what it was made from."""
    settings = {name: value for name, value in _flat(ranking.settings) if name not in data}
    parts = {"imarena": VERSION, **data, "method": ranking.method, **settings}
    parts |= {f"group.{name}": value for name, value in sorted(ranking.scope.items())}
    return "|".join(f"{name}:{quote(value, safe=_SAFE)}" for name, value in parts.items() if value)


def sign_ranking(ranking: Ranking, data: Mapping[str, str]) -> Ranking:
    """The board with its signature, and with a hash of it as the key for storing the board once."""
    line = signature(ranking, data)
    settings = {**ranking.settings, SIGNATURE: line, CONTENT_KEY: sha256_hex(line.encode())}
    return ranking.model_copy(update={"settings": settings})


def table_data(table: Any) -> dict[str, str]:
    """Describe a table of battles: the number of its battles and items, each with a hash, and its data sets."""
    digest, names = hashlib.blake2b(digest_size=16), table.column_names  # twice as fast as SHA-256 here
    for name in sorted(names):
        digest.update(name.encode())
        coded = table.coded(name) if isinstance(table, CodedTable) else None
        if coded is not None:
            _update_names(digest, coded.names)
            for rows in row_slices(coded.of.size):
                digest.update(np.ascontiguousarray(coded.of[rows]).data)
        elif isinstance(table, CodedTable):
            for part in table.signed_bytes(name):
                digest.update(part)
        else:
            _update(digest, table[name].combine_chunks())
    data = {"battles": f"{table.num_rows}#{digest.hexdigest()[:_SHORT]}"}
    if "item" in names and table.num_rows:
        items = _names_in(table, "item")
        data["items"] = f"{len(items)}#{sha256_hex(canonical_json(items).encode('utf-8', 'surrogatepass'))[:_SHORT]}"
    if "dataset" in names:
        data["data"] = ", ".join(_names_in(table, "dataset"))
    return data


def _names_in(table: Any, column: str) -> list[str]:
    names = table.words(column) if isinstance(table, CodedTable) else table[column].unique().to_pylist()
    return sorted(str(name) for name in names if name is not None)


def _update_names(digest: Any, names: Sequence[str | None]) -> None:
    digest.update(canonical_json(list(names)).encode("utf-8", "surrogatepass"))


def signed_numbers(numbers: NDArray[np.float64]) -> Iterator[Any]:
    """The bytes of a column of numbers: which are missing (NaN), if any, followed by the numbers."""
    if any(np.isnan(numbers[rows]).any() for rows in row_slices(numbers.size)):
        yield from (np.isnan(numbers[rows]).data for rows in row_slices(numbers.size))
    yield from (np.where(np.isnan(numbers[rows]), 0.0, numbers[rows]).data for rows in row_slices(numbers.size))


def _update(digest: Any, column: Any) -> None:
    """Hash a column: a dictionary and the codes of the rows, the numbers, or the text of its values."""
    import pyarrow as pa

    if hasattr(column, "num_chunks"):  # some versions of Arrow return a chunked array, possibly empty
        column = column.chunk(0) if column.num_chunks else pa.nulls(0)
    if hasattr(column, "dictionary"):
        _update_names(digest, column.dictionary.to_pylist())
        column = column.indices.fill_null(-1)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        if column.null_count:
            digest.update(np.ascontiguousarray(column.is_null().to_numpy(zero_copy_only=False)))
            column = column.fill_null(0)
        digest.update(np.ascontiguousarray(column.to_numpy(zero_copy_only=False)))
    else:
        for begin in range(0, max(len(column), 1), AT_ONCE):  # same as `repr` of the whole list, without building it
            digest.update(b", " if begin else b"[")
            digest.update(listed_text(column.slice(begin, AT_ONCE)).encode("utf-8", "surrogatepass"))
        digest.update(b"]")


def listed_text(column: Any) -> str:
    """The `repr` of a list without its brackets; each distinct text is converted only once."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        return repr(column.to_pylist())[1:-1]
    coded = column.dictionary_encode()
    words = [*map(repr, coded.dictionary.to_pylist()), "None"]
    return ", ".join([words[code] for code in coded.indices.fill_null(-1).to_pylist()])


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in sorted(settings.items()):
        if name in _DESCRIPTIVE:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            if value:
                yield f"{prefix}{name}", f"#{sha256_hex(canonical_json(list(value)).encode())[:_SHORT]}"
        elif value is not None and value != "":
            yield f"{prefix}{name}", str(value).lower() if isinstance(value, bool) else str(value)


def explain_signature(line: str) -> list[tuple[str, str, str]]:
    """The parts of a signature: name, value, and meaning. Raises `UserError` if it is not a signature."""
    parts = [part.partition(":") for part in line.strip().replace("\\|", "|").split("|")]  # Markdown escapes it
    if len(parts) < 2 or any(not colon for _, colon, _ in parts) or parts[0][0] != "imarena":
        raise UserError(
            "This is not a signature of a board.",
            hint=f"Copy the whole line that `{command_line('rank')}` prints below the table, in quotes.",
        )
    meanings = package_yaml("imarena.ranking", "signature_parts.yaml")
    return [
        (name, unquote(value), meanings.get(name.partition(".")[0], "a setting of the method"))
        for name, _, value in parts
    ]
