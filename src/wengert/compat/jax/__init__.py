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

import importlib
from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.jax import methods as _methods
from wengert.compat.jax import operators as _operators
from wengert.compat.jax import updates as _updates
from wengert.compat.jax.batching import vmap as vmap
from wengert.compat.jax.classes import AnyArray as Array  # noqa: F401
from wengert.compat.jax.cpu import Device as Device
from wengert.compat.jax.cpu import default_backend as default_backend
from wengert.compat.jax.cpu import device_count as device_count
from wengert.compat.jax.cpu import devices as devices
from wengert.compat.jax.cpu import local_device_count as local_device_count
from wengert.compat.jax.cpu import local_devices as local_devices
from wengert.compat.jax.cpu import process_count as process_count
from wengert.compat.jax.cpu import process_index as process_index
from wengert.compat.jax.custom import custom_gradient as custom_gradient
from wengert.compat.jax.custom import custom_jvp as custom_jvp
from wengert.compat.jax.custom import custom_vjp as custom_vjp
from wengert.compat.jax.dtypes import float0 as float0
from wengert.compat.jax.insides import register as _register
from wengert.compat.jax.reverse import grad as grad
from wengert.compat.jax.reverse import hessian as hessian
from wengert.compat.jax.reverse import jacfwd as jacfwd
from wengert.compat.jax.reverse import jacobian as jacobian
from wengert.compat.jax.reverse import jacrev as jacrev
from wengert.compat.jax.reverse import jvp as jvp
from wengert.compat.jax.reverse import linear_transpose as linear_transpose
from wengert.compat.jax.reverse import linearize as linearize
from wengert.compat.jax.reverse import value_and_grad as value_and_grad
from wengert.compat.jax.reverse import vjp as vjp
from wengert.compat.jax.settings import config as config
from wengert.compat.jax.settings import debug_infs as debug_infs
from wengert.compat.jax.settings import debug_nans as debug_nans
from wengert.compat.jax.settings import enable_x64 as enable_x64
from wengert.compat.jax.staging import ShapeDtypeStruct as ShapeDtypeStruct
from wengert.compat.jax.staging import checking_leaks as checking_leaks
from wengert.compat.jax.staging import checkpoint as checkpoint
from wengert.compat.jax.staging import closure_convert as closure_convert
from wengert.compat.jax.staging import default_device as default_device
from wengert.compat.jax.staging import default_matmul_precision as default_matmul_precision
from wengert.compat.jax.staging import ensure_compile_time_eval as ensure_compile_time_eval
from wengert.compat.jax.staging import eval_shape as eval_shape
from wengert.compat.jax.staging import named_call as named_call
from wengert.compat.jax.staging import named_scope as named_scope
from wengert.compat.jax.staging import remat as remat
from wengert.compat.jax.staging import typeof as typeof

_INSTALLED = (_methods, _operators, _updates)
"""Imported for their side effect: they add methods and operators to arrays."""
_NAMES = """
    ad_checkpoint custom_batching custom_derivatives debug dlpack dtypes errors example_libraries
    experimental flatten_util image lax nn numpy ops random scipy sharding stages
    test_util tree tree_util typing
    """
_MODULES = frozenset(_NAMES.split())
_PLACES = {
    **dict.fromkeys(
        ("block_until_ready", "device_get", "device_put", "effects_barrier"), "callbacks"
    ),
    "pure_callback": "callbacks",
    **dict.fromkeys(("NamedSharding", "P", "Shard", "make_mesh", "reshard"), "sharding"),
    **dict.fromkeys(("set_mesh", "shard_map", "smap"), "sharding"),
    **dict.fromkeys(("Ref", "freeze", "new_ref"), "references"),
    **dict.fromkeys(
        ("check_tracer_leaks", "numpy_dtype_promotion", "numpy_rank_promotion"), "staging"
    ),
    "checkpoint_policies": "policies",
    **dict.fromkeys(("clear_caches", "disable_jit", "jit", "pmap"), "jitting"),
    "make_jaxpr": "listing",
}
"""The modules of lazily imported functions."""
_LATER = {
    "tree_map": "jax.tree.map",
    "tree_leaves": "jax.tree.leaves",
    "tree_flatten": "jax.tree.flatten",
    "tree_unflatten": "jax.tree.unflatten",
}
_DEVICES = "there is one device: write jax.vmap"
_COMPILED = "programs are made by calls, and stay in this process"
_ABSENT = {
    **{name: f"write {new}" for name, new in _LATER.items()},
    **dict.fromkeys(("export", "ffi"), _COMPILED),
    "profiler": "measure with Python's own tools",
    "distributed": _DEVICES,
}
__version__ = "0.10.2"
"""The version of JAX that the interface follows."""
__version_info__ = (0, 10, 2)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    module = _PLACES.get(name)
    if module is not None:
        found = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        return globals().setdefault(name, found)
    why = _ABSENT.get(name)
    raise AttributeError(f"module 'jax' has no attribute {name!r}{f': {why}' if why else ''}")


def __dir__() -> list[str]:
    own = {name for name in globals() if not name.startswith("_")}
    hidden = {"annotations", "importlib", "Any"}
    return sorted((own | _MODULES | _PLACES.keys() | {"__version__"}) - hidden)


_register(__name__)
fill_sections(globals())
