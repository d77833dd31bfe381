"""Layer 7 · func: `vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from wengert.base.containers import dims_of, field_names, flatten
from wengert.func.inputs import Entered, Transformed, as_tensor
from wengert.interp.levels import Level, levels_of
from wengert.ops.generator import get_rng_state, set_rng_state
from wengert.ops.join import cat
from wengert.ops.permute import movedim
from wengert.ops.strided import as_strided, view_as_real
from wengert.tape.base import TensorBase, alike
from wengert.tape.levels import check_levels, move
from wengert.tape.record import T
from wengert.tape.views import link

P = ParamSpec("P")
R = TypeVar("R")

_RANDOMNESS = ("error", "different", "same")


def mapped_leaves(
    args: tuple[Any, ...], in_dims: Any, call: str
) -> tuple[list[Any], list[Any], int]:
    """Return the leaves of the arguments, their mapped dimensions counted from 0, and the size.

    `call` is the start of the call in messages, ``vmap(f``.
    """
    name = f"{call}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, int | tuple | list) or isinstance(in_dims, bool):
        raise ValueError(
            f"{name}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims).__name__}"
        )
    if not args:
        raise ValueError(
            f"{call})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying "
            "to vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, _ = flatten(args)
    dims = list(dims_of(tuple(in_dims) if isinstance(in_dims, list) else in_dims, args, name))
    sizes = []
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if isinstance(leaf, np.ndarray):
            leaf = leaves[i] = as_tensor(leaf, name, "inputs")
        if not isinstance(leaf, TensorBase):
            raise ValueError(
                f"{name}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We "
                "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        ndim = leaf._payload.ndim
        if not -ndim <= dim < ndim:
            raise ValueError(
                f"{name}: Got in_dim={dim} for some input, but that input is a Tensor of "
                f"dimensionality {ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
            )
        dims[i] = dim % ndim
        sizes.append(leaf._payload.shape[dims[i]])
    if not sizes:
        raise ValueError(
            f"vmap: Expected at least one Tensor to vmap over, but in_dims of {name} names no "
            "dimension of any"
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return leaves, dims, sizes[0]


def vmap(
    func: Callable[P, R],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[P, R]:
    """Vectorize `func`: map it over a dimension of its arguments, all elements at once.

    Inside, `func` sees tensors without the mapped dimension; each operation on them is one
    operation on the whole batch.

    Parameters
    ----------
    func : callable. Takes and returns tensors, or nested containers of them.
    in_dims : int, or nested structure of int and None. The mapped dimension of each argument; None
        passes the whole argument to each element.
    out_dims : int, or nested structure of int and None. The position of the mapped dimension in the
        results; None for results that do not depend on it.
    randomness : {"error", "different", "same"}. Whether random operations raise, draw separately
        for each element, or once for all.
    chunk_size : int, optional. The number of elements to compute at once; all by default.

    Returns
    -------
    callable: Takes arguments with the mapped dimension, and returns results with it. Keyword
        arguments are passed to `func` unchanged.

    Raises
    ------
    ValueError: If `in_dims` or `out_dims` does not match, or mapped dimensions differ in size.
    RuntimeError: If `func` branches on values of a mapped tensor, reads them, or calls an operation
        whose result would have another shape for each element.

    Examples
    --------
    >>> x = wg.arange(6.0).view(2, 3)
    >>> wg.func.vmap(wg.dot)(x, x)
    tensor([ 5., 50.])
    >>> wg.func.vmap(wg.func.grad(lambda v: (v**2).sum()))(x)
    tensor([[ 0.,  2.,  4.],
            [ 6.,  8., 10.]])
    """
    name = f"vmap({getattr(func, '__name__', 'f')}"
    if randomness not in _RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, size = mapped_leaves(args, in_dims, name)
        _, rebuild = flatten(args)

        def call(part: list[Any]) -> Any:
            return func(*rebuild(part), **kwargs)

        if chunk_size is None or chunk_size >= size:
            return _run(call, leaves, dims, size, out_dims, randomness, name)
        chunks = []
        drawn = get_rng_state() if randomness == "same" else None
        for start in range(0, size, chunk_size):
            if drawn is not None:
                set_rng_state(drawn)  # all chunks draw the same
            count = min(chunk_size, size - start)
            part = [
                leaf
                if dim is None
                else T.slice(leaf, dim=dim, start=start, end=start + count, step=1)
                for leaf, dim in zip(leaves, dims, strict=True)
            ]
            chunks.append(_run(call, part, dims, count, out_dims, randomness, name))
        return _rejoined(chunks, out_dims, name)

    return Transformed(
        mapped,
        vmap,
        func,
        {
            "in_dims": in_dims,
            "out_dims": out_dims,
            "randomness": randomness,
            "chunk_size": chunk_size,
        },
    )


def _run(
    call: Callable[[list[Any]], Any],
    leaves: list[Any],
    dims: list[Any],
    size: int,
    out_dims: Any,
    randomness: str,
    name: str,
) -> Any:
    fronted = [
        leaf if not dim else alike(movedim(leaf, dim, 0), leaf)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]
    with Entered(size, randomness, call, leaves) as level:
        return _within(call, fronted, dims, level, out_dims, name)


def _within(
    call: Callable[[list[Any]], Any],
    leaves: list[Any],
    dims: list[Any],
    level: Level,
    out_dims: Any,
    name: str,
) -> Any:
    """Return the result of `call` on the whole batch; keep no reference to values it wrote."""
    inside = [
        leaf if dim is None else move("wrap", leaf, level)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]
    for leaf, value in zip(leaves, inside, strict=True):
        if value is not leaf:
            link(leaf, value)
    result = call(inside)
    outputs, rebuild = flatten(result)
    places = _places(out_dims, result, name)
    made = []
    parts = result if isinstance(result, tuple | list) else (result,)
    if isinstance(out_dims, int) and any(part is None for part in parts):
        raise _no_tensor(name, None)
    for out, place in zip(outputs, places, strict=True):
        if not isinstance(out, TensorBase):
            if place is None:
                made.append(out)
                continue
            raise _no_tensor(name, out)
        check_levels([out._payload])
        if place is None:
            if level.number in levels_of(out._payload):
                raise ValueError(
                    f"{name}, ...): `{name.partition('(')[2]}` can not return a BatchedTensor when "
                    "out_dim is None: the result differs from one element to the next"
                )
            made.append(out)
            continue
        shared = out._vc is not None
        whole = move("unwrap", out, level)
        if shared:
            shown = _as_view(whole, out, leaves, inside)
            if shown is whole:
                link(out, whole)
            whole = shown
        made.append(alike(movedim(whole, 0, place), whole) if place else whole)
    return rebuild(made)


def _no_tensor(name: str, out: Any) -> ValueError:
    return ValueError(
        f"{name}, ...): `{name.partition('(')[2]}` must only return Tensors, got type "
        f"{type(out)}. Did you mean to set out_dims= to None for output?"
    )


def _as_view(whole: Any, out: Any, leaves: list[Any], inside: list[Any]) -> Any:
    """Return a result without a history that shares an argument's memory as a view of it."""
    array, base = whole._payload, None if out._ext is None else out._ext.base
    if whole._edge is not None or not isinstance(array, np.ndarray):
        return whole
    for leaf, value in zip(leaves, inside, strict=True):
        above = None if leaf is value else leaf._ext.base
        if value is not leaf and (base is value or (out is value and above is not None)):
            root = leaf if above is None else above
            if root._payload.dtype.kind == "c" and array.dtype.kind == "f":
                root = view_as_real(root)
            own, width = root._payload, array.itemsize
            if array.dtype == own.dtype and np.may_share_memory(array, own):
                start = (array.ctypes.data - own.ctypes.data) // width
                return as_strided(root, array.shape, [s // width for s in array.strides], start)
    return whole


def _places(out_dims: Any, result: Any, name: str) -> list[Any]:
    """Return the dimension of each output over which the results of the elements are stacked."""
    if isinstance(out_dims, tuple | list) and len(out_dims) == 1 and isinstance(result, TensorBase):
        (out_dims,) = out_dims
    name = f"{name}, ..., out_dims={out_dims})"
    kinds = int | tuple | list | dict | None
    if not isinstance(out_dims, kinds) and field_names(out_dims) is None:
        raise ValueError(
            f"{name}: `out_dims` must be an int, None or a python collection of ints representing "
            f"where in the outputs the vmapped dimension should appear, got: {out_dims!r}"
        )
    return list(dims_of(out_dims, result, f"{name}(<inputs>)", "out"))


def _rejoined(chunks: list[Any], out_dims: Any, name: str) -> Any:
    first, rebuild = flatten(chunks[0])
    places = _places(out_dims, chunks[0], name)
    rows = [flatten(chunk)[0] for chunk in chunks]
    return rebuild(
        [
            first[i] if place is None else cat([row[i] for row in rows], dim=place)
            for i, place in enumerate(places)
        ]
    )
