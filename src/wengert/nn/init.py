"""Layer 8 · nn: initial values of parameters (`wengert.nn.init`).

Each function fills a tensor in place, without recording, and returns it. With the same seed it
draws the same numbers as PyTorch's function of that name.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.nn.gains import calculate_gain, kaiming_std, xavier_std
from wengert.nn.gains import fan_of as _calculate_correct_fan
from wengert.nn.gains import fans_of as _calculate_fan_in_and_fan_out
from wengert.ops.like import empty_like
from wengert.ops.select import where
from wengert.tape.modes import no_grad
from wengert.tape.sites import warn

__all__ = [
    "_calculate_correct_fan",
    "_calculate_fan_in_and_fan_out",
    "calculate_gain",
    "constant_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]
__dir__ = shows(__all__)

# these need linear algebra, which layers do not
_STRUCTURED = ("dirac_", "eye_", "orthogonal_", "sparse_")
__all__ += _STRUCTURED
# functions that also have a deprecated name without the underscore
_RENAMED = frozenset(__all__) - {"calculate_gain", "ones_", "trunc_normal_", "zeros_"}


@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Fill `tensor` with numbers from the uniform distribution on ``[a, b]``.

    Parameters
    ----------
    tensor : Tensor. Of a floating point dtype.
    a, b : float. The ends of the interval.
    %(generator, returns_filled)s

    Examples
    --------
    >>> w = wg.nn.init.uniform_(wg.empty(200, 100), -1, 1)
    >>> (w.abs() <= 1).all()
    tensor(True)
    """
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Fill `tensor` with numbers from a normal distribution.

    Parameters
    ----------
    tensor : Tensor. Of a floating point dtype.
    mean, std : float. Mean and standard deviation.
    %(generator, returns_filled)s

    Examples
    --------
    >>> w = wg.nn.init.normal_(wg.empty(200, 100), 0, 0.1)
    >>> round(w.std().item(), 2)
    0.1
    """
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Any:
    """Fill `tensor` with numbers from a normal distribution truncated to ``[a, b]``.

    Parameters
    ----------
    tensor : Tensor. Of a floating point dtype.
    mean, std : float. Mean and standard deviation of the distribution before truncation.
    a, b : float. The bounds.
    %(generator, returns_filled)s

    Examples
    --------
    >>> bool((wg.nn.init.trunc_normal_(wg.empty(100)).abs() <= 2).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
        )
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    if inside > 0.3:
        # few numbers fall outside; draw those again
        low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
        made = tensor.normal_(mean, std, generator=generator)
        while (outside := (made < low) | (made > high)).any():
            again = empty_like(made).normal_(mean, std, generator=generator)
            made = where(outside, again, made)
    else:
        made = _accepted_uniform(tensor, mean, std, a, b, generator)
    return tensor if made is tensor else tensor.copy_(made)


def _accepted_uniform(
    tensor: Any, mean: float, std: float, a: float, b: float, generator: Any
) -> Any:
    """Draw uniform numbers and accept each with a probability proportional to the density."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    made = tensor.uniform_(a, b, generator=generator)
    drawn = made.clone()
    pending = None
    while True:
        exponent = drawn.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        refused = empty_like(tensor).uniform_(generator=generator).log_() > exponent
        pending = refused if pending is None else where(pending, refused, pending)
        if not pending.any():
            return made
        drawn.uniform_(a, b, generator=generator)
        made = where(pending, drawn, made)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@no_grad()
def constant_(tensor: Any, val: float) -> Any:
    """Fill `tensor` with the number `val`.

    Examples
    --------
    >>> wg.nn.init.constant_(wg.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    return tensor.fill_(val)


@no_grad()
def ones_(tensor: Any) -> Any:
    """Fill `tensor` with ones.

    Examples
    --------
    >>> wg.nn.init.ones_(wg.empty(3))
    tensor([1., 1., 1.])
    """
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Any) -> Any:
    """Fill `tensor` with zeros.

    Examples
    --------
    >>> wg.nn.init.zeros_(wg.empty(3))
    tensor([0., 0., 0.])
    """
    return tensor.zero_()


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill a weight uniformly so that variances are about the same forward and backward.

    The bounds are ±gain·√(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Parameters
    ----------
    tensor : Tensor. At least two dimensions: outputs, inputs, and kernel sizes.
    gain : float. See `calculate_gain`.
    %(generator, returns_filled)s

    Raises
    ------
    ValueError: If `tensor` has fewer than two dimensions.

    Examples
    --------
    >>> w = wg.nn.init.xavier_uniform_(wg.empty(200, 100))
    >>> round(w.abs().max().item(), 2)  # sqrt(6 / 300)
    0.14
    """
    bound = math.sqrt(3.0) * xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill from a normal distribution that keeps variances; arguments as for `xavier_uniform_`.

    The standard deviation is gain·√(2 / (fan_in + fan_out)).

    Examples
    --------
    >>> w = wg.nn.init.xavier_normal_(wg.empty(200, 100))
    >>> round(w.std().item(), 2)  # sqrt(2 / 300)
    0.08
    """
    return normal_(tensor, 0.0, xavier_std(tensor, gain), generator)


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:
    """Fill a weight uniformly so that rectifiers preserve variances.

    The bounds are ±gain·√(3 / fan) (He et al., 2015).

    Parameters
    ----------
    tensor : Tensor. At least two dimensions: outputs, inputs, and kernel sizes.
    a : float. The slope below zero of the rectifier that follows.
    mode : str. ``"fan_in"`` preserves variances in the forward pass, ``"fan_out"`` in the
        backward pass.
    nonlinearity : str. The nonlinearity that follows (see `calculate_gain`).
    %(generator, returns_filled)s

    Raises
    ------
    ValueError: If `tensor` has fewer than two dimensions, or `mode` is unknown.

    Examples
    --------
    >>> w = wg.nn.init.kaiming_uniform_(wg.empty(200, 100), nonlinearity="relu")
    >>> round(w.abs().max().item(), 2)  # sqrt(6 / 100)
    0.24
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:
    """Fill from a normal distribution for rectifiers; arguments as for `kaiming_uniform_`.

    The standard deviation is gain / √fan.

    Examples
    --------
    >>> w = wg.nn.init.kaiming_normal_(wg.empty(200, 100))
    >>> round(w.std().item(), 2)  # sqrt(2 / 100)
    0.14
    """
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0, kaiming_std(tensor, a, mode, nonlinearity), generator)


def _is_empty(tensor: Any) -> bool:
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return True
    return False


def __getattr__(name: str) -> Any:
    if name in _STRUCTURED:
        module = importlib.import_module("wengert.nn.structured_init")
        return globals().setdefault(name, getattr(module, name))
    if f"{name}_" not in _RENAMED:
        return elsewhere(__name__)(name)
    return _renamed(name, globals().get(f"{name}_") or __getattr__(f"{name}_"))


def _renamed(name: str, function: Any) -> Any:
    """Return a function under its deprecated name, which warns."""

    def old(*args: Any, **kwargs: Any) -> Any:
        warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.",
            FutureWarning,
        )
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name
    return old
