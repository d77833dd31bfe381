"""Layer 8 · nn: the functions of neural networks, as PyTorch's ``nn.functional`` has them."""

# the functions and arguments have PyTorch's names

from __future__ import annotations

import importlib
from typing import Any

from wengert.ops import neural, pointwise
from wengert.ops.activations import (
    celu,
    elu,
    gelu,
    hardsigmoid,
    hardtanh,
    leaky_relu,
    logsigmoid,
    mish,
    relu6,
    selu,
    silu,
    softplus,
    softsign,
    tanhshrink,
)
from wengert.ops.affine import linear
from wengert.ops.classes import cross_entropy, nll_loss
from wengert.ops.dropout import dropout
from wengert.ops.later import NEURAL
from wengert.ops.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from wengert.ops.pointwise import sigmoid, tanh
from wengert.prims.table import TABLE
from wengert.tape.inplace import write
from wengert.tape.sites import warn

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "cross_entropy",
    "dropout",
    "elu",
    "gelu",
    "hardsigmoid",
    "hardtanh",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "mish",
    "mse_loss",
    "nll_loss",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
    "tanhshrink",
]


def __getattr__(name: str) -> Any:
    """The functions whose modules are imported when they are first named."""
    if name in NEURAL:
        module = importlib.import_module(f"wengert.ops.{NEURAL[name]}")
        return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *NEURAL})


def relu(input: Any, inplace: bool = False) -> Any:
    """``max(input, 0)``, element by element; the derivative at 0 is 0.

    Parameters
    ----------
    input : Tensor
        Of any real dtype.
    inplace : bool
        Whether to write the result into the input.

    Returns
    -------
    Tensor
        The result; differentiable.

    Raises
    ------
    RuntimeError
        If `inplace` is asked for where the input may not be written to.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.functional.relu(wg.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return write(TABLE["relu"], input, (), {}, "relu_") if inplace else pointwise.relu(input)


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Exponentials of the elements, scaled so that they add up to 1 along a dimension.

    Parameters
    ----------
    input : Tensor
        Of a real floating dtype, unless `dtype` is given.
    dim : int
        The dimension along which the results add up to 1.
    dtype : dtype, optional
        A real floating dtype to convert the input to first.

    Returns
    -------
    Tensor
        Of the input's shape; differentiable. It does not overflow.

    Raises
    ------
    IndexError
        If the dimension is out of range.
    NotImplementedError
        If the dtype is no real floating dtype.

    Warns
    -----
    UserWarning
        If no `dim` is given; then it is 0 for 0, 1 and 3 dimensions, else 1.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.functional.softmax(wg.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return neural.softmax(input, _chosen_dim("softmax", input, dim), dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of `softmax`, whose arguments it takes, without over- or underflow.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.functional.log_softmax(wg.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    return neural.log_softmax(input, _chosen_dim("log_softmax", input, dim), dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """`softmax` of minus the input, with the same arguments.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.nn.functional.softmin(wg.tensor([0.0, 1000.0]), dim=0)
    tensor([1., 0.])
    """
    dim = _chosen_dim("softmin", input, dim)
    return neural.softmax(pointwise.neg(input), dim, dtype)


def _chosen_dim(name: str, input: Any, dim: int | None) -> int:
    """`dim`, or what it has been since the days when it could be left out, with a warning."""
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
    )
    return 0 if len(input.shape) in (0, 1, 3) else 1
