"""Layer 9 · distributions: shared helpers for parameters, probabilities and triangles."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import wengert as wg
from wengert.base.elsewhere import elsewhere
from wengert.base.names import defined
from wengert.nn.functional import binary_cross_entropy_with_logits
from wengert.overrides import is_tensor_like

euler_constant = 0.57721566490153286060
"""Euler and Mascheroni's constant."""


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Broadcast numbers and tensors to tensors of one shape.

    Numbers get the dtype of the first tensor, or the default dtype without one.

    Raises
    ------
    ValueError: If a value is neither a number nor a tensor.

    Examples
    --------
    >>> wg.distributions.utils.broadcast_all(1.7, wg.zeros(2))
    (tensor([1.7000, 1.7000]), tensor([0., 0.]))
    """
    if not all(isinstance(v, bool | int | float) or is_tensor_like(v) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            f"__torch_function__. They are {', '.join(type(value).__name__ for value in values)}"
        )
    first = next((value for value in values if isinstance(value, wg.Tensor)), None)
    kind = wg.get_default_dtype() if first is None else first.dtype
    place = None if first is None else first.device
    made = [v if is_tensor_like(v) else wg.tensor(v, dtype=kind, device=place) for v in values]
    return tuple(wg.broadcast_tensors(*made))


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Draw standard normal numbers, as other packages' distributions do."""
    return wg.normal(wg.zeros(shape, dtype=dtype, device=device), 1.0)


def exactly_one(**values: Any) -> str:
    """Return the name of the single value that is given, as for `probs` and `logits`.

    Raises
    ------
    ValueError: If both are given, or none is.

    Examples
    --------
    >>> wg.distributions.utils.exactly_one(probs=0.5, logits=None)
    'probs'
    """
    given = [name for name, value in values.items() if value is not None]
    if len(given) != 1:
        names = " or ".join(f"`{name}`" for name in values)
        raise ValueError(f"Either {names} must be specified, but not both.")
    return given[0]


def number_like(tensor: Any, value: float) -> Any:
    """Return a constant with the shape and dtype of a tensor, without its history.

    Examples
    --------
    >>> wg.distributions.utils.number_like(wg.zeros(2), 0.8)
    tensor([0.8000, 0.8000])
    """
    return wg.full(tensor.shape, value, dtype=tensor.dtype)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Convert log-weights to probabilities, or log-odds if they are binary.

    Examples
    --------
    >>> wg.distributions.utils.logits_to_probs(wg.zeros(2))
    tensor([0.5000, 0.5000])
    """
    return wg.sigmoid(logits) if is_binary else wg.softmax(logits, dim=-1)


def clamp_probs(probs: Any) -> Any:
    """Clamp probabilities to the open interval (0, 1), a rounding error away from its ends.

    Examples
    --------
    >>> wg.distributions.utils.clamp_probs(wg.tensor([0.0, 0.5]))
    tensor([1.1921e-07, 5.0000e-01])
    """
    eps = wg.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Convert probabilities to their logarithms, or to log-odds if they are binary.

    Examples
    --------
    >>> wg.distributions.utils.probs_to_logits(wg.tensor([0.5, 0.75]), is_binary=True)
    tensor([0.0000, 1.0986])
    """
    inside = clamp_probs(probs)
    return wg.log(inside) - wg.log1p(-inside) if is_binary else wg.log(inside)


def entropy_of_bits(logits: Any, probs: Any) -> Any:
    """Compute the entropy of bits in nats, from both their log-odds and probabilities.

    Examples
    --------
    >>> wg.distributions.utils.entropy_of_bits(wg.zeros(1), wg.full((1,), 0.5))
    tensor([0.6931])
    """
    return binary_cross_entropy_with_logits(logits, probs, reduction="none")


class lazy_property:
    """A decorator for a method that computes an attribute: it runs once, on first access.

    Examples
    --------
    >>> class Twice:
    ...     @wg.distributions.utils.lazy_property
    ...     def value(self):
    ...         print("once")
    ...         return 2
    >>> twice = Twice()
    >>> twice.value + twice.value
    once
    4
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]  # it stands for a function

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with wg.enable_grad():
            value = self.wrapped(instance)
        # from now on the instance's own attribute is found first
        instance.__dict__[self.wrapped.__name__] = value
        return value


class _lazy_property_and_property(lazy_property, property):
    """The value on the class: a property, as documentation tools expect."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Return the elements of matrices on and below a diagonal, row by row.

    Raises
    ------
    ValueError: If the matrices have no such diagonal.

    Examples
    --------
    >>> wg.distributions.utils.tril_matrix_to_vec(wg.arange(9).reshape(3, 3), -1)
    tensor([3, 6, 7])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = wg.tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Make matrices with these elements on and below a diagonal, row by row, and zeros above.

    Raises
    ------
    ValueError: If the number of elements is not that of a triangle.

    Examples
    --------
    >>> wg.distributions.utils.vec_to_tril_matrix(wg.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    count = vec.shape[-1]
    rows_of = [range(1, n + 1) for n in range(1, count + abs(diag) + 1)]
    fitting = [len(r) for r in rows_of if sum(min(max(i + diag, 0), len(r)) for i in r) == count]
    if not fitting:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    size = fitting[0]
    rows, columns = wg.tril_indices(size, size, diag)
    places = wg.zeros(size, size, dtype=wg.int64)
    places[rows, columns] = wg.arange(1, count + 1)
    padded = wg.cat([vec.new_zeros((*vec.shape[:-1], 1)), vec], dim=-1)
    return padded[..., places]


__getattr__ = elsewhere(__name__)


__all__ = defined(globals())
