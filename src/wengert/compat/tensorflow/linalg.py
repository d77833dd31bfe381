"""Layer 9 · compat: ``tf.linalg``: differentiable linear algebra.

>>> print(tf.linalg.det([[1.0, 2.0], [3.0, 4.0]]).numpy().round(3))
-2.0
"""

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.words import refusing as _refusing

__all__ = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    functions.creation: eye
    functions.matrices: * -[A-Z]* -matrices -square
    functions.normalisation: global_norm l2_normalize norm normalize
    functions.products: * -accumulate_n -add_n -polyval -turned
    """,
)


__getattr__ = _refusing("linalg")
