"""Test that `wengert.sparse.pattern` is never too small, and exact for known structure."""

import numpy as np
import pytest

import wengert as wg
from support.samples import differentiable_args, samples, supports
from wengert.prims.whole import TABLE
from wengert.sparse.passes import is_recorded, rows_of
from wengert.sparse.patterns import pattern_of
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.record import T

pytest.importorskip("scipy")


def dense(outputs, leaves):
    """The Jacobian, row by row."""
    product = rows_of(outputs, leaves)
    height = sum(output._payload.size for output in outputs)
    width = sum(leaf._payload.size for leaf in leaves)
    with np.errstate(all="ignore"):
        return np.array([product(row) for row in np.eye(height)]).reshape(height, width)


@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(n for n, p in TABLE.items() if p.is_differentiable))
def test_the_pattern_of_an_operation_holds_all_nonzeros(name):
    prim = TABLE[name]
    if not supports(prim, np.float64):
        pytest.skip("not for real numbers")
    for sample in samples(prim, np.float64, np.random.default_rng(0)):
        at = differentiable_args(prim, sample.arrays)
        tensors = [new_tensor(a, LEAF if i in at else None) for i, a in enumerate(sample.arrays)]
        result = getattr(T, name)(*tensors, **sample.params)
        result = result if isinstance(result, tuple) else (result,)
        outputs = [o for o in result if is_recorded(o) and o._payload.dtype.kind == "f"]
        leaves = [tensors[i] for i in at]
        found = pattern_of(outputs, leaves).toarray()
        missing = (dense(outputs, leaves) != 0) & ~found
        assert not missing.any(), f"{name} {sample}: {np.argwhere(missing)}"


@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(n for n, p in TABLE.items() if p.is_differentiable))
def test_the_pattern_holds_all_nonzeros_for_complex_arguments(name):
    prim = TABLE[name]
    if not supports(prim, np.complex128):
        pytest.skip("not for complex numbers")
    for sample in samples(prim, np.complex128, np.random.default_rng(0)):
        if any(array.size == 0 for array in sample.arrays):
            continue
        tensors, leaves = [], []
        for i, array in enumerate(sample.arrays):
            if i not in differentiable_args(prim, sample.arrays):
                tensors.append(new_tensor(array))
                continue
            lifted = array.dtype.kind == "c"
            parts = np.stack([array.real, array.imag], -1) if lifted else array
            leaves.append(new_tensor(np.ascontiguousarray(parts), LEAF))
            tensors.append(wg.view_as_complex(leaves[-1]) if lifted else leaves[-1])
        try:
            result = getattr(T, name)(*tensors, **sample.params)
        except RuntimeError:  # refused, though its kernel would do it
            continue
        result = result if isinstance(result, tuple) else (result,)
        outputs = [o for o in result if is_recorded(o)]
        outputs = [wg.view_as_real(o) if o.dtype.is_complex else o for o in outputs]
        try:
            jacobian = dense(outputs, leaves)
        except RuntimeError:
            continue
        missing = (jacobian != 0) & np.isfinite(jacobian)
        missing &= ~pattern_of(outputs, leaves).toarray()
        assert not missing.any(), f"{name} {sample}: {np.argwhere(missing)}"


def exact(f, x):
    """The pattern of `f`, if it is that of the Jacobian at two points."""
    x = np.asarray(x, np.float64)
    found = wg.sparse.pattern(f, x)
    assert found.dtype == bool
    matrix = found.toarray()
    for shift in (0.0, 0.37):
        leaf = wg.tensor(x + shift, requires_grad=True)
        output = f(leaf)
        assert np.array_equal(dense([output], [leaf]) != 0, matrix)
    return matrix


X = np.random.default_rng(3).uniform(0.3, 1.4, 12)
KERNEL = wg.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]], dtype=wg.float64)
BAND = np.eye(12) - np.eye(12, k=1)

