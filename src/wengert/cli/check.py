"""Layer 11 · cli: `wengert check`, gradcheck and gradgradcheck of a user's function."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import wengert as wg
from wengert.autograd.verify import GradcheckError
from wengert.cli.request import BadRequest
from wengert.cli.target import described, inputs_of, load


def _checks(second: bool, forward: bool, fast: bool) -> list[tuple[str, Callable[..., bool], Any]]:
    checks: list[tuple[str, Callable[..., bool], Any]] = []
    if forward:
        alone = {"check_forward_ad": True, "check_backward_ad": False, "fast_mode": fast}
        alone["check_undefined_grad"] = False
        checks.append(("first derivatives, forward mode", wg.autograd.gradcheck, alone))
    checks.append(("first derivatives", wg.autograd.gradcheck, {"fast_mode": fast}))
    if second and forward:
        over = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "fast_mode": fast}
        over["check_undefined_grad"] = False
        name = "second derivatives, forward over reverse"
        checks.append((name, wg.autograd.gradgradcheck, over))
    if second:
        checks.append(("second derivatives", wg.autograd.gradgradcheck, {"fast_mode": fast}))
    return checks


def check(
    target: str,
    shapes: Sequence[tuple[int, ...]],
    dtype: str,
    *,
    file: str | None = None,
    seed: int = 0,
    second: bool = True,
    forward: bool = False,
    fast: bool = False,
    as_json: bool = False,
) -> int:
    """Compare derivatives with finite differences, and print the result.

    Parameters
    ----------
    target: ``module:function``; the function takes tensors and returns one or several.
    shapes, dtype, file, seed: The inputs (see `wengert.cli.target.inputs_of`).
    second: Whether to check second derivatives, too.
    forward: Whether to check forward mode, too: for second derivatives, forward over reverse.
    fast: Whether to check along random directions instead of each element.
    as_json: Whether to print one JSON object instead of lines.

    Returns
    -------
    int: 0 if all derivatives agree, 1 if one does not.

    Raises
    ------
    BadRequest: If there is no such function, or no inputs for it.

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
    function = load(target)
    inputs = inputs_of(function, shapes, dtype, seed, file)
    if not any(isinstance(value, wg.Tensor) and value.requires_grad for value in inputs):
        raise BadRequest("there is nothing to check: none of the inputs requires a gradient")
    report: dict[str, Any] = {"target": target, "inputs": described(inputs), "agree": []}
    if not as_json:
        print(target)
        for row in report["inputs"]:
            print(f"  input {row['input']}: {row['dtype']} {tuple(row['shape'])}")
    for name, run, options in _checks(second, forward, fast):
        try:
            run(function, inputs, **options)
        except TypeError as error:
            if not str(error).startswith("gradcheck expects `func`"):
                raise
            raise BadRequest(f"{target}: {error}") from error
        except GradcheckError as error:
            report |= {"differ": name, "message": str(error)}
            if not as_json:
                print(f"  {name} differ: {error}")
            break
        report["agree"].append(name)
        if not as_json:
            print(f"  {name} agree")
    if as_json:
        print(json.dumps(report))
    return 1 if "differ" in report else 0
