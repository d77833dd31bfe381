"""Layer 9 · compat: HIPS autograd's interface: ``from wengert.compat.autograd import grad``.

Programs for autograd run after a change of their imports:

>>> from wengert.compat.autograd import elementwise_grad, grad
>>> def tanh(x):
...     y = np.exp(-2.0 * x)
...     return (1.0 - y) / (1.0 + y)
>>> grad(tanh)(1.0).round(12)
np.float64(0.419974341614)
>>> elementwise_grad(tanh)(np.linspace(-1, 1, 3))
array([0.41997434, 1.        , 0.41997434])
"""

from wengert.compat.kit.namespaces import gathered

__all__ = gathered(
    globals(),
    "wengert.compat.autograd",
    """
    builtins: dict isinstance list tuple type
    core: primitive=primitive_with_deprecation_warnings
    differential_operators: checkpoint deriv elementwise_grad grad grad_and_aux grad_named hessian
        hessian_tensor_product hessian_vector_product holomorphic_grad jacobian make_ggnvp make_hvp
        make_jvp make_jvp_reversemode make_vjp multigrad_dict tensor_jacobian_product
        value_and_grad vector_jacobian_product
    """,
)
