"""What `wengert.compat.autograd` gives, for type checkers and editors.

Written by stubs/generate.py.
"""


from wengert.compat.autograd.differential_operators import checkpoint as checkpoint
from wengert.compat.autograd.differential_operators import deriv as deriv
from builtins import dict as dict
from wengert.compat.autograd.differential_operators import elementwise_grad as elementwise_grad
from wengert.compat.autograd.differential_operators import grad as grad
from wengert.compat.autograd.differential_operators import grad_and_aux as grad_and_aux
from wengert.compat.autograd.differential_operators import grad_named as grad_named
from wengert.compat.autograd.differential_operators import hessian as hessian
from wengert.compat.autograd.differential_operators import hessian_tensor_product as hessian_tensor_product
from wengert.compat.autograd.differential_operators import hessian_vector_product as hessian_vector_product
from wengert.compat.autograd.differential_operators import holomorphic_grad as holomorphic_grad
from wengert.compat.autograd.builtins import isinstance as isinstance
from wengert.compat.autograd.differential_operators import jacobian as jacobian
from builtins import list as list
from wengert.compat.autograd.differential_operators import make_ggnvp as make_ggnvp
from wengert.compat.autograd.differential_operators import make_hvp as make_hvp
from wengert.compat.autograd.tracing import make_jvp as make_jvp
from wengert.compat.autograd.differential_operators import make_jvp_reversemode as make_jvp_reversemode
from wengert.compat.autograd.tracing import make_vjp as make_vjp
from wengert.compat.autograd.differential_operators import multigrad_dict as multigrad_dict
from wengert.compat.autograd.core import primitive as primitive
from wengert.compat.autograd.differential_operators import tensor_jacobian_product as tensor_jacobian_product
from builtins import tuple as tuple
from wengert.compat.autograd.builtins import type as type
from wengert.compat.autograd.differential_operators import value_and_grad as value_and_grad
from wengert.compat.autograd.differential_operators import vector_jacobian_product as vector_jacobian_product
