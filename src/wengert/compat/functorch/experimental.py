"""Layer 9 · compat: functorch's experimental functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.func import functionalize as functionalize
from wengert.func import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from wengert.func import vmap


def chunk_vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness="error", chunks=2
) -> Callable[..., Any]:
    """Like `vmap`, but process the batch in `chunks` parts, in sequence."""
    if chunks < 1:
        raise ValueError(f"chunk_vmap: chunks should be positive, got {chunks}")

    def mapped(*args: Any) -> Any:
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
        pairs = zip(args, dims, strict=True)
        sizes = [arg.shape[dim] for arg, dim in pairs if isinstance(dim, int)]
        chunk = -(-sizes[0] // chunks) if sizes else None
        return vmap(func, in_dims, out_dims, randomness, chunk_size=chunk)(*args)

    return mapped
