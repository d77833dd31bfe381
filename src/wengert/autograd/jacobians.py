"""Layer 7 · autograd: Jacobians of one call, with a row for each input element.

PyTorch has deprecated these functions, which `gradcheck` once consisted of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.autograd.numeric import as_tuple, columns, evaluator
from wengert.autograd.verify import requires_grad
from wengert.tape.backward import run_grad
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.sites import warn


def get_numerical_jacobian(
    fn: Callable[[Any], Any],
    inputs: Any,
    target: Any = None,
    eps: float = 1e-3,
    grad_out: float = 1.0,
) -> tuple[Any, ...]:
    """Return the Jacobians of the first output of ``fn(inputs)``, by central differences.

    Parameters
    ----------
    fn : callable. Takes `inputs` as they are, in one argument.
    inputs : Tensor or tuple. The point.
    target : Tensor or tuple, optional. The inputs to differentiate by; default: those that require
        a gradient.
    eps : float. The step.

    Examples
    --------
    >>> import warnings
    >>> from wengert.autograd.gradcheck import get_numerical_jacobian
    >>> x = wg.ones(2, dtype=wg.float64, requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     (jacobian,) = get_numerical_jacobian(lambda xs: xs[0] * 2, (x,))
    >>> jacobian.round(decimals=3)
    tensor([[2., 0.],
            [0., 2.]], dtype=torch.float64)
    """
    _deprecate("get_numerical_jacobian", grad_out)
    return tuple(row[0] for row in _get_numerical_jacobian(fn, inputs, None, target, eps))


def _get_numerical_jacobian(
    fn: Callable[[Any], Any],
    inputs: Any,
    outputs: Any = None,
    target: Any = None,
    eps: float = 1e-3,
    is_forward_ad: bool = False,
) -> tuple[tuple[Any, ...], ...]:
    """Return the Jacobians of all outputs with respect to each input, without a warning."""
    wanted = _iter_tensors(inputs if target is None else target, True)
    evaluate = evaluator(lambda *_: fn(inputs), as_tuple(inputs), eps)
    return tuple(tuple(_real(one, x) for one in columns(evaluate, x, eps)) for x in wanted)


def _iter_tensors(x: Any, only_requiring_grad: bool = False) -> Iterator[Any]:
    """Yield the tensors in nested sequences."""
    if isinstance(x, TensorBase):
        if requires_grad(x) or not only_requiring_grad:
            yield x
    elif isinstance(x, list | tuple):
        for one in x:
            yield from _iter_tensors(one, only_requiring_grad)


def get_analytical_jacobian(
    inputs: Any, output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Any, ...], bool, bool, bool]:
    """Return the Jacobians of `output` from its graph, and properties of the gradients.

    Returns
    -------
    tuple: The Jacobians with respect to those of `inputs` that require a gradient; whether a second
        pass gives the same up to `nondet_tol`; and whether gradients have the shapes and the dtypes
        of inputs.
    """
    _deprecate("get_analytical_jacobian", grad_out)
    wanted = [x for x in as_tuple(inputs) if requires_grad(x)]
    first, second = _rows(wanted, output), _rows(wanted, output)
    reentrant = all(
        bool((abs(a - b) <= nondet_tol).all()) for a, b in zip(first, second, strict=True)
    )
    # the engine refuses gradients of wrong shapes, and converts those of wrong dtypes
    return tuple(map(new_tensor, first)), reentrant, True, True


def _rows(wanted: Sequence[Any], output: Any) -> list[Any]:
    shape, size = output._payload.shape, output._payload.size
    jacobians = [_real(np.zeros((x._payload.size, size, 1), x._payload.dtype), x) for x in wanted]
    for i in range(size):
        unit = np.zeros(size, output._payload.dtype)
        unit[i] = 1
        grads = run_grad([output], wanted, [new_tensor(unit.reshape(shape))], True, False)
        for jacobian, grad in zip(jacobians, grads, strict=True):
            if grad is not None:
                jacobian._payload[:, i] = grad._payload.reshape(-1)
    return [jacobian._payload for jacobian in jacobians]


def _real(jacobian: Any, tensor: Any) -> Any:
    if jacobian is None or "c" in (jacobian.dtype.kind, tensor._payload.dtype.kind):
        raise NotImplementedError(
            "A Jacobian as one matrix is defined only for real inputs and outputs: use "
            "autograd.functional.jacobian()"
        )
    return new_tensor(np.ascontiguousarray(jacobian[:, :, 0]))


def _deprecate(name: str, grad_out: float) -> None:
    warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. It is deprecated "
        "there: autograd.functional.jacobian() computes Jacobians, gradcheck() compares them.",
        FutureWarning,
    )
    if grad_out != 1.0:
        raise ValueError(
            f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0: "
            "multiply the result"
        )
