"""Layer 6 · tensor: methods as functions, as in PyTorch: ``exp_(x)`` for ``x.exp_()``.

One loop makes the functions, since each only calls its method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.errors import wrong_type
from wengert.base.ports import PORTS
from wengert.base.sections import fill_sections, named
from wengert.ops.signatures import HandsOn
from wengert.tape.base import TensorBase

_UNARY = (
    *("abs_", "acos_", "acosh_", "arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_"),
    *("arctanh_", "asin_", "asinh_", "atan_", "atanh_", "ceil_", "cos_", "cosh_", "detach"),
    *("detach_", "erf_", "erfc_", "exp2_", "exp_", "expm1_", "fix_", "floor_", "log10_"),
    *("log1p_", "log2_", "log_", "neg_", "negative_", "reciprocal_", "relu_", "round_", "rsqrt_"),
    *("sigmoid_", "sin_", "sinh_", "sqrt_", "square_", "tan_", "tanh_", "trunc_", "zero_"),
    *("conj_physical_", "deg2rad_", "frac_", "i0_", "logit_", "nan_to_num_", "rad2deg_", "sinc_"),
)
_EXAMPLES = {
    "addmv_": "wg.ones(2, 3), wg.ones(3)",
    "as_strided_": "(1,), (2,)",
    "clamp_": "0.0, 1.0",
    "clamp_max_": "0.5",
    "clamp_min_": "0.5",
    "clip_": "0.0, 1.0",
    "fill_": "2.0",
    "resize_as_": "wg.ones(2, 1)",
    "index_put_": "(wg.tensor([0]),), wg.tensor(5.0)",
    "ldexp_": "wg.tensor(2)",
    "xlogy_": "2.0",
    **dict.fromkeys(_UNARY, ""),
}


def _function_of(name: str) -> Callable[..., Any]:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        """`Tensor.{name}` as a function{result}.

        Parameters
        ----------
        input : Tensor
            The tensor.
        *args, **kwargs
            The arguments of the method.

        Returns
        -------
        Tensor
            The result of the method.

        Examples
        --------
        >>> x = wg.tensor([0.5, 1.0])
        >>> {same}
        True
        """
        if not isinstance(input, TensorBase):
            raise wrong_type(name, "input", "Tensor", input, 1)
        return getattr(input, name)(*args, **kwargs)

    method = getattr(PORTS.tensor, name)
    function.__wrapped__ = HandsOn(method, first="input")  # type: ignore[attr-defined]
    arguments = _EXAMPLES[name]
    call = f"{name}(x{', ' + arguments if arguments else ''})"
    result = "" if name == "detach" else ", which writes into `input` and returns it"
    same = "wg.detach(x).is_leaf" if name == "detach" else f"wg.{call} is x"
    return named(function, name, result=result, same=same)


FUNCTIONS = {name: _function_of(name) for name in _EXAMPLES}
"""The functions, by name."""

fill_sections(globals() | FUNCTIONS)
