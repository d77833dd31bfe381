"""Layer 9 · compat: Keras's policies: the dtypes of a layer's weights and of its computation.

NOTE [mixed precision]
While a layer runs whose policy has two dtypes, its inputs and the weights that it reads are cast to
the second. In float16 gradients may become 0, so `compile` multiplies the loss by a number that
grows while gradients are finite, and the optimizer divides them again (`LossScaleOptimizer`).
"""

from __future__ import annotations

from wengert.base.patches import Setting
from wengert.compat.tensorflow.configs import Configured
from wengert.compat.tensorflow.keras.globals import float_type, floatx
from wengert.compat.tensorflow.words import public


class DTypePolicy(Configured):
    """The dtypes of a layer's weights and of its computation, by one name.

    Parameters
    ----------
    name : str, optional. A dtype; ``"mixed_float16"`` or ``"mixed_bfloat16"`` for weights in
        float32 and computation in the other dtype.

    Examples
    --------
    >>> policy = tf.keras.mixed_precision.Policy("mixed_bfloat16")
    >>> policy.compute_dtype, policy.variable_dtype
    ('bfloat16', 'float32')
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name or floatx()
        self.compute_dtype = str(float_type(self.name.removeprefix("mixed_")))
        self.variable_dtype = "float32" if "mixed_" in self.name else self.compute_dtype

    def __eq__(self, other) -> bool:
        return isinstance(other, DTypePolicy) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self.name}">'


_POLICY = Setting(None)


def dtype_policy() -> DTypePolicy:
    """Return the policy of layers that are given no dtype."""
    policy: DTypePolicy | None = _POLICY.value
    return DTypePolicy(floatx()) if policy is None else policy


def set_dtype_policy(policy) -> None:
    """Set the policy of layers that are given no dtype."""
    _POLICY.set(get(policy))


def get(identifier) -> DTypePolicy:
    """Return the policy of a name, a dtype or a policy; None gives `dtype_policy`."""
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    return DTypePolicy(getattr(identifier, "name", None) or str(identifier))


__all__ = public(globals())
