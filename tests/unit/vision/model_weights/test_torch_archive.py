"""Reading `.pt` files without torch: right values for honest files, and nothing run for the others."""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from imarena.core.errors import UserError
from imarena.vision.model_weights.safetensors_file import check_safetensors, write_safetensors
from imarena.vision.model_weights.torch_archive import read_torch_archive
from imarena.vision.model_weights.torch_values import ALLOWED_CALLS
from tests.models.torch_pickles import call, dictionary, named, number, several, state_dict, tensor, text, write_pt

FLOATS = np.arange(6, dtype=np.float32)


def test_tensors_have_their_names_types_and_values(tmp_path: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "a.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        "a.count": np.array(7, np.int64),
        "b": np.array([0.5, -2], np.float16),
        "c": np.array([0x3F80, 0xC000], np.uint16),  # 1.0 and -2.0 as bfloat16
    }
    read = read_torch_archive(write_pt(tmp_path / "x.pt", *state_dict(arrays)))
    assert {name: value.dtype for name, value in read.items()} == {
        "a.weight": "F32", "a.count": "I64", "b": "F16", "c": "BF16",
    }  # fmt: skip
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name].values, array)


def test_views_share_a_storage_and_keep_their_strides(tmp_path: Path) -> None:
    steps = dictionary(
        {
            "transposed": tensor("0", "FloatStorage", 6, (3, 2), (1, 3)),
            "last": tensor("0", "FloatStorage", 6, (2,), (1,), offset=4),
            "empty": tensor("0", "FloatStorage", 6, (0, 3), (3, 1)),
            "nested": dictionary({"parameter": call("torch._utils", "_rebuild_parameter",
                                  tensor("0", "FloatStorage", 6, (1,), (1,)), b"\x88", b"}")}),
            "epoch": number(3),
        }
    )  # fmt: skip
    read = read_torch_archive(write_pt(tmp_path / "x.pt", steps, {"0": FLOATS.tobytes()}))
    assert read["transposed"].values.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert read["last"].values.tolist() == [4, 5]
    assert read["empty"].values.shape == (0, 3)
    assert read["nested.parameter"].values.tolist() == [0]
    assert "epoch" not in read


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_arrays_of_numpy_are_read(tmp_path: Path, protocol: int) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "f": np.asfortranarray(np.arange(6).reshape(2, 3)),
    }
    whole = pickle.dumps(arrays, protocol)
    if protocol == 5:  # its arrays are written with another call, which torch never writes
        with pytest.raises(UserError, match="is refused"):
            _read_whole(tmp_path / "x.pt", whole)
        return
    read = _read_whole(tmp_path / "x.pt", whole)
    np.testing.assert_array_equal(read["a"].values, arrays["a"])
    np.testing.assert_array_equal(read["f"].values, arrays["f"])


def test_what_is_written_as_safetensors_is_the_same_each_time(tmp_path: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "b": np.arange(4, dtype=np.float16),
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    }
    read = read_torch_archive(write_pt(tmp_path / "x.pt", *state_dict(arrays)))
    write_safetensors(tmp_path / "1.safetensors", read)
    write_safetensors(tmp_path / "2.safetensors", dict(reversed(read.items())))
    assert (tmp_path / "1.safetensors").read_bytes() == (tmp_path / "2.safetensors").read_bytes()
    assert check_safetensors(tmp_path / "1.safetensors") == 2


def test_the_safetensors_library_reads_what_is_written(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy", reason="needs the vision extra")
    arrays: dict[str, NDArray[Any]] = {
        "b": np.arange(4, dtype=np.float16),
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    }
    write_safetensors(tmp_path / "x.safetensors", read_torch_archive(write_pt(tmp_path / "x.pt", *state_dict(arrays))))
    read = library.load_file(tmp_path / "x.safetensors")
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name], array)


