"""Test the rule of every elementwise operation against SymPy's derivative."""

import mpmath
import numpy as np
import pytest

from support.samples import samples, supports
from wengert.interp.formulas import computed, derivative, generic
from wengert.interp.symbols import named
from wengert.prims.whole import TABLE

sympy = pytest.importorskip("sympy")

Abs, Piecewise, Rational, pi, sign, sqrt, tanh = (
    sympy.Abs,
    sympy.Piecewise,
    sympy.Rational,
    sympy.pi,
    sympy.sign,
    sympy.sqrt,
    sympy.tanh,
)
besseli, besselj, besselk, bessely = sympy.besseli, sympy.besselj, sympy.besselk, sympy.bessely
erfc, erfinv, exp, gamma, log, loggamma = (
    sympy.erfc,
    sympy.erfinv,
    sympy.exp,
    sympy.gamma,
    sympy.log,
    sympy.loggamma,
)


def where(condition, self, other):
    return Piecewise((self, condition), (other, True))


def sigmoid(x):
    return 1 / (1 + exp(-x))


def ndtr(x):
    return erfc(-x / sqrt(2)) / 2


def density(x):
    return exp(-(x**2) / 2) / sqrt(2 * pi)


def spherical(x, n):
    return sqrt(pi / (2 * x)) * besselj(n + Rational(1, 2), x)


def gelu(x, approximate="none"):
    if approximate == "none":
        return x * ndtr(x)
    return x / 2 * (1 + tanh(sqrt(2 / pi) * (x + Rational("0.044715") * x**3)))


def elu(x, alpha, scale, input_scale):
    return where(x > 0, scale * x, alpha * scale * (exp(input_scale * x) - 1))


def logit(x, eps):
    kept = x if eps is None else where(x < eps, eps, where(x > 1 - eps, 1 - eps, x))
    return log(kept / (1 - kept))


def mvlgamma(x, p):
    return sum(loggamma(x - Rational(i, 2)) for i in range(p))


def huber(d, r):
    return where(Abs(r) <= d, r**2 / 2, d * (Abs(r) - d / 2))


def erfcx_slope(x):
    return 2 * x * exp(x**2) * erfc(x) - 2 / sqrt(pi)


def chebyshev(kind):
    u = sympy.chebyshevu
    return {
        "t": sympy.chebyshevt,
        "u": u,
        "v": lambda n, x: u(n, x) - u(n - 1, x),
        "w": lambda n, x: u(n, x) + u(n - 1, x),
    }[kind]


def shifted(polynomial):
    return lambda n, x: polynomial(n, 2 * x - 1)


POLYNOMIALS = {
    **{f"chebyshev_polynomial_{kind}": chebyshev(kind) for kind in "tuvw"},
    **{f"shifted_chebyshev_polynomial_{kind}": shifted(chebyshev(kind)) for kind in "tuvw"},
    "hermite_polynomial_h": sympy.hermite,
    "hermite_polynomial_he": sympy.hermite_prob,
    "laguerre_polynomial_l": sympy.laguerre,
    "legendre_polynomial_p": sympy.legendre,
}


def polynomial(name):
    def value(x, n, order):
        variable, degree = sympy.Symbol("t"), int(n)
        if degree != n or degree < 0:
            return None
        made = sympy.expand(sympy.expand_func(POLYNOMIALS[name](degree, variable)))
        return sympy.diff(made, variable, int(order)).subs(variable, x)

    return value


def hyper(*counts):
    above, below = counts

    def value(*args):
        return sympy.hyper(args[:above], args[above : above + below], args[-1])

    return value