EXACT = {
    "elementwise": lambda x: x.exp() * 2 + x**3,
    "slices": lambda x: x[1:] * x[:-1] - x[2:].sum(),
    "strides": lambda x: x[::3] * x[1::3],
    "shapes": lambda x: x.view(3, 4).t().reshape(2, 6).unsqueeze(0).squeeze(),
    "broadcast": lambda x: x[:3, None] * x[3:7],
    "expand": lambda x: x[:2].expand(3, 2) * 2,
    "sums": lambda x: x.view(3, 4).sum(0),
    "means": lambda x: x.view(3, 4).mean(1, keepdim=True) ** 2,
    "norm": lambda x: x.view(3, 4).norm(dim=1),
    "softmax": lambda x: x.view(3, 4).softmax(0),
    "cat": lambda x: wg.cat([x[:3], x.flip(0), wg.zeros(2, dtype=x.dtype)]),
    "stack": lambda x: wg.stack([x[:3], x[3:6] * x[0]], 1),
    "roll": lambda x: x * x.roll(1) * x.roll(-2),
    "index": lambda x: x[[0, 0, 5, 11]] ** 2,
    "mask": lambda x: x[np.arange(12) % 3 == 0].sin(),
    "gather": lambda x: x.view(3, 4).gather(1, wg.tensor([[0, 0], [3, 1], [2, 2]])),
    "scatter": lambda x: wg.zeros(5, dtype=x.dtype).scatter_add(0, wg.arange(12) % 4, x),
    "split": lambda x: x.split(4)[1] * x.chunk(3)[2],
    "unbind": lambda x: x.view(3, 4).unbind(0)[1].exp(),
    "diagonal": lambda x: x[:9].view(3, 3).diagonal() + x[:9].view(3, 3).tril().sum(1),
    "repeat": lambda x: x[:2].repeat(2, 2),
    "pad": lambda x: wg.nn.functional.pad(x, (1, 2)) * 3,
    "windows": lambda x: x.unfold(0, 3, 2).sum(1),
    "constant matrix": lambda x: BAND @ x,
    "constant matrix from the right": lambda x: (x.view(1, 12) @ BAND) ** 2,
    "banded matrices": lambda x: BAND[:4, :4] @ x.view(4, 3),
    "matrix product": lambda x: x[:6].view(2, 3) @ x[6:].view(3, 2),
    "batches": lambda x: x[:4].view(2, 1, 2) @ x[4:].view(2, 2, 2),
    "einsum": lambda x: wg.einsum("ij,kj->ik", x[:6].view(2, 3), x[6:].view(2, 3)),
    "convolution": lambda x: wg.nn.functional.conv2d(
        x.view(1, 1, 3, 4), KERNEL[None, None], padding=1
    ),
    "transposed convolution": lambda x: wg.nn.functional.conv_transpose1d(
        x.view(1, 1, 12), wg.ones(1, 1, 2, dtype=x.dtype), stride=3
    ),
    "pooling": lambda x: wg.nn.functional.avg_pool1d(x.view(1, 12), 3, 2),
    "inverses": lambda x: x.view(3, 2, 2).inverse(),
    "determinants": lambda x: wg.linalg.det(x.view(3, 2, 2)),
    "systems": lambda x: wg.linalg.solve(x[:8].view(2, 2, 2), x[8:].view(2, 2)),
    "layer norm": lambda x: wg.nn.functional.layer_norm(x.view(3, 4), (4,), x[:4]),
    "numpy": lambda x: np.diff(np.sin(x)) * np.concatenate([x[:1], x[:10]]),
    "complex numbers": lambda x: (wg.complex(x[:6], x[6:]) * wg.complex(x[:1], x[1:2])).abs(),
    "complex views": lambda x: wg.view_as_real(wg.view_as_complex(x.view(6, 2)) ** 2),
    "moved complex numbers": lambda x: (
        wg.view_as_complex(x.view(6, 2)).roll(1)[[0, 0, 3]].view(3, 1).expand(3, 2).conj().abs()
    ),
    "complex products": lambda x: (
        wg.view_as_complex(x.view(2, 3, 2)) @ wg.eye(3, dtype=wg.complex128)[:, :2]
    ).abs(),
    "transform": lambda x: wg.fft.rfft(x[:3]).abs(),
    "norm of a part": lambda x: wg.linalg.vector_norm(x[:3]) * x[3:],
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_patterns_are_exact(name):
    assert exact(EXACT[name], X).any()


def test_writes_in_place_are_followed():
    def f(x):
        y = x.clone() ** 2
        y[2:] += x[:-2]
        y[0] = x[5] * 2
        y[3] = 0
        y.view(3, 4)[1, :2].mul_(x[8:10])
        y[[10, 11]] = x[:2]
        return y

    exact(f, X)


def test_views_of_what_is_written_later_are_followed():
    def f(x):
        y = x * 2
        window = y[4:8]
        window.mul_(x[:4])
        y[5] = x[0]
        return window

    exact(f, X)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: x.relu(), np.eye(3)),
        (lambda x: wg.where(x > 0, x, -x.roll(1)), np.eye(3) + np.roll(np.eye(3), -1, 1)),
        (lambda x: wg.maximum(x, x.flip(0)), np.maximum(np.eye(3), np.eye(3)[::-1])),
        (lambda x: x.max(), np.ones((1, 3))),
        (lambda x: x.sort().values, np.ones((3, 3))),
        (lambda x: x.clamp(0, 1), np.eye(3)),
    ],
)
def test_choices_by_value_count_for_all_outcomes(f, expected):
    for x in ([1.0, 2.0, 3.0], [-1.0, 0.0, 0.5], [3.0, -2.0, -1.0]):
        assert np.array_equal(wg.sparse.pattern(f, x).toarray(), expected != 0)


