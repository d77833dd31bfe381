"""Layer 9 · compat: TensorFlow's norms, and what scales tensors by them or cuts them off."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions import values as V


@V.operation("ClipByValue")
def clip_by_value(t, clip_value_min, clip_value_max, name=None) -> Any:
    """The elements, those below `clip_value_min` and above `clip_value_max` replaced by these.

    Parameters
    ----------
    t : Tensor. Of a real dtype.
    clip_value_min, clip_value_max : Tensor. Numbers, or tensors that broadcast to the shape of `t`.

    Returns
    -------
    Tensor: Differentiable; at the bounds themselves the gradient passes.

    Raises
    ------
    InvalidArgumentError: If the shapes do not broadcast, or dtypes differ.
    TypeError: If a bound does not fit into the dtype.

    Examples
    --------
    >>> print(tf.clip_by_value([1, 5, 9], 2, 6).numpy())
    [2 5 6]
    """
    x, low, high = V.aligned("Minimum", t, clip_value_min, clip_value_max)
    for bound in (low, high):
        if np.broadcast_shapes(bound.payload.shape, x.payload.shape) != tuple(x.payload.shape):
            raise V.invalid(
                "ClipByValue",
                f"Incompatible shapes: {V.shown(x.payload.shape)} vs. "
                f"{V.shown(bound.payload.shape)}",
            )
    x = wg.where(wg.gt(x, high), high, x)
    return wg.where(wg.lt(x, low), low, x)


@V.operation("RealDiv")
def clip_by_norm(t, clip_norm, axes=None, name=None) -> Any:
    """The tensor, scaled down so that its Euclidean norm is at most `clip_norm`.

    Parameters
    ----------
    t : Tensor. Of a floating dtype.
    clip_norm : Tensor. A positive number.
    axes : int or sequence of int, optional. The dimensions along which norms are taken; all by
        default.

    Returns
    -------
    Tensor: Differentiable.

    Examples
    --------
    >>> print(tf.clip_by_norm([3.0, 4.0], 1.0).numpy())
    [0.6 0.8]
    """
    x = V.tensor_of(t)
    limit = V.tensor_of(clip_norm, dtype_hint=x.payload.dtype)
    x, limit = V.aligned("Mul", x, limit)
    V.check("Sqrt", x, V.COMPLEX)
    places = V.axes_of("Sum", axes, x.payload.ndim)
    total = wg.sum(wg.mul(x, x), places, True) if places else wg.mul(x, x)
    some = wg.gt(total, 0)
    root = wg.where(some, wg.sqrt(wg.where(some, total, wg.ones_like(total))), total)
    return wg.div(wg.mul(x, limit), wg.where(wg.ge(root, limit), root, limit))


@V.operation("Sqrt")
def global_norm(t_list, name=None) -> Any:
    """The Euclidean norm of all elements of several tensors together; None is left out.

    Raises
    ------
    TypeError: If `t_list` is not a sequence.

    Examples
    --------
    >>> print(tf.linalg.global_norm([[3.0], [4.0]]).numpy())
    5.0
    """
    parts = [part for part in _sequence(t_list) if part is not None]
    if not parts:
        return wg.as_tensor(np.float32(0))
    totals = []
    for part in V.aligned("AddN", *parts):
        V.check("L2Loss", part, V.COMPLEX)
        totals.append(wg.sum(wg.square(wg.abs(part))))
    return wg.sqrt(wg.stack(totals).sum())


def _sequence(t_list) -> list[Any]:
    if not isinstance(t_list, list | tuple):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None) -> Any:
    """Several tensors, scaled down together so that their `global_norm` is at most `clip_norm`.

    Parameters
    ----------
    t_list : sequence of Tensor. Such as gradients; None stays None.
    clip_norm : Tensor. A positive number.
    use_norm : Tensor, optional. The norm, if it is known.

    Returns
    -------
    list of Tensor: The scaled tensors; NaN if the norm is not finite.
    Tensor: The norm before.

    Raises
    ------
    TypeError: If `t_list` is not a sequence.

    Examples
    --------
    >>> parts, norm = tf.clip_by_global_norm([[3.0], [4.0]], 1.0)
    >>> print(parts[0].numpy(), parts[1].numpy(), norm.numpy())
    [0.6] [0.8] 5.0
    """
    parts = _sequence(t_list)
    length = V.tensor_of(global_norm(parts) if use_norm is None else use_norm)
    limit = V.tensor_of(clip_norm, dtype_hint=length.payload.dtype)

    def scale() -> Any:
        inverse = wg.minimum(wg.reciprocal(length), wg.reciprocal(limit))
        factor = wg.mul(limit, inverse)
        return wg.where(wg.isfinite(length), factor, wg.full_like(factor, np.nan))

    factor = V.computed("Mul", scale)
    scaled = [
        None if part is None else V.computed("Mul", wg.mul, *V.aligned("Mul", part, factor))
        for part in parts
    ]
    return scaled, V.made(length)


@V.operation("Sqrt")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None) -> Any:
    """The norm of all elements, of vectors, or of matrices.

    Parameters
    ----------
    tensor : Tensor. Of a floating or complex dtype.
    ord : str or number. ``"euclidean"``; ``"fro"`` (the same, of matrices); 1, 2, ``np.inf``; for
        vectors any positive number.
    axis : int or pair of int, optional. One dimension: norms of vectors. Two: norms of matrices.
        None: of all elements as a vector.
    keepdims : bool, optional. Whether to leave dimensions of size 1.

    Returns
    -------
    Tensor: Differentiable; the derivative of a Euclidean norm at 0 is 0 here.

    Raises
    ------
    ValueError: If the norm is not known, or there are more than two dimensions.

    Examples
    --------
    >>> print(tf.norm([[3.0, 4.0], [5.0, 12.0]], axis=1).numpy())
    [ 5. 13.]
    """
    matrices = isinstance(axis, list | tuple) and len(axis) == 2
    if isinstance(axis, list | tuple) and not matrices:
        if len(axis) != 1:
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis!r}"
            )
        axis = axis[0]
    known = ("euclidean", "fro", 1, 2, np.inf) if matrices else ("euclidean", 1, 2, np.inf)
    positive = isinstance(ord, int | float) and ord > 0
    if ord not in known and not (positive and not matrices):
        what = "matrix" if matrices else "vector"
        hint = f"{known}" if matrices else ""
        raise ValueError(
            f"'ord' must be a supported {what} norm{' in ' + hint if hint else ''}, got {ord}"
        )
    x = V.tensor_of(tensor)
    V.check("Sqrt" if ord in ("euclidean", "fro", 2) else "Abs", x, V.COMPLEX)
    keep = bool(keepdims)
    power = 2 if ord in ("euclidean", "fro") else ord
    if not matrices:
        places = V.axes_of("Sum", axis, x.payload.ndim)
        return _typed(wg.linalg.vector_norm(x, power, places or None, keep), x)
    pair = V.axes_of("Sum", axis, x.payload.ndim)
    if ord in ("euclidean", "fro"):
        return _typed(wg.linalg.vector_norm(x, 2, pair, keep), x)
    return _typed(wg.linalg.matrix_norm(x, power, pair, keep), x)


def _typed(result, x) -> Any:
    # the norm of complex numbers is a complex tensor in TensorFlow
    return V.converted(result, x.payload.dtype) if V.is_complex(x) else result


def normalize(tensor, ord="euclidean", axis=None, name=None) -> tuple[Any, Any]:
    """The tensor divided by its `norm`, whose arguments it takes; and the norm.

    Examples
    --------
    >>> unit, length = tf.linalg.normalize([3.0, 4.0])
    >>> print(unit.numpy(), length.numpy())
    [0.6 0.8] [5.]
    """
    x = V.tensor_of(tensor)
    length = norm(x, ord, axis, keepdims=True)
    return V.computed("RealDiv", wg.div, x, length), length


@V.operation("Mul")
def l2_normalize(x, axis=None, epsilon: float = 1e-12, name=None, dim=None) -> Any:
    """The tensor divided by its Euclidean norm, or by the root of `epsilon`, if that is greater.

    Examples
    --------
    >>> print(tf.nn.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    x = V.tensor_of(x)
    V.check("Square", x, V.COMPLEX)
    chosen = dim if axis is None else axis
    places = V.axes_of(
        "Sum", None if chosen is None else V.integers(chosen, "axis"), x.payload.ndim
    )
    total = wg.sum(wg.square(wg.abs(x)), places, True)
    bounded = wg.where(wg.ge(total, epsilon), total, wg.full_like(total, epsilon))
    return wg.mul(x, wg.rsqrt(bounded))


__all__ = defined(globals())
fill_sections(globals())
