"""Layer 9 · compat: `jax.test_util`: derivatives checked against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.compat.jax.array import asarray
from wengert.compat.jax.dtypes import float0
from wengert.compat.jax.reverse import jvp, vjp
from wengert.compat.jax.tracing import argument, is_inexact
from wengert.compat.jax.trees import tree_leaves, tree_map
from wengert.compat.kit.namespaces import defined

_TOLERANCE = {"float16": 1e-1, "float32": 2e-2, "float64": 1e-5}
_STEP = {"float16": 1e-1, "float32": 1e-2, "float64": 1e-4}


def _kind(tree) -> str:
    """Return the narrowest real dtype among the leaves of a tree."""
    found = [argument(leaf).dtype for leaf in tree_leaves(tree)]
    sizes = [d.itemsize // (2 if d.kind == "c" else 1) for d in found if d.kind in "fc"]
    return {2: "float16", 4: "float32"}.get(min(sizes, default=8), "float64")


def _drawn(rng, like) -> Any:
    """Draw a direction with the structure and dtypes of `like`; float0 for integers."""

    def leaf(value) -> Any:
        x = argument(value)
        if not is_inexact(x):
            return np.zeros(x.shape, float0)
        drawn = rng.standard_normal(x.shape)
        if x.dtype.kind == "c":
            drawn = drawn + 1j * rng.standard_normal(x.shape)
        return asarray(drawn, x.dtype)

    return tree_map(leaf, like)


def _product(a, b) -> Any:
    """Return the sum of the products of the leaves of two trees, as a real number."""
    total = 0.0
    for x, y in zip(tree_leaves(a), tree_leaves(b), strict=True):
        if np.asarray(x).dtype.kind in "fc":
            total += float(np.sum(np.asarray(x, complex) * np.asarray(y, complex)).real)
    return total


def _differences(f: Callable[..., Any], args, directions, step: float) -> Any:
    """Return the differences of a function around `args`, divided by the step."""

    def moved(by: float) -> Any:
        def leaf(value, direction) -> Any:
            x = argument(value)
            return x + (by * direction).astype(x.dtype) if is_inexact(x) else value

        return f(*tree_map(leaf, args, directions))

    def quotient(a, b) -> Any:
        if not is_inexact(argument(a)):
            return a
        return (np.asarray(a, complex) - np.asarray(b, complex)) / step

    return tree_map(quotient, moved(step / 2), moved(-step / 2))


def _check_close(found, expected, atol: float, rtol: float, what: str) -> None:
    for a, b in zip(tree_leaves(found), tree_leaves(expected), strict=True):
        if np.asarray(a).dtype.kind in "fc":
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol, atol, err_msg=what)


def _options(args, atol, rtol, eps) -> tuple[float, float, float]:
    kind = _kind(args)
    tolerance = _TOLERANCE[kind]
    return (
        tolerance if atol is None else atol,
        tolerance if rtol is None else rtol,
        _STEP[kind] if eps is None else eps,
    )


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg="",
) -> None:
    """Compare ``f_jvp(primals, tangents)`` with finite differences.

    Raises
    ------
    AssertionError: If they differ.
    """
    atol, rtol, eps = _options(args, atol, rtol, eps)
    directions = _drawn(np.random.default_rng(0), tuple(args))
    _, slope = f_jvp(tuple(args), directions)
    differences = _differences(f, tuple(args), directions, eps)
    _check_close(slope, differences, atol, rtol, f"{err_msg}JVP tangent")


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg="",
) -> None:
    """Compare ``f_vjp(*primals)`` with finite differences.

    Raises
    ------
    AssertionError: If they differ.
    """
    atol, rtol, eps = _options(args, atol, rtol, eps)
    rng = np.random.default_rng(1)
    directions = _drawn(rng, tuple(args))
    output, pull = f_vjp(*args)
    cotangent = _drawn(rng, output)
    differences = _differences(f, tuple(args), directions, eps)
    found = _product(pull(cotangent), directions)
    np.testing.assert_allclose(
        found,
        _product(cotangent, differences),
        rtol,
        atol,
        err_msg=f"{err_msg}VJP cotangent projection",
    )


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare derivatives of a function, up to an order, with finite differences.

    Parameters
    ----------
    f : callable. Takes and returns pytrees of arrays.
    args : sequence. The point at which to differentiate.
    order : int. The highest order of derivatives to check.
    modes : sequence of {"fwd", "rev"}. The modes to check.
    atol, rtol, eps : float, optional. Tolerances, and the step of the differences; default: chosen
        by dtype.

    Raises
    ------
    AssertionError: If they differ.

    Examples
    --------
    >>> from wengert.compat.jax.test_util import check_grads
    >>> check_grads(jnp.sin, (1.0,), order=2)
    """
    unknown = set(modes) - {"fwd", "rev"}
    if unknown:
        raise ValueError(f"modes are 'fwd' and 'rev', not {sorted(unknown)}")
    args = tuple(args)
    if "fwd" in modes:
        check_jvp(f, lambda primals, tangents: jvp(f, primals, tangents), args, atol, rtol, eps)
        if order > 1:
            directions = _drawn(np.random.default_rng(2), args)
            check_grads(
                lambda *args: jvp(f, args, directions), args, order - 1, ("fwd",), atol, rtol, eps
            )
    if "rev" in modes:
        check_vjp(f, lambda *primals: vjp(f, *primals), args, atol, rtol, eps)
        if order > 1:

            def pulled(*args) -> Any:
                output, pull = vjp(f, *args)
                return output, pull(_drawn(np.random.default_rng(3), output))

            check_grads(pulled, args, order - 1, ("rev",), atol, rtol, eps)


__all__ = defined(globals())
