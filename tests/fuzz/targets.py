"""What strangers may hand in, as functions of bytes, and the errors that are an answer to it.

The tests here call them with bytes that Hypothesis makes up; ``make fuzz`` searches on with
atheris, which sees which bytes lead to new code.
"""

import io
import json
import sys

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
        wg.load(io.BytesIO(data))
    except (RuntimeError, TypeError) as error:
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


def _file():
    file = io.BytesIO()
    x = wg.arange(6.0).reshape(2, 3)
    wg.save({"x": x, "t": [x.t(), wg.nn.Parameter(x), 1 + 2j], "z": wg.tensor([1j])}, file)
    return file.getvalue()


TARGETS = {f.__name__: f for f in (load, load_entry, einsum, device, command)}
SEEDS = {
    "load": [_file()],
    "load_entry": [b'{"version": 1, "state": {"dict": [["x", {"tensor": "a"}]]}, "tensors": {}}'],
    "einsum": [b"ij,jk->ik", b"...i,...i->...", b"...i,...i->", b"ii", b"ij->ji"],
    "device": [b"cpu", b"cpu:0", b"cuda:1"],
    "command": [b"sin", b"floor.__call__"],
}