GOOD = tensor("0", "FloatStorage", 6, (6,), (1,))
MARKER = "ran-by-a-pickle"
SETS_DEFAULTS = b"N" + dictionary({"__defaults__": several()}) + b"\x86b"
ATTACKS: dict[str, bytes] = {
    "os.system": call("os", "system", text(f"touch {MARKER}")),
    "posix.system": call("posix", "system", text(f"touch {MARKER}")),
    "builtins.eval": call("builtins", "eval", text(f"open({MARKER!r}, 'w')")),
    "builtins.getattr": call("builtins", "getattr", named("collections", "OrderedDict"), text("__init__")),
    "subprocess": call("subprocess", "Popen", text("true")),
    "importlib": call("importlib", "import_module", text("os")),
    "torch.load": call("torch", "load", text("x")),
    "load_from_bytes": call("torch.storage", "_load_from_bytes", text("x")),
    "numpy load": call("numpy", "load", text("x")),
    "numpy.memmap": call("numpy", "memmap", text("/etc/passwd")),
    "a dotted name": b"\x80\x04" + text("collections") + text("OrderedDict.__init__.__globals__") + b"\x93",
    "a dotted name of torch": call("torch", "FloatStorage.__class__"),
    "INST": b"(" + text("true") + b"ios\nsystem\n",
    "OBJ": b"(" + named("os", "system") + text("true") + b"o",
    "NEWOBJ": named("collections", "OrderedDict") + b")\x81",
    "NEWOBJ_EX": named("collections", "OrderedDict") + b")}\x92",
    "EXT1": b"\x82\x01",
    "PERSID": b"Pstorage\n",
    "calls a text": text("x") + b")R",
    "calls a storage": named("torch", "FloatStorage") + b")R",
    "changes a function": named("torch._utils", "_rebuild_tensor_v2") + SETS_DEFAULTS,
    "changes a storage type": named("torch", "FloatStorage") + dictionary({"numpy": text("O")}) + b"b",
    "changes a tensor": GOOD + dictionary({"dtype": text("x")}) + b"b",
    "encodes with a codec": call("_codecs", "encode", text("x"), text("zlib_codec")),
    "deep key": b"}" + b")" + b"\x85" * 200_000 + b"Ns",
    "frozenset": b"(" + b")" + b"\x85" * 200_000 + b"\x91",
    "object array": call("numpy", "dtype", text("O8"), b"\x89", b"\x88"),
    "huge type": call("numpy", "dtype", text("V1000000000"), b"\x89", b"\x88"),
    "another storage": several(text("file"), text("/etc/passwd")) + b"Q",
    "storage outside": tensor("../../etc/passwd", "FloatStorage", 6, (6,), (1,)),
    "missing storage": tensor("7", "FloatStorage", 6, (6,), (1,)),
    "wrong count": tensor("0", "FloatStorage", 7, (6,), (1,)),
    "wrong type": dictionary({"a": GOOD, "b": tensor("0", "IntStorage", 6, (6,), (1,))}),
    "reaches out": tensor("0", "FloatStorage", 6, (6,), (1,), offset=1),
    "stride out": tensor("0", "FloatStorage", 6, (2,), (1000,)),
    "negative offset": tensor("0", "FloatStorage", 6, (2,), (1,), offset=-4),
    "negative stride": tensor("0", "FloatStorage", 6, (2,), (-1,)),
    "expanded": tensor("0", "FloatStorage", 6, (1000, 1000, 1000), (0, 0, 0)),
    "too many dimensions": tensor("0", "FloatStorage", 6, (1,) * 40, (1,) * 40),
    "true is no size": call("torch._utils", "_rebuild_tensor_v2", GOOD, b"\x88", several(), several()),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused_and_runs_nothing(tmp_path: Path, attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = repr(sorted(map(repr, ALLOWED_CALLS.items())))
    path = write_pt(tmp_path / "x.pt", dictionary({"good": GOOD}) + ATTACKS[attack] + b"0", {"0": FLOATS.tobytes()})
    with pytest.raises(UserError, match="is refused"):
        read_torch_archive(path)
    assert not (tmp_path / MARKER).exists()
    assert repr(sorted(map(repr, ALLOWED_CALLS.items()))) == before


def test_a_memo_index_reserves_no_memory(tmp_path: Path) -> None:
    """LONG_BINPUT 4294967295: the reader in C would reserve tens of gigabytes."""
    path = write_pt(tmp_path / "x.pt", b"Nr\xff\xff\xff\xff0" + dictionary({"a": GOOD}), {"0": FLOATS.tobytes()})
    assert read_torch_archive(path)["a"].values.tolist() == FLOATS.tolist()


def test_many_views_of_one_storage_are_bounded(tmp_path: Path) -> None:
    storage = np.zeros(100_000, np.float32)
    view = tensor("0", "FloatStorage", storage.size, (storage.size,), (1,))
    steps = dictionary({f"v{n}": view for n in range(50)})
    with pytest.raises(UserError, match="more tensors than its size allows"):
        read_torch_archive(write_pt(tmp_path / "x.pt", steps, {"0": storage.tobytes()}))


def test_a_dictionary_that_holds_itself_ends(tmp_path: Path) -> None:
    steps = b"}q\x01" + text("self") + b"h\x01s" + text("a") + GOOD + b"s"
    read = read_torch_archive(write_pt(tmp_path / "x.pt", steps, {"0": FLOATS.tobytes()}))
    assert "a" in read


def test_compressed_members_and_other_files_are_refused(tmp_path: Path) -> None:
    path = write_pt(tmp_path / "x.pt", dictionary({"a": GOOD}), {"0": FLOATS.tobytes()}, zipfile.ZIP_DEFLATED)
    with pytest.raises(UserError, match="compressed or too large"):
        read_torch_archive(path)
    (tmp_path / "old.pt").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(UserError, match="not an archive that torch"):
        read_torch_archive(tmp_path / "old.pt")
    with pytest.raises(UserError, match="holds no tensor"):
        read_torch_archive(write_pt(tmp_path / "none.pt", dictionary({"epoch": number(1)})))


@settings(max_examples=300)
@given(place=st.integers(0, 10_000), byte=st.integers(0, 255), cut=st.booleans())
def test_damage_gives_tensors_or_one_error(tmp_path_factory: Any, place: int, byte: int, cut: bool) -> None:
    steps, storages = state_dict({"a": FLOATS, "b": FLOATS.reshape(2, 3)})
    damaged = bytearray(steps)
    if cut:
        del damaged[place % len(damaged) :]
    else:
        damaged[place % len(damaged)] = byte
    path = write_pt(tmp_path_factory.mktemp("damaged") / "x.pt", bytes(damaged), storages)
    try:
        read = read_torch_archive(path)
    except UserError:
        return
    assert all(value.values.size <= FLOATS.size for value in read.values())


def _read_whole(path: Path, whole: bytes) -> Any:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", whole)
        archive.writestr("archive/padding", bytes(1000))
    return read_torch_archive(path)


@pytest.mark.torch
@pytest.mark.filterwarnings("default")
def test_what_torch_saves_is_read_as_torch_reads_it(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the vision extra")
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(5, 2))
    state = dict(model.state_dict())
    state["turned"] = torch.arange(6.0).reshape(2, 3).T
    state["cut"] = torch.arange(10)[3:7]
    state["half"] = torch.tensor([1.5, -2.0]).half()
    state["brain"] = torch.tensor([1.0, -2.0]).bfloat16()
    state["flag"] = torch.tensor([True, False])
    state["parameter"] = torch.nn.Parameter(torch.ones(2))
    torch.save({"model": state, "epoch": 3}, tmp_path / "x.pt")
    read = read_torch_archive(tmp_path / "x.pt")
    assert read.keys() == {f"model.{name}" for name in state}
    for name, value in state.items():
        stored = read[f"model.{name}"]
        expected = (
            value.detach().view(torch.int16).numpy().view(np.uint16) if name == "brain" else value.detach().numpy()
        )
        np.testing.assert_array_equal(stored.values, expected)
    torch.save(model.state_dict(), tmp_path / "plain.pt")
    assert read_torch_archive(tmp_path / "plain.pt").keys() == model.state_dict().keys()
    torch.save(model, tmp_path / "model.pt")  # a whole module: code is needed to load it
    with pytest.raises(UserError, match="is refused: it names"):
        read_torch_archive(tmp_path / "model.pt")
