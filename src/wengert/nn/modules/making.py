"""Layer 8 · nn: helpers of the constructors of layers: parameters and per-dimension numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from wengert.nn import functional as F
from wengert.nn import init
from wengert.nn.parameter import Parameter
from wengert.ops.create import empty
from wengert.types import Tensor

Sizes = int | tuple[int, ...]
"""One number for all dimensions, or one for each."""


class WithOptions:
    """A layer that hands its function the attributes that `_options` names, by these names."""

    _options: tuple[str, ...] = ()

    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._options}


class OfOneInput(WithOptions):
    """Such a layer, of one tensor, whose function is `_function`."""

    _function: ClassVar[str]

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return getattr(F, self._function)(input, **self._given())


def new_parameter(shape: Any, device: Any, dtype: Any) -> Parameter:
    """Return a parameter with uninitialised elements."""
    return Parameter(empty(shape, device=device, dtype=dtype))


def repeated(value: Any, count: int) -> tuple[Any, ...]:
    """Return a tuple of `count` times the value, unless it is a sequence already."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count


def ones_and_zeros(weight: Any, bias: Any) -> None:
    """Fill a scale with ones and a shift with zeros, where they exist."""
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)
