"""What `wengert.compat.autograd` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import dict as dict, list as list, tuple as tuple
from wengert.compat.autograd.builtins import isinstance as isinstance, type as type
from wengert.compat.autograd.core import primitive as primitive
from wengert.compat.autograd.differential_operators import checkpoint as checkpoint, deriv as deriv, elementwise_grad as elementwise_grad, grad as grad, grad_and_aux as grad_and_aux, grad_named as grad_named, hessian as hessian, hessian_tensor_product as hessian_tensor_product, hessian_vector_product as hessian_vector_product, holomorphic_grad as holomorphic_grad, jacobian as jacobian, make_ggnvp as make_ggnvp, make_hvp as make_hvp, make_jvp_reversemode as make_jvp_reversemode, multigrad_dict as multigrad_dict, tensor_jacobian_product as tensor_jacobian_product, value_and_grad as value_and_grad, vector_jacobian_product as vector_jacobian_product
from wengert.compat.autograd.tracing import make_jvp as make_jvp, make_vjp as make_vjp