SAME = "exp log sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc"
SAME = [*SAME.split(), "digamma", "erfinv", "sign", "atan2"]
FUNCTIONS = {
    **{name: getattr(sympy, name) for name in SAME},
    "abs": Abs,
    "sgn": sign,
    "where": where,
    "clone": lambda x: x,
    # of an order, which is a whole number in the samples
    "trunc": lambda x: x,
    "exp2": lambda x: 2**x,
    "expm1": lambda x: exp(x) - 1,
    "log2": lambda x: log(x) / log(2),
    "log10": lambda x: log(x) / log(10),
    "log1p": lambda x: log(1 + x),
    "rsqrt": lambda x: 1 / sqrt(x),
    "cbrt": sympy.cbrt,
    "sigmoid": sigmoid,
    "log_sigmoid": lambda x: log(sigmoid(x)),
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * tanh(log(1 + exp(x))),
    "gelu": gelu,
    "gelu_slope": lambda x: ndtr(x) + x * density(x),
    "relu": lambda x: where(x > 0, x, 0),
    "leaky_relu": lambda x, negative_slope: where(x > 0, x, negative_slope * x),
    "prelu": lambda x, weight: where(x > 0, x, weight * x),
    "elu": elu,
    "softplus": lambda x, beta, threshold: where(
        beta * x > threshold, x, log(1 + exp(beta * x)) / beta
    ),
    "hardsigmoid": lambda x: where(x <= -3, 0, where(x >= 3, 1, (x + 3) / 6)),
    "hardtanh": lambda x, min_val, max_val: where(
        x < min_val, min_val, where(x > max_val, max_val, x)
    ),
    "hardswish": lambda x: where(x <= -3, 0, where(x >= 3, x, x * (x + 3) / 6)),
    "hardshrink": lambda x, lambd: where(Abs(x) > lambd, x, 0),
    "softshrink": lambda x, lambd: where(x > lambd, x - lambd, where(x < -lambd, x + lambd, 0)),
    "threshold": lambda x, threshold, value: where(x > threshold, x, value),
    "minimum": lambda x, y: where(x < y, x, y),
    "maximum": lambda x, y: where(x > y, x, y),
    "fmin": lambda x, y: where(x < y, x, y),
    "fmax": lambda x, y: where(x > y, x, y),
    "isnan": lambda x: sympy.false,
    "clamp": lambda x, min, max: where(x < min, min, where(x > max, max, x)),
    "hypot": lambda x, y: sqrt(x**2 + y**2),
    "ldexp": lambda x, y: x * 2**y,
    "lerp": lambda x, y, weight: x + weight * (y - x),
    "lerp_tensor": lambda x, y, weight: x + weight * (y - x),
    "xlogy": lambda x, y: x * log(y),
    "special_xlog1py": lambda x, y: x * log(1 + y),
    "special_entr": lambda x: -x * log(x),
    "logit": logit,
    "logaddexp": lambda x, y: log(exp(x) + exp(y)),
    "logaddexp2": lambda x, y: log(2**x + 2**y) / log(2),
    "lgamma": loggamma,
    "polygamma": lambda x, n: sympy.polygamma(n, x),
    "mvlgamma": mvlgamma,
    "special_zeta": sympy.zeta,
    "scipy_erf": sympy.erf,
    "scipy_erfc": erfc,
    "special_erfcx": lambda x: exp(x**2) * erfc(x),
    "erfcx_slope": erfcx_slope,
    "special_ndtr": ndtr,
    "special_ndtri": lambda x: sqrt(2) * erfinv(2 * x - 1),
    "special_log_ndtr": lambda x: log(ndtr(x)),
    "normal_hazard": lambda x: density(x) / ndtr(x),
    "i0": lambda x: besseli(0, x),
    "special_i1": lambda x: besseli(1, x),
    "bessel_i": lambda x, n: besseli(n, x),
    "special_i0e": lambda x: exp(-Abs(x)) * besseli(0, x),
    "special_i1e": lambda x: exp(-Abs(x)) * besseli(1, x),
    "bessel_ie": lambda x, n: exp(-Abs(x)) * besseli(n, x),
    "special_bessel_j0": lambda x: besselj(0, x),
    "special_bessel_j1": lambda x: besselj(1, x),
    "bessel_j": lambda x, n: besselj(n, x),
    "special_bessel_y0": lambda x: bessely(0, x),
    "special_bessel_y1": lambda x: bessely(1, x),
    "special_modified_bessel_k0": lambda x: besselk(0, x),
    "special_modified_bessel_k1": lambda x: besselk(1, x),
    "special_scaled_modified_bessel_k0": lambda x: exp(x) * besselk(0, x),
    "special_scaled_modified_bessel_k1": lambda x: exp(x) * besselk(1, x),
    "special_airy_ai": sympy.airyai,
    "airy_ai_slope": sympy.airyaiprime,
    "spherical_bessel": spherical,
    "special_spherical_bessel_j0": lambda x: sympy.sin(x) / x,
    "sinc": lambda x: sympy.sin(pi * x) / (pi * x),
    **{f"special_{name}": polynomial(name) for name in POLYNOMIALS},
    **{f"special_{name}_of_degree": polynomial(name) for name in POLYNOMIALS},
    "scipy_gamma": gamma,
    "scipy_rgamma": lambda x: 1 / gamma(x),
    "scipy_beta": lambda a, b: gamma(a) * gamma(b) / gamma(a + b),
    "scipy_betaln": lambda a, b: loggamma(a) + loggamma(b) - loggamma(a + b),
    "scipy_binom": lambda n, k: gamma(n + 1) / gamma(k + 1) / gamma(n - k + 1),
    "scipy_poch": lambda z, m: gamma(z + m) / gamma(z),
    "scipy_exp10": lambda x: 10**x,
    "scipy_cosm1": lambda x: sympy.cos(x) - 1,
    "scipy_exprel": lambda x: (exp(x) - 1) / x,
    "scipy_powm1": lambda x, y: x**y - 1,
    "scipy_expi": sympy.Ei,
    "scipy_exp1": lambda x: sympy.expint(1, x),
    "scipy_expn": sympy.expint,
    "scipy_si": sympy.Si,
    "scipy_ci": sympy.Ci,
    "scipy_shi": sympy.Shi,
    "scipy_chi": sympy.Chi,
    "scipy_fresnel_s": sympy.fresnels,
    "scipy_fresnel_c": sympy.fresnelc,
    "scipy_spence": lambda x: sympy.polylog(2, 1 - x),
    "scipy_wrightomega": lambda x: sympy.LambertW(exp(x)),
    "scipy_sindg": lambda x: sympy.sin(pi * x / 180),
    "scipy_cosdg": lambda x: sympy.cos(pi * x / 180),
    "scipy_tandg": lambda x: sympy.tan(pi * x / 180),
    "scipy_cotdg": lambda x: sympy.cot(pi * x / 180),
    "scipy_erfi": sympy.erfi,
    "scipy_wofz": lambda z: exp(-(z**2)) * sympy.erfc(-sympy.I * z),
    "scipy__lambertw": lambda z, k, tol: sympy.LambertW(z, k),
    "scipy_dawsn": lambda x: sqrt(pi) / 2 * exp(-(x**2)) * sympy.erfi(x),
    "scipy_erfcinv": lambda y: erfinv(1 - y),
    "scipy_ndtri_exp": lambda y: sqrt(2) * erfinv(2 * exp(y) - 1),
    "scipy_kl_div": lambda x, y: x * log(x / y) - x + y,
    "scipy_rel_entr": lambda x, y: x * log(x / y),
    "scipy_pseudo_huber": lambda d, r: d**2 * (sqrt(1 + (r / d) ** 2) - 1),
    "scipy_huber": huber,
    "scipy_jv": besselj,
    "scipy_yv": bessely,
    "scipy_iv": besseli,
    "scipy_kv": besselk,
    "scipy_ive": lambda v, z: exp(-Abs(z)) * besseli(v, z),
    "scipy_kve": lambda v, z: exp(z) * besselk(v, z),
    "scipy_airy_bi": sympy.airybi,
    "scipy_airy_bi_slope": sympy.airybiprime,
    "scipy_hyp0f1": hyper(0, 1),
    "scipy_hyp1f1": hyper(1, 1),
    "scipy_hyp2f1": hyper(2, 1),
    "scipy_ellipk": sympy.elliptic_k,
    "scipy_ellipe": sympy.elliptic_e,
    "scipy_ellipd": lambda m: (sympy.elliptic_k(m) - sympy.elliptic_e(m)) / m,
}

