"""Layer 11 · cli: `wengert check`, gradcheck and gradgradcheck of a user's function."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import wengert as wg
from wengert.autograd.gradcheck import GradcheckError
from wengert.cli.request import BadRequest

__all__ = ["check"]


def _load(target: str) -> Callable[..., Any]:
    """The function that ``module:function`` names, looked for where the command runs, too."""
    module_name, colon, path = target.partition(":")
    if not (module_name and colon and path):
        raise BadRequest(f"expected module:function, as in mymodel:loss; got {target!r}")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise BadRequest(f"{error}; looked in {here} and where Python does") from error
    for name in path.split("."):
        if not hasattr(found, name):
            raise BadRequest(f"{target!r}: {found!r} has no attribute {name!r}")
        found = getattr(found, name)
    if not callable(found):
        raise BadRequest(f"{target!r} is no function but {type(found).__name__}")
    return found


def _inputs(
    function: Callable[..., Any], shapes: Sequence[tuple[int, ...]], dtype: str, seed: int
) -> tuple[Any, ...]:
    wg.manual_seed(seed)
    if shapes:
        kind = getattr(wg, dtype)
        return tuple(wg.randn(*shape, dtype=kind).requires_grad_() for shape in shapes)
    given = getattr(function, "inputs", None)
    if given is None:
        raise BadRequest(
            "what are the inputs? Give one --shape for each, or set the function's attribute "
            "`inputs` to a tuple of tensors or to a function that returns one"
        )
    values = given() if callable(given) else given
    return tuple(values) if isinstance(values, Sequence) else (values,)


def check(
    target: str,
    shapes: Sequence[tuple[int, ...]],
    dtype: str,
    *,
    seed: int = 0,
    second: bool = True,
    fast: bool = False,
) -> int:
    """Compare derivatives with finite differences, and print what came of it.

    Parameters
    ----------
    target
        ``module:function``; the function takes tensors and returns one or several.
    shapes
        The shape of each input; if empty, the function's attribute ``inputs`` supplies them.
    dtype
        ``"float64"`` or ``"complex128"``, of the inputs that `shapes` describes.
    seed
        Of the random inputs.
    second
        Whether to check second derivatives, too.
    fast
        Whether to check along random directions instead of each element.

    Returns
    -------
    int
        0 if all derivatives agree, 1 if one does not.

    Raises
    ------
    BadRequest
        If there is no such function, or no inputs for it.

    Examples
    --------
    >>> from wengert.cli.check import check
    >>> check("wengert:sin", [(3,)], "float64")
    wengert:sin
      input 0: float64 (3,)
      first derivatives agree
      second derivatives agree
    0
    """
    function = _load(target)
    inputs = _inputs(function, shapes, dtype, seed)
    if not any(isinstance(value, wg.Tensor) and value.requires_grad for value in inputs):
        raise BadRequest("there is nothing to check: none of the inputs requires a gradient")
    print(target)
    for i, value in enumerate(inputs):
        if isinstance(value, wg.Tensor):
            kind = str(value.dtype).removeprefix("torch.")
            print(f"  input {i}: {kind} {tuple(value.shape)}")
    checks: list[tuple[str, Callable[..., bool]]] = [
        ("first", wg.autograd.gradcheck),
        ("second", wg.autograd.gradgradcheck),
    ]
    for order, run in checks if second else checks[:1]:
        try:
            run(function, inputs, fast_mode=fast)
        except GradcheckError as error:
            print(f"  {order} derivatives differ: {error}")
            return 1
        print(f"  {order} derivatives agree")
    return 0
