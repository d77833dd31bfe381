"""Test `jax.experimental.sparse` of `wengert.compat.jax`."""

import numpy as np
import pytest

import wengert.compat.jax.numpy as jnp
from wengert.compat import jax
from wengert.compat.jax.experimental import sparse

M = jnp.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
V = jnp.array([1.0, 2.0, 3.0])
B = sparse.BCOO.fromdense(M)
TWICE = sparse.BCOO((V, jnp.array([[0, 1], [0, 1], [1, 2]])), shape=(2, 3))
BACK = sparse.BCOO((V, TWICE.indices[::-1]), shape=(2, 3))


def same(found, wanted):
    found = found.todense() if isinstance(found, sparse.BCOO) else found
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)


def test_operations_are_those_of_the_dense_array():
    dense = TWICE.todense()
    same(TWICE, jnp.array([[0, 3.0, 0], [0, 0, 3.0]]))
    for found, wanted in (
        (B @ V, M @ V),
        (B @ M.T, M @ M.T),
        (V[:2] @ B, V[:2] @ M),
        (M.T @ B, M.T @ M),
        (B.T, M.T),
        (-B, -M),
        (2 * B, 2 * M),
        (B / 2, M / 2),
        (B * V, M * V),
        (B + TWICE, M + dense),
        (B - TWICE, M - dense),
        (B.sum(0), M.sum(0)),
        (B.sum(), M.sum()),
        (B.astype("int32"), M.astype("int32")),
        (TWICE.sum_duplicates(), dense),
        (TWICE.sum_duplicates(nse=4), dense),
        (BACK.sort_indices(), jnp.array([[0, 5.0, 0], [0, 0, 1.0]])),
        (sparse.eye(2, 3, 1), jnp.eye(2, 3, 1)),
        (sparse.empty((2, 3)), M * 0),
    ):
        same(found, wanted)
    assert (TWICE.sum_duplicates().nse, TWICE.sum_duplicates(nse=4).nse) == (2, 4)
    assert BACK.sort_indices().indices.tolist() == [[0, 1], [0, 1], [1, 2]]
    assert (B.shape, B.ndim, B.size, B.nse) == ((2, 3), 2, 6, 3)
    assert repr(B) == "BCOO(float32[2, 3], nse=3)"


def test_coordinates_beyond_the_shape_are_of_no_element():
    wide = sparse.bcoo_fromdense(M, nse=5)
    assert wide.nse == 5 and wide.indices[-1].tolist() == [2, 3]
    same(wide, M)
    same(wide @ V, M @ V)
    same(wide * V, M * V)
    assert sparse.BCOO.fromdense(M, nse=2).todense().tolist() == [[0, 1, 0], [2, 0, 0]]


def test_transforms_go_through_sparse_arrays():
    of_data = jax.grad(lambda d: (sparse.BCOO((d, B.indices), shape=B.shape) @ V).sum())
    assert of_data(B.data).tolist() == [2.0, 1.0, 3.0]
    assert jax.grad(lambda v: (B @ v).sum())(V).tolist() == [2.0, 1.0, 3.0]
    same(jax.vmap(lambda v: B @ v)(jnp.ones((4, 3))), jnp.ones((4, 3)) @ M.T)
    same(jax.jit(lambda b, v: b @ v)(B, V), M @ V)
    same(jax.tree.map(lambda x: x * 2, B.data), B.data * 2)
    assert jax.grad(lambda m: sparse.todense(sparse.bcoo_fromdense(m)).sum())(M).sum() == 3
    value, found = sparse.value_and_grad(lambda b, v: ((b @ v) ** 2).sum())(B, V)
    assert value == 125 and found.indices is B.indices and found.data.tolist() == [8, 22, 66]
    found, aux = sparse.grad(lambda v, b: ((b @ v).sum(), "aux"), (0, 1), has_aux=True)(V, B)
    assert found[0].tolist() == [2, 1, 3] and found[1].data.tolist() == [2, 1, 3] and aux == "aux"


def test_what_is_not_there_is_refused():
    for refused in (
        lambda: B @ B.T,
        lambda: B * B,
        lambda: B + 1,
        lambda: sparse.BCOO.fromdense(M, n_batch=1),
    ):
        with pytest.raises(NotImplementedError):
            refused()
    with pytest.raises(TypeError, match="contracting dimensions"):
        B @ V[:2]
    with pytest.raises(ValueError, match="Invalid shapes for BCOO"):
        sparse.BCOO((V, jnp.arange(3)), shape=(3,))
    with pytest.raises(AttributeError, match="operators take BCOO"):
        _ = sparse.sparsify
