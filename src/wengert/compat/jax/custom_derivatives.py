"""Layer 9 · compat: `jax.custom_derivatives`: custom rules, under their names."""

from wengert.compat.jax.custom import CustomVJPPrimal as CustomVJPPrimal
from wengert.compat.jax.custom import SymbolicZero as SymbolicZero
from wengert.compat.jax.custom import custom_gradient as custom_gradient
from wengert.compat.jax.custom import custom_jvp as custom_jvp
from wengert.compat.jax.custom import custom_vjp as custom_vjp
from wengert.compat.jax.custom import (
    custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
)
from wengert.compat.jax.custom import zero_from_primal as zero_from_primal
from wengert.compat.jax.primitives import Primitive as Primitive
from wengert.compat.jax.staging import closure_convert as closure_convert

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vjp_primal_tree_values",
    "zero_from_primal",
]

custom_jvp_call_p, custom_vjp_call_p = Primitive("custom_jvp_call"), Primitive("custom_vjp_call")
