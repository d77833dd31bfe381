"""Layer 6 · tensor: the text of tensors, identical to PyTorch's.

The printed elements share one format, which depends on their values: whole numbers print with a
bare point, ranges of more than three decades (or very large or small numbers) in scientific
notation, anything else with fixed decimals. A large tensor shows only the edges of each dimension,
and only those determine the format.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, category, default_complex, default_float
from wengert.base.ports import PORTS, provides
from wengert.base.shapes import whole
from wengert.interp.levels import Lifted, is_elsewhere
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.node import public_target

_FLOATING, _COMPLEX = 2, 3
_INT64, _BOOL = np.dtype(np.int64), np.dtype(bool)


class _Options:
    def __init__(self) -> None:
        self.precision = 4
        self.threshold: float = 1000
        self.edgeitems = 3
        self.linewidth = 80
        self.sci_mode: bool | None = None


OPTIONS = _Options()
_PROFILES: dict[str, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def line_width() -> int:
    """Return the maximum number of characters per line."""
    return OPTIONS.linewidth


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print, for the whole process.

    Parameters
    ----------
    precision : int, optional. The number of digits after the point; default: 4.
    threshold : float, optional. The number of elements above which a tensor is summarised; default:
        1000.
    edgeitems : int, optional. The number of elements that a summary shows at each end of a
        dimension; default: 3.
    linewidth : int, optional. The number of characters per line; default: 80.
    profile : str, optional. ``"default"``, ``"short"`` or ``"full"``: presets for the options
        above, which take precedence.
    sci_mode : bool, optional. Whether to use scientific notation; None decides by the values. Each
        call without it resets it to None.

    Raises
    ------
    ValueError: If there is no such profile.

    Examples
    --------
    >>> wg.set_printoptions(precision=2)
    >>> wg.tensor([1.12345])
    tensor([1.12])
    >>> wg.set_printoptions(profile="default")
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"profile must be one of {list(_PROFILES)}, not {profile!r}")
        for name, value in _PROFILES[profile].items():
            setattr(OPTIONS, name, value)
    if precision is not None:
        OPTIONS.precision = whole(precision)
    if threshold is not None:
        OPTIONS.threshold = threshold
    if edgeitems is not None:
        OPTIONS.edgeitems = edgeitems
    if linewidth is not None:
        OPTIONS.linewidth = linewidth
    OPTIONS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the current options, as arguments for `set_printoptions`.

    Examples
    --------
    >>> wg.get_printoptions()["precision"]
    4
    """
    return dict(vars(OPTIONS))


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print with other options inside a ``with`` block; arguments as for `set_printoptions`.

    Examples
    --------
    >>> with wg.printoptions(precision=1):
    ...     print(wg.tensor([0.25]))
    tensor([0.2])
    """
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


class _Format:
    """The shared format of the printed numbers: their width and the style of floats."""

    __slots__ = ("style", "width")

    def __init__(self, shown: Any) -> None:
        self.width = 1
        if category(shown.dtype) != _FLOATING:
            self.style = ""
            self.width = max([1, *map(len, map(str, shown.reshape(-1).tolist()))])
            return
        # only these determine the width: zeros, infinities and NaN may be misaligned
        numbers = shown[np.isfinite(shown) & (shown != 0)].astype(np.float64)
        self.style = "whole"
        if not numbers.size:
            return
        sizes = np.abs(numbers)
        least, most = float(sizes.min()), float(sizes.max())
        scientific = OPTIONS.sci_mode
        if scientific is None:
            scientific = most / least > 1000.0 or most > 1.0e8 or least < 1.0e-4
        whole = bool((numbers == np.ceil(numbers)).all())
        self.style = "scientific" if scientific else "whole" if whole else "fixed"
        self.width = max(1, *[len(self._text(value)) for value in numbers.tolist()])

    def _text(self, value: Any) -> str:
        style = self.style
        if style == "fixed":
            return f"{value:.{OPTIONS.precision}f}"
        if style == "scientific":
            return f"{value:.{OPTIONS.precision}e}"
        if style == "whole":
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return str(value)

    def __call__(self, value: Any) -> str:
        return self._text(value).rjust(self.width)


class _ComplexFormat:
    """The formats of the real and of the imaginary parts."""

    __slots__ = ("imag", "real", "width")

    def __init__(self, shown: Any) -> None:
        self.real, self.imag = _Format(shown.real), _Format(shown.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = self.imag(value.imag).lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return f"{self.real(value.real)}{sign}{imag}j"


def _edges(array: Any) -> Any:
    """Return the elements that a summary shows."""
    edge = OPTIONS.edgeitems
    if not edge:
        # no element is shown, but the format of a vector depends on all of it, as in PyTorch
        return array if array.ndim == 1 else array[:0]
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            ends = np.r_[0:edge, length - edge : length]
            array = array.take(ends, axis=axis)
    return array


def elements(array: Any, indent: int) -> str:
    """Format the elements of an array between brackets."""
    if not array.size:
        return "[]"
    summarize = array.size > OPTIONS.threshold
    shown = _edges(array) if summarize else array
    layout = _ComplexFormat(shown) if category(array.dtype) == _COMPLEX else _Format(shown)
    return _nested(array, indent, summarize, layout)


def _tensor_str(tensor: Any, indent: int) -> str:
    return elements(tensor._array(), indent)


def _nested(array: Any, indent: int, summarize: bool, layout: Any) -> str:
    if array.ndim == 0:
        return str(layout(array.item()))
    if array.ndim == 1:
        return _row(array, indent, summarize, layout)
    edge = OPTIONS.edgeitems
    length = len(array)
    if summarize and length > 2 * edge:
        first, last = range(edge), range(length - edge, length)
        parts = [_nested(array[i], indent + 1, summarize, layout) for i in first]
        parts.append("...")
        parts += [_nested(array[i], indent + 1, summarize, layout) for i in last]
    else:
        parts = [_nested(part, indent + 1, summarize, layout) for part in array]
    separator = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return f"[{separator.join(parts)}]"


def _row(array: Any, indent: int, summarize: bool, layout: Any) -> str:
    edge = OPTIONS.edgeitems
    if summarize and not edge:
        items = ["..."]
    elif summarize and len(array) > 2 * edge:
        first, last = array[:edge].tolist(), array[-edge:].tolist()
        items = [*map(layout, first), " ...", *map(layout, last)]
    else:
        items = list(map(layout, array.tolist()))
    per_line = max(1, (OPTIONS.linewidth - indent) // (layout.width + 2))
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def history_of(edge: Any) -> str | None:
    """Return the text about a tensor's history, such as ``grad_fn=...``; None without one."""
    node, _ = public_target(edge) if edge is not LEAF else (None, 0)
    if node is None:
        return None if edge is None else "requires_grad=True"
    return f"grad_fn=<{node.name().rsplit('::', 1)[-1]}>"


