"""Test normalisation: edges, running statistics, precision and errors."""

import numpy as np
import pytest

import wengert as wg

F = wg.nn.functional


def test_equal_elements_become_zero_exactly():
    x = wg.full((2, 1000), 100.3)
    assert (F.layer_norm(x, (1000,)) == 0).all()
    assert (F.batch_norm(x.T, None, None, training=True) == 0).all()


def test_equal_elements_have_the_gradients_of_a_variance_of_eps():
    x = wg.full((2, 5), 3.0, requires_grad=True)
    (F.layer_norm(x, (5,)) * wg.arange(5.0)).sum().backward()
    wg.testing.assert_close(x.grad, (wg.arange(5.0) - 2).expand(2, 5) / 1e-5**0.5)


def test_digits_survive_a_large_mean():
    rng = np.random.default_rng(0)
    rows = (1000 + rng.standard_normal((3, 2000))).astype(np.float32)
    exact = rows.astype(np.float64)
    exact = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    found = F.layer_norm(wg.from_numpy(rows), (2000,)).numpy()
    assert np.abs(found - exact).max() < 2e-4


@pytest.mark.parametrize("shape", [(300, 500), (2, 3, 70000), (40, 6, 900)])
def test_large_arrays_taken_in_parts_are_right(shape):
    rng = np.random.default_rng(1)
    x = wg.from_numpy(rng.standard_normal(shape)).requires_grad_()
    g = wg.from_numpy(rng.standard_normal(shape))
    dims = tuple(i for i in range(len(shape)) if i != 1)
    for dim, found in (
        ((len(shape) - 1,), F.layer_norm(x, shape[-1:], eps=0.1)),
        (dims, F.batch_norm(x, None, None, training=True, eps=0.1)),
    ):
        apart = x - x.mean(dim, keepdim=True)
        plain = apart / ((apart * apart).mean(dim, keepdim=True) + 0.1).sqrt()
        assert wg.allclose(found, plain)
        (a,), (b,) = (wg.autograd.grad(out, x, g) for out in (found, plain))
        assert wg.allclose(a, b)


def test_a_large_layers_weights_get_the_sums_over_all_rows():
    rng = np.random.default_rng(2)
    x, g = (wg.from_numpy(rng.standard_normal((400, 500))) for _ in range(2))
    w = wg.ones(500, dtype=wg.float64, requires_grad=True)
    F.layer_norm(x, (500,), w).backward(g)
    assert wg.allclose(w.grad, (g * F.layer_norm(x, (500,))).sum(0))


def test_running_statistics_move_by_the_momentum():
    x = wg.tensor([[1.0, 2.0], [3.0, 6.0]])
    mean, var = wg.zeros(2), wg.ones(2)
    F.batch_norm(x, mean, var, training=True, momentum=0.5)
    assert mean.tolist() == [1.0, 2.0]
    # with Bessel's correction: 2 and 8
    assert var.tolist() == [1.5, 4.5]


def test_running_statistics_of_instances_are_means_over_the_samples():
    x = wg.tensor([[[1.0, 3.0]], [[2.0, 6.0]]])
    mean, var = wg.zeros(1), wg.zeros(1)
    F.instance_norm(x, mean, var, momentum=1.0)
    assert mean.tolist() == [3.0] and var.tolist() == [5.0]
    assert F.instance_norm(x, mean, var, use_input_stats=False, eps=4.0)[0, 0, 1] == 0.0


def test_a_batch_that_follows_does_not_change_what_was_recorded():
    x = wg.tensor([[1.0], [3.0]], requires_grad=True)
    mean, var = wg.zeros(1), wg.full((1,), 4.0)
    out = F.batch_norm(x, mean, var, eps=0.0)
    F.batch_norm(x.detach(), mean, var, training=True)
    out.sum().backward()
    assert x.grad.tolist() == [[0.5], [0.5]]


def test_nothing_is_written_if_an_argument_does_not_fit():
    mean, var = wg.zeros(2), wg.ones(2)
    with pytest.raises(RuntimeError, match="weight should contain 2 elements not 3"):
        F.batch_norm(wg.ones(4, 2), mean, var, wg.ones(3), training=True)
    assert mean.tolist() == [0, 0] and var.tolist() == [1, 1]


def test_an_empty_batch_leaves_the_running_statistics():
    mean, var = wg.zeros(2), wg.ones(2)
    assert F.batch_norm(wg.zeros(0, 2), mean, var, training=True).shape == (0, 2)
    assert mean.tolist() == [0, 0] and var.tolist() == [1, 1]


def test_half_precision_is_computed_in_single_and_takes_parameters_of_single():
    x = wg.randn(4, 300).half()
    w = wg.ones(300, requires_grad=True)
    out = F.layer_norm(x, (300,), w)
    assert out.dtype == wg.float16
    assert wg.allclose(out.float(), F.layer_norm(x.float(), (300,)), atol=2e-3)
    out.float().sum().backward()
    assert w.grad.dtype == wg.float32


