"""Layer 8 · utils: what registering a hook returns, and what warns of hooks, as in torch.utils."""

from __future__ import annotations

from typing import Any

from wengert.tape.handles import RemovableHandle
from wengert.tensor.copying import warn_of_hooks

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Any) -> Any:
    """Mark a hook as one that is not worth a warning when its tensor is pickled without it."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of hooks of a tensor that a pickle would lose."""
    warn_of_hooks(tensor)
