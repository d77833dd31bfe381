"""Layer 9 · distributions: transforms of vectors and matrices, and of slices of values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import wengert as wg
from wengert.distributions import constraints
from wengert.distributions.number_transforms import Transform, sum_rightmost
from wengert.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from wengert.nn.functional import pad, softplus

__all__ = [
    "CatTransform",
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "ReshapeTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
]


def _check_dims(shape: Any, least: int) -> None:
    if len(shape) < least:
        raise ValueError("Too few dimensions on input")


class ReshapeTransform(Transform):
    """Reshapes the last dimensions of a value.

    Parameters
    ----------
    in_shape, out_shape : tuple of int. Shapes of events, with equal numbers of elements.

    Examples
    --------
    >>> wg.distributions.transforms.ReshapeTransform((4,), (2, 2))(wg.ones(3, 4)).shape
    torch.Size([3, 2, 2])
    """

    bijective = True
    _arguments = ("in_shape", "out_shape")
    _compared = False

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = wg.Size(in_shape), wg.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return wg.zeros(x.shape[: x.dim() - len(self.in_shape)], dtype=x.dtype)

    def forward_shape(self, shape: Any) -> Any:
        return _reshaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _reshaped(shape, self.out_shape, self.in_shape)


def _reshaped(shape: Any, old: Any, new: Any) -> Any:
    _check_dims(shape, len(old))
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {tuple(old)}")
    return shape[:cut] + new


class SoftmaxTransform(Transform):
    """y = softmax(x), from vectors to the simplex. It is not bijective; the inverse returns ln y.

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.SoftmaxTransform()(wg.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        _check_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """Maps vectors to the simplex with one more element: each takes a share of what is left.

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.StickBreakingTransform()(wg.zeros(2))
    tensor([0.3333, 0.3333, 0.3333])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _offset(x: Any) -> Any:
        # so that 0 becomes the middle
        count = x.shape[-1] + 1
        return (count - wg.ones_like(x).detach().cumsum(-1)).log()

    def _call(self, x: Any) -> Any:
        z = wg.sigmoid(x - self._offset(x))
        left = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        left = wg.clamp(1 - cropped.cumsum(-1), min=wg.finfo(y.dtype).tiny)
        return cropped.log() - left.log() + self._offset(cropped)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._offset(x)
        return (-x + wg.nn.functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        _check_dims(shape, 1)
        return wg.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        _check_dims(shape, 1)
        return wg.Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    """Maps vectors to Cholesky factors of correlation matrices.

    Each element becomes a partial correlation by tanh, which takes a share of its row's unit
    length.

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.CorrCholeskyTransform()(wg.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True
    _compared = False

    def _call(self, x: Any) -> Any:
        x = wg.tanh(x)
        eps = wg.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        # the remainder of a row of length 1 after each element
        left = (1 - r * r).sqrt().cumprod(-1)
        r = r + wg.eye(r.shape[-1], dtype=r.dtype)
        return r * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = pad(1 - (y * y).cumsum(-1)[..., :-1], [1, 0], value=1)
        parts = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (parts.log1p() - (-parts).log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        left = 1 - (y * y).cumsum(-1)
        rest = tril_matrix_to_vec(left[..., :-1, :-1] if y.shape[-1] < 2 else left, diag=-2)
        slope = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * rest.log().sum(-1) + slope

    def forward_shape(self, shape: Any) -> Any:
        _check_dims(shape, 1)
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return wg.Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Any) -> Any:
        _check_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        size = shape[-1]
        return wg.Size((*shape[:-2], size * (size - 1) // 2))


class LowerCholeskyTransform(Transform):
    """Maps matrices to lower-triangular ones, with the exponential of their diagonals.

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.LowerCholeskyTransform()(wg.full((1, 1), 0.5))
    tensor([[1.6487]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Maps matrices to positive definite ones, through Cholesky factors.

    Parameters
    ----------
    %(cache_size)s

    Examples
    --------
    >>> wg.distributions.transforms.PositiveDefiniteTransform()(wg.full((1, 1), 0.5))
    tensor([[2.7183]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(wg.linalg.cholesky(y))


# -- of parts --------------------------------------------------------------------------------------


class _OfParts(Transform):
    """A transform for each slice of a value along `dim`."""

    transforms: list[Any]
    dim: int
    _compared = False

    def _set(self, tseq: Sequence[Any], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) if cache_size else t for t in tseq]
        self.dim = dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    def _parts(self, value: Any) -> Sequence[Any]:
        raise NotImplementedError

    _joined: Callable[..., Any]

    def _each(self, function: Callable[..., Any], *values: Any) -> list[Any]:
        """Apply `function` to each transform and its slices of the values."""
        for value in values:
            if not -value.dim() <= self.dim < value.dim():
                raise AssertionError(
                    f"dim {self.dim} out of range for value with {value.dim()} dimensions"
                )
        parts = [self._parts(value) for value in values]
        return [function(*of_one) for of_one in zip(self.transforms, *parts, strict=True)]

    def _call(self, x: Any) -> Any:
        return self._joined(self._each(lambda t, part: t(part), x), self.dim)

    def _inverse(self, y: Any) -> Any:
        return self._joined(self._each(lambda t, part: t.inv(part), y), self.dim)


class CatTransform(_OfParts):
    """Transforms of consecutive slices along a dimension.

    Parameters
    ----------
    tseq : list of Transform.
    dim : int. The dimension.
    lengths : list of int, optional. The lengths of the slices; by default 1.

    Examples
    --------
    >>> parts = [wg.distributions.ExpTransform(), wg.distributions.identity_transform]
    >>> wg.distributions.CatTransform(parts, lengths=[1, 2])(wg.full((3,), 0.5))
    tensor([1.6487, 0.5000, 0.5000])
    """

    def __init__(
        self,
        tseq: Sequence[Any],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        self._set(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match tseq ({len(self.transforms)})"
            )

    _joined = staticmethod(wg.cat)

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The sum of the lengths."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Any) -> Sequence[Any]:
        return value.split(self.lengths, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim

        def slope(t: Any, before: Any, after: Any) -> Any:
            found = t.log_abs_det_jacobian(before, after)
            return sum_rightmost(found, self.event_dim - t.event_dim)

        slopes = self._each(slope, x, y)
        dim += self.event_dim
        return wg.cat(slopes, dim=dim) if dim < 0 else sum(slopes)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_OfParts):
    """Transforms of the slices of size 1 along a dimension.

    Parameters
    ----------
    tseq : list of Transform. One for each slice.
    dim : int. The dimension.

    Examples
    --------
    >>> both = [wg.distributions.ExpTransform(), wg.distributions.TanhTransform()]
    >>> wg.distributions.StackTransform(both)(wg.full((2,), 0.5))
    tensor([1.6487, 0.4621])
    """

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        self._set(tseq, dim, cache_size)

    _joined = staticmethod(wg.stack)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, value: Any) -> Sequence[Any]:
        return value.unbind(self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        slopes = self._each(lambda t, a, b: t.log_abs_det_jacobian(a, b), x, y)
        return wg.stack(slopes, dim=self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
