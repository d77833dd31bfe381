"""Test random programs of every native dtype and of odd shapes on both backends."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import Writer, results

from wengert.compiler.backends import numpy as numpy_backend
from wengert.compiler.ir.programs import Loop, Program, Value

pytest.importorskip("llvmlite.binding")

from wengert.compiler.backends import llvm

SHAPES = ((), (1,), (5,), (0,), (2, 5), (1, 5), (2, 1), (0, 5), (3, 2, 5))
DTYPES = tuple(map(np.dtype, (np.float64, np.float32, np.int64, np.int32, np.bool_)))
UNARY = {
    "f": ("neg", "abs", "tanh", "atan", "floor", "sign", "sin", "clone", "sqrt", "ceil"),
    "i": ("neg", "abs", "sign", "bitwise_not", "clone"),
    "b": ("logical_not", "clone"),
}
BINARY = {
    "f": ("add", "sub", "mul", "maximum", "minimum"),
    "i": ("add", "sub", "mul", "maximum", "minimum", "bitwise_and", "bitwise_xor"),
    "b": ("logical_and", "logical_or", "logical_xor"),
}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


class Drawn:
    """Draws steps that fit the values that are there."""

    def __init__(self, draw, writer):
        self.draw = draw
        self.w = writer
        self.values = list(writer.inputs)

    def one(self, options):
        return self.draw(st.sampled_from(list(options)))

    def value(self, condition=lambda value: True):
        fitting = [value for value in self.values if condition(value)]
        return self.one(fitting) if fitting else None

    def dims(self, x):
        return tuple(d for d in range(len(x.shape)) if self.draw(st.booleans()))

    def unary(self, x):
        return getattr(self.w, self.one(UNARY[x.dtype.kind]))(x)

    def binary(self, x):
        y = self.value(lambda v: v.dtype == x.dtype and fits(v.shape, x.shape))
        return getattr(self.w, self.one(BINARY[x.dtype.kind]))(x, y)

    def compare(self, x):
        y = self.value(lambda v: v.dtype == x.dtype and fits(v.shape, x.shape))
        return getattr(self.w, self.one(COMPARISONS))(x, y)

    def choose(self, x):
        mask = self.value(lambda v: v.dtype == bool and fits(v.shape, x.shape))
        y = self.value(lambda v: v.dtype == x.dtype and v.shape == x.shape)
        return x if mask is None else self.w.where(mask, x, y)

    def cast(self, x):
        return self.w.to_copy(x, dtype=self.one(DTYPES))

    def reduce(self, x):
        dim = self.dims(x)
        names = ["any", "all"]
        if x.dtype.kind != "b":
            names += ["sum_dim", "sum_dim"]
            names += ["amax", "amin"] if all(x.shape[d] for d in dim) else []
        return getattr(self.w, self.one(names))(x, dim=dim, keepdim=self.draw(st.booleans()))

    def expand(self, x):
        shape = tuple(4 if n == 1 and self.draw(st.booleans()) else n for n in x.shape)
        return self.w.expand(x, shape=(2, *shape) if self.draw(st.booleans()) else shape)

    def turn(self, x):
        return self.w.permute(x, dims=tuple(self.draw(st.permutations(range(len(x.shape))))))

    def flip(self, x):
        return self.w.flip(
            x, dims=tuple(d for d in range(len(x.shape)) if self.draw(st.booleans()))
        )

    def reshape(self, x):
        return self.w.view(x, shape=self.one([(x.size,), (1, *x.shape), x.shape[::-1]]))

    def part(self, x):
        if not x.shape or not x.shape[0]:
            return x
        start = self.draw(st.integers(0, x.shape[0] - 1))
        end = self.draw(st.integers(start, x.shape[0]))
        if self.draw(st.booleans()):
            return self.w.select(x, dim=0, index=start)
        part = self.w.slice(x, dim=0, start=start, end=end, step=1)
        if self.draw(st.booleans()):
            return part
        return self.w.slice_backward(part, shape=x.shape, dim=0, start=start, end=end, step=1)

    def join(self, x):
        parts = [
            x,
            *(self.value(lambda v: like(v, x)) for _ in range(self.draw(st.integers(0, 4)))),
        ]
        dim = self.draw(st.integers(0, len(x.shape)))
        if x.shape and self.draw(st.booleans()):
            return self.w.cat(*parts, dim=min(dim, len(x.shape) - 1))
        return self.w.stack(*parts, dim=dim)

    def look_up(self, x):
        if not x.shape or not x.shape[0]:
            return x
        n = x.shape[0]
        index = self.draw(st.lists(st.integers(-n, n - 1), max_size=4))
        return self.w.index(x, indices=(np.array(index, np.int64),))

    def step(self):
        kinds = (
            *(self.unary, self.binary, self.binary, self.compare, self.choose, self.cast),
            *(self.reduce, self.reduce, self.expand, self.turn, self.flip, self.reshape),
            *(self.part, self.join, self.look_up),
        )
        made = self.one(kinds)(self.value())
        if made.size <= 500 and len(made.shape) <= 5:
            self.values.append(made)


def fits(shape, other):
    """Whether the first broadcasts to the second."""
    pairs = zip(shape[::-1], other[::-1], strict=False)
    return len(shape) <= len(other) and all(m in (1, n) for m, n in pairs)


def like(value, other):
    return (value.dtype, value.shape) == (other.dtype, other.shape)


def array_of(rng, shape, dtype):
    if dtype.kind == "b":
        return rng.random(shape) > 0.5
    if dtype.kind == "i":
        return rng.integers(-9, 10, shape).astype(dtype)
    array = np.asarray(rng.normal(size=shape)).astype(dtype)
    array[rng.random(shape) > 0.9] = np.inf
    array[rng.random(shape) > 0.9] = -0.0
    array[rng.random(shape) > 0.95] = np.nan
    return array


@st.composite
def programs(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = draw(st.lists(st.tuples(st.sampled_from(SHAPES), st.sampled_from(DTYPES)), min_size=1))
    w = Writer(*(array_of(rng, shape, dtype) for shape, dtype in kinds[:5]))
    drawn = Drawn(draw, w)
    for _ in range(draw(st.integers(1, 14))):
        drawn.step()
    outputs = [draw(st.sampled_from(drawn.values)) for _ in range(draw(st.integers(1, 3)))]
    return w.program(*outputs, drawn.values[-1]), w.arrays


def compare(backend, program, arrays):
    arrays = [np.array(array, order="C") for array in arrays]
    with np.errstate(all="ignore"):
        met = backend.build(program, threads=1, fastmath=False)(arrays)
    for x, y in zip(met, results(program, arrays), strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        loose = 1e-4 if y.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(x, y, loose, loose)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("backend", [numpy_backend, llvm], ids=["numpy", "llvm"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs())
def test_programs_of_all_dtypes_and_shapes_compute_what_they_mean(backend, case):
    compare(backend, *case)


@st.composite
def repeated(draw):
    """A loop whose body is drawn: it carries, slices and stacks arrays of several sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, n = draw(st.integers(1, 4)), draw(st.sampled_from((1, 3, 40)))
    shapes = [(n,), (), (n,), (n, n)]
    body = Writer(*(rng.uniform(0.5, 1.5, shape) for shape in shapes))
    drawn = Drawn(draw, body)
    for _ in range(draw(st.integers(1, 8))):
        drawn.step()
    floats = [value for value in drawn.values if value.dtype == np.float64]
    carried = [draw(st.sampled_from([v for v in floats if v.shape == s])) for s in shapes[:2]]
    stacked = [draw(st.sampled_from(drawn.values)) for _ in range(2)]
    inner = body.program(*carried, *stacked)
    arrays = [rng.uniform(0.5, 1.5, s) for s in (*shapes[:2], (count, n), shapes[3])]
    inputs = [Value(np.dtype(float), array.shape) for array in arrays]
    outs = [Value(v.dtype, v.shape) for v in carried]
    outs += [Value(v.dtype, (count, *v.shape)) for v in stacked]
    loop = Loop(count, inner, inputs[:2], [(inputs[2], count - 1, -1)], inputs[3:], outs)
    return Program(inputs, [loop], outs), arrays


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("backend", [numpy_backend, llvm], ids=["numpy", "llvm"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=repeated())
def test_loops_over_drawn_bodies_compute_what_they_mean(backend, case):
    compare(backend, *case)
