"""Layer 8 · _vmap_internals: `vmap` under its name in PyTorch before 2.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.func import vmap as _mapped
from wengert.tape.sites import warn

__all__ = ["_vmap", "vmap"]


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """Call `wengert.func.vmap`, with a deprecation warning.

    Examples
    --------
    %(without_warnings)s
    ...     double = wg._vmap_internals.vmap(lambda x: 2 * x)
    >>> double(wg.ones(2))
    tensor([2., 2.])
    """
    warn("Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.", FutureWarning)
    return _vmap(func, in_dims, out_dims)


def _vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """Call `wengert.func.vmap` without the warning.

    With `allow_none_pass_through`, results that are None are returned as None.
    """
    if not allow_none_pass_through:
        return _mapped(func, in_dims, out_dims)

    def mapped(*args: Any) -> Any:
        nothing: list[Any] = []

        def tensors(*inner: Any) -> Any:
            results = func(*inner)
            several = isinstance(results, tuple)
            found = results if several else (results,)
            nothing[:] = [several, [one is None for one in found]]
            return tuple(one for one in found if one is not None)

        dims = tuple(out_dims) if isinstance(out_dims, tuple) else out_dims
        made = iter(_mapped(tensors, in_dims, dims)(*args))
        several, empty = nothing
        results = tuple(None if none else next(made) for none in empty)
        return results if several else results[0]

    return mapped
