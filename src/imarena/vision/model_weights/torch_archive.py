"""Read the tensors of a `.pt` or `.pth` file with NumPy alone, without running anything that the file names.

Such a file is a ZIP archive with a pickle (`data.pkl`) and one member per storage. A pickle is a program: this
reader knows only the opcodes that build dictionaries, lists, tuples, numbers and strings, and the calls that torch
and NumPy write for tensors and arrays. Each call maps to a function of this package, never to torch or NumPy; any
other opcode or name refuses the file. It reads what `torch.save` has written since torch 1.6; older files are
refused. A `.ckpt` is a pickle of NumPy arrays without an archive around it, as programs with JAX write it.
"""

import io
import pickle
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from imarena.core import UserError
from imarena.vision.model_weights.safetensors_file import StoredTensor
from imarena.vision.model_weights.torch_values import (
    ALLOWED_CALLS,
    STORAGE_TYPES,
    AllowedCall,
    PickledArray,
    PickledDict,
    PickledDtype,
    Storage,
    StorageType,
    UnsafePickle,
)

MAX_PICKLE_BYTES = 64 * 1024 * 1024
MAX_TENSORS = 100_000
_MAX_DEPTH = 4
_MAX_GROWTH = 4
"""Tensors may share a storage. Together they may be at most this many times as large as the file."""
_KEY = re.compile(r"\d{1,9}")
_STEPS = frozenset(
    {
        "PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "DUP", "NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT",
        "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE",
        "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BINSTRING", "SHORT_BINSTRING", "EMPTY_TUPLE",
        "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS",
        "PUT", "BINPUT", "LONG_BINPUT", "GET", "BINGET", "LONG_BINGET", "MEMOIZE", "GLOBAL", "STACK_GLOBAL", "REDUCE",
        "BUILD", "BINPERSID",
    }
)  # fmt: skip


class _TensorUnpickler(pickle._Unpickler):
    """Python's pure-Python unpickler, limited to known opcodes: the C version accepts any, and preallocates memory."""

    def __init__(self, data: bytes, storage_of: Callable[[Any], Storage]) -> None:
        super().__init__(io.BytesIO(data), encoding="latin1")
        self._storage_of = storage_of

    def find_class(self, module: str, name: str) -> AllowedCall | StorageType:
        """Map a name that torch or NumPy writes to a function of this package; refuse any other name."""
        allowed = ALLOWED_CALLS.get((module, name)) or (STORAGE_TYPES.get(name) if module == "torch" else None)
        if allowed is None:
            raise UnsafePickle(f"it names {module}.{name}"[:200])
        return allowed

    def persistent_load(self, pid: Any) -> Storage:
        return self._storage_of(pid)

    def load_empty_dict(self) -> None:
        self.append(PickledDict())

    def load_reduce(self) -> None:
        arguments = self.stack.pop()
        call = self.stack[-1]
        if not isinstance(call, AllowedCall) or not isinstance(arguments, tuple):
            raise UnsafePickle("it calls something that is no function")
        self.stack[-1] = call(*arguments)

    def load_build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if not isinstance(target, PickledDict | PickledArray | PickledDtype):
            raise UnsafePickle("it sets the state of something that has none")
        target.set_state(state)

    def load_unknown(self) -> None:
        raise UnsafePickle("it has a step that no file of tensors needs")

    stack: list[Any]
    append: Callable[[Any], None]
    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {}  # filled below, from the methods


def _known_steps() -> dict[int, Callable[[Any], None]]:
    allowed_codes = {getattr(pickle, name)[0] for name in _STEPS}
    steps = {
        code: step if code in allowed_codes else _TensorUnpickler.load_unknown
        for code, step in pickle._Unpickler.dispatch.items()
    }
    steps[pickle.EMPTY_DICT[0]] = _TensorUnpickler.load_empty_dict
    steps[pickle.REDUCE[0]] = _TensorUnpickler.load_reduce
    steps[pickle.BUILD[0]] = _TensorUnpickler.load_build
    return steps


_TensorUnpickler.dispatch = _known_steps()


