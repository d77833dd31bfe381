"""Layer 9 · compat: JAX's names over wengert: ``from wengert.compat import jax``.

Programs that are written for JAX run after a change of the import line. Functions run on values,
operation by operation, and are differentiated by the same tape as everything else here.

>>> def loss(w, x):
...     return jnp.sum(jnp.tanh(x @ w) ** 2)
>>> jax.grad(loss)(jnp.ones(2), jnp.eye(2))
Array([0.6397, 0.6397], dtype=float32)

`numpy`, `lax`, `random`, `nn`, `scipy`, `tree`, `tree_util`, `flatten_util`, `ops`, ... are
imported on first use. A name of JAX's that is missing here raises an AttributeError that says so.
"""

from __future__ import annotations

from wengert.compat.jax import methods as _methods
from wengert.compat.jax import operators as _operators
from wengert.compat.jax import updates as _updates
from wengert.compat.jax.insides import register as _register
from wengert.compat.kit.namespaces import closed as _closed
from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.kit.namespaces import homes_of as _homes_of

_INSTALLED = (_methods, _operators, _updates)
"""Imported for their side effect: they add methods and operators to arrays."""

_NAMES = _gathered(
    globals(),
    __name__,
    """
    ad_checkpoint: checkpoint checkpoint_policies remat
    batching: vmap
    classes: Array=AnyArray
    cpu: Device default_backend device_count devices host_count=process_count
        host_id=process_index local_device_count local_devices process_count process_index
    custom: custom_gradient custom_jvp custom_vjp
    dtypes: float0
    reverse: fwd_and_bwd grad hessian jacfwd jacobian jacrev jvp linear_transpose linearize
        value_and_grad vjp
    settings: config debug_infs debug_nans enable_x64
    staging: ShapeDtypeStruct checking_leaks closure_convert default_device
        default_matmul_precision ensure_compile_time_eval eval_shape named_call named_scope typeof
    """,
)
_LATER = """
    insides: explain_cache_misses=Context log_compiles=Context no_tracing=Context
        transfer_guard=Context transfer_guard_device_to_device=Context
        transfer_guard_device_to_host=Context transfer_guard_host_to_device=Context
    callbacks: block_until_ready copy_to_host_async device_get device_put effects_barrier
        pure_callback
    jitting: clear_caches disable_jit jit pmap
    listing: make_jaxpr
    references: Ref freeze new_ref
    sharding: NamedSharding P Shard make_mesh reshard set_mesh shard_map smap
    settings: numpy_dtype_promotion numpy_rank_promotion
    staging: check_tracer_leaks
    """
_MODULES = """
    ad_checkpoint custom_batching custom_derivatives debug dlpack dtypes errors example_libraries
    experimental flatten_util image lax nn numpy ops random scipy sharding stages
    test_util tree tree_util typing
    """

__version__ = "0.10.2"
"""The version of JAX that the interface follows."""
__version_info__ = (0, 10, 2)

__getattr__ = _closed(globals(), _MODULES, _LATER)


def __dir__() -> list[str]:
    return sorted({*_NAMES, *_homes_of(_LATER), *_MODULES.split(), "__version__"})


_register(__name__)
