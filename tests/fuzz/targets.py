"""Untrusted inputs as functions of bytes, and the errors that they may raise.

The tests here call them with bytes that Hypothesis generates; ``make fuzz`` continues the search
with atheris, which sees which bytes lead to new code.
"""

import io
import json
import pickle
import struct
import sys
import warnings
import zipfile

import numpy as np

import wengert as wg
from wengert.cli import request, target

__all__ = ["SEEDS", "TARGETS"]


def _watch(event, arguments):
    """Loading must not run code: see to it that nothing is imported, compiled or started."""
    if _watching and event in {"compile", "exec", "import", "os.system", "subprocess.Popen"}:
        raise AssertionError(f"loading a file led to {event}{arguments!r}")


_watching: list[bool] = []
sys.addaudithook(_watch)


def load(data):
    """A file of tensors: damaged, or right."""
    _watching.append(True)
    try:
        with warnings.catch_warnings():
            # the pickle may hold any escape sequence, which Python's decoder warns of
            warnings.simplefilter("ignore", DeprecationWarning)
            wg.load(io.BytesIO(data))
    except (EOFError, RuntimeError, TypeError, pickle.UnpicklingError) as error:
        assert str(error)
    except MemoryError:
        pass  # it asks for more memory than there is
    finally:
        _watching.pop()


def load_entry(data):
    """A right file, whose entry of wengert's own is made up."""
    text = data.decode("utf-8", "replace")
    header = {
        "__metadata__": {"wengert": text},
        "a": {"dtype": "F64", "shape": [3], "data_offsets": [0, 24]},
        "b": {"dtype": "I64", "shape": [], "data_offsets": [24, 32]},
    }
    head = json.dumps(header).encode()
    load(len(head).to_bytes(8, "little") + head + np.arange(4.0).tobytes())


_known: list[bytes] = []


def load_pickle(data):
    """An archive of PyTorch, whose pickle is made up."""
    if not _known:
        _known.extend(_contents())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", data)
        for key, content in enumerate(_known):
            archive.writestr(f"a/data/{key}", content)
    load(file.getvalue())


def einsum(data):
    """An equation of subscripts, for up to three matrices."""
    equation = data.decode("ascii", "replace")
    operands = [wg.ones(2, 2, dtype=wg.float64)] * min(1 + equation.count(","), 3)
    try:
        result = wg.einsum(equation, *operands)
    except RuntimeError as error:
        assert str(error).startswith("einsum")
    else:
        given, arrow, wanted = equation.partition("->")
        if arrow and "..." in given and "..." not in wanted:
            # NumPy does not sum over dimensions without subscripts
            equation = f"{given}->...{wanted}"
        with np.errstate(all="ignore"):
            theirs = np.einsum(equation, *(operand.numpy() for operand in operands))
        theirs = theirs.sum(tuple(range(theirs.ndim - result.ndim)))
        np.testing.assert_allclose(result.numpy(), theirs)


def device(data):
    """The name of a device."""
    try:
        wg.device(data.decode("utf-8", "replace"))
    except RuntimeError as error:
        assert str(error)


def command(data):
    """The function that a command of ``wengert`` is about."""
    _watching.append(False)
    try:
        target.load("math:" + data.decode("utf-8", "replace"))
    except request.BadRequest as error:
        assert str(error)
    finally:
        _watching.pop()


def _file(form):
    file = io.BytesIO()
    x = wg.arange(6.0).reshape(2, 3)
    state = {"x": x, "t": [x.t(), wg.nn.Parameter(x), 1 + 2j], "z": wg.tensor([1j])}
    if form == "torch":
        state |= {"s": x.to_sparse(), "r": x.to_sparse_csr(), "b": {b"a", (1, None)}}
    wg.save(state, file, format=form)
    return file.getvalue()


def _pickle():
    with zipfile.ZipFile(io.BytesIO(_file("torch"))) as archive:
        return archive.read("archive/data.pkl")


def _contents():
    """The bytes of the storages that the pickle above names."""
    with zipfile.ZipFile(io.BytesIO(_file("torch"))) as archive:
        names = [name for name in archive.namelist() if name.startswith("archive/data/")]
        return [archive.read(f"archive/data/{key}") for key in range(len(names))]


def _older_file():
    system = b"\x80\x02}X\x0d\0\0\0little_endian\x88s."
    pickled = _pickle().replace(b"tQ", b"NtQ")
    contents = b"".join(struct.pack("<q", 0) + content for content in _contents())
    start = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    names = [str(key).encode() for key in range(len(_contents()))]
    keys = b"".join(b"X" + struct.pack("<I", len(name)) + name for name in names)
    return start + system + pickled + b"\x80\x02](" + keys + b"e." + contents


TARGETS = {f.__name__: f for f in (load, load_entry, load_pickle, einsum, device, command)}
SEEDS = {
    "load": [_file("safetensors"), _file("torch"), _older_file()],
    "load_pickle": [_pickle()],
    "load_entry": [b'{"version": 1, "state": {"dict": [["x", {"tensor": "a"}]]}, "tensors": {}}'],
    "einsum": [b"ij,jk->ik", b"...i,...i->...", b"...i,...i->", b"ii", b"ij->ji"],
    "device": [b"cpu", b"cpu:0", b"cuda:1"],
    "command": [b"sin", b"floor.__call__"],
}
