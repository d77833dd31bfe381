"""Layer 5 · ops · special: the special functions, which are those of `wengert.special`."""

# the functions have PyTorch's names

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.ops import elementary as _elementary
from wengert.ops import neural as _neural
from wengert.ops import pointwise as _pointwise
from wengert.ops import reduce as _reduce
from wengert.ops import transcendental as _core
from wengert.ops.checks import real_input
from wengert.ops.elementwise import binary, two_tensors, unary
from wengert.ops.out import into
from wengert.ops.pointwise import documented
from wengert.prims import bessel as bessel
from wengert.prims import polynomials as polynomials
from wengert.prims.record import TABLE
from wengert.tape.operands import is_number
from wengert.tape.record import T

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]

digamma = psi = _core.digamma
gammaln = _core.lgamma
gammainc = _core.igamma
gammaincc = _core.igammac
multigammaln = _core.mvlgamma
polygamma = _core.polygamma
erfinv = _core.erfinv
i0 = _core.i0
logit = _core.logit
sinc = _core.sinc
xlogy = _core.xlogy
erf = _pointwise.erf
erfc = _pointwise.erfc
exp2 = _pointwise.exp2
expit = _pointwise.sigmoid
expm1 = _pointwise.expm1
log1p = _pointwise.log1p
logsumexp = _reduce.logsumexp
round = _elementary.round
softmax = _neural.softmax
log_softmax = _neural.log_softmax

_NONE_IN_PYTORCH = "differentiable, to any order (in PyTorch it is not)"


def _special(name: str, given: str, result: str, **texts: str) -> Callable[..., Any]:
    return unary(name, given, result, record=f"special_{name}", namespace="wg.special", **texts)


entr = _special("entr", "[0.0, 0.5, -1.0]", "tensor([0.0000, 0.3466,   -inf])")
erfcx = _special("erfcx", "[0.0, 20.0]", "tensor([1.0000, 0.0282])")
i0e = _special("i0e", "[0.0, 1.0]", "tensor([1.0000, 0.4658])")
i1 = _special("i1", "[0.0, 1.0]", "tensor([0.0000, 0.5652])")
i1e = _special("i1e", "[0.0, 1.0]", "tensor([0.0000, 0.2079])")
ndtr = _special("ndtr", "[0.0, -2.0]", "tensor([0.5000, 0.0228])")
ndtri = _special("ndtri", "[0.5, 0.975]", "tensor([0.0000, 1.9600])")
log_ndtr = _special("log_ndtr", "[0.0, -40.0]", "tensor([-6.9315e-01, -8.0461e+02])")
airy_ai = _special("airy_ai", "[0.0, 1.0]", "tensor([0.3550, 0.1353])", note=_NONE_IN_PYTORCH)
bessel_j0 = _special("bessel_j0", "[0.0, 1.0]", "tensor([1.0000, 0.7652])", note=_NONE_IN_PYTORCH)
bessel_j1 = _special("bessel_j1", "[0.0, 1.0]", "tensor([0.0000, 0.4401])", note=_NONE_IN_PYTORCH)
bessel_y0 = _special("bessel_y0", "[1.0, 2.0]", "tensor([0.0883, 0.5104])", note=_NONE_IN_PYTORCH)
bessel_y1 = _special("bessel_y1", "[1.0, 2.0]", "tensor([-0.7812, -0.1070])", note=_NONE_IN_PYTORCH)
modified_bessel_k0 = _special(
    "modified_bessel_k0", "[1.0, 2.0]", "tensor([0.4210, 0.1139])", note=_NONE_IN_PYTORCH
)
modified_bessel_k1 = _special(
    "modified_bessel_k1", "[1.0, 2.0]", "tensor([0.6019, 0.1399])", note=_NONE_IN_PYTORCH
)
scaled_modified_bessel_k0 = _special(
    "scaled_modified_bessel_k0", "[1.0, 2.0]", "tensor([1.1445, 0.8416])", note=_NONE_IN_PYTORCH
)
scaled_modified_bessel_k1 = _special(
    "scaled_modified_bessel_k1", "[1.0, 2.0]", "tensor([1.6362, 1.0335])", note=_NONE_IN_PYTORCH
)
xlog1py = binary(
    "xlog1py",
    ("[0.0, 2.0]", "[-1.0, 2.0]"),
    "tensor([0.0000, 2.1972])",
    record="special_xlog1py",
    namespace="wg.special",
    note="differentiable, to any order; where it is 0 because `input` is, an infinite derivative "
    "counts as 0",
)
zeta = binary(
    "zeta",
    ("[2.0, 3.0]", "1.0"),
    "tensor([1.6449, 1.2021])",
    record="special_zeta",
    namespace="wg.special",
    note="differentiable with respect to `other`, to any order. The derivative with respect to\n"
    "        `input` is not known: going backward to it raises NotImplementedError",
)


