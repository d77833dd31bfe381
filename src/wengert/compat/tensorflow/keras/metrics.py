"""Layer 9 · compat: ``tf.keras.metrics``: metrics accumulated over batches."""

from wengert.compat.kit.namespaces import gathered
from wengert.compat.tensorflow.configs import getter
from wengert.compat.tensorflow.keras import confusion, loss_functions, means, scores
from wengert.compat.tensorflow.keras.means import Metric
from wengert.compat.tensorflow.words import public, refusing

_NAMES = gathered(
    globals(),
    "wengert.compat.tensorflow.keras",
    "\n".join(
        f"{home.__name__.rpartition('.')[2]}: {' '.join(home.__all__)}"
        for home in (means, confusion, scores, loss_functions)
    ),
)
get = getter("metric", globals(), Metric, means.SHORT)


__getattr__ = refusing("keras.metrics")


__all__ = public(globals(), " ".join(_NAMES))
