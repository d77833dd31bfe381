"""Layer 9 · compat: ``tf.nn``: activations, losses, convolutions, pooling.

>>> print(tf.nn.relu([-1.0, 2.0]).numpy())
[0. 2.]
"""

from __future__ import annotations

from typing import Any as _Any

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow.functions.activations import (
    crelu as crelu,
)
from wengert.compat.tensorflow.functions.activations import (
    elu as elu,
)
from wengert.compat.tensorflow.functions.activations import (
    gelu as gelu,
)
from wengert.compat.tensorflow.functions.activations import (
    leaky_relu as leaky_relu,
)
from wengert.compat.tensorflow.functions.activations import (
    log_softmax as log_softmax,
)
from wengert.compat.tensorflow.functions.activations import (
    relu as relu,
)
from wengert.compat.tensorflow.functions.activations import (
    relu6 as relu6,
)
from wengert.compat.tensorflow.functions.activations import (
    selu as selu,
)
from wengert.compat.tensorflow.functions.activations import (
    silu as silu,
)
from wengert.compat.tensorflow.functions.activations import (
    softmax as softmax,
)
from wengert.compat.tensorflow.functions.activations import (
    swish as swish,
)
from wengert.compat.tensorflow.functions.convolutions import (
    atrous_conv2d as atrous_conv2d,
)
from wengert.compat.tensorflow.functions.convolutions import (
    conv1d as conv1d,
)
from wengert.compat.tensorflow.functions.convolutions import (
    conv1d_transpose as conv1d_transpose,
)
from wengert.compat.tensorflow.functions.convolutions import (
    conv2d as conv2d,
)
from wengert.compat.tensorflow.functions.convolutions import (
    conv2d_transpose as conv2d_transpose,
)
from wengert.compat.tensorflow.functions.convolutions import (
    conv3d as conv3d,
)
from wengert.compat.tensorflow.functions.convolutions import (
    conv3d_transpose as conv3d_transpose,
)
from wengert.compat.tensorflow.functions.convolutions import (
    convolution as convolution,
)
from wengert.compat.tensorflow.functions.convolutions import (
    depthwise_conv2d as depthwise_conv2d,
)
from wengert.compat.tensorflow.functions.convolutions import (
    separable_conv2d as separable_conv2d,
)
from wengert.compat.tensorflow.functions.crossentropy import (
    compute_average_loss as compute_average_loss,
)
from wengert.compat.tensorflow.functions.crossentropy import (
    l2_loss as l2_loss,
)
from wengert.compat.tensorflow.functions.crossentropy import (
    log_poisson_loss as log_poisson_loss,
)
from wengert.compat.tensorflow.functions.crossentropy import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from wengert.compat.tensorflow.functions.crossentropy import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
)
from wengert.compat.tensorflow.functions.crossentropy import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from wengert.compat.tensorflow.functions.crossentropy import (
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from wengert.compat.tensorflow.functions.normalisation import (
    batch_normalization as batch_normalization,
)
from wengert.compat.tensorflow.functions.normalisation import (
    bias_add as bias_add,
)
from wengert.compat.tensorflow.functions.normalisation import (
    depth_to_space as depth_to_space,
)
from wengert.compat.tensorflow.functions.normalisation import (
    dropout as dropout,
)
from wengert.compat.tensorflow.functions.normalisation import (
    embedding_lookup as embedding_lookup,
)
from wengert.compat.tensorflow.functions.normalisation import (
    local_response_normalization as local_response_normalization,
)
from wengert.compat.tensorflow.functions.normalisation import (
    lrn as lrn,
)
from wengert.compat.tensorflow.functions.normalisation import (
    moments as moments,
)
from wengert.compat.tensorflow.functions.normalisation import (
    space_to_depth as space_to_depth,
)
from wengert.compat.tensorflow.functions.normalisation import (
    weighted_moments as weighted_moments,
)
from wengert.compat.tensorflow.functions.norms import (
    l2_normalize as l2_normalize,
)
from wengert.compat.tensorflow.functions.ordering import (
    in_top_k as in_top_k,
)
from wengert.compat.tensorflow.functions.ordering import (
    top_k as top_k,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sigmoid as sigmoid,
)
from wengert.compat.tensorflow.functions.pointwise import (
    softplus as softplus,
)
from wengert.compat.tensorflow.functions.pointwise import (
    softsign as softsign,
)
from wengert.compat.tensorflow.functions.pointwise import (
    tanh as tanh,
)
from wengert.compat.tensorflow.functions.pools import (
    avg_pool as avg_pool,
)
from wengert.compat.tensorflow.functions.pools import (
    avg_pool1d as avg_pool1d,
)
from wengert.compat.tensorflow.functions.pools import (
    avg_pool2d as avg_pool2d,
)
from wengert.compat.tensorflow.functions.pools import (
    avg_pool3d as avg_pool3d,
)
from wengert.compat.tensorflow.functions.pools import (
    max_pool as max_pool,
)
from wengert.compat.tensorflow.functions.pools import (
    max_pool1d as max_pool1d,
)
from wengert.compat.tensorflow.functions.pools import (
    max_pool2d as max_pool2d,
)
from wengert.compat.tensorflow.functions.pools import (
    max_pool3d as max_pool3d,
)
from wengert.compat.tensorflow.functions.pools import (
    pool as pool,
)
from wengert.compat.tensorflow.functions.reductions import (
    zero_fraction as zero_fraction,
)
from wengert.compat.tensorflow.refusal import refusal as _refusal

__all__ = sorted(name for name in globals() if name[0] != "_" and name != "annotations")


def __getattr__(name: str) -> _Any:
    raise _refusal("nn", name)


fill_sections(globals())
