"""Layer 9 · compat: `jax.custom_derivatives`: custom rules, under their names."""

from wengert.compat.jax.primitives import Primitive as Primitive
from wengert.compat.kit.namespaces import gathered

__all__ = gathered(
    globals(),
    "wengert.compat.jax",
    """
    custom: CustomVJPPrimal SymbolicZero custom_gradient custom_jvp custom_vjp
        custom_vjp_primal_tree_values linear_call zero_from_primal
    staging: closure_convert
    """,
)

custom_jvp_call_p, custom_vjp_call_p = Primitive("custom_jvp_call"), Primitive("custom_vjp_call")
