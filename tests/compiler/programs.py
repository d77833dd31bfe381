"""Programs for tests: written step by step, and drawn by Hypothesis."""

import numpy as np
from hypothesis import strategies as st

from wengert.compiler.ir.programs import Program, Step, Value, apply
from wengert.interp.eager import K
from wengert.prims.whole import TABLE

__all__ = ["Writer", "agree", "programs", "results"]


class Writer:
    """A program that is written down while it is computed once, to know dtypes and shapes."""

    def __init__(self, *arrays):
        self.arrays = [np.asarray(array) for array in arrays]
        self.inputs = [Value(array.dtype, array.shape) for array in self.arrays]
        self.steps = []
        self._known = dict(zip(self.inputs, self.arrays, strict=True))

    def __getattr__(self, name):
        prim = TABLE[name]

        def call(*args, **params):
            values = [self.value(arg) for arg in args]
            with np.errstate(all="ignore"):
                made = prim.kernel(*map(self._array, values), **params)
            several = prim.outputs != 1
            made = [np.asarray(array) for array in (made if several else (made,))]
            outs = [Value(array.dtype, array.shape) for array in made]
            self._known.update(zip(outs, made, strict=True))
            self.steps.append(Step(prim, values, params, outs))
            return outs if several else outs[0]

        return call

    def value(self, thing):
        if isinstance(thing, Value):
            return thing
        array = np.asarray(thing)
        return Value(array.dtype, array.shape, array)

    def _array(self, value):
        return self._known[value] if value.constant is None else value.constant

    def program(self, *outputs):
        program = Program(self.inputs, self.steps, outputs)
        program.check()
        return program


def results(program, arrays):
    with np.errstate(all="ignore"):
        return [np.asarray(array) for array in apply(program, K, arrays)]


