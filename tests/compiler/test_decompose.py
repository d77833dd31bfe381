"""Test that decompositions match the kernels, end in native forms, and skip other dtypes."""

import importlib.util
import math

import numpy as np
import pytest

from support.samples import samples, supports
from wengert.compiler.backends.index_maps import INDEX_MAPS
from wengert.compiler.decompose.all import DECOMPOSED
from wengert.compiler.ir.facets import COMBINES, MAPS, having
from wengert.compiler.ir.programs import Program, Step, apply
from wengert.compiler.passes.simplify import simplify
from wengert.compiler.tracing.operations import S
from wengert.compiler.tracing.trace import Trace
from wengert.interp.eager import K
from wengert.prims.whole import TABLE

FORMS = ()
if importlib.util.find_spec("llvmlite"):
    import wengert.compiler.backends.llvm  # noqa: F401  # it registers the forms
    from wengert.compiler.backends.gather_maps import SCATTERS
    from wengert.compiler.codegen.native.forms import NATIVE

    FORMS = (MAPS, COMBINES, INDEX_MAPS, SCATTERS, NATIVE)

RULED = sorted(prim.name for prim in having(DECOMPOSED))
SINGLE = {"erf", "erfinv", "lgamma", "logit", "normal_hazard", "special_log_ndtr"}
"""What is taken apart in single precision only, where it is computed in double."""
DTYPES = (np.float64, np.float32, np.complex128)


class Taken:
    """The namespace of kernels, taking composites apart, with the names that rules called."""

    def __init__(self):
        self.names = []

    def __getattr__(self, name):
        def call(*arrays, **params):
            known = [_array(a) for a in arrays]
            rule = DECOMPOSED[TABLE[name]]
            if rule is not None:
                result = rule(self, *known, **params)
                if result is not NotImplemented:
                    return result
            self.names.append(name)
            return getattr(K, name)(*known, **params)

        return call


def _array(value):
    # rules give Python numbers, which stay weak
    return value if isinstance(value, int | float | complex) else np.asarray(value)


def run(prim, arrays, params):
    """What the rule of a primitive gives, what its kernel gives, and what the rule called."""
    F = Taken()
    with np.errstate(all="ignore"):
        met = DECOMPOSED[prim](F, *arrays, **params)
        if met is NotImplemented:
            return None, None, []
        wanted = prim.kernel(*arrays, **params)
    several = prim.outputs != 1
    return (list(met), list(wanted), F.names) if several else ([met], [wanted], F.names)


def same(met, wanted, what, ulps=64):
    assert len(met) == len(wanted), what
    for x, y in zip(met, wanted, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape), what
        if y.dtype.kind in "fc":
            tight = ulps * np.finfo(y.dtype).eps
            np.testing.assert_allclose(x, y, tight, tight, err_msg=what)
        else:
            np.testing.assert_array_equal(x, y, what)


EXISTING = [(n, d) for n in RULED for d in DTYPES if supports(TABLE[n], d)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "dtype"), EXISTING)
def test_a_rule_gives_what_the_kernel_gives_on_the_cases_of_the_record(name, dtype):
    prim = TABLE[name]
    taken = 0
    for sample in samples(prim, dtype, np.random.default_rng(30)):
        met, wanted, names = run(prim, sample.arrays, sample.params)
        if met is None:
            continue
        taken += 1
        same(met, wanted, f"{name} {sample!r}")
        beyond = [n for n in names if FORMS and not any(form[TABLE[n]] for form in FORMS)]
        assert not beyond, f"{name} {sample!r} ends in {beyond}, of which no backend has a form"
    alone = dtype == np.float64 and name in SINGLE
    assert taken or alone or dtype == np.complex128, f"no case of {name} is taken apart"


def awkward(rng, shape, dtype):
    """Numbers of every size, with infinities, NaN and zeros of both signs among them."""
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-12, 4, shape)
    odd = rng.choice([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 30.0, -30.0], shape)
    return np.asarray(np.where(rng.random(shape) < 0.4, odd, values), dtype)


