"""Layer 5 · ops · losses: losses that compare distances, or angles, of vectors."""

# the arguments have PyTorch's names

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.export import export
from wengert.ops.coerce import in_full, number, operand
from wengert.ops.losses import reduced, reduction_of
from wengert.ops.moments import vector_norm
from wengert.ops.pointwise import minimum
from wengert.ops.reduce import sum
from wengert.ops.select import clamp, where


@export("nn.functional")
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return ``1 - cos`` for pairs that should be alike, and ``max(0, cos - margin)`` for others.

    Parameters
    ----------
    input1, input2 : Tensor. Vectors, of shape (n, d) or (d,).
    target : Tensor. 1 for vectors that should be alike, -1 for others; of shape (n,) or ().
    margin : float. The largest cosine without cost for vectors that should differ.
    %(reduction)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to both vectors, to any order.

    %(raises_reduction)s
    RuntimeError: If the numbers of dimensions do not fit.

    Examples
    --------
    >>> F.cosine_embedding_loss(wg.tensor([[1.0, 0.0]]), wg.tensor([[0.0, 1.0]]), wg.tensor([1]))
    tensor(1.)
    """
    how = reduction_of(reduction, size_average, reduce)
    a = operand(input1, "cosine_embedding_loss", "input1")
    b = operand(input2, "cosine_embedding_loss", "input2", 2)
    a, b, y = in_full(a, b, operand(target, "cosine_embedding_loss", "target", 3))
    ndim = y._payload.ndim
    if ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if a._payload.ndim != ndim + 1 or b._payload.ndim != ndim + 1:
        kind = "1D" if ndim else "0D"
        raise RuntimeError(
            f"{kind} target tensor expects {ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(a._payload.shape)} and {list(b._payload.shape)}."
        )
    # so small that it only matters for vectors of zeros, as in PyTorch
    tiny = 1e-12
    scale = (sum(a * a, ndim) + tiny) * (sum(b * b, ndim) + tiny)
    cosine = sum(a * b, ndim) / scale.sqrt()
    alike = where(y == 1, 1 - cosine, 0.0)
    return reduced(alike + where(y == -1, clamp(cosine - margin, min=0), 0.0), how)


def _triplet_loss(positive: Any, negative: Any, swapped: Any, margin: float, how: str) -> Any:
    if swapped is not None:
        negative = minimum(negative, swapped)
    return reduced(clamp(positive - negative + margin, min=0), how)


@export("nn.functional")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return how much the distance to the positive, plus a margin, exceeds that to the negative.

    Parameters
    ----------
    anchor, positive, negative : Tensor. Vectors, of shape (n, d) or (d,).
    margin : float. The margin by which `negative` should be farther away than `positive`.
    p : float. The power of the norm that measures distances.
    eps : float. Added to differences, so that the distance 0 has a derivative.
    swap : bool. Whether the distance of `negative` from `positive` counts if it is the smaller.
    %(reduction)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to all three, to any order.

    Raises
    ------
    ValueError: For another reduction, or a margin that is not positive.
    RuntimeError: If the numbers of dimensions differ, or the shapes do not broadcast.

    Examples
    --------
    >>> a, b = wg.tensor([[0.0, 0.0]]), wg.tensor([[3.0, 4.0]])
    >>> F.triplet_margin_loss(a, a, b, margin=6.0)
    tensor(1.0000)
    """
    how = reduction_of(reduction, size_average, reduce)
    named = ("anchor", anchor), ("positive", positive), ("negative", negative)
    a, b, c = in_full(
        *[
            operand(value, "triplet_margin_loss", name, i)
            for i, (name, value) in enumerate(named, 1)
        ]
    )
    _check_triplet(margin, [t._payload.ndim for t in (a, b, c)])

    def distance(x: Any, y: Any) -> Any:
        return vector_norm(x - y + eps, p, -1)

    swapped = distance(b, c) if swap else None
    return _triplet_loss(distance(a, b), distance(a, c), swapped, margin, how)


def _check_triplet(margin: float, ndims: list[int]) -> None:
    if number(margin, "triplet_margin_loss", "margin") <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if len(set(ndims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {ndims[0]}D, positive {ndims[1]}D, and negative "
            f"{ndims[2]}D inputs"
        )


@export("nn.functional")
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` with a function for the distance.

    Parameters
    ----------
    anchor, positive, negative : Tensor. Vectors, of shape (n, d), or whatever the function takes.
    distance_function : callable, optional. Takes two of them and returns distances; by default the
        Euclidean distance.
    margin : float. The margin by which `negative` should be farther away than `positive`.
    swap : bool. Whether the distance of `negative` from `positive` counts if it is the smaller.
    %(single_reduction)s

    Returns
    -------
    Tensor: The loss; differentiable with respect to all three where the function is.

    Raises
    ------
    ValueError: For another reduction, or a margin that is not positive.
    RuntimeError: If the numbers of dimensions differ.

    Examples
    --------
    >>> a, b = wg.tensor([[0.0, 0.0]]), wg.tensor([[3.0, 4.0]])
    >>> wg.nn.functional.triplet_margin_with_distance_loss(
    ...     a, a, b, margin=8.0, distance_function=lambda x, y: (x - y).abs().sum(-1)
    ... )
    tensor(1.)
    """
    how = reduction_of(reduction)
    name = "triplet_margin_with_distance_loss"
    _check_triplet(margin, [operand(t, name).ndim for t in (anchor, positive, negative)])
    distance = distance_function or (lambda x, y: vector_norm(x - y + 1e-6, 2, -1))
    swapped = distance(positive, negative) if swap else None
    return _triplet_loss(
        distance(anchor, positive), distance(anchor, negative), swapped, margin, how
    )
