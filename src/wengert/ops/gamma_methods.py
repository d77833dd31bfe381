"""Layer 5 · ops · pointwise: methods of tensors whose functions take the tensor elsewhere."""

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.ops import transcendental


@export("Tensor", "Tensor_")
def polygamma(input: Any, n: int) -> Any:
    """Return the derivative of order `n` of `digamma`: ``wengert.polygamma(n, input)``.

    Examples
    --------
    >>> wg.tensor([1.0, 2.0]).polygamma(1)
    tensor([1.6449, 0.6449])
    """
    return transcendental.polygamma(n, input)
