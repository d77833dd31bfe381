"""Layer 9 · compat: ``tf.nn``: activations, losses, convolutions, pooling.

>>> print(tf.nn.relu([-1.0, 2.0]).numpy())
[0. 2.]
"""

from __future__ import annotations

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.refusal import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.activations: crelu elu gelu leaky_relu log_softmax relu relu6 selu silu softmax swish
    functions.convolutions: atrous_conv2d conv1d conv1d_transpose conv2d conv2d_transpose conv3d
        conv3d_transpose convolution depthwise_conv2d separable_conv2d
    functions.activations: compute_average_loss l2_loss log_poisson_loss
        sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits
        sparse_softmax_cross_entropy_with_logits weighted_cross_entropy_with_logits
    functions.normalisation: batch_normalization bias_add depth_to_space dropout embedding_lookup
        local_response_normalization lrn moments space_to_depth weighted_moments
    functions.normalisation: l2_normalize
    functions.ordering: in_top_k top_k
    functions.pointwise: sigmoid softplus softsign tanh
    functions.convolutions: avg_pool avg_pool1d avg_pool2d avg_pool3d max_pool max_pool1d max_pool2d
        max_pool3d pool
    functions.reductions: zero_fraction
    """,
)


__getattr__ = _refusing("nn")
