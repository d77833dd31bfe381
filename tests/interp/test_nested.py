"""Test every record under nested transforms: `vmap` with `jvp`, and `vmap` with reverse mode."""

import numpy as np
import pytest

import wengert as wg
from support.samples import differentiable_args, samples, supports
from wengert.prims.whole import TABLE
from wengert.tape.record import T

SIZE = 3
RECORDS = [name for name, prim in TABLE.items() if prim.is_differentiable and prim.cases]
DTYPES = (np.float64, np.complex128)


def flat(result):
    return list(result) if isinstance(result, tuple | list) else [result]


def drawn(rng, shape, dtype):
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values, dtype)


class Batch:
    """Samples of one case, of which the differentiable arguments differ."""

    def __init__(self, prim, group):
        self.prim = prim
        self.sample = group[0]
        self.at = differentiable_args(prim, self.sample.arrays)
        rng = np.random.default_rng(11)
        self.rows = [[sample.arrays[i] for i in self.at] for sample in group]
        self.ways = [[drawn(rng, a.shape, a.dtype) for a in row] for row in self.rows]
        shapes = [tuple(row[k].shape for row in self.rows) for k in range(len(self.at))]
        self.alike = all(len(set(own)) == 1 for own in shapes)

    def __call__(self, *inputs):
        args = [wg.tensor(a) if isinstance(a, np.ndarray) else a for a in self.sample.arrays]
        for i, value in zip(self.at, inputs, strict=True):
            args[i] = value
        results = flat(getattr(T, self.prim.name)(*args, **self.sample.params))
        count = self.prim.differentiable
        results = results if count is None else results[:count]
        return tuple(r for r in results if r.dtype.is_floating_point or r.dtype.is_complex)

    def stacked(self, rows):
        return tuple(wg.tensor(np.stack(column)) for column in zip(*rows, strict=True))

    def tensors(self, row):
        return tuple(wg.tensor(array) for array in row)

    def total(self, *inputs):
        """A real number that depends on every element of every result."""
        terms = []
        for out in self(*inputs):
            parts = wg.view_as_real(out) if out.dtype.is_complex else out
            terms.append((parts * parts).sum())
        return sum(terms[1:], terms[0])


def batches(name, limit=4):
    prim = TABLE[name]
    for dtype in DTYPES:
        if not supports(prim, dtype):
            continue
        sets = [list(samples(prim, dtype, np.random.default_rng(i + 1))) for i in range(SIZE)]
        for group in list(zip(*sets, strict=True))[:limit]:
            batch = Batch(prim, group)
            if batch.at and batch.alike:
                yield batch


def same(found, rows, said):
    for got, *want in zip(found, *rows, strict=True):
        expected = np.stack([w.detach().numpy() for w in want])
        value = got.detach().numpy()
        assert value.shape == expected.shape and value.dtype == expected.dtype, said
        np.testing.assert_allclose(value, expected, 1e-8, 1e-8, err_msg=said)


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDS)
def test_a_batch_of_tangents_is_the_tangent_of_a_batch(name):
    for batch in batches(name):
        said = repr(batch.sample)
        rows = [
            wg.func.jvp(batch, batch.tensors(row), batch.tensors(way))[1]
            for row, way in zip(batch.rows, batch.ways, strict=True)
        ]
        if not rows[0]:
            continue
        inputs, ways = batch.stacked(batch.rows), batch.stacked(batch.ways)
        count = len(inputs)
        inner = wg.func.vmap(lambda *x, n=count, b=batch: wg.func.jvp(b, x[:n], x[n:])[1])
        same(inner(*inputs, *ways), rows, f"vmap of jvp: {said}")
        outer = wg.func.jvp(wg.func.vmap(batch), inputs, ways)[1]
        same(outer, rows, f"jvp of vmap: {said}")


@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDS)
def test_a_batch_of_gradients_is_the_gradient_of_a_batch(name):
    for batch in batches(name):
        said = repr(batch.sample)
        numbers = tuple(range(len(batch.at)))
        first = batch.tensors(batch.rows[0])
        if not batch(*first):
            continue
        gradient = wg.func.grad(batch.total, numbers)
        rows = [gradient(*batch.tensors(row)) for row in batch.rows]
        inputs = batch.stacked(batch.rows)
        same(wg.func.vmap(gradient)(*inputs), rows, f"vmap of grad: {said}")
        mapped = wg.func.vmap(batch.total)
        outer = wg.func.grad(lambda *x, f=mapped: f(*x).sum(), numbers)(*inputs)
        same(outer, rows, f"grad of vmap: {said}")
