"""A table of calls of TensorFlow's functions on small arrays."""

import numpy as np

A = np.array([[0.3, -1.2, 2.5], [1.1, 0.7, -0.4]], np.float32)
B = np.array([[1.3, 0.2, 0.5], [2.1, 1.7, 0.4]], np.float32)
V = np.array([0.5, 1.5, 2.5], np.float32)
U = np.array([0.1, 0.5, 0.9], np.float32)
Z = np.array([1 + 2j, -0.5 + 1j, 2 - 1j], np.complex64)
S = np.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 1.5]], np.float32)
I = np.array([[7, -3, 2], [5, 4, -6]], np.int32)  # noqa: E741  named as the others
T = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10
X = np.sin(np.arange(2 * 6 * 5 * 2, dtype=np.float32)).reshape(2, 6, 5, 2)
W = np.cos(np.arange(3 * 3 * 2 * 4, dtype=np.float32)).reshape(3, 3, 2, 4)
L = np.array([[1.0, 2.0, -1.0], [0.5, -0.5, 3.0]], np.float32)
ARRAYS = {name: globals()[name] for name in "ABVUZSITXWL"}

VALUES = """
tf.range(3)
tf.range(3.)
tf.range(1, 7, 2)
tf.range(0, 1, 0.25)
tf.range(5, 0, -2)
tf.range(0)
tf.range(3, dtype=tf.float32)
tf.range(1, 2, 0)
tf.range(3, 1)
tf.zeros(3)
tf.zeros([2, 3], tf.int32)
tf.zeros([2], dtype='float64')
tf.zeros([-1])
tf.zeros(tf.constant([2, 2]))
tf.zeros((2, tf.constant(3)))
tf.ones([])
tf.ones((2, 1), tf.bool)
tf.fill([2, 2], 7)
tf.fill([2], 1.5)
tf.fill([2], True)
tf.eye(2)
tf.eye(2, 3, batch_shape=[2])
tf.eye(2, dtype=tf.int32)
tf.linspace(0., 1., 5)
tf.linspace(0, 1, 3)
tf.linspace([0., 1.], [1., 3.], 3)
tf.linspace([0., 1.], [1., 3.], 3, axis=1)
tf.linspace(0., 1., 1)
tf.zeros_like([1, 2])
tf.ones_like([1., 2.], dtype=tf.int32)
tf.one_hot([0, 2, -1], 3)
tf.one_hot([[0, 1], [2, 5]], 3, axis=0)
tf.one_hot([0, 1], 2, on_value=5, off_value=1)
tf.one_hot([0, 1], 2, dtype=tf.int64)
tf.one_hot([0, 1], 2, on_value=True, off_value=False)
tf.one_hot([1.], 3)
tf.sequence_mask([1, 3], 4)
tf.sequence_mask([1, 3])
tf.sequence_mask([1, 3], dtype=tf.float32)
tf.shape(A)
tf.shape(A, out_type=tf.int64)
tf.size(A)
tf.rank(T)
tf.reshape(tf.range(6), (2, 3))
tf.reshape(A, [-1])
tf.reshape(A, tf.constant([3, -1]))
tf.reshape(A, (2, -1, 1))
tf.reshape(A, [])
tf.reshape(tf.range(6), (4, 2))
tf.reshape(tf.range(6), (-1, 4))
tf.expand_dims(A, 0)
tf.expand_dims(A, -1)
tf.expand_dims([1], 3)
tf.squeeze([[[1], [2]]])
tf.squeeze([[[1], [2]]], axis=0)
tf.squeeze([[[1], [2]]], [0, 2])
tf.squeeze([[1, 2]], 1)
tf.squeeze([[1]], 5)
tf.transpose(A)
tf.transpose(T, [2, 0, 1])
tf.transpose(T, perm=(0, 2, 1))
tf.transpose(Z[None], conjugate=True)
tf.transpose(A, [0, 0])
tf.transpose([1, 2], [0, 1])
tf.concat([A, B], 0)
tf.concat([A, B], axis=-1)
tf.concat([[1, 2], [3]], 0)
tf.concat([A], 1)
tf.concat([1, 2], 0)
tf.concat([[1], [2.]], 0)
tf.concat([[1], [2]], axis=1)
tf.concat([tf.ones((2, 2)), tf.ones((3, 3))], 0)
tf.concat([tf.ones(2), tf.ones(2, tf.int32)], 0)
tf.concat([tf.ones(2), tf.ones((2, 2))], 0)
tf.stack([A, B])
tf.stack([A, B], axis=-1)
tf.stack([1, 2.])
tf.stack([tf.constant(1.), 2.])
tf.stack([[1], [2]], axis=3)
tf.stack([tf.ones(2), tf.ones(3)])
tf.unstack(A)
tf.unstack(A, axis=1)
tf.unstack([1, 2], num=3)
tf.unstack([1, 2], axis=2)
tf.split(tf.range(6), 3)
tf.split(A, [1, 2], axis=1)
tf.split(A, [1, -1], 1)
tf.split(tf.range(6), 4)
tf.split([1, 2, 3], [1, 1])
tf.tile(A, [1, 2])
tf.tile([1, 2], [1, 2])
tf.tile([1, 2], 2)
tf.repeat([1, 2], 2)
tf.repeat(A, 2)
tf.repeat(A, [1, 2], axis=0)
tf.repeat(A, 2, axis=1)
tf.reverse(A, [1])
tf.reverse(A, [0, -1])
tf.reverse([1, 2], [1])
tf.reverse([1, 2], 0)
tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1, batch_axis=0)
tf.roll(A, 1, 1)
tf.roll(A, [1, -1], [0, 1])
tf.pad([1, 2, 3], [[1, 2]])
tf.pad(A, [[1, 0], [0, 2]], constant_values=9)
tf.pad(A, [[1, 1], [2, 1]], 'REFLECT')
tf.pad(A, [[1, 1], [2, 1]], 'SYMMETRIC')
tf.pad(A, tf.constant([[1, 1], [2, 1]]))
tf.pad([1, 2], [[1, 1]], 'X')
tf.pad([[1, 2]], [[1, 1]])
tf.pad([1, 2], [[5, 5]], 'REFLECT')
tf.broadcast_to([1, 2], [2, 2])
tf.broadcast_to(1., [3])
tf.broadcast_to([1, 2], [3])
tf.ensure_shape(A, (2, None))
tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3]))
tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))
tf.broadcast_dynamic_shape([2, 1], [3])
tf.shape_n([A, V])
tf.identity_n([A, V])
tf.nn.separable_conv2d(X, W, tf.ones((1, 1, 8, 3)), [1, 1, 1, 1], 'SAME')
tf.nn.atrous_conv2d(X, W, 2, 'SAME')
tf.ensure_shape(A, (3, 3))
tf.meshgrid([1, 2], [3, 4, 5])
tf.meshgrid([1, 2], [3, 4, 5], indexing='ij')
tf.meshgrid([1., 2.], [3., 4.], [5.])
tf.meshgrid([1, 2], [3], indexing='x')
tf.gather([1, 2, 3], [2, 0])
tf.gather(A, 1)
tf.gather(A, [[0, 1], [1, 0]])
tf.gather(A, [2, 0], axis=1)
tf.gather(A, [2, 0], axis=-1)
tf.gather(A, [[0, 1], [2, 2]], axis=1, batch_dims=1)
tf.gather(T, [[0, 1], [2, 2]], batch_dims=1)
tf.gather(T, [[0, 1, 3], [2, 2, 0]], axis=2, batch_dims=1)
tf.gather([1, 2, 3], [5])
tf.gather([1, 2, 3], [[-1]])
tf.gather([1, 2], 1.)
tf.gather_nd(A, [[0, 1], [1, 2]])
tf.gather_nd(A, [1])
tf.gather_nd(A, [[1], [0]])
tf.gather_nd(A, [[0], [2]], batch_dims=1)
tf.gather_nd(T, [[[0, 1]], [[1, 2]]])
tf.gather_nd([[1, 2]], [5, 0])
tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [4])
tf.scatter_nd([[0], [2]], [[1., 2.], [3., 4.]], [3, 2])
tf.scatter_nd([[0, 1]], [9], [2, 2])
tf.scatter_nd([[5]], [9], [2])
tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [8, 9])
tf.tensor_scatter_nd_update(A, [[1]], [[7., 8., 9.]])
tf.tensor_scatter_nd_add(V, [[0], [0]], [1., 2.])
tf.tensor_scatter_nd_sub(V, [[0], [0]], [1., 2.])
tf.tensor_scatter_nd_max(V, [[0], [2]], [1., 2.])
tf.tensor_scatter_nd_min(V, [[0], [2]], [1., 2.])
tf.tensor_scatter_nd_add([1, 2], [[7]], [5])
tf.boolean_mask([1, 2, 3], [True, False, True])
tf.boolean_mask(A, [True, False])
tf.boolean_mask(A, A > 0)
tf.boolean_mask(A, [True, False, True], axis=1)
tf.boolean_mask([1, 2, 3], [True, False])
tf.where([True, False], [1, 2], [3, 4])
tf.where(A > 0, A, B)
tf.where(A > 0, A, 0.)
tf.where([[True], [False]], 1., A)
tf.where(A > 0)
tf.where([1, 0, 2])
tf.where([True, False], 1, 2.)
tf.where([True], 1)
tf.where(True, tf.constant(1), tf.constant(2.))
tf.slice(A, [0, 1], [2, 1])
tf.slice(A, [0, 1], [-1, 2])
tf.slice([1, 2], [1], [5])
tf.strided_slice([1, 2, 3, 4], [0], [4], [2])
tf.strided_slice(A, [0, 0], [1, 2], begin_mask=1, end_mask=2)
tf.strided_slice([1, 2, 3, 4], [3], [0], [-1])
tf.strided_slice(A, [1], [2], shrink_axis_mask=1)
tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)
tf.dynamic_stitch([[0, 2], [1]], [[1, 3], [2]])
tf.sort([3, 1, 2])
tf.sort(A, axis=0, direction='DESCENDING')
tf.sort([1, 2], direction='X')
tf.argsort([3, 1, 2, 1], stable=True)
tf.argsort(A, direction='DESCENDING')
tf.math.top_k([1., 3., 2., 3.], 3)
tf.math.top_k(A, 2)
tf.math.top_k([1, 2], 5)
tf.nn.top_k(A)
tf.math.in_top_k([1, 0], A, 1)
tf.unique([7, 3, 7, 1])
tf.unique([[1]])
tf.unique_with_counts([7, 3, 7, 1])
tf.searchsorted([1, 3, 5], [2, 3])
tf.searchsorted([1, 3, 5], [2, 3], side='right')
tf.math.invert_permutation([2, 0, 1])
tf.unravel_index([3, 4], [2, 3])
tf.math.bincount([1, 1, 3])
tf.math.bincount([1, 1, 3], minlength=6)
tf.math.bincount([1, 1, 3], maxlength=2)
tf.math.bincount([1, 1, 3], weights=[.5, .25, 1.])
tf.math.confusion_matrix([0, 1, 2], [1, 1, 2])
tf.math.confusion_matrix([0, 1], [1, 1], num_classes=3)
tf.histogram_fixed_width([-1., .5, 5.], [0., 2.], nbins=2)
tf.math.is_non_decreasing([1, 1, 2])
tf.math.is_strictly_increasing([1, 1, 2])
tf.argmax([1, 5, 2])
tf.argmax(A)
tf.argmax(A, axis=1)
tf.argmax(A, 1, output_type=tf.int32)
tf.argmin(A, axis=-1)
tf.argmax([1, 2], axis=3)
tf.argmax([])
tf.reduce_sum([1, 2, 3])
tf.reduce_sum(A)
tf.reduce_sum(A, 0)
tf.reduce_sum(A, axis=[0, 1], keepdims=True)
tf.reduce_sum(A, axis=-1, keepdims=True)
tf.reduce_sum(A, axis=[])
tf.reduce_sum(A, axis=3)
tf.reduce_sum(A, axis=[0, 0])
tf.reduce_sum([True])
tf.reduce_sum(A, axis=tf.constant(0))
tf.reduce_mean([1, 2, 4])
tf.reduce_mean(I)
tf.reduce_mean(A, 1)
tf.reduce_mean(Z)
tf.reduce_mean(tf.zeros((0,)))
tf.reduce_prod(A, 0)
tf.reduce_prod(I)
tf.reduce_max(A, 1)
tf.reduce_max(I)
tf.reduce_max([])
tf.reduce_min(A, [0])
tf.reduce_max(Z)
tf.reduce_any([[True, False], [False, False]], axis=1)
tf.reduce_all([[True, False], [True, True]], 1, keepdims=True)
tf.reduce_any([1, 0])
tf.reduce_all(tf.constant([1, 0]))
tf.reduce_logsumexp(A)
tf.reduce_logsumexp(A, 0, keepdims=True)
tf.math.reduce_std(A)
tf.math.reduce_std(A, 0)
tf.math.reduce_variance(A, axis=1, keepdims=True)
tf.math.reduce_variance([1, 2])
tf.math.reduce_euclidean_norm(A, 1)
tf.math.reduce_euclidean_norm([3, 4])
tf.math.count_nonzero([[1, 0], [2, 3]])
tf.math.count_nonzero([[1, 0], [2, 3]], axis=0, dtype=tf.int32)
tf.math.zero_fraction([1, 0])
tf.cumsum([1, 2, 3])
tf.cumsum(A, axis=1, exclusive=True)
tf.cumsum(A, 1, reverse=True)
tf.cumsum(A, 1, True, True)
tf.cumsum([1], axis=2)
tf.math.cumprod(A, axis=1)
tf.math.cumprod([1, 2, 3], exclusive=True, reverse=True)
tf.math.cumulative_logsumexp(A, 1)
tf.add(1, 2)
tf.add(A, B)
tf.add(A, 1)
tf.add(1., 2)
tf.add([1, 2], [[1], [2]])
tf.add(tf.constant(1), 1.5)
tf.add(1.5, tf.constant(1))
tf.add(tf.constant(1.), tf.constant(1))
tf.add(tf.ones((2, 3)), tf.ones((2,)))
tf.add(True, False)
tf.subtract(2, tf.constant([1.]))
tf.subtract(A, B)
tf.multiply(2, tf.constant([1.]))
tf.multiply(A, V)
tf.multiply(Z, Z)
tf.multiply(tf.ones(2, tf.float64), tf.ones(2))
tf.divide(1, 2)
tf.divide(A, B)
tf.divide(tf.constant(1), 2)
tf.divide(tf.constant(1), tf.constant(2.))
tf.truediv(I, 2)
tf.math.divide(7., 2)
tf.math.floordiv(7, 2)
tf.math.floordiv(I, 4)
tf.math.floordiv(A, 0.5)
tf.math.floordiv(1, 0)
tf.math.floordiv(1., 0.)
tf.math.floormod(I, 4)
tf.math.floormod(A, 0.7)
tf.math.mod(-7, 2)
tf.math.mod(7, 0)
tf.truncatediv(-7, 2)
tf.truncatemod(-7, 2)
tf.pow(2, 3)
tf.pow(A, 2)
tf.pow(B, 0.5)
tf.pow(2., [1., 2.])
tf.pow([2, 3], -1)
tf.constant([2, 3]) ** -1
tf.clip_by_norm(A, -1.)
tf.math.polygamma(1.5, V)
tf.math.polygamma(-1., V)
tf.pow(2, 3.)
tf.maximum(A, B)
tf.maximum(A, 0)
tf.maximum(A, [0., 1., 2.])
tf.maximum(1, tf.constant([2.]))
tf.maximum(tf.constant(1), 2.)
tf.maximum(float('nan'), 1.)
tf.maximum(1., float('nan'))
tf.minimum(A, B)
tf.minimum(I, 3)
tf.maximum(Z, Z)
tf.math.squared_difference(A, B)
tf.math.atan2(A, B)
tf.math.atan2(1, 2)
tf.math.xlogy(B, B)
tf.math.xlogy(0., 0.)
tf.math.xlog1py(B, B)
tf.math.xdivy(0., 0.)
tf.math.xdivy(A, B)
tf.math.divide_no_nan(A, [1., 0., 2.])
tf.math.multiply_no_nan(float('nan'), 0.)
tf.math.multiply_no_nan(A, B)
tf.math.reciprocal_no_nan([0., 4.])
tf.math.igamma(B, B)
tf.math.igammac(B, B)
tf.math.zeta(2., 1.)
tf.math.polygamma(1., B)
tf.math.nextafter(1., 2.)
tf.math.scalar_mul(2, tf.constant(A))
tf.equal(A, B)
tf.equal([1, 2], 1)
tf.equal(1, 1.)
tf.equal(tf.constant(1), tf.constant(1.))
tf.equal(tf.ones(2), tf.ones(3))
tf.not_equal(A, A)
tf.less(A, B)
tf.less(tf.constant(1), 2.5)
tf.less_equal(I, 2)
tf.greater(A, 0)
tf.greater_equal(A, 0.7)
tf.less(Z, Z)
tf.logical_and([True, False], True)
tf.logical_or([True, False], False)
tf.math.logical_xor([True, False], True)
tf.logical_not([True, False])
tf.logical_and(1, 0)
tf.logical_not(tf.constant(1))
tf.bitwise.bitwise_and(5, 3)
tf.bitwise.bitwise_or([5], 3)
tf.bitwise.bitwise_xor(5, 3)
tf.bitwise.left_shift(5, 3)
tf.bitwise.right_shift(-16, 2)
tf.bitwise.invert([1, 2])
tf.abs(A)
tf.abs(-1)
tf.abs(Z)
tf.negative(A)
tf.sign(A)
tf.sign(Z)
tf.sign(-3)
tf.round([0.5, 1.5, -2.5])
tf.round(3)
tf.math.rint([0.5, 1.5, -2.5])
tf.math.ceil(A)
tf.floor(A)
tf.floor(1)
tf.sqrt(B)
tf.sqrt(4)
tf.sqrt(-1.)
tf.sqrt(Z)
tf.math.rsqrt(B)
tf.square(3)
tf.square(Z)
tf.exp(A)
tf.exp(1)
tf.exp(tf.constant(1., tf.float64))
tf.math.expm1(A)
tf.math.log(B)
tf.math.log(0.)
tf.math.log1p(B)
tf.math.log_sigmoid(A)
tf.sin(A)
tf.cos(A)
tf.tan(A)
tf.sinh(A)
tf.cosh(A)
tf.tanh(A)
tf.tanh(Z)
tf.asin(U)
tf.acos(U)
tf.atan(A)
tf.asinh(A)
tf.acosh(1 + U)
tf.atanh(U)
tf.sigmoid(A)
tf.sigmoid(-200.)
tf.math.softplus(A)
tf.math.softplus([100., -100.])
tf.math.softsign(A)
tf.math.erf(A)
tf.math.erf(1)
tf.math.erfc(A)
tf.math.erfinv(U)
tf.math.erfcinv(U)
tf.math.ndtri(U)
tf.math.lgamma(B)
tf.math.digamma(B)
tf.math.bessel_i0(A)
tf.math.bessel_i0e(A)
tf.math.bessel_i1(A)
tf.math.bessel_i1e(A)
tf.math.reciprocal(B)
tf.math.is_nan([1., float('nan')])
tf.math.is_inf([1., float('inf')])
tf.math.is_finite([1., float('inf'), float('nan')])
tf.math.is_nan(1)
tf.math.real(Z)
tf.math.real(A)
tf.math.imag(Z)
tf.math.conj(Z)
tf.math.conj(A)
tf.math.angle(Z)
tf.complex(1., 2.)
tf.complex(A, B)
tf.complex(1, 2)
tf.cast(A, tf.int32)
tf.cast(A, tf.float64)
tf.cast(True, tf.float32)
tf.cast([0, 2], tf.bool)
tf.cast(A, 'complex64')
tf.cast([1, 2], 'float16')
tf.saturate_cast([300., -5.], tf.uint8)
tf.saturate_cast([300, -5], tf.int8)
tf.bitcast(1., tf.int32)
tf.bitcast([1.], tf.float64)
tf.clip_by_value([1, 5, 9], 2, 6)
tf.clip_by_value(A, -0.5, 1)
tf.clip_by_value(A, [0., 0., 0.], 1.)
tf.clip_by_value([1., 5.], 3., 2.)
tf.clip_by_value(tf.constant([1, 5]), 2.5, 3.5)
tf.clip_by_norm([3., 4.], 1.)
tf.clip_by_norm([.3, .4], 1.)
tf.clip_by_norm(A, 1., axes=[1])
tf.clip_by_norm([0., 0.], 1.)
tf.clip_by_global_norm([[3.], [4.]], 1.)
tf.clip_by_global_norm([[.3], [.4]], 1.)
tf.clip_by_global_norm([[3.], None, [4.]], 2., use_norm=tf.constant(10.))
tf.clip_by_global_norm([[float('inf')], [4.]], 1.)
tf.clip_by_global_norm(tf.constant([1.]), 1.)
tf.linalg.global_norm([[3.], [4.]])
tf.matmul(A, B, transpose_b=True)
tf.matmul(A, B, transpose_a=True)
tf.matmul(A, S)
tf.matmul(T, tf.ones((4, 2)))
tf.matmul(T, T, transpose_b=True)
tf.matmul(Z[None], Z[None], adjoint_b=True)
tf.matmul([[1, 2]], [[3], [4]])
tf.matmul(A, B)
tf.matmul([1., 2.], [3., 4.])
tf.matmul(tf.ones((2, 3)), tf.ones((3, 2), tf.float64))
tf.matmul(A, S, transpose_a=True, adjoint_a=True)
tf.linalg.matvec(A, V)
tf.linalg.matvec(T, [1., 2., 3., 4.])
tf.linalg.matvec(A, [1., 2.], transpose_a=True)
tf.linalg.matrix_transpose(T)
tf.linalg.matrix_transpose([1.])
tf.linalg.adjoint(Z[None])
tf.tensordot(V, V, 1)
tf.tensordot(A, B, axes=[[0, 1], [0, 1]])
tf.tensordot(A, B, axes=[1, 1])
tf.tensordot(A, V, 1)
tf.tensordot(V, V, 0)
tf.tensordot(A, S, axes=((1,), (0,)))
tf.tensordot(A, B, 1)
tf.einsum('ij,kj->ik', A, B)
tf.einsum('ij->', A)
tf.einsum('bij,bjk->bik', T, tf.transpose(T, [0, 2, 1]))
tf.einsum('...ij->...ji', T)
tf.einsum('ii->i', S)
tf.einsum('ij,jk->ik', A, B)
tf.add_n([A, B, A])
tf.add_n([1., 2.])
tf.add_n([])
tf.add_n([tf.ones(2), tf.ones(3)])
tf.math.accumulate_n([A, B])
tf.math.polyval([1., 2., 3.], 2.)
tf.math.polyval([1., 2., 3.], V)
tf.math.lbeta([1., 2.])
tf.math.lbeta(B)
tf.math.segment_sum(A, [0, 0])
tf.math.segment_sum([1., 2., 3.], [0, 0, 2])
tf.math.segment_mean([1., 2., 3.], [0, 0, 2])
tf.math.segment_max([1., 2., 3.], [0, 0, 2])
tf.math.segment_min([1., 2., 3.], [0, 0, 1])
tf.math.segment_prod([2., 2., 3.], [0, 0, 1])
tf.math.segment_sum([1., 2., 3.], [0, 2, 1])
tf.math.segment_sum([1., 2., 3.], [0, 2])
tf.math.unsorted_segment_sum([1., 2., 3.], [1, 0, 1], 3)
tf.math.unsorted_segment_sum(A, [1, 1], 2)
tf.math.unsorted_segment_sum(A, [[1, 0, -1], [1, 0, 0]], 2)
tf.math.unsorted_segment_mean([1., 2., 3.], [0, 0, 2], 3)
tf.math.unsorted_segment_max([1., 2., 3.], [0, 0, 2], 3)
tf.math.unsorted_segment_min([1, 2, 3], [0, 0, 2], 3)
tf.math.unsorted_segment_prod([1., 2., 3.], [0, 0, 2], 3)
tf.math.unsorted_segment_sqrt_n([1., 2., 3.], [0, 0, 2], 3)
tf.math.unsorted_segment_sum([1., 2., 3.], [0, -1, 5], 3)
tf.norm(A)
tf.norm(A, axis=1)
tf.norm(A, ord=1, axis=0)
tf.norm(A, ord=np.inf)
tf.norm(A, ord=3, axis=1, keepdims=True)
tf.norm(A, axis=[0, 1])
tf.norm(S, ord='fro', axis=(0, 1))
tf.norm(S, ord=1, axis=(0, 1))
tf.norm(S, ord=2, axis=(0, 1))
tf.norm(S, ord=np.inf, axis=(-2, -1))
tf.norm([3, 4])
tf.norm(A, ord='x')
tf.norm(S, ord=3, axis=(0, 1))
tf.linalg.normalize(A, axis=1)
tf.nn.l2_normalize(A)
tf.nn.l2_normalize(A, axis=1)
tf.math.l2_normalize([0., 0.])
tf.linalg.det(S)
tf.linalg.det([S, S])
tf.linalg.det([[1., 2.]])
tf.linalg.slogdet(S)
tf.linalg.logdet(S)
tf.linalg.inv(S)
tf.linalg.inv(S, adjoint=True)
tf.linalg.inv([[1., 2.], [2., 4.]])
tf.linalg.inv([[1, 2], [3, 4]])
tf.linalg.solve(S, [[1.], [2.], [3.]])
tf.linalg.solve(S, [[1.], [2.], [3.]], adjoint=True)
tf.linalg.solve(S, V)
tf.linalg.solve([[1., 2.], [2., 4.]], [[1.], [1.]])
tf.linalg.triangular_solve(S, [[1.], [2.], [3.]])
tf.linalg.triangular_solve(S, [[1.], [2.], [3.]], lower=False)
tf.linalg.triangular_solve(S, [[1.], [2.], [3.]], adjoint=True)
tf.linalg.cholesky(S)
tf.linalg.cholesky_solve(tf.linalg.cholesky(S), [[1.], [2.], [3.]])
tf.linalg.lstsq(tf.transpose(A), [[1.], [2.], [3.]])
tf.linalg.lstsq(tf.transpose(A), [[1.], [2.], [3.]], l2_regularizer=0.5)
tf.linalg.lstsq(A, [[1.], [2.]])
tf.linalg.expm(S)
tf.linalg.trace(S)
tf.linalg.trace([S, S])
tf.linalg.diag([1, 2])
tf.linalg.diag(A)
tf.linalg.diag(V, k=1)
tf.linalg.diag(V, k=-1)
tf.linalg.diag([1., 2.], num_rows=3, num_cols=2)
tf.linalg.diag([1., 2.], padding_value=9.)
tf.linalg.diag_part(S)
tf.linalg.diag_part(S, k=1)
tf.linalg.diag_part([S, S])
tf.linalg.set_diag(S, V)
tf.linalg.band_part(S, 0, -1)
tf.linalg.band_part(S, -1, 0)
tf.linalg.band_part(S, 1, 0)
tf.linalg.tensor_diag([1, 2])
tf.linalg.tensor_diag_part(S)
tf.linalg.cross([1, 0, 0], [0, 1, 0])
tf.linalg.cross(V, U)
tf.linalg.eigvalsh(S)
tf.linalg.eigh(S)[0]
tf.linalg.svd(A)[0]
tf.linalg.svd(A, compute_uv=False)
tf.abs(tf.linalg.qr(S).r)
tf.linalg.qr(A, full_matrices=True).q.shape
tf.linalg.svd(A, full_matrices=True)[2].shape
tf.linalg.lu(S)
tf.linalg.lu([[0., 1., 0.], [0., 0., 2.], [3., 0., 0.]])
tf.linalg.matrix_rank(S)
tf.linalg.matrix_rank([[1., 1.], [1., 1.]])
tf.linalg.pinv(A)
tf.nn.relu(A)
tf.nn.relu([-1, 2])
tf.nn.relu(True)
tf.nn.relu6([-1., 3., 9.])
tf.nn.leaky_relu(A)
tf.nn.leaky_relu(A, alpha=0.1)
tf.nn.elu(A)
tf.nn.selu(A)
tf.nn.gelu(A)
tf.nn.gelu(A, approximate=True)
tf.nn.silu(A)
tf.nn.swish(A, 0.5)
tf.nn.crelu(A)
tf.nn.sigmoid(1)
tf.nn.tanh(A)
tf.nn.softplus(A)
tf.nn.softsign(A)
tf.nn.softmax(A)
tf.nn.softmax(A, axis=0)
tf.nn.softmax([1, 2])
tf.nn.log_softmax(A)
tf.nn.log_softmax(A, axis=5)
tf.nn.softmax_cross_entropy_with_logits(labels=[[1., 0., 0.], [0., .5, .5]], logits=L)
tf.nn.softmax_cross_entropy_with_logits(labels=[[1, 0, 0], [0, 1, 0]], logits=L)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 2], logits=L)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 5], logits=L)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=L)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0., 1.], logits=L)
tf.nn.sigmoid_cross_entropy_with_logits(labels=U, logits=V)
tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.], logits=[2., 3.])
tf.nn.weighted_cross_entropy_with_logits(labels=U, logits=V, pos_weight=3.)
tf.nn.l2_loss(A)
tf.nn.log_poisson_loss([1., 3.], [.5, 1.])
tf.nn.log_poisson_loss([1., 3.], [.5, 1.], compute_full_loss=True)
tf.nn.compute_average_loss([1., 3.], global_batch_size=4)
tf.nn.bias_add(A, V)
tf.nn.bias_add(A, [1.])
tf.nn.moments(tf.constant(A), [0])
tf.nn.moments(tf.constant(A), [0, 1], keepdims=True)
tf.nn.weighted_moments(A, [0], B)
tf.nn.batch_normalization(A, V, V, U, V, 1e-3)
tf.nn.batch_normalization(A, V, V, None, None, 1e-3)
tf.nn.embedding_lookup(tf.constant(A), [1, 0, 1])
tf.nn.embedding_lookup(tf.constant(A), [2])
tf.nn.embedding_lookup(tf.constant(A), [1, 0], max_norm=1.)
tf.nn.local_response_normalization(X, depth_radius=1, alpha=0.5)
tf.nn.space_to_depth(X[:, :, :4], 2)
tf.nn.depth_to_space(tf.ones((1, 2, 2, 8)), 2)
tf.nn.dropout([1., 2.], 0)
tf.nn.dropout([1., 2.], 1.5)
tf.nn.dropout([1, 2], 0.5)
tf.nn.conv1d(X[:, :, 0], W[0], 1, 'SAME')
tf.nn.conv1d(X[:, :, 0], W[0], 2, 'VALID')
tf.nn.conv2d(X, W, 1, 'SAME')
tf.nn.conv2d(X, W, 2, 'SAME')
tf.nn.conv2d(X, W, [1, 2, 1, 1], 'VALID')
tf.nn.conv2d(X, W, [2, 1], 'SAME', dilations=2)
tf.nn.conv2d(X, W[:2], 2, 'SAME')
tf.nn.conv2d(X, W, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])
tf.nn.conv2d(X, W[:, :, :1], 1, 'VALID')
tf.nn.conv2d(X, W[:, :, :, :1], strides=[1, 1, 1, 1], padding='VALID', data_format='NHWC')
tf.nn.conv2d(X, tf.ones((2, 2, 3, 1)), 1, 'SAME')
tf.nn.conv2d(X, W, 1, 'X')
tf.nn.conv2d(X, tf.ones((9, 9, 2, 1)), 1, 'VALID')
tf.nn.conv3d(tf.ones((1, 3, 3, 3, 2)), tf.ones((2, 2, 2, 2, 1)), [1, 1, 1, 1, 1], 'SAME')
tf.nn.convolution(X, W)
tf.nn.convolution(X, W, strides=2, padding='SAME')
tf.nn.depthwise_conv2d(X, W, [1, 1, 1, 1], 'SAME')
tf.nn.depthwise_conv2d(X, W, [1, 2, 2, 1], 'VALID')
tf.nn.conv2d_transpose(X, tf.transpose(W, [0, 1, 3, 2]), [2, 12, 10, 4], 2)
tf.nn.conv2d_transpose(X, tf.transpose(W, [0, 1, 3, 2]), [2, 11, 9, 4], 2)
tf.nn.conv2d_transpose(X, tf.transpose(W, [0, 1, 3, 2]), [2, 8, 7, 4], 1, 'VALID')
tf.nn.conv2d_transpose(X, tf.transpose(W, [0, 1, 3, 2]), [2, 6, 5, 4], [1, 1, 1, 1], 'SAME')
tf.nn.conv1d_transpose(X[:, :, 0], tf.transpose(W[0], [0, 2, 1]), [2, 12, 4], 2)
tf.nn.max_pool2d(X, 2, 2, 'VALID')
tf.nn.max_pool2d(X, 2, 2, 'SAME')
tf.nn.max_pool2d(X, 3, 1, 'SAME')
tf.nn.max_pool2d(X, [1, 2, 3, 1], [1, 1, 2, 1], 'VALID')
tf.nn.max_pool(X, 3, 2, 'SAME')
tf.nn.max_pool1d(X[:, :, 0], 2, 2, 'SAME')
tf.nn.max_pool3d(tf.ones((1, 3, 3, 3, 2)), 2, 2, 'SAME')
tf.nn.avg_pool2d(X, 2, 2, 'VALID')
tf.nn.avg_pool2d(X, 2, 2, 'SAME')
tf.nn.avg_pool2d(X, 3, 1, 'SAME')
tf.nn.avg_pool(X, 3, 2, 'SAME')
tf.nn.avg_pool1d(X[:, :, 0], 3, 2, 'SAME')
tf.nn.pool(X, [2, 2], 'MAX')
tf.random.normal((2, 3)).shape
tf.random.normal((2,), dtype=tf.float64).dtype
tf.random.normal((2,), dtype=tf.int32)
tf.random.uniform([3], maxval=5, dtype=tf.int32).dtype
tf.random.uniform([3], dtype=tf.int32)
tf.random.uniform([3]).dtype
tf.random.truncated_normal([3]).shape
tf.random.shuffle([1, 2, 3]).shape
tf.random.categorical([[0., 0.]], 3).dtype
tf.random.gamma([2], [1., 2.]).shape
tf.random.gamma([2], 1., 2.).shape
tf.random.poisson([2], [1., 2.]).dtype
tf.random.poisson([2], [1., 2.]).shape
tf.random.stateless_normal((2,), [1, 2]).dtype
tf.random.stateless_normal((2,), 1)
tf.random.stateless_uniform((2,), [1, 2], 0, 5, tf.int32).dtype
tf.random.stateless_gamma((2,), [1, 2], 1.5).shape
tf.random.stateless_poisson((2,), [1, 2], 1.5).dtype
tf.random.stateless_categorical([[0., 0.]], 3, [1, 2]).shape
tf.random.stateless_binomial((2,), [1, 2], 10., 0.5).dtype
tf.random.Generator.from_seed(1).normal((2,)).dtype
tf.random.Generator.from_seed(1).uniform((2,), 0, 5, tf.int32).dtype
tf.random.get_global_generator().normal([2]).shape
tf.signal.fft(Z)
tf.signal.ifft(Z)
tf.signal.fft2d(np.stack([Z, Z]))
tf.signal.rfft(A)
tf.signal.rfft(A, [4])
tf.signal.irfft(Z)
tf.signal.irfft(Z, [5])
tf.signal.rfft2d(A)
tf.signal.fftshift(V)
tf.signal.ifftshift(V)
tf.signal.dct(A)
tf.signal.dct(A, norm='ortho')
tf.signal.idct(A, norm='ortho')
tf.signal.hann_window(5)
tf.signal.hamming_window(4, periodic=False)
tf.signal.frame(tf.range(6.), 3, 2)
tf.signal.stft(tf.sin(tf.range(16.)), 8, 4)
tf.signal.overlap_and_add(tf.reshape(tf.range(6.), (2, 3)), 2)
""".strip().split("\n")

