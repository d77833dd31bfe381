"""Layer 8 · nn: the functions of neural networks, under the names of ``torch.nn.functional``."""

# the functions and arguments have PyTorch's names

from __future__ import annotations

import importlib
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.ops import neural, pointwise
from wengert.ops.exports import EXPORTS
from wengert.prims.table import TABLE
from wengert.tape.inplace import write
from wengert.tensor.overrides import published

_LAZY = EXPORTS["nn.functional"]

__all__ = ["log_softmax", "relu", "sigmoid", "softmax", "softmin", "tanh", *_LAZY]
__dir__ = shows(__all__)


sigmoid: Any = pointwise.sigmoid
tanh: Any = pointwise.tanh


def __getattr__(name: str) -> Any:
    """Import the module of a function on first access."""
    if name in _LAZY:
        module = importlib.import_module(f"wengert.ops.{_LAZY[name]}")
        return globals().setdefault(name, published(getattr(module, name), __name__, name))
    return elsewhere(__name__)(name)


def relu(input: Any, inplace: bool = False) -> Any:
    """Return ``max(input, 0)``, element by element; the derivative at 0 is 0.

    Parameters
    ----------
    %(real_input, returns_result)s

    Raises
    ------
    RuntimeError: If `inplace` is true and the input must not be written to.

    Examples
    --------
    >>> wg.nn.functional.relu(wg.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return write(TABLE["relu"], input, (), {}, "relu_") if inplace else pointwise.relu(input)


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return the exponentials of the elements, scaled to add up to 1 along a dimension.

    Parameters
    ----------
    %(converted_input, probability_dim, real_dtype_first)s

    Returns
    -------
    Tensor: Of the input's shape; differentiable. It does not overflow.

    %(raises_dim, error_floating)s

    Warns
    -----
    UserWarning: If no `dim` is given; then it is 0 for 0, 1 and 3 dimensions, else 1.

    Examples
    --------
    >>> wg.nn.functional.softmax(wg.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return neural.softmax(input, neural.chosen_dim("softmax", input, dim), dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return the logarithm of `softmax`, without overflow; arguments as for `softmax`.

    Examples
    --------
    >>> wg.nn.functional.log_softmax(wg.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    return neural.log_softmax(input, neural.chosen_dim("log_softmax", input, dim), dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Return `softmax` of ``-input``; arguments as for `softmax`.

    Examples
    --------
    >>> wg.nn.functional.softmin(wg.tensor([0.0, 1000.0]), dim=0)
    tensor([1., 0.])
    """
    dim = neural.chosen_dim("softmin", input, dim)
    return neural.softmax(pointwise.neg(input), dim, dtype)
