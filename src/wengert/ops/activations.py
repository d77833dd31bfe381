"""Layer 5 · ops · activations: the activation functions of `nn.functional`."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.ops.checks import real_input
from wengert.ops.coerce import number, operand, real_number
from wengert.ops.out import into
from wengert.prims import neural as neural
from wengert.prims.table import TABLE
from wengert.tape.inplace import write
from wengert.tape.record import T

# Klambauer et al., "Self-Normalizing Neural Networks" (2017)
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _activation(name: str, kernel: str, input: Any, inplace: bool = False, **params: Any) -> Any:
    input = real_input(input, name, kernel, floating=True)
    if inplace:
        return write(TABLE[name], input, (), params, f"{name}_")
    return getattr(T, name)(input, **params)


@export("nn.functional")
def relu6(input: Any, inplace: bool = False) -> Any:
    """Return ``min(max(input, 0), 6)``, element by element.

    Parameters
    ----------
    %(numeric_input)s

    Returns
    -------
    Tensor: The result; differentiable, with the derivative 0 at and beyond the bounds.

    Raises
    ------
    NotImplementedError: If the dtype is complex.

    Examples
    --------
    >>> wg.nn.functional.relu6(wg.tensor([-1.0, 3.0, 8.0]))
    tensor([0., 3., 6.])
    """
    return hardtanh(input, 0, 6, inplace)


@export("nn.functional")
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Clamp the input between two bounds, element by element.

    Parameters
    ----------
    %(numeric_input)s
    min_val, max_val : float. The bounds.

    Returns
    -------
    Tensor: The result; differentiable, with the derivative 0 at and beyond the bounds.

    Raises
    ------
    ValueError: If the lower bound is above the upper one.
    NotImplementedError: If the dtype is complex.

    Examples
    --------
    >>> wg.nn.functional.hardtanh(wg.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    input = real_input(input, "hardtanh", "hardtanh_cpu")
    min_val = real_number(min_val, input, "hardtanh", "min_val")
    max_val = real_number(max_val, input, "hardtanh", "max_val")
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, but got {min_val} and {max_val}")
    if input._payload.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
    bounds = {"min_val": min_val, "max_val": max_val}
    if inplace:
        return write(TABLE["hardtanh"], input, (), bounds, "hardtanh_")
    return T.hardtanh(input, **bounds)


@export("nn.functional")
def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """Return ``relu6(input + 3) / 6``, element by element.

    Parameters
    ----------
    %(floating_input, returns_result, raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.hardsigmoid(wg.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """
    input = real_input(input, "hardsigmoid", "hardsigmoid_cpu", floating=True)
    if inplace:
        return write(TABLE["hardsigmoid"], input, (), {}, "hardsigmoid_")
    return T.hardsigmoid(input)


@export("nn.functional")
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """Return the input where it is positive, and a small multiple of it elsewhere.

    Parameters
    ----------
    %(floating_input)s
    negative_slope : float. The slope for elements that are not positive.

    Returns
    -------
    Tensor: The result; differentiable, at 0 with the derivative `negative_slope`.

    %(raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.leaky_relu(wg.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """
    slope = float(number(negative_slope, "leaky_relu", "negative_slope"))
    return _activation("leaky_relu", "leaky_relu_cpu", input, inplace, negative_slope=slope)


@export("nn.functional")
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """Return the input where it is positive, ``alpha * (exp(input) - 1)`` elsewhere.

    Parameters
    ----------
    %(floating_input, lower_limit, returns_result, raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.elu(wg.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    alpha = float(number(alpha, "elu", "alpha"))
    return _activation("elu", "elu_cpu", input, inplace, alpha=alpha, scale=1.0, input_scale=1.0)


@export("nn.functional")
def selu(input: Any, inplace: bool = False) -> Any:
    """Return the scaled `elu` that preserves mean 0 and variance 1 from layer to layer.

    Parameters
    ----------
    %(floating_input, returns_result, raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.selu(wg.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    return _activation(
        "elu", "elu_cpu", input, inplace, alpha=_SELU_ALPHA, scale=_SELU_SCALE, input_scale=1.0
    )


@export("nn.functional")
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """Return the input where it is positive, ``alpha * (exp(input / alpha) - 1)`` elsewhere.

    Parameters
    ----------
    %(floating_input)s
    alpha : float. Minus the limit for large negative inputs; not 0.

    Returns
    -------
    Tensor: The result, element by element; differentiable.

    Raises
    ------
    RuntimeError: If `alpha` is 0.
    %(error_floating)s

    Examples
    --------
    >>> wg.nn.functional.celu(wg.tensor([-1.0, 2.0]), alpha=2.0)
    tensor([-0.7869,  2.0000])
    """
    alpha = float(number(alpha, "celu", "alpha"))
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _activation(
        "elu", "elu_cpu", input, inplace, alpha=alpha, scale=1.0, input_scale=1 / alpha
    )


@export("nn.functional")
def silu(input: Any, inplace: bool = False) -> Any:
    """Return ``input * sigmoid(input)``, element by element; also known as swish.

    Parameters
    ----------
    input : Tensor. Of a floating or complex dtype.

    %(returns_result)s

    Raises
    ------
    NotImplementedError: If the dtype is an integer dtype or bool.

    Examples
    --------
    >>> wg.nn.functional.silu(wg.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    input = operand(input, "silu")
    if input._payload.dtype.kind == "c":
        return write(TABLE["silu"], input, (), {}, "silu_") if inplace else T.silu(input)
    return _activation("silu", "silu_cpu", input, inplace)


@export("nn.functional")
def mish(input: Any, inplace: bool = False) -> Any:
    """Return ``input * tanh(softplus(input))``, element by element.

    Parameters
    ----------
    %(floating_input, returns_result, raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.mish(wg.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """
    return _activation("mish", "mish_cpu", input, inplace)


@export("nn.functional")
def gelu(input: Any, *, approximate: str = "none", out: Any = None) -> Any:
    """Return the input times the standard normal distribution function at it, element by element.

    Parameters
    ----------
    %(floating_input)s
    approximate : {"none", "tanh"}. Whether to approximate the distribution function by tanh.

    %(returns_result)s

    Raises
    ------
    RuntimeError: For another approximation.
    %(error_floating)s

    Examples
    --------
    >>> wg.nn.functional.gelu(wg.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(
            f"approximate argument must be either none or tanh, but got {approximate!r}"
        )
    result = _activation("gelu", "GeluKernelImpl", input, approximate=approximate)
    return result if out is None else into(out, result, "gelu")


@export("nn.functional")
def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0, *, out: Any = None) -> Any:
    """Return ``log(1 + exp(beta * input)) / beta``, a smooth `relu`, element by element.

    Parameters
    ----------
    %(floating_input)s
    beta : float. The steepness.
    threshold : float. Where ``beta * input`` exceeds it, the result is the input itself.

    %(returns_result, raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.softplus(wg.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    beta = float(number(beta, "softplus", "beta"))
    threshold = float(number(threshold, "softplus", "threshold"))
    result = _activation("softplus", "softplus_cpu", input, beta=beta, threshold=threshold)
    return into(out, result, "softplus")


@export("nn.functional")
def logsigmoid(input: Any, *, out: Any = None) -> Any:
    """Return ``log(sigmoid(input))``, without underflow, element by element.

    Parameters
    ----------
    %(floating_input, returns_result, raises_floating)s

    Examples
    --------
    >>> wg.nn.functional.logsigmoid(wg.tensor([-1000.0, 2.0]))
    tensor([-1.0000e+03, -1.2693e-01])
    """
    return into(out, _activation("log_sigmoid", "log_sigmoid_cpu", input), "log_sigmoid")


@export("nn.functional")
def softsign(input: Any) -> Any:
    """Return ``input / (1 + abs(input))``, element by element; differentiable.

    Examples
    --------
    >>> wg.nn.functional.softsign(wg.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    input = operand(input, "softsign")
    return T.div(input, T.add(T.abs(input), 1))


@export("nn.functional")
def tanhshrink(input: Any) -> Any:
    """Return ``input - tanh(input)``, element by element; differentiable.

    Examples
    --------
    >>> wg.nn.functional.tanhshrink(wg.tensor([-1.0, 2.0]))
    tensor([-0.2384,  1.0360])
    """
    input = operand(input, "tanhshrink")
    return T.sub(input, T.tanh(input))