def _notes(array: Any, history: str | None) -> list[str]:
    """Return the notes after the elements: shape and dtype if not evident, and the history."""
    notes = []
    kind = array.dtype
    if not array.size:
        if array.ndim != 1:
            notes.append(f"size={tuple(array.shape)}")
        implied = kind == default_float()
    else:
        if not OPTIONS.edgeitems:
            notes.append(f"size={tuple(array.shape)}")
        implied = kind in (default_float(), default_complex(), _INT64, _BOOL)
    if not implied:
        notes.append(f"dtype={as_dtype(kind)!r}")
    if history is not None:
        notes.append(history)
    return notes


def _of_transforms(payload: Any) -> tuple[Any, list[str]]:
    """Return the array in a lifted value, of the whole batch, and notes about its levels."""
    if not isinstance(payload, Lifted):
        return np.asarray(payload), []
    if payload.traced:
        return payload.shown(), []
    inner, *tangent = payload.contents()
    array, notes = _of_transforms(inner)
    if payload.owner.size is not None:
        notes.append(f"a batch of {payload.owner.size}")
    elif tangent and not payload.owner.dropped:
        notes.append(f"tangent={tensor_repr(new_tensor(tangent[0]))}")
    return array, notes


@provides("shown")
def tensor_repr(tensor: Any, name: str | None = None, contents: str | None = None) -> str:
    """Return a tensor as text: ``tensor([1., 2.], grad_fn=<MulBackward0>)``.

    Parameters
    ----------
    tensor: The tensor; a payload other than an array prints by its own repr.
    name: The word before the bracket; default: the class's name, or ``tensor`` for the plain class.
    contents: The text in place of the values.
    """
    if name is None:
        cls, parameter = type(tensor), PORTS.parameter
        name = "tensor" if cls is PORTS.tensor or cls is parameter else cls.__name__
        if name != "tensor" and isinstance(tensor, parameter):  # type: ignore[arg-type]  # a class
            return f"Parameter({tensor_repr(tensor, name, contents)})"
    payload = tensor._payload
    if contents is not None:
        notes = _notes(np.empty(1, payload.dtype), history_of(tensor._edge))
        return _joined(f"{name}({contents}", notes, len(name) + 1)
    if isinstance(payload, Lifted) and payload.traced:
        text = payload.written(tensor, name)
        if text is not None:
            return str(text)
    if isinstance(payload, np.ndarray | np.generic):
        return array_text(np.asarray(payload), name, history_of(tensor._edge))
    if isinstance(payload, Lifted):
        array, levels = _of_transforms(payload)
        place = [f"device='{payload.device}'"] if is_elsewhere(payload) else []
        return array_text(array, name, history_of(tensor._edge), levels, place)
    return _joined(f"{name}({payload!r}", [], len(name) + 1)


def array_text(
    array: Any,
    name: str,
    history: str | None,
    levels: Sequence[str] = (),
    place: Sequence[str] = (),
) -> str:
    """Return the text of a tensor over an array, with notes on its history, levels and device."""
    indent = len(name) + 1
    # a dtype that NumPy does not know: print its elements as floats and name it below
    shown = array.astype(np.float32) if array.dtype.kind == "V" else array
    notes = [*place, *_notes(array, history), *levels]
    return _joined(f"{name}({elements(shown, indent)}", notes, indent)


def _joined(text: str, notes: list[str], indent: int) -> str:
    """Return a text followed by notes, broken into lines."""
    column = len(text) - text.rfind("\n") + 1
    for note in notes:
        if column + len(note) + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * indent + note
            column = indent + len(note)
        else:
            text += ", " + note
            column += len(note) + 2
    return text + ")"


@provides("formatted")
def tensor_format(tensor: TensorBase, spec: str) -> str:
    """Compute ``format(tensor, spec)``: a 0-d tensor formats as its number."""
    if type(tensor) is PORTS.tensor and not tensor._payload.ndim:
        return format(tensor._payload.item(), spec)
    return object.__format__(tensor, spec)