# expressions in x, y of given values, whose gradients are compared
GRADIENTS = """
tf.sin(x) * tf.cos(y) | A B
tf.exp(x) / y | A B
tf.divide(x, y) | A B
tf.pow(y, x) | A B
tf.pow(x, 2) | A
tf.pow(x, 3.) | A
tf.pow(x, y) | [-1.] [2.]
x ** y | B A
tf.reduce_max(x, 1) | A[:0]
tf.subtract(x, y) | A V
tf.multiply(x, y) | A V
tf.maximum(x, y) | A B
tf.maximum(x, y) | [1.,2.] [1.,3.]
tf.minimum(x, y) | [1.,2.] [1.,3.]
tf.math.squared_difference(x, y) | A B
tf.math.atan2(x, y) | A B
tf.math.floormod(x, y) | A B
tf.math.floordiv(x, y) | A B
tf.math.xlogy(x, y) | B B
tf.math.xlogy(x, y) | [0.] [0.]
tf.math.xlog1py(x, y) | B B
tf.math.xdivy(x, y) | A B
tf.math.divide_no_nan(x, y) | [1.,2.] [0.,2.]
tf.math.multiply_no_nan(x, y) | [1.,2.] [0.,2.]
tf.math.reciprocal_no_nan(x) | [0.,2.]
tf.math.igamma(2., x) | B
tf.math.igammac(2., x) | B
tf.math.zeta(2., x) | B
tf.math.polygamma(1., x) | B
tf.abs(x) | [-1.,0.,2.]
tf.sign(x) | A
tf.floor(x) | A
tf.math.ceil(x) | A
tf.round(x) | A
tf.math.rint(x) | A
tf.sqrt(x) | B
tf.math.rsqrt(x) | B
tf.square(x) | A
tf.math.expm1(x) | A
tf.math.log(x) | B
tf.math.log1p(x) | B
tf.math.log_sigmoid(x) | A
tf.tan(x) | A
tf.sinh(x) | A
tf.cosh(x) | A
tf.tanh(x) | A
tf.asin(x) | U
tf.acos(x) | U
tf.atan(x) | A
tf.asinh(x) | A
tf.acosh(1 + x) | U
tf.atanh(x) | U
tf.sigmoid(x) | A
tf.math.softplus(x) | A
tf.math.softsign(x) | A
tf.math.erf(x) | A
tf.math.erfc(x) | A
tf.math.erfinv(x) | U
tf.math.erfcinv(x) | U
tf.math.ndtri(x) | U
tf.math.lgamma(x) | B
tf.math.digamma(x) | B
tf.math.bessel_i0(x) | A
tf.math.bessel_i0e(x) | A
tf.math.bessel_i1(x) | A
tf.math.bessel_i1e(x) | A
tf.math.reciprocal(x) | B
tf.cast(x, tf.float64) | A
tf.cast(x, tf.int32) | A
tf.cast(tf.cast(x, tf.int32), tf.float32) | A
tf.clip_by_value(x, -0.5, 1.05) | A
tf.clip_by_norm(x, 1.) | A
tf.clip_by_norm(x, 1., axes=[1]) | A
tf.clip_by_global_norm([x, y], 1.)[0] | A B
tf.reduce_sum(x, 0) | A
tf.reduce_mean(x) | A
tf.reduce_mean(x, 1, keepdims=True) * x | A
tf.reduce_prod(x, 1) | A
tf.reduce_prod(x) | [0.,5.,3.]
tf.reduce_max(x, 1) | A
tf.reduce_max(x) | [1.,1.,0.]
tf.reduce_min(x) | [1.,1.,3.]
tf.reduce_logsumexp(x, 1) | A
tf.math.reduce_std(x, 1) | A
tf.math.reduce_variance(x) | A
tf.math.reduce_euclidean_norm(x, 1) | A
tf.cumsum(x, 1, exclusive=True) * y | A B
tf.cumsum(x, 1, reverse=True) * y | A B
tf.math.cumprod(x, 1) | A
tf.math.cumulative_logsumexp(x, 1) | A
tf.reshape(x, [-1]) * tf.range(6.) | A
tf.transpose(x) * tf.ones((3, 2)) | A
tf.expand_dims(x, 0) * y | A B
tf.squeeze(x[tf.newaxis]) * y | A B
tf.concat([x, y], 0) ** 2 | A B
tf.stack([x, y]) ** 2 | A B
tf.unstack(x)[0] * 2 | A
tf.split(x, 3, axis=1)[1] | A
tf.tile(x, [2, 1]) ** 2 | A
tf.repeat(x, [1, 2], axis=0) ** 2 | A
tf.reverse(x, [1]) * y | A B
tf.roll(x, 1, 1) * y | A B
tf.pad(x, [[1, 1], [0, 1]]) ** 2 | A
tf.pad(x, [[1, 1], [1, 1]], 'REFLECT') ** 2 | A
tf.pad(x, [[1, 1], [1, 1]], 'SYMMETRIC') ** 2 | A
tf.broadcast_to(x, [2, 3]) * y | V A
tf.meshgrid(x, y)[0] ** 2 | V U
tf.linspace(x, y, 3) ** 2 | 1. 2.
tf.gather(x, [0, 1, 1]) ** 2 | A
tf.gather(x, [2, 0, 2], axis=1) ** 2 | A
tf.gather(x, [[0, 1], [2, 2]], axis=1, batch_dims=1) ** 2 | A
tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]) ** 2 | A
tf.scatter_nd([[0], [1], [0]], x, [3]) ** 2 | V
tf.tensor_scatter_nd_update(x, [[0]], y) ** 2 | V [2.]
tf.tensor_scatter_nd_add(x, [[0], [0]], y) ** 2 | V [2.,3.]
tf.tensor_scatter_nd_sub(x, [[0], [0]], y) ** 2 | V [2.,3.]
tf.boolean_mask(x, [[True, False, True], [False, True, True]]) ** 2 | A
tf.where(x > 0, x, y) ** 2 | A B
tf.slice(x, [0, 1], [2, 2]) ** 2 | A
tf.strided_slice(x, [0, 0], [2, 3], [1, 2]) ** 2 | A
tf.dynamic_partition(x, [0, 1, 0], 2)[0] ** 2 | V
tf.dynamic_stitch([[0, 2], [1]], [x, y]) ** 2 | [1.,3.] [2.]
tf.sort(x, axis=1) * tf.range(3.) | A
tf.math.top_k(x, 2)[0] * [1., 2.] | A
tf.matmul(x, y, transpose_b=True) | A B
tf.matmul(x, y) | T T[0,:,:,None][:,:,0].T
tf.linalg.matvec(x, y) ** 2 | A V
tf.tensordot(x, y, [[1], [1]]) ** 2 | A B
tf.einsum('ij,kj->ik', x, y) ** 2 | A B
tf.add_n([x, y, x]) ** 2 | A B
tf.math.segment_sum(x, [0, 0, 1]) ** 2 | V
tf.math.segment_mean(x, [0, 0, 1]) ** 2 | V
tf.math.segment_max(x, [0, 0, 1]) ** 2 | [1.,1.,3.]
tf.math.segment_prod(x, [0, 0, 1]) ** 2 | V
tf.math.unsorted_segment_sum(x, [1, 0, 1], 2) ** 2 | V
tf.math.unsorted_segment_max(x, [1, 0, 1], 2) ** 2 | V
tf.math.unsorted_segment_prod(x, [1, 0, 1], 2) ** 2 | V
tf.math.polyval([x, 2., 3.], y) | 2. 3.
tf.math.lbeta(x) | B
tf.norm(x) | A
tf.norm(x, axis=1) | A
tf.norm(x, ord=1, axis=1) | A
tf.norm(x, ord=np.inf, axis=1) | A
tf.norm(x, ord=3, axis=1) | A
tf.norm(x, ord=2, axis=(0, 1)) | S
tf.linalg.normalize(x, axis=1)[0] * y | A B
tf.nn.l2_normalize(x, 1) * y | A B
tf.linalg.det(x) | S
tf.linalg.slogdet(x)[1] | S
tf.linalg.logdet(x) | S
tf.linalg.inv(x) ** 2 | S
tf.linalg.solve(x, y) ** 2 | S [[1.],[2.],[3.]]
tf.linalg.solve(x, y, adjoint=True) ** 2 | S [[1.],[2.],[3.]]
tf.linalg.triangular_solve(x, y) ** 2 | S [[1.],[2.],[3.]]
tf.linalg.cholesky(x) ** 2 | S
tf.linalg.lstsq(x, y) ** 2 | A.T [[1.],[2.],[3.]]
tf.linalg.expm(x) | S
tf.linalg.trace(x) | S
tf.linalg.diag(x) ** 2 | V
tf.linalg.diag_part(x) ** 2 | S
tf.linalg.set_diag(x, y) ** 2 | S V
tf.linalg.band_part(x, 0, -1) ** 2 | S
tf.linalg.cross(x, y) ** 2 | V U
tf.linalg.eigvalsh(x) ** 2 | S
tf.linalg.svd(x)[0] ** 2 | A
tf.linalg.svd(x, compute_uv=False) ** 2 | A
tf.abs(tf.linalg.qr(x).r) | S
tf.nn.relu(x) | [-1.,0.,2.]
tf.nn.relu6(x) | [-1.,0.,2.,6.,7.]
tf.nn.leaky_relu(x) | [-1.,0.,2.]
tf.nn.elu(x) | [-1.,0.,2.]
tf.nn.selu(x) | [-1.,0.,2.]
tf.nn.gelu(x) | A
tf.nn.gelu(x, approximate=True) | A
tf.nn.silu(x) | A
tf.nn.crelu(x) | A
tf.nn.softmax(x) * y | A B
tf.nn.log_softmax(x) * y | A B
tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=y) | B/np.sum(B,1,keepdims=True) L
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 2], logits=x) | L
tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y) | U V
tf.nn.weighted_cross_entropy_with_logits(labels=x, logits=y, pos_weight=3.) | U V
tf.nn.l2_loss(x) | A
tf.nn.bias_add(x, y) ** 2 | A V
tf.nn.moments(x, [0])[1] | A
tf.nn.batch_normalization(x, y, 2., 1., 3., 1e-3) ** 2 | A V
tf.nn.embedding_lookup(x, [1, 0, 1]) ** 2 | A
tf.nn.local_response_normalization(x, depth_radius=1) ** 2 | X
tf.nn.conv1d(x, y, 2, 'SAME') ** 2 | X[:,:,0] W[0]
tf.nn.conv2d(x, y, 1, 'SAME') ** 2 | X W
tf.nn.conv2d(x, y, 2, 'SAME') ** 2 | X W
tf.nn.conv2d(x, y, 2, 'VALID') ** 2 | X W
tf.nn.depthwise_conv2d(x, y, [1, 2, 2, 1], 'SAME') ** 2 | X W
tf.nn.conv2d_transpose(x, y, [2, 12, 10, 1], 2) ** 2 | X W[:,:,:1].transpose(0,1,2,3)[:,:,:,:2]
tf.nn.max_pool2d(x, 2, 2, 'SAME') ** 2 | X
tf.nn.max_pool2d(tf.reshape(x, (1, 2, 2, 1)), 2, 2, 'VALID') | [1.,1.,1.,0.]
tf.nn.avg_pool2d(x, 3, 2, 'SAME') ** 2 | X
tf.complex(x, y) | V U
tf.abs(x) | Z
tf.abs(x) ** 2 | Z
x * y | Z Z
tf.math.real(x) ** 2 | Z
tf.math.imag(x) ** 2 | Z
tf.math.conj(x) * y | Z Z
tf.math.angle(x) | Z
tf.sign(x) | Z
tf.exp(x) | Z
tf.math.log(x) | Z
tf.square(x) | Z
tf.sqrt(x) | Z
tf.sin(x) | Z
tf.tanh(x) | Z
tf.pow(x, 2) | Z
tf.reduce_sum(x) | Z
tf.reduce_mean(x) ** 2 | Z
tf.reduce_prod(x) | Z
tf.matmul([x], [y], adjoint_b=True) | Z Z
tf.abs(tf.signal.fft(x)) ** 2 | Z
tf.abs(tf.signal.rfft(x)) ** 2 | V
tf.signal.irfft(x) | Z
tf.signal.dct(x) ** 2 | V
""".strip().split("\n")
