"""Test result dtypes for every pair of dtypes, with 0-d tensors and Python numbers."""

import itertools
import operator

import pytest

import wengert
from support.parity import Failure, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
# refused by both for some dtypes: complex numbers have no order, bmm takes one dtype
ORDERED = {"lt", "maximum", "einsum of sums"}
NUMBERS = [True, 2, 2.5, 2j]
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "lt", "and_"]
FUNCTIONS = {
    **{name: getattr(operator, name) for name in OPERATORS},
    "maximum": lambda a, b: _module(a, b).maximum(a, b),
    "where": lambda a, b: _module(a, b).where(_module(a, b).tensor([True]), a, b),
    "atan2": lambda a, b: _module(a, b).atan2(a, b),
    "einsum": lambda a, b: _module(a, b).einsum("...,...->...", a, b),
    "einsum of sums": lambda a, b: _module(a, b).einsum(
        "i,i", *(x.reshape(1).expand(2) for x in (a, b))
    ),
}


def _module(*values):
    return wengert if any(isinstance(v, wengert.Tensor) for v in values) else torch


def dtype_of(value):
    return str(getattr(value, "dtype", value))


def compare(function, make, ordered=False):
    theirs = outcome(lambda t: function(*make(t)), torch)
    ours = outcome(lambda t: function(*make(t)), wengert)
    if "ComplexHalf" in repr(theirs) or dtype_of(theirs) == "torch.complex32":
        return None  # NumPy has no complex numbers of half precision
    if isinstance(theirs, Failure) and not ordered:
        return None  # NumPy computes with more dtypes, as with the quotient of two bools
    if isinstance(theirs, Failure) or isinstance(ours, Failure):
        both = isinstance(theirs, Failure) and isinstance(ours, Failure)
        return None if both else f"{theirs!r}, ours {ours!r}"
    return (
        None if dtype_of(ours) == dtype_of(theirs) else f"{dtype_of(theirs)}, ours {dtype_of(ours)}"
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pairs_of_tensors(name):
    wrong = []
    for a, b in itertools.product(DTYPES, DTYPES):
        for shape_a, shape_b in itertools.product(((1,), ()), repeat=2):

            def make(t, a=a, b=b, shape_a=shape_a, shape_b=shape_b):
                return t.ones(shape_a, dtype=getattr(t, a)), t.ones(shape_b, dtype=getattr(t, b))

            difference = compare(FUNCTIONS[name], make, name in ORDERED)
            if difference:
                wrong.append(f"{a}{list(shape_a)} {name} {b}{list(shape_b)}: {difference}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("reflected", [False, True])
def test_tensors_and_numbers(name, reflected):
    wrong = []
    for dtype, number, shape in itertools.product(DTYPES, NUMBERS, ((1,), ())):

        def make(t, dtype=dtype, number=number, shape=shape):
            pair = t.ones(shape, dtype=getattr(t, dtype)), number
            return pair[::-1] if reflected else pair

        difference = compare(FUNCTIONS[name], make, name in ORDERED)
        if difference:
            wrong.append(f"{dtype}{list(shape)} {name} {number}: {difference}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])


UNARY = [
    *("exp", "log", "sqrt", "sin", "tanh", "sigmoid", "abs", "neg", "sign", "floor", "relu"),
    *("reciprocal", "rsqrt", "square", "erf", "sum", "mean", "prod", "max", "cumsum", "std"),
    *("argmax", "isnan", "logical_not", "clone", "norm", "conj", "ceil", "round", "trunc"),
]


@pytest.mark.parametrize("name", UNARY)
def test_unary_results(name):
    wrong = []
    for dtype in DTYPES:

        def run(t, dtype=dtype):
            x = t.ones(3, dtype=getattr(t, dtype))
            return x.cumsum(0) if name == "cumsum" else getattr(t, name)(x)

        theirs, ours = outcome(run, torch), outcome(run, wengert)
        if isinstance(theirs, Failure) and dtype == "bool":
            continue
        if isinstance(theirs, Failure) != isinstance(ours, Failure):
            wrong.append(f"{name}({dtype}): {theirs!r}, ours {ours!r}")
        elif not isinstance(theirs, Failure) and dtype_of(theirs) != dtype_of(ours):
            wrong.append(f"{name}({dtype}): {dtype_of(theirs)}, ours {dtype_of(ours)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("default", ["float32", "float64"])
def test_the_default_dtype(default):
    lines = [
        *("t.tensor(1.5)", "t.tensor([1, 2.5])", "t.tensor(1j)", "t.ones(2)", "t.arange(3.0)"),
        *("t.tensor([1]) / 2", "t.tensor([1]) * 1.5", "t.tensor([1]).sqrt()", "t.rand(2)"),
        *("t.linspace(0, 1, 3)", "t.eye(2)", "t.full((2,), 1.5)", "t.tensor([True]) * 2.5"),
        *("t.tensor(1) * 2j", "t.zeros(2).to(t.int32) / 3", "t.arange(3)", "t.full((2,), 1)"),
    ]
    found = []
    for t in (wengert, torch):
        before = t.get_default_dtype()
        t.set_default_dtype(getattr(t, default))
        try:
            found.append([str(eval(line, {"t": t}).dtype) for line in lines])
        finally:
            t.set_default_dtype(before)
    assert dict(zip(lines, found[0], strict=True)) == dict(zip(lines, found[1], strict=True))
