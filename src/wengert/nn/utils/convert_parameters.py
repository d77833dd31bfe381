"""Layer 8 · nn: all parameters of a model as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from wengert.nn.modules.registration import type_name
from wengert.ops.join import cat
from wengert.types import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return the elements of all `parameters` as one vector. Differentiable.

    Examples
    --------
    >>> wg.nn.utils.parameters_to_vector([wg.ones(2), wg.zeros(1, 2)])
    tensor([1., 1., 0., 0.])
    """
    return cat([param.reshape(-1) for param in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set `parameters` to consecutive slices of `vec`.

    From then on they share the memory of `vec`.

    Parameters
    ----------
    vec : Tensor. One dimension, with as many elements as all parameters have.
    parameters : iterable of Tensor. Leaves.

    Raises
    ------
    TypeError: If `vec` is not a tensor.
    RuntimeError: If `vec` has too few elements.

    Examples
    --------
    >>> a, b = wg.zeros(2), wg.zeros(1, 2)
    >>> wg.nn.utils.vector_to_parameters(wg.arange(4.0), [a, b])
    >>> a, b
    (tensor([0., 1.]), tensor([[2., 3.]]))
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type_name(vec)}")
    listed = list(parameters)
    count = sum(param.numel() for param in listed)
    if vec.numel() < count:
        raise RuntimeError(
            f"vector_to_parameters: the parameters have {count} elements, but vec has "
            f"{vec.numel()}: give one for each"
        )
    begin = 0
    for param in listed:
        end = begin + param.numel()
        param.data = vec.detach()[begin:end].view(param.shape)
        begin = end
