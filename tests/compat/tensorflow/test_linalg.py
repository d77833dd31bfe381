"""Test tf.linalg: results and errors."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

Invalid = tf.errors.InvalidArgumentError
S = np.array([[4.0, 1.0], [1.0, 3.0]])


def test_svd_gives_s_u_v_in_this_order():
    a = np.arange(6.0).reshape(2, 3)
    s, u, v = tf.linalg.svd(a)
    np.testing.assert_allclose((u * s) @ tf.transpose(v), a, atol=1e-12)
    np.testing.assert_allclose(tf.linalg.svd(a, compute_uv=False).numpy(), s.numpy())


def test_factors_are_of_the_matrix():
    lower = tf.linalg.cholesky(S)
    np.testing.assert_allclose((lower @ tf.transpose(lower)).numpy(), S)
    q, r = tf.linalg.qr(S)
    np.testing.assert_allclose((q @ r).numpy(), S, atol=1e-12)
    values, vectors = tf.linalg.eigh(S)
    np.testing.assert_allclose(S @ vectors.numpy(), vectors.numpy() * values.numpy(), atol=1e-12)
    factors, p = tf.linalg.lu(S[::-1].copy())
    lu = np.tril(factors.numpy(), -1) + np.eye(2), np.triu(factors.numpy())
    np.testing.assert_allclose(lu[0] @ lu[1], S[::-1][p.numpy()], atol=1e-12)


def test_solutions():
    b = np.array([[1.0], [2.0]])
    np.testing.assert_allclose(S @ tf.linalg.solve(S, b).numpy(), b)
    factor = tf.linalg.cholesky(S)
    np.testing.assert_allclose(S @ tf.linalg.cholesky_solve(factor, b).numpy(), b)
    wide = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    right = np.array([[1.0], [2.0], [3.0]])
    np.testing.assert_allclose(
        tf.linalg.lstsq(wide, right).numpy(), np.linalg.lstsq(wide, right, rcond=None)[0]
    )


def test_matrices_without_inverse_or_factor_are_refused():
    with pytest.raises(Invalid, match=r"^Input is not invertible"):
        tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(Invalid, match=r"^Input matrix is not invertible"):
        tf.linalg.solve([[1.0, 2.0], [2.0, 4.0]], [[1.0], [1.0]])
    with pytest.raises(Invalid, match=r"^Cholesky decomposition was not successful"):
        tf.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(Invalid, match=r"^Input matrix must be square"):
        tf.linalg.det([[1.0, 2.0]])
    with pytest.raises(Invalid, match=r"^Value for attr 'T' of int32"):
        tf.linalg.inv([[1, 2], [3, 4]])
    with pytest.raises(Invalid, match=r"must have the same rank.*tf\.newaxis"):
        tf.linalg.solve(S, [1.0, 2.0])


def test_gradients_of_symmetric_eigenvalues_are_of_the_lower_triangle():
    x = tf.constant(S)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.eigvalsh(x)[-1]
    found = tape.gradient(y, x).numpy()
    assert found[0, 1] == 0
    vector = np.linalg.eigh(S)[1][:, -1]
    np.testing.assert_allclose(found[1, 0], 2 * vector[0] * vector[1])


def test_diagonals():
    assert tf.linalg.diag([1, 2], k=1).numpy().tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    assert tf.linalg.diag_part(S).numpy().tolist() == [4.0, 3.0]
    assert tf.linalg.set_diag(S, [9.0, 9.0]).numpy().tolist() == [[9.0, 1.0], [1.0, 9.0]]
    assert tf.linalg.band_part(S, 0, 0).numpy().tolist() == [[4.0, 0.0], [0.0, 3.0]]
    assert tf.linalg.trace(S).numpy() == 7.0


def test_norms():
    assert tf.norm([3.0, 4.0]).numpy() == 5.0
    assert tf.norm(S, ord=1, axis=(0, 1)).numpy() == 5.0
    assert tf.norm(S, ord=np.inf).numpy() == 4.0
    with pytest.raises(ValueError, match="'ord' must be a supported vector norm, got x"):
        tf.norm(S, ord="x")
    parts, length = tf.clip_by_global_norm([tf.constant([3.0]), None, tf.constant([4.0])], 1.0)
    assert parts[1] is None and length.numpy() == 5.0
    np.testing.assert_allclose(parts[0].numpy(), [0.6], rtol=1e-6)


def test_the_derivative_of_a_norm_at_zero_is_zero():
    x = tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.norm(x)
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 0.0]


def test_one_given_size_of_a_matrix_leaves_the_other_minimal():
    for sizes, k, shape in (
        ({"num_rows": 3}, -1, (3, 2)),
        ({"num_cols": 4}, -1, (3, 4)),
        ({"num_cols": 4}, 1, (2, 4)),
        ({}, 1, (3, 3)),
    ):
        expected = np.eye(*shape, k=k, dtype=int)
        expected[expected == 1] = [1, 2]
        assert tf.linalg.diag([1, 2], k=k, **sizes).numpy().tolist() == expected.tolist()


def test_complex_matrices_have_complex_eigenvalues_and_logarithms_of_determinants():
    a = tf.constant(np.array([[2, 1j], [-1j, 3]]), tf.complex64)
    assert tf.linalg.eigh(a)[0].dtype == tf.linalg.eigvalsh(a).dtype == tf.complex64
    assert tf.linalg.slogdet(a).log_abs_determinant.dtype == tf.complex64


@pytest.mark.parametrize(
    "options, dtype",
    [
        ({"ord": 2}, tf.complex64),
        ({"ord": 1}, tf.float32),
        ({"ord": np.inf}, tf.float32),
        ({"ord": "fro", "axis": (0, 1)}, tf.complex64),
        ({"ord": 2, "axis": (0, 1)}, tf.float32),
    ],
)
def test_only_euclidean_norms_of_complex_numbers_are_complex(options, dtype):
    assert tf.norm(tf.constant([[3 + 4j]], tf.complex64), **options).dtype == dtype


def test_a_norm_is_clipped_in_the_dtype_of_the_tensor():
    found = tf.clip_by_norm(tf.constant([3.0, 4.0], tf.float64), tf.constant(1.0))
    assert found.dtype == tf.float64
    np.testing.assert_allclose(found, [0.6, 0.8])