LEFT_OUT = (
    # of complex numbers, or of no value of theirs
    "angle complex conj imag polar real fill_scalar zero nan_to_num nextafter grid_position",
    # steps, whose derivative SymPy leaves open
    "ceil floor round round_decimals trunc frac div_floor div_trunc copysign",
    "floor_divide floor_divide_scalar fmod fmod_scalar heaviside remainder remainder_scalar",
    # SymPy has no such function
    "scipy_betaincinv scipy_betainccinv scipy_gammaincinv scipy_gammainccinv scipy_owens_t",
    "scipy_of_1 scipy_of_2 scipy_of_3 scipy_of_4",
    # by parameters, the rule is a series of a kernel
    "igamma igammac scipy_betainc scipy_betaincc scipy_beta_moved scipy_beta_movedc",
)
NO_FUNCTION = {name for names in LEFT_OUT for name in names.split()}
SMOOTH = [p for p in TABLE.values() if p.family == "elementwise" and p.is_differentiable]
SMOOTH = [prim for prim in SMOOTH if prim.name not in NO_FUNCTION]
OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": sympy.Eq,
    "!=": sympy.Ne,
    "&": sympy.And,
    "|": sympy.Or,
    "~": sympy.Not,
}


def as_sympy(formula, values):
    """A formula of ours as one of SymPy's."""
    head, parts = formula.head, formula.parts
    if head == "number":
        return sympy.sympify(parts[0])
    if head == "name":
        return values[parts[0]]
    if head == "call":
        args = [as_sympy(part, values) for part in parts[1:] if part.head != "="]
        more = {part.parts[0]: as_sympy(part.parts[1], values) for part in parts if keyword(part)}
        return FUNCTIONS[parts[0]](*args, **more)
    return OPERATORS[head](*[as_sympy(part, values) for part in parts])