ELEMENTWISE = [name for name in RULED if TABLE[name].family == "elementwise"]
EXTREME = [
    *ELEMENTWISE, "softmax", "log_softmax", "logsumexp", "max", "min", "nansum", "relu",
    "threshold_backward", "clamp", "mse_loss", "binary_cross_entropy_with_logits", "vector_norm",
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", (np.float64, np.float32))
@pytest.mark.parametrize("name", EXTREME)
def test_a_rule_is_right_where_elements_are_infinite_not_numbers_or_large(name, dtype):
    prim = TABLE[name]
    rng = np.random.default_rng(31)
    for sample in samples(prim, dtype, rng):
        for _ in range(8):
            arrays = [
                awkward(rng, a.shape, dtype) if a.dtype.kind == "f" else a for a in sample.arrays
            ]
            met, wanted, _ = run(prim, arrays, sample.params)
            if met is not None:
                same(met, wanted, f"{name} {sample!r} of {arrays}", ulps=256)


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if len(TABLE[name].args) == 1])
def test_a_zero_has_the_sign_that_the_kernel_gives_it(name):
    prim = TABLE[name]
    x = np.array([-0.0, 0.0, -0.1, 0.1, -0.5, 0.5, -1.0, 1.0, -3.0, 3.0])
    for params in [case.params for case in prim.cases] or [{}]:
        met, wanted, _ = run(prim, [x], params)
        for one, other in zip(met or (), wanted or (), strict=True):
            zeros = (one == 0) & (other == 0)
            np.testing.assert_array_equal(np.signbit(one)[zeros], np.signbit(other)[zeros], name)


@pytest.mark.parametrize("name", ("softmax", "log_softmax", "logsumexp"))
def test_exponentials_do_not_overflow(name):
    x = np.array([[1000.0, 1000.0, -1000.0], [-1e8, -1e8 + 1, -math.inf]])
    params = {"dim": (1,)} | ({"keepdim": False} if name == "logsumexp" else {})
    met, wanted, _ = run(TABLE[name], [x], params)
    same(met, wanted, name)


@pytest.mark.parametrize("name", ("softmax", "layer_norm", "sigmoid", "mean", "var"))
def test_short_floats_and_integers_stay_with_their_kernels(name):
    prim = TABLE[name]
    sample = next(samples(prim, np.float16, np.random.default_rng(32)))
    assert DECOMPOSED[TABLE[name]](Taken(), *sample.arrays, **sample.params) is NotImplemented


@pytest.mark.parametrize("reduction", ("none", "mean", "sum"))
def test_a_target_outside_of_the_classes_raises_as_the_kernel_does(reduction):
    for target in (3, -1):
        arrays = [np.zeros((2, 3)), np.array([0, target]), np.ones(())]
        params = {"reduction": reduction, "ignore_index": -100}
        with pytest.raises(IndexError):
            TABLE["nll_loss"].kernel(*arrays, **params)
        with pytest.raises(IndexError):
            DECOMPOSED[TABLE["nll_loss"]](Taken(), *arrays, **params)


@pytest.mark.parametrize(
    "name", ("layer_norm", "batch_norm", "standardise", "standardise_backward")
)
def test_normalisation_takes_moments_that_are_known(name):
    prim = TABLE[name]
    for sample in samples(prim, np.float64, np.random.default_rng(33)):
        position = prim.args.index("known")
        of = sample.arrays[prim.args.index("input") if "input" in prim.args else 0]
        dim = sample.params.get("dim", (0, *range(2, of.ndim)))
        if not of.size:
            continue
        known = TABLE["moments"].kernel(of, dim=dim, eps=sample.params["eps"])
        arrays = list(sample.arrays)
        arrays[position] = known
        met, wanted, _ = run(prim, arrays, sample.params)
        same(met, wanted, f"{name} {sample!r}")


def test_weights_and_targets_to_ignore_count_as_the_kernel_counts_them():
    rng = np.random.default_rng(34)
    prim = TABLE["nll_loss"]
    for weight in (np.ones(()), np.array([0.5, 1.0, 2.0])):
        for target in (np.array([0, -100, 2, 1]), np.array([-100] * 4)):
            for reduction in ("none", "mean", "sum"):
                params = {"reduction": reduction, "ignore_index": -100}
                arrays = [rng.standard_normal((4, 3)), target, weight]
                met, wanted, _ = run(prim, arrays, params)
                same(met, wanted, f"{weight} {target} {reduction}")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
@pytest.mark.parametrize("name", RULED)
def test_a_composite_that_is_traced_and_simplified_gives_what_its_kernel_gives(name, dtype):
    prim = TABLE[name]
    for sample in samples(prim, dtype, np.random.default_rng(35)):
        trace = Trace()
        symbols = [trace.input(array) for array in sample.arrays]
        if not symbols:
            continue
        with np.errstate(all="ignore"):
            made = getattr(S, name)(*symbols, **sample.params)
            wanted = prim.kernel(*sample.arrays, **sample.params)
        made, wanted = (made, wanted) if prim.outputs != 1 else ((made,), (wanted,))
        steps = [item for item in trace.items if isinstance(item, Step)]
        outputs = [one.value for one in made]
        program = Program([symbol.value for symbol in symbols], steps, outputs)
        program.check()
        for one in (program, simplify(program)):
            with np.errstate(all="ignore"):
                same(apply(one, K, sample.arrays), list(wanted), f"{name} {sample!r}")