def agree(program, other, arrays, tight=1e-12):
    """Check that two programs compute the same."""
    other.check()
    assert other.inputs == program.inputs
    wanted, met = results(program, arrays), results(other, arrays)
    assert len(wanted) == len(met)
    for x, y in zip(met, wanted, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if y.dtype.kind in "fc":
            np.testing.assert_allclose(x, y, tight, tight)
        else:
            np.testing.assert_array_equal(x, y)


# -- programs drawn at random ---------------------------------------------------------------------

_UNARY = ("neg", "abs", "tanh", "clone", "alias", "atan", "contiguous", "ceil", "reciprocal")
_BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")
_SHAPES = ((), (1,), (3,), (2, 3), (3, 3), (3, 1), (2, 1, 3))
_NUMBERS = (1, 2, 0.5, -1, 0, 0.0, -0.0, 3.0, 4, -2.5)


def _unary(draw, w, x, values):
    return getattr(w, draw(st.sampled_from(_UNARY)))(x)


def _binary(draw, w, x, values):
    same = [v for v in values if _broadcasts(v.shape, x.shape)]
    pair = x, draw(st.sampled_from(same))
    pair = pair[::-1] if draw(st.booleans()) else pair
    return getattr(w, draw(st.sampled_from(_BINARY)))(*pair)


def _broadcasts(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _with_number(draw, w, x, values):
    name = draw(st.sampled_from(("add", "sub", "rsub", "mul", "div")))
    return getattr(w, f"{name}_scalar")(x, other=draw(st.sampled_from(_NUMBERS)))


def _power(draw, w, x, values):
    exponent = draw(st.sampled_from((0, 1, 2, 3, 4, 0.5, 1.5, -1, -2, -0.5)))
    return w.pow_scalar(w.mul(x, x), exponent=exponent)


def _constant(draw, w, x, values):
    shape = draw(st.sampled_from((x.shape, ())))
    return w.add(x, np.full(shape, draw(st.sampled_from(_NUMBERS)), np.float64))


def _zeros(draw, w, x, values):
    return w.zeros(shape=x.shape, dtype=x.dtype)


def _choice(draw, w, x, values):
    other = draw(st.sampled_from([v for v in values if v.shape == x.shape]))
    mask = w.gt(x, other)
    mask = w.logical_not(mask) if draw(st.booleans()) else mask
    return w.where(mask, *draw(st.permutations([x, other])))


def _reshape(draw, w, x, values):
    shapes = [s for s in _SHAPES if np.prod(s) == np.prod(x.shape)] + [(*x.shape, 1), (1, *x.shape)]
    return w.view(x, shape=draw(st.sampled_from(shapes)))


def _turn(draw, w, x, values):
    dims = draw(st.permutations(range(len(x.shape))))
    if len(dims) == 2 and draw(st.booleans()):
        return w.t(x) if draw(st.booleans()) else w.transpose(x, dim0=0, dim1=1)
    return w.permute(x, dims=tuple(dims))


def _expand(draw, w, x, values):
    shape = tuple(2 if n == 1 and draw(st.booleans()) else n for n in x.shape)
    return w.expand(x, shape=(2, *shape) if draw(st.booleans()) else shape)


def _sum(draw, w, x, values):
    dim = tuple(d for d in range(len(x.shape)) if draw(st.booleans()))
    name = draw(st.sampled_from(("sum_dim", "sum_dim", "amax")))
    return getattr(w, name)(x, dim=dim, keepdim=draw(st.booleans()))


def _part(draw, w, x, values):
    if not x.shape:
        return w.unsqueeze(x, dim=0)
    dim = draw(st.integers(0, len(x.shape) - 1))
    size = x.shape[dim]
    start = draw(st.integers(0, size - 1))
    end = draw(st.integers(start + 1, size))
    if draw(st.booleans()):
        return w.select(x, dim=dim, index=start)
    return w.slice(x, dim=dim, start=start, end=end, step=draw(st.sampled_from((1, 1, 2))))


def _back(draw, w, x, values):
    """Sums of parts, as derivatives make them."""
    if not x.shape:
        return w.unsqueeze(x, dim=0)
    dim = draw(st.integers(0, len(x.shape) - 1))
    total = None
    for _ in range(draw(st.integers(2, 4))):
        start = draw(st.integers(0, x.shape[dim] - 1))
        end = draw(st.integers(start + 1, x.shape[dim]))
        if draw(st.booleans()):
            part = w.tanh(w.select(x, dim=dim, index=start))
            term = w.select_backward(part, shape=x.shape, dim=dim, index=start)
        else:
            part = w.tanh(w.slice(x, dim=dim, start=start, end=end, step=1))
            term = w.slice_backward(part, shape=x.shape, dim=dim, start=start, end=end, step=1)
        total = term if total is None else w.add(total, term)
    return w.add(total, x) if draw(st.booleans()) else total


def _writes(draw, w, x, values):
    """Writes of positions, read in between."""
    if not x.shape:
        return w.unsqueeze(x, dim=0)
    dim = draw(st.integers(0, len(x.shape) - 1))
    for _ in range(draw(st.integers(1, 4))):
        at, index = (draw(st.integers(0, x.shape[dim] - 1)) for _ in range(2))
        part = w.tanh(w.select(x, dim=dim, index=at))
        x = w.select_scatter(x, part, dim=dim, index=index)
    return x


def _join(draw, w, x, values):
    same = [v for v in values if v.shape == x.shape]
    parts = [draw(st.sampled_from(same)) for _ in range(draw(st.integers(1, 3)))]
    dim = draw(st.integers(0, len(x.shape)))
    if x.shape and draw(st.booleans()):
        return w.cat(*parts, dim=min(dim, len(x.shape) - 1))
    return w.stack(*parts, dim=dim)


def _product(draw, w, x, values):
    matrices = [v for v in values if len(v.shape) == 2]
    if len(x.shape) == 2:
        fitting = [v for v in matrices if v.shape[0] == x.shape[1]]
        return w.mm(x, draw(st.sampled_from(fitting))) if fitting else w.mm(x, w.t(x))
    if len(x.shape) == 1:
        fitting = [v for v in matrices if v.shape[1] == x.shape[0]]
        return w.mv(draw(st.sampled_from(fitting)), x) if fitting else w.dot(x, x)
    return w.tanh(x)


_STEPS = (
    *(_unary, _binary, _binary, _with_number, _power, _constant, _zeros, _choice, _reshape, _turn),
    *(_expand, _sum, _part, _back, _writes, _join, _product),
)


@st.composite
def programs(draw, length=12):
    """A program with the arrays to run it on."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    arrays = [rng.uniform(0.5, 1.5, shape) for shape in ((2, 3), (3, 3), (3,), ())]
    w = Writer(*arrays)
    values = list(w.inputs)
    for _ in range(draw(st.integers(1, length))):
        made = draw(st.sampled_from(_STEPS))(draw, w, draw(st.sampled_from(values)), values)
        if made.size <= 200:
            values.append(made)
    count = draw(st.integers(1, 3))
    return w.program(*[draw(st.sampled_from(values)) for _ in range(count)]), arrays