def keyword(part):
    return getattr(part, "head", "") == "="


def function_of(prim, args, params):
    """What an operation computes, as SymPy has it."""
    if prim.name in FUNCTIONS:
        return FUNCTIONS[prim.name](*args, **params)
    formula = computed(prim, [named(name) for name in prim.args], params)
    return as_sympy(formula, {"pi": pi, **dict(zip(prim.args, args, strict=True))})


def same(found, wanted, point):
    """Whether two formulas of SymPy have one value; constants of rules have 16 digits."""
    a, b = (complex(sympy.N(formula.subs(point), 25)) for formula in (found, wanted))
    return mpmath.isfinite(a) and abs(a - b) <= 1e-10 * max(abs(a), abs(b), 1e-3)


def check(prim, dtype, args, points, params):
    """Compare all first and second derivatives at one point; returns how many there were."""
    known = generic(prim, np.dtype(dtype).kind) | params
    slopes = {place: derivative(prim, place, known) for place in range(len(args))}
    slopes = {place: formula for place, formula in slopes.items() if formula is not None}
    point = dict(zip(args, points, strict=True))
    # by the others there is no derivative: they are whole numbers
    values = [arg if place in slopes else points[place] for place, arg in enumerate(args)]
    value = function_of(prim, values, params)
    if value is None:
        return 0
    value, result = sympy.sympify(value), sympy.Symbol("result")
    scope = {**dict(zip(prim.args, values, strict=True)), **params, "result": result, "pi": pi}
    for place, formula in slopes.items():
        rule = sympy.sympify(as_sympy(formula, scope))
        slope = sympy.diff(value, args[place])
        assert same(rule.subs(result, value), slope, point), (formula, params, point)
        for other in args:
            # the second derivative, as a graph has it: through what the rule saved
            bent = sympy.diff(rule, other) + sympy.diff(rule, result) * sympy.diff(value, other)
            wanted = sympy.diff(slope, other)
            assert same(bent.subs(result, value), wanted, point), (formula, other, params, point)
    return len(slopes)


def points_of(prim, dtype):
    """One element of the arguments of each sample."""
    known = set()
    for sample in samples(prim, dtype, np.random.default_rng(0)):
        key = repr(sorted(sample.params.items()))
        if key not in known and all(array.size for array in sample.arrays):
            known.add(key)
            # the last one: in a first place there may be a special value
            yield [array.flat[-1].item() for array in map(np.asarray, sample.arrays)], sample.params


@pytest.mark.sampled(3)
@pytest.mark.parametrize("prim", SMOOTH, ids=lambda prim: prim.name)
def test_a_rule_is_the_derivative_that_sympy_finds(prim):
    args = [sympy.Symbol(name, real=True) for name in prim.args]
    found = [check(prim, np.float64, args, *given) for given in points_of(prim, np.float64)]
    assert any(found), "nothing was compared"


HOLOMORPHIC = [p for p in SMOOTH if p.conj == "engine" and supports(p, np.complex128)]


@pytest.mark.parametrize("prim", HOLOMORPHIC, ids=lambda prim: prim.name)
def test_a_rule_is_the_derivative_of_complex_numbers(prim):
    args = [sympy.Symbol(name) for name in prim.args]
    found = [check(prim, np.complex128, args, *given) for given in points_of(prim, np.complex128)]
    assert any(found), "nothing was compared"


def test_a_wrong_rule_would_be_noticed(monkeypatch):
    monkeypatch.setattr(TABLE["tanh"].rules[0], "call", lambda E, g, result: g * (1 + result**2))
    with pytest.raises(AssertionError):
        test_a_rule_is_the_derivative_that_sympy_finds(TABLE["tanh"])
