"""Layer 8 · utils: handles of hooks, and warnings about hooks, as in torch.utils."""

from __future__ import annotations

from typing import Any

from wengert.tape.handles import RemovableHandle
from wengert.tensor.copying import warn_of_hooks

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Any) -> Any:
    """Mark a hook that may be dropped without a warning when its tensor is pickled."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn about hooks of a tensor that a pickle would drop."""
    warn_of_hooks(tensor)
