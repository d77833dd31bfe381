"""Layer 8 · sparse: printing of sparse tensors, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.dtypes import default_complex, default_float
from wengert.tensor.printing import elements, line_width

_INDENT = 7
_UNNAMED = (np.dtype(np.int64), np.dtype(bool))


def shown(parts: dict[str, Any], tensor: Any, apart: bool) -> str:
    """Format a sparse tensor.

    Parameters
    ----------
    parts: Its component tensors, by name.
    apart: Whether the rest starts on a new line.
    """
    lines = []
    for name, part in parts.items():
        array = np.asarray(part.detach()._array())
        if array.dtype.kind == "V":
            array = array.astype(np.float32)
        size = f", size={tuple(array.shape)}" if not array.size else ""
        lines.append(f"{name}=tensor({elements(array, _INDENT + len(name) + 8)}{size})")
    text = "tensor(" + (",\n" + " " * _INDENT).join(lines)
    notes = [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    kind = tensor.dtype.numpy
    if kind not in (*_UNNAMED, default_float(), default_complex()):
        notes.append(f"dtype={tensor.dtype!r}")
    notes.append(f"layout={tensor.layout!r}")
    if tensor.grad_fn is not None:
        notes.append(f"grad_fn=<{tensor.grad_fn.name().rpartition('.')[2]}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    column = len(text) - text.rfind("\n") + 1
    for i, note in enumerate(notes):
        if (apart and not i) or column + len(note) + 2 > line_width():
            text += ",\n" + " " * _INDENT + note
            column = _INDENT + len(note)
        else:
            text += ", " + note
            column += len(note) + 2
    return text + ")"
