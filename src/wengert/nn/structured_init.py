"""Layer 8 · nn: structured initial values: identities, orthogonal and sparse matrices."""

from __future__ import annotations

import math
from typing import Any

from wengert import linalg
from wengert.ops.arrange import diag
from wengert.ops.choice import randperm
from wengert.ops.join import stack
from wengert.ops.ranges import eye as identity
from wengert.tape.modes import no_grad


@no_grad()
def eye_(tensor: Any) -> Any:
    """Fill a matrix with ones on the diagonal and zeros elsewhere.

    Raises
    ------
    ValueError: If `tensor` does not have two dimensions.

    Examples
    --------
    >>> wg.nn.init.eye_(wg.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    _check_matrix(tensor)
    return tensor.copy_(identity(*tensor.shape, dtype=tensor.dtype))


@no_grad()
def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Fill a convolution weight so that it passes on as many channels as it can unchanged.

    Parameters
    ----------
    tensor : Tensor. The weight, of 3, 4 or 5 dimensions.
    groups : int. The groups of the convolution, each of which passes on its own channels.

    %(returns_filled)s

    Raises
    ------
    ValueError: If `tensor` does not have 3, 4 or 5 dimensions, or `groups` does not divide the
        output channels.

    Examples
    --------
    >>> weight = wg.nn.init.dirac_(wg.empty(1, 1, 3))
    >>> wg.nn.functional.conv1d(wg.tensor([[1.0, 2.0, 3.0]]), weight, padding=1)
    tensor([[1., 2., 3.]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(
            f"Only tensors with 3, 4, or 5 dimensions are supported, but got shape {tensor.shape}"
        )
    out_channels, in_channels, *sizes = tensor.shape
    if out_channels % groups:
        raise ValueError(
            f"dim 0 must be divisible by groups, but {out_channels} is not by {groups}"
        )
    tensor.zero_()
    per_group = out_channels // groups
    middle = tuple(size // 2 for size in sizes)
    for group in range(groups):
        for channel in range(min(per_group, in_channels)):
            tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Fill a weight with a random matrix whose rows (or columns, if fewer) are orthonormal.

    Parameters
    ----------
    tensor : Tensor. At least two dimensions; those after the first are merged.
    gain : float. The factor of the matrix.
    %(generator, returns_filled)s

    Raises
    ------
    ValueError: If `tensor` has fewer than two dimensions.

    Examples
    --------
    >>> w = wg.nn.init.orthogonal_(wg.empty(2, 3))
    >>> wg.allclose(w @ w.mT, wg.eye(2), atol=1e-6)
    True
    """
    if tensor.ndim < 2:
        raise ValueError(
            f"Only tensors with 2 or more dimensions are supported, but got shape {tensor.shape}"
        )
    if tensor.numel() == 0:
        return tensor
    with no_grad():
        rows = tensor.shape[0]
        flat = tensor.new_empty((rows, tensor.numel() // rows))
        flat.normal_(0, 1, generator=generator)
        wide = rows < flat.shape[1]
        q, r = linalg.qr(flat.mT if wide else flat)
        # makes all orthogonal matrices equally likely
        q = q * diag(r, 0).sign()
        tensor.copy_((q.mT if wide else q).reshape(tensor.shape))
        return tensor.mul_(gain)


@no_grad()
def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Fill a matrix from a normal distribution, with zeros in a fraction of each column.

    Parameters
    ----------
    tensor : Tensor. Of two dimensions.
    sparsity : float. The fraction of zeros in each column.
    std : float. The standard deviation of the other elements.
    generator : Generator, optional. The source of the values; the positions of the zeros come from
        the default generator.

    %(returns_filled)s

    Raises
    ------
    ValueError: If `tensor` does not have two dimensions.

    Examples
    --------
    >>> w = wg.nn.init.sparse_(wg.empty(10, 4), sparsity=0.3)
    >>> (w == 0).sum(0)
    tensor([3, 3, 3, 3])
    """
    _check_matrix(tensor)
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    if columns:
        chosen = stack([randperm(rows)[:zeros] for _ in range(columns)], 1)
        tensor.scatter_(0, chosen.to(tensor.device), 0)
    return tensor


def _check_matrix(tensor: Any) -> None:
    if tensor.ndim != 2:
        raise ValueError(
            f"Only tensors with 2 dimensions are supported, but got shape {tensor.shape}"
        )
