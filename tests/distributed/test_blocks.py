"""Test Jacobians by blocks of rows, and maps by chunks, in this process."""

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("dask")

from wengert import distributed
from wengert.distributed import PartitionError, jacobian

X = np.random.default_rng(0).normal(size=(10, 3))
PARAMS = {"w": X[0], "b": 0.5}


def two(params):
    y = wg.stack([(params["w"] * i).sin() * params["b"] for i in range(1, 4)])
    return {"y": y, "n": (params["w"] ** 2).sum()}


def residuals(params, batch):
    y = (batch @ params["w"] + params["b"]).sin()
    return y, wg.outer(y, params["w"])


def as_tensors(params):
    return {"w": wg.tensor(params["w"]), "b": wg.tensor(params["b"], dtype=wg.float64)}


@pytest.mark.parametrize("chunk_size", [1, 4, 100])
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_blocks_of_rows_make_the_jacobian(chunk_size, scheduler):
    found = jacobian(two, chunk_size=chunk_size, scheduler=scheduler)(PARAMS)
    right = wg.func.jacrev(two)(as_tensors(PARAMS))
    for out in ("y", "n"):
        for name in ("w", "b"):
            assert found[out][name].shape == right[out][name].shape
            assert np.allclose(found[out][name], right[out][name], rtol=1e-12, atol=1e-14)
    assert isinstance(found["y"]["w"], np.ndarray)


def test_the_jacobian_of_tensors_is_of_tensors():
    found = jacobian(lambda x: x**2)(wg.tensor([1.0, 2.0]))
    assert isinstance(found, wg.Tensor)
    assert found.tolist() == [[2, 0], [0, 4]]


def test_a_function_without_results_has_a_jacobian_without_rows():
    found = jacobian(lambda x: x[:0])(np.ones(3))
    assert (found.shape, found.dtype) == ((0, 3), np.float64)


def test_partitions_are_blocks_of_the_jacobian():
    parts = [X[:4], X[:0], X[4:9], X[9:]]
    found = jacobian(residuals)(PARAMS, parts)
    right = wg.func.jacrev(lambda p: residuals(p, wg.tensor(X)))(as_tensors(PARAMS))
    assert type(found) is tuple
    for part, whole in zip(found, right, strict=True):
        for name in ("w", "b"):
            assert np.allclose(part[name], whole[name], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jacobian(3), TypeError, "expected a function"),
        (
            lambda: jacobian(two, chunk_size=0),
            ValueError,
            "chunk_size must be an integer from 1 on",
        ),
        (lambda: jacobian(residuals)(PARAMS, []), ValueError, "no rows in any of 0 partitions"),
        (lambda: jacobian(two)(wg.nn.Linear(1, 1)), TypeError, "params is a module"),
        (lambda: jacobian(lambda w, x: w.sum())(X, [X]), PartitionError, "with a dimension 0"),
        (
            lambda: distributed.vmap(wg.sin, chunk_size=True),
            ValueError,
            "integer from 1 on, but got True",
        ),
        (lambda: distributed.vmap(wg.sin)(np.float64(1)), ValueError, "in_dim=0"),
    ],
)
def test_wrong_arguments_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_chunks_make_the_map(scheduler):
    def f(p, x, y):
        return {"a": (p["w"] * x).sum(), "b": wg.outer(p["w"], y)}

    params = {"w": wg.tensor(X), "unused": X[:, 0]}
    dims = {"in_dims": ({"w": 0, "unused": 0}, None, 1), "out_dims": {"a": 0, "b": 1}}
    found = distributed.vmap(f, **dims, chunk_size=3, scheduler=scheduler)(params, X[0], X.T)
    params["unused"] = wg.tensor(params["unused"])
    right = wg.func.vmap(f, **dims)(params, wg.tensor(X[0]), wg.tensor(X.T))
    assert found["b"].shape == (3, 10, 3)
    assert all(np.allclose(found[k], right[k], rtol=1e-13) for k in "ab")


def test_a_map_over_nothing_has_no_elements():
    found = distributed.vmap(wg.sin)(np.ones((0, 2)))
    assert (found.shape, found.dtype) == ((0, 2), wg.float64)


def test_gradients_are_mapped_by_chunks():
    found = distributed.vmap(wg.func.grad(lambda x: (x**3).sum()), chunk_size=4)(X)
    assert np.allclose(found, 3 * X**2, rtol=1e-13)


def test_chunks_draw_different_random_numbers():
    run = distributed.vmap(lambda x: x + wg.rand(()), randomness="different", chunk_size=2)
    drawn = run(np.zeros(6))
    assert len(set(drawn.tolist())) == 6
    assert run(np.zeros(6)).tolist() == drawn.tolist()
