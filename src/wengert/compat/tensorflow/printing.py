"""Layer 9 · compat: ``tf.print``."""

from __future__ import annotations

import builtins
import sys

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.tape.base import TensorBase
from wengert.tape.modes import untraced


def _number(value) -> str:
    """Format a number with 6 or 9 digits (15 or 17 in double precision), if exact."""
    if isinstance(value, np.bool_ | bool):
        return str(int(value))
    if isinstance(value, np.floating):
        few, many = (6, 9) if value.itemsize <= 4 else (15, 17)
        text = f"{value:.{few}g}"
        return text if type(value)(text) == value or value != value else f"{value:.{many}g}"
    if isinstance(value, np.complexfloating):
        return f"({_number(value.real)},{_number(value.imag)})"
    return str(value)


def _array(array, summarize: int, depth=1) -> str:
    if not array.ndim:
        return _number(array[()])
    parts = list(array)
    if summarize >= 0 and len(parts) > 2 * summarize:
        shown = [_array(part, summarize, depth + 1) for part in parts[:summarize]]
        rest = [_array(part, summarize, depth + 1) for part in parts[-summarize:] if summarize]
        texts = [*shown, "...", *rest]
    else:
        texts = [_array(part, summarize, depth + 1) for part in parts]
    gap = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    return "[" + gap.join(texts) + "]"


def _text(value, summarize: int, nested=False) -> str:
    if isinstance(value, TensorBase) or hasattr(value, "_as_tensor"):
        return _array(np.asarray(value.numpy()), summarize)
    if isinstance(value, np.ndarray | np.generic):
        return _array(np.asarray(value), summarize)
    if isinstance(value, dict):
        parts = [f"{key!r}: {_text(part, summarize, True)}" for key, part in value.items()]
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(_text(part, summarize, True) for part in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value) if nested else str(value)


def print(*inputs, output_stream=None, summarize=3, sep=" ", end="\n", name=None) -> None:
    """Print values of tensors and other objects to standard error.

    Parameters
    ----------
    *inputs: The values to print; tensors are printed as nested lists of numbers.
    output_stream : optional. A stream, or ``"file://..."`` for a file to append to; default:
        standard error.
    summarize : int. The number of elements to show at the beginning and the end of each dimension;
        -1 shows all.
    sep, end : str. The separator between values, and the end of the line.
    name: Accepted, without effect.

    Examples
    --------
    >>> import sys
    >>> tf.print("x:", tf.constant([1.0, 2.5]), output_stream=sys.stdout)
    x: [1 2.5]
    """
    text = sep.join(_text(value, summarize) for value in inputs) + end
    if isinstance(output_stream, str) and output_stream.startswith("file://"):
        untraced("it writes to a file")
        with open(output_stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
        return
    # looked up in each call, since a trace notes what is printed
    builtins.print(text, end="", file=sys.stderr if output_stream is None else output_stream)


__all__ = defined(globals())
