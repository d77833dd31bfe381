"""Layer 7 · func: transforms of functions: gradients, tangents, batches, Jacobians.

Every transform takes a function and returns one, so they nest in any order. The names and
signatures are those of ``torch.func``; `value_and_grad`, `jacobian`, `hvp`, `hessian_diag` and
`laplacian` are additions.
"""

from wengert.base.names import shows
from wengert.func.batch import vmap
from wengert.func.custom import custom_jvp, custom_vjp
from wengert.func.forward import jvp, linearize
from wengert.func.functional_call import (
    functional_call,
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from wengert.func.jacobians import hessian, hessian_diag, hvp, jacfwd, jacobian, jacrev, laplacian
from wengert.func.reverse import grad, grad_and_value, value_and_grad, vjp

__all__ = [
    "custom_jvp",
    "custom_vjp",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "hessian_diag",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "laplacian",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "value_and_grad",
    "vjp",
    "vmap",
]
__dir__ = shows(__all__)