def read_torch_archive(path: Path) -> dict[str, StoredTensor]:
    """Every tensor and array of a file by its name; names of nested dictionaries are joined with dots."""
    try:
        if path.suffix == ".ckpt":
            return _Collector(path).collect(_TensorUnpickler(_bounded(path), _no_storage).load())
        with zipfile.ZipFile(path) as archive:
            return _Collector(path).collect(_Members(archive).unpickled())
    except UnsafePickle as error:
        raise UserError(
            f"{path.name} is refused: {error}.", hint="Only files of tensors are read; nothing in it was run."
        ) from error
    except zipfile.BadZipFile as error:
        raise UserError(
            f"{path.name} is not an archive that torch has written since version 1.6.",
            hint="Convert it to safetensors with the program that made it.",
        ) from error
    except (pickle.UnpicklingError, struct.error, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError,
            OverflowError, RecursionError, NotImplementedError, RuntimeError) as error:  # fmt: skip
        # Python's unpickler raises any of these for a damaged pickle
        raise UserError(f"{path.name} is damaged: {type(error).__name__}.", hint="Download it again.") from error


def _bounded(path: Path) -> bytes:
    if path.stat().st_size > MAX_PICKLE_BYTES:
        raise UnsafePickle("it is too large")
    return path.read_bytes()


def _no_storage(_: Any) -> Storage:
    raise UnsafePickle("it names something outside of the file")


class _Members:
    """The members of one archive. Compressed members are refused: torch writes none, and they can be bombs."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.infos = {info.filename: info for info in archive.infolist()}
        pickles = [name for name in self.infos if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(pickles) != 1:
            raise UnsafePickle("it holds no data.pkl, or several")
        self.root = pickles[0].removesuffix("data.pkl")
        order = f"{self.root}byteorder"
        if order in self.infos and self.read(order, 16) != b"little":
            raise UnsafePickle("its numbers are not little-endian")
        self.storages: dict[str, Storage] = {}

    def unpickled(self) -> Any:
        return _TensorUnpickler(self.read(f"{self.root}data.pkl", MAX_PICKLE_BYTES), self.storage).load()

    def read(self, name: str, limit: int) -> bytes:
        info = self.infos.get(name)
        if info is None:
            raise UnsafePickle(f"its member {name[:100]} is missing")
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.file_size > limit:
            raise UnsafePickle(f"its member {name[:100]} is compressed or too large")
        return self.archive.read(info)

    def storage(self, pid: Any) -> Storage:
        if not isinstance(pid, tuple) or len(pid) != 5 or pid[0] != "storage":
            raise UnsafePickle("it names something outside that is no storage")
        _, kind, key, _, count = pid
        if not isinstance(kind, StorageType) or not isinstance(key, str) or not _KEY.fullmatch(key):
            raise UnsafePickle("it names a storage in an unknown way")
        if key not in self.storages:
            data = self.read(f"{self.root}data/{key}", 1 << 40)
            if len(data) % np.dtype(kind.numpy).itemsize:
                raise UnsafePickle(f"its storage {key} is cut")
            self.storages[key] = Storage(kind, np.frombuffer(data, kind.numpy))
        storage = self.storages[key]
        if storage.kind is not kind or type(count) is not int or len(storage.values) != count:
            raise UnsafePickle(f"its storage {key} has not the type or the size that it states")
        return storage


class _Collector:
    """Collect tensors from nested dictionaries; skip numbers, strings and lists next to them (an epoch, options)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.left_bytes = _MAX_GROWTH * path.stat().st_size
        self.left_entries = 10 * MAX_TENSORS
        self.tensors: dict[str, StoredTensor] = {}

    def collect(self, content: Any) -> dict[str, StoredTensor]:
        self._walk(content, "", 0)
        if not self.tensors:
            raise UserError(f"{self.path.name} holds no tensor.", hint="Give a file with a state dictionary.")
        return self.tensors

    def _walk(self, value: Any, name: str, depth: int) -> None:
        self.left_entries -= 1
        if self.left_entries < 0 or len(self.tensors) > MAX_TENSORS:
            raise self._too_large()
        if isinstance(value, PickledArray):
            value = value.tensor()
        if isinstance(value, StoredTensor):
            self.left_bytes -= value.values.nbytes
            if self.left_bytes < 0:
                raise self._too_large()
            if name in self.tensors:
                raise UserError(f"{self.path.name} holds two tensors called '{name}'.", hint="Convert it by hand.")
            self.tensors[name or "tensor"] = value
        elif isinstance(value, PickledDict) and depth < _MAX_DEPTH:
            for key, inner in value.items():
                self._walk(inner, f"{name}.{key}" if name else str(key), depth + 1)

    def _too_large(self) -> UserError:
        return UserError(f"{self.path.name} holds more tensors than its size allows.", hint="It may be an attack.")
