"""What `wengert.compat.jax.custom_derivatives` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from wengert.compat.jax.custom import CustomVJPPrimal as CustomVJPPrimal, SymbolicZero as SymbolicZero, custom_gradient as custom_gradient, custom_jvp as custom_jvp, custom_vjp as custom_vjp, custom_vjp_primal_tree_values as custom_vjp_primal_tree_values, linear_call as linear_call, zero_from_primal as zero_from_primal
from wengert.compat.jax.staging import closure_convert as closure_convert