def _renamed(name: str, record: str) -> Callable[..., Any]:
    """Return a function of another one's record, whose errors have its own name."""

    def function(input: Any, *, out: Any = None) -> Any:
        made = getattr(T, record)(real_input(input, name, f"{name}_cpu"))
        return made if out is None else into(out, made, name)

    return function


modified_bessel_i0 = documented(
    _renamed("modified_bessel_i0", "i0"),
    "modified_bessel_i0",
    TABLE["i0"].doc,
    "input : Tensor\n        Of any shape.",
    "wg.special.modified_bessel_i0(wg.tensor([0.0, 1.0]))",
    "tensor([1.0000, 1.2661])",
    note=_NONE_IN_PYTORCH,
)
modified_bessel_i1 = documented(
    _renamed("modified_bessel_i1", "special_i1"),
    "modified_bessel_i1",
    TABLE["special_i1"].doc,
    "input : Tensor\n        Of any shape.",
    "wg.special.modified_bessel_i1(wg.tensor([0.0, 1.0]))",
    "tensor([0.0000, 0.5652])",
    note=_NONE_IN_PYTORCH,
)
spherical_bessel_j0 = _special(
    "spherical_bessel_j0", "[0.0, 1.0]", "tensor([1.0000, 0.8415])", note=_NONE_IN_PYTORCH
)


def _polynomial(name: str, doc: str, value: str) -> Callable[..., Any]:
    record = f"special_{name}"

    def function(input: Any, n: Any, *, out: Any = None) -> Any:
        if is_number(input) and is_number(n):
            raise two_tensors(record, input, n)
        if is_number(n):
            # a degree that is not a tensor need not be checked per element
            made = getattr(T, f"{record}_of_degree")(input, n=n, order=0)
        else:
            made = getattr(T, record)(input, n, order=0)
        return made if out is None else into(out, made, name)

    return documented(
        function,
        name,
        doc,
        "input, n : Tensor\n        Argument and degree, which broadcast; one may be a number. "
        "The degree\n        is cut off to an integer; below 0 the result is 0.",
        f"wg.special.{name}(wg.tensor([0.5]), 3)",
        f"tensor([{value}])",
        note="differentiable with respect to `input`, to any order (in PyTorch it is not). Going\n"
        "        backward to a degree raises NotImplementedError",
        references="NIST Digital Library of Mathematical Functions, section 18.9.",
    )


chebyshev_polynomial_t = _polynomial(
    "chebyshev_polynomial_t", "Chebyshev polynomial of the first kind", "-1."
)
chebyshev_polynomial_u = _polynomial(
    "chebyshev_polynomial_u", "Chebyshev polynomial of the second kind", "-1."
)
chebyshev_polynomial_v = _polynomial(
    "chebyshev_polynomial_v", "Chebyshev polynomial of the third kind", "-1."
)
chebyshev_polynomial_w = _polynomial(
    "chebyshev_polynomial_w", "Chebyshev polynomial of the fourth kind", "-1."
)
shifted_chebyshev_polynomial_t = _polynomial(
    "shifted_chebyshev_polynomial_t", "chebyshev_polynomial_t(2 * self - 1)", "-0."
)
shifted_chebyshev_polynomial_u = _polynomial(
    "shifted_chebyshev_polynomial_u", "chebyshev_polynomial_u(2 * self - 1)", "-0."
)
shifted_chebyshev_polynomial_v = _polynomial(
    "shifted_chebyshev_polynomial_v", "chebyshev_polynomial_v(2 * self - 1)", "1."
)
shifted_chebyshev_polynomial_w = _polynomial(
    "shifted_chebyshev_polynomial_w", "chebyshev_polynomial_w(2 * self - 1)", "-1."
)
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h", "Hermite polynomial of the physicists, of weight exp(-x * x)", "-5."
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he",
    "Hermite polynomial of the probabilists, of weight exp(-x * x / 2)",
    "-1.3750",
)
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", "Laguerre polynomial", "-0.1458")
legendre_polynomial_p = _polynomial("legendre_polynomial_p", "Legendre polynomial", "-0.4375")
