"""Test batches of vectors: `is_grads_batched`, and Jacobians with `vectorize`."""

import numpy as np
import pytest

import wengert as wg
from wengert.autograd.functional import hessian, jacobian

X = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64, requires_grad=True)


def cubes(x):
    return wg.stack([x[0] * x[1] ** 2, x.sum() ** 3])


def jacobian_of_cubes():
    x = X.detach().numpy()
    return np.array([[x[1] ** 2, 2 * x[0] * x[1], 0], [3 * x.sum() ** 2] * 3])


def test_is_grads_batched_is_one_pass():
    passes = []
    y = cubes(X * 1)
    y.register_hook(lambda g: passes.append(tuple(g.shape)))
    (rows,) = wg.autograd.grad(y, X, wg.eye(2, dtype=wg.float64), is_grads_batched=True)
    np.testing.assert_allclose(rows.numpy(), jacobian_of_cubes(), rtol=1e-12)
    assert passes == [(2,)]


def test_batched_gradients_can_be_differentiated():
    vectors = wg.eye(2, dtype=wg.float64, requires_grad=True)
    (rows,) = wg.autograd.grad(cubes(X), X, vectors, create_graph=True, is_grads_batched=True)
    second, by_vectors = wg.autograd.grad(rows[1].sum(), (X, vectors))
    assert second.tolist() == [6 * 3 * 6.0] * 3
    np.testing.assert_allclose(by_vectors[1].numpy(), jacobian_of_cubes().sum(1), rtol=1e-12)


def test_several_outputs_and_unused_inputs():
    other = wg.ones(2, requires_grad=True)
    rows, unused = wg.autograd.grad(
        (X * 2, X.sum()),
        (X, other),
        (wg.ones(4, 3, dtype=wg.float64), wg.arange(4.0, dtype=wg.float64)),
        is_grads_batched=True,
        materialize_grads=True,
    )
    assert rows.tolist() == [[2.0 + i] * 3 for i in range(4)]
    assert unused.shape == (4, 2) and not unused.requires_grad


def test_zeros_in_place_of_no_gradient_can_be_differentiated():
    other = wg.ones(2, requires_grad=True)
    (zeros,) = wg.autograd.grad(cubes(X).sum(), other, create_graph=True, materialize_grads=True)
    assert wg.autograd.grad(zeros.sum(), other, materialize_grads=True)[0].tolist() == [0.0, 0.0]


def test_vectors_of_different_numbers_are_refused():
    with pytest.raises(RuntimeError, match="first dimensions are equal"):
        wg.autograd.grad(
            (X * 1, X * 2), X, (wg.ones(2, 3).double(), wg.ones(4, 3).double()),
            is_grads_batched=True,
        )  # fmt: skip
    with pytest.raises(RuntimeError, match="If `is_grads_batched=True`, we interpret the first"):
        wg.autograd.grad(X * 1, X, wg.ones(2, 4).double(), is_grads_batched=True)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_vectorize_calls_the_function_once(strategy):
    calls = []

    def f(x):
        calls.append(1)
        return cubes(x)

    found = jacobian(f, X.detach(), vectorize=True, strategy=strategy)
    np.testing.assert_allclose(found.numpy(), jacobian_of_cubes(), rtol=1e-12)
    assert calls == [1]
    assert not found.requires_grad


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_a_vectorized_hessian(strategy):
    made = hessian(
        lambda x: (x**3).sum() + x[0] * x[1], X, vectorize=True, outer_jacobian_strategy=strategy
    )
    assert made.tolist() == [[6.0, 1.0, 0.0], [1.0, 12.0, 0.0], [0.0, 0.0, 18.0]]


def test_forward_mode_needs_no_second_derivative():
    class Once(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x**2

        @staticmethod
        @wg.autograd.function.once_differentiable
        def backward(ctx, g):
            raise AssertionError("forward mode has a rule of its own")

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 2 * x * t

    columns = jacobian(Once.apply, X, vectorize=True, strategy="forward-mode")
    assert columns.diagonal().tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("batched", [False, True])
def test_gradients_of_named_inputs_have_the_names(batched):
    named = {"a": wg.ones(2, requires_grad=True), "b": wg.ones(2, requires_grad=True)}
    out = (named["a"] * 3).sum()
    vectors = {"grad_outputs": wg.ones(4), "is_grads_batched": True} if batched else {}
    found = wg.autograd.grad(out, named, allow_unused=True, **vectors)
    assert list(found) == ["a", "b"]
    assert found["a"].tolist() == ([[3.0, 3.0]] * 4 if batched else [3.0, 3.0])
    assert found["b"] is None


def test_named_inputs_may_be_none():
    with pytest.raises(RuntimeError, match="cannot be empty"):
        wg.autograd.grad(X.sum(), {})