def test_what_has_no_rule_is_dense():
    class Flip(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.flip(0)

        @staticmethod
        def backward(ctx, g):
            return g.flip(0)

    assert wg.sparse.pattern(Flip.apply, np.ones(3)).toarray().all()
    assert wg.sparse.pattern(lambda x: x.view(2, 2).inverse(), [1.0, 0, 0, 2]).toarray().all()
    # and sparse again after it
    assert wg.sparse.pattern(lambda x: wg.cat([Flip.apply(x[:2]), x[2:]]), np.ones(4)).nnz == 6


def test_constant_results_have_an_empty_pattern():
    found = wg.sparse.pattern(lambda x: wg.ones(2, dtype=wg.float64), np.ones(3))
    assert found.shape == (2, 3)
    assert found.nnz == 0
    assert wg.sparse.pattern(lambda x: x, np.ones(3)).toarray().tolist() == np.eye(3).tolist()
    assert wg.sparse.pattern(lambda x: x.sign() * 2, np.ones(3)).nnz == 0


def test_float32_and_other_shapes():
    x = wg.ones(2, 3)
    found = wg.sparse.pattern(lambda x: x[:, [0, 0, 2]] * x.gather(1, wg.zeros(2, 3).long()), x)
    assert found.shape == (6, 6)
    assert found.toarray()[2].tolist() == [True, False, True, False, False, False]
    assert x.grad is None


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: x, 1j),
        (lambda x: x * 1j, [1.0]),
        (lambda x: 3.0, [1.0]),
        (lambda x: x > 0, [1.0]),
    ],
)
def test_values_without_a_pattern_are_refused(f, x):
    with pytest.raises(TypeError, match=r"wengert.sparse.pattern: "):
        wg.sparse.pattern(f, x)


HESSIANS = {
    "rosenbrock": lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(),
    "arrow": lambda x: (x[0] * x).sum() + x[-1].exp(),
    "outer function": lambda x: ((BAND @ x) ** 2).sum().exp(),
    "linear": lambda x: x[::2].sum() + 3,
    "convolution": lambda x: (
        wg.nn.functional.conv1d(x.view(1, 1, 12), wg.ones(1, 1, 2, dtype=x.dtype)) ** 3
    ).sum(),
    "blocks": lambda x: x.view(3, 4).logsumexp(1).sum(),
}


@pytest.mark.parametrize("name", HESSIANS)
def test_patterns_of_hessians_are_exact(name):
    found = wg.sparse.hessian_pattern(HESSIANS[name], X).toarray()
    true = wg.autograd.functional.hessian(HESSIANS[name], wg.tensor(X)).numpy()
    assert np.array_equal(found, found.T)
    assert np.array_equal(found, true != 0)


def test_a_pattern_of_a_hessian_may_be_larger_but_not_smaller():
    def f(x):
        return x.view(3, 4).prod(1).sum()

    found = wg.sparse.hessian_pattern(f, X).toarray()
    true = wg.autograd.functional.hessian(f, wg.tensor(X)).numpy()
    assert found[true != 0].all()
    assert found.sum() <= 3 * 4 * 4