def test_the_mean_square_of_the_result_is_one():
    out = F.rms_norm(wg.tensor([[3.0, 4.0]], dtype=wg.float64), (2,), eps=0.0)
    assert (out * out).mean().item() == pytest.approx(1.0)


def test_a_vector_of_zeros_stays_one():
    x = wg.zeros(1, 3, requires_grad=True)
    out = F.normalize(x)
    out.sum().backward()
    assert out.tolist() == [[0, 0, 0]] and wg.isfinite(x.grad).all()


def test_nodes_have_pytorchs_names():
    x, w = wg.randn(2, 4, requires_grad=True), wg.ones(4, requires_grad=True)
    assert F.layer_norm(x, (4,), w).grad_fn.name() == "NativeLayerNormBackward0"
    assert F.batch_norm(x, None, None, w, training=True).grad_fn.name() == (
        "NativeBatchNormBackward0"
    )
    assert F.group_norm(x, 2).grad_fn.name() == "NativeGroupNormBackward0"


X, X3 = wg.ones(4, 3), wg.ones(2, 4, 5)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: F.layer_norm(X, 3), TypeError, r"layer_norm\(\): argument 'normalized_shape'"),
        (lambda: F.layer_norm(X, (3.0,)), TypeError, r"layer_norm\(\): argument 'normalized_sh"),
        (lambda: F.layer_norm(X, (4,)), RuntimeError, r"Given normalized_shape=\[4\], expected"),
        (lambda: F.layer_norm(X, ()), RuntimeError, "Expected normalized_shape to be at least"),
        (lambda: F.layer_norm(X, (3,), wg.ones(4)), RuntimeError, "Expected weight to be of same"),
        (lambda: F.layer_norm(X, (3,), None, wg.ones(4)), RuntimeError, "Expected bias to be of"),
        (lambda: F.layer_norm(X.long(), (3,)), NotImplementedError, '"LayerNormKernelImpl" not'),
        (
            lambda: F.layer_norm(X.double(), (3,), wg.ones(3)),
            RuntimeError,
            r"mixed dtype \(CPU\): all inputs must share same datatype",
        ),
        (
            lambda: F.layer_norm(X, (3,), wg.ones(3).double()),
            RuntimeError,
            r"mixed dtype \(CPU\): expect parameter to have scalar type of Float",
        ),
        (
            lambda: F.layer_norm(X, (3,), wg.ones(3), wg.ones(3).double()),
            RuntimeError,
            "expected scalar type Float but found Double",
        ),
        (lambda: F.rms_norm(X.long(), (3,)), NotImplementedError, '"rms_norm" not implemented'),
        (lambda: F.group_norm(X3, 3), RuntimeError, "Expected number of channels in input to be"),
        (lambda: F.group_norm(X3, -1), RuntimeError, "Expected num groups to be greater than 0"),
        (lambda: F.group_norm(X3, 0), ZeroDivisionError, "integer division"),
        (lambda: F.group_norm(X3[0, 0], 1), RuntimeError, "Expected at least 2 dimensions for in"),
        (lambda: F.group_norm(wg.ones(1, 2, 1), 2), ValueError, "Expected more than 1 value per"),
        (lambda: F.group_norm(X3, 2, wg.ones(3)), RuntimeError, "Expected weight to be a vector"),
        (lambda: F.instance_norm(X3[..., :1]), ValueError, "Expected more than 1 spatial element"),
        (
            lambda: F.instance_norm(X3, use_input_stats=False),
            RuntimeError,
            "Expected running_mean and running_var to be defined when use_input_stats is false",
        ),
        (lambda: F.batch_norm(X, None, None), RuntimeError, "running_mean must be defined in eva"),
        (
            lambda: F.batch_norm(X, wg.zeros(3), None),
            ValueError,
            "running_mean and running_var must either both be None or neither be None",
        ),
        (
            lambda: F.batch_norm(X[:1], None, None, training=True),
            ValueError,
            "Expected more than 1 value per channel when training",
        ),
        (lambda: F.batch_norm(X[0], None, None, training=True), IndexError, "Dimension out of ra"),
        (
            lambda: F.batch_norm(X, wg.zeros(4), wg.ones(4)),
            RuntimeError,
            "running_mean should contain 3 elements not 4",
        ),
        (
            lambda: F.batch_norm(X, wg.zeros(3, requires_grad=True), wg.ones(3)),
            RuntimeError,
            "The function 'native_batch_norm' is not differentiable with respect to argument 'runn",
        ),
        (lambda: F.normalize(X.long()), RuntimeError, r"linalg.vector_norm: Expected a floating"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
