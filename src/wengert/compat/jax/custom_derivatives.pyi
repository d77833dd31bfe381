"""What `wengert.compat.jax.custom_derivatives` gives, for type checkers and editors.

Written by stubs/generate.py.
"""


from wengert.compat.jax.custom import CustomVJPPrimal as CustomVJPPrimal
from wengert.compat.jax.custom import SymbolicZero as SymbolicZero
from wengert.compat.jax.staging import closure_convert as closure_convert
from wengert.compat.jax.custom import custom_gradient as custom_gradient
from wengert.compat.jax.custom import custom_jvp as custom_jvp
from wengert.compat.jax.custom import custom_vjp as custom_vjp
from wengert.compat.jax.custom import custom_vjp_primal_tree_values as custom_vjp_primal_tree_values
from wengert.compat.jax.custom import linear_call as linear_call
from wengert.compat.jax.custom import zero_from_primal as zero_from_primal
