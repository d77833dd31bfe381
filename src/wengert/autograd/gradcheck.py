"""Layer 7 · autograd: `gradcheck` and `gradgradcheck`: derivatives against finite differences.

The code that runs them is imported with the first check.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wengert.autograd.jacobians import get_analytical_jacobian as get_analytical_jacobian
    from wengert.autograd.jacobians import get_numerical_jacobian as get_numerical_jacobian
    from wengert.autograd.verify import GradcheckError as GradcheckError

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "gradcheck",
    "gradgradcheck",
]

_LAZY = {
    "GradcheckError": "verify",
    "_get_numerical_jacobian": "jacobians",
    "_iter_tensors": "jacobians",
    "get_analytical_jacobian": "jacobians",
    "get_numerical_jacobian": "jacobians",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_module(_LAZY[name]), name)


def _module(name: str) -> Any:
    return importlib.import_module(f"wengert.autograd.{name}")


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of `func` against central finite differences.

    Every floating or complex tensor among `inputs` that requires a gradient is checked, for every
    output that depends on one. A complex output is checked as two real ones, its real and its
    imaginary part. The inputs always keep their values, and so does the state of the
    random number generators.

    Parameters
    ----------
    func: A function of `inputs` that returns a tensor or a tuple. Results other than tensors are
        ignored.
    inputs: A tensor or a tuple of arguments of any kind. The tensors to check should be float64 or
        complex128: finite differences are too coarse for less.
    eps: The size of the perturbation.
    atol, rtol: The largest difference allowed is ``atol + rtol * abs(numerical)``.
    raise_exception: Whether to raise `GradcheckError` rather than to return False.
    nondet_tol: The largest difference allowed between two runs of the same backward pass.
    check_undefined_grad: Whether to check that an output without a gradient counts as one whose
        gradient is zero.
    check_grad_dtypes: Whether to check that each gradient has its input's dtype.
    check_batched_grad, check_batched_forward_grad: Whether to check that derivatives under `vmap`
        equal those without it.
    check_forward_ad, check_backward_ad: Whether to check forward mode, and reverse mode.
    fast_mode: Compare one random projection of each Jacobian, to the tolerance of one entry,
        instead of all its entries: the cost no longer grows with the number of elements. If the
        projections differ, the check searches for the wrong element. Without `fast_mode`, all
        entries are compared if inputs and outputs have up to 500 elements. For more elements, in
        double precision, four random projections are compared to a tenth of `atol`, and all entries
        if one of these differs.
    masked: Has no effect: sparse inputs vary in the elements that they specify.

    Returns
    -------
    bool: True if all derivatives agree.

    Raises
    ------
    GradcheckError: If a derivative is wrong. The message names the argument, the element and both
        numbers, and says so where the function has a kink.
    ValueError: If no input requires a gradient.
    TypeError: If `func` does not return a tensor.

    Examples
    --------
    >>> x = wg.tensor([0.5, 1.5], dtype=wg.float64, requires_grad=True)
    >>> wg.autograd.gradcheck(lambda x: (x * x).sum(), (x,))
    True
    >>> wg.autograd.gradcheck(lambda x: x.detach() * x, (x,), raise_exception=False)
    False
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    verify = _module("verify")
    func, inputs = verify.of_values(*verify.on_cpu(func, inputs))
    settings = (func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    check = verify.Check(*settings)
    try:
        if check_backward_ad:
            check.run(fast_mode, check_undefined_grad)
        if check_batched_grad or check_forward_ad:
            more = _module("verify_forward")
            if check_batched_grad:
                more.check_batched_backward(check)
            if check_forward_ad:
                more.ForwardCheck(*settings).run(fast_mode, check_undefined_grad)
            if check_batched_forward_grad:
                more.check_batched_forward(more.ForwardCheck(*settings))
    except verify.GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check the second derivatives of `func` against finite differences of its gradients.

    It passes to `gradcheck` the gradients of `func`, as a function of `inputs` and of the gradients
    of the outputs.

    Parameters
    ----------
    func, inputs: As `gradcheck` takes them.
    grad_outputs: A tensor, or a tuple with one for each output that requires a gradient. None:
        random ones from the default generator, which are checked too.
    gen_non_contig_grad_outputs: Whether the random gradients of outputs should not be contiguous in
        memory.
    check_fwd_over_rev, check_rev_over_rev: Whether to check forward over reverse mode, and reverse
        over reverse mode.
    eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes: As
        `gradcheck` takes them.
    check_batched_grad, fast_mode, masked: As `gradcheck` takes them.

    Returns
    -------
    bool: True if all derivatives agree.

    Raises
    ------
    GradcheckError: If a derivative is wrong.
    ValueError, TypeError: As `gradcheck` raises them.

    Examples
    --------
    >>> x = wg.tensor([0.5, 1.5], dtype=wg.float64, requires_grad=True)
    >>> wg.autograd.gradgradcheck(lambda x: x * x * x, (x,))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError(
            "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
        )
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_rev_over_rev to be True"
        )
    func, inputs = _module("verify").on_cpu(func, inputs)
    if grad_outputs is not None:
        _, grad_outputs = _module("verify").on_cpu(func, grad_outputs)
    gradients, arguments = _module("verify_gradients").function_of_gradients(
        func, inputs, grad_outputs, gen_non_contig_grad_outputs
    )
    return gradcheck(
        gradients,
        arguments,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )
