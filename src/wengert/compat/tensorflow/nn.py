"""Layer 9 · compat: ``tf.nn``: activations, losses, convolutions, pooling.

>>> print(tf.nn.relu([-1.0, 2.0]).numpy())
[0. 2.]
"""

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.words import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.activations: * -betainc -lbeta
    functions.convolutions: *
    functions.normalisation: * -clip_* -*norm -normalize
    functions.ordering: in_top_k top_k
    functions.pointwise: sigmoid softplus softsign tanh
    functions.reductions: zero_fraction
    """,
)


__getattr__ = _refusing("nn")
