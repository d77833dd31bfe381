"""Layer 9 · compat: the internal modules of JAX that other libraries import.

NOTE [JAX's insides]
Nothing is traced here, so most of these names have no effect: libraries look up a class, fill a
dictionary of rules, or define a function that only a trace calls. Each module is a table with rows
of names, by kind: ``class`` for a class without instances, ``context`` for a context without
effect, ``refused`` for a function that raises when called, ``same`` for a function that returns its
argument, ``nothing`` for a function that does nothing, ``dict`` for an empty dictionary. Any other
word is the module of ours that has the names, ``.`` the package itself.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections import defaultdict
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from wengert.compat.kit.namespaces import rows_of

_WHY = "nothing is traced, so there are no jaxprs and no primitives"
_NAMES = {
    "_src": "",
    "_src.ad_util": "primitives: Zero instantiate_zeros\nlax: stop_gradient_p",
    "_src.api_util": "flat: flatten_fun flatten_fun_nokwargs\nnothing: debug_info",
    "_src.checkify": """
        experimental.checkify: Error check check_error checkify user_checks
        class: JaxException
        """,
    "_src.compiler": "class: CompileOptions",
    "_src.config": "settings: config enable_x64",
    "_src.core": """
        primitives: Primitive ShapedArray Tracer get_aval is_concrete trace_state_clean typeof
        class: Atom Jaxpr JaxprEqn Literal Trace Var
        """,
    "_src.dispatch": "callbacks: effects_barrier",
    "_src.dtypes": """
        dtypes: TypePromotionError extended finfo float0 issubdtype result_type
        class: DType ExtendedDType
        """,
    "_src.earray": "class: EArray",
    "_src.flatten_util": "flatten_util: ravel_pytree",
    "_src.interpreters": "",
    "_src.interpreters.pxla": "class: ShardedDeviceArray\ndict: global_result_handlers",
    "_src.lax": "",
    "_src.lax.lax": "class: DotDimensionNumbers",
    "_src.literals": "class: LiteralArray TypedNdArray",
    "_src.prng": "class: PRNGKeyArray",
    "_src.random": "keys: PRNGKey",
    "_src.state": "",
    "_src.state.types": "class: AbstractRef",
    "_src.traceback_util": "same: api_boundary\nnothing: register_exclusion include_frame",
    "_src.tree_util": "trees: _registry\ntree_util: flatten_one_level",
    "_src.typing": "typing: Array ArrayLike",
    "_src.xla_bridge": "cpu: default_backend devices\ndict: _backends",
    "api_util": """
        refused: argnums_partial flatten_axes
        nothing: debug_info
        flat: flatten_fun flatten_fun_nokwargs
        primitives: fun_signature safe_map
        """,
    "core": """
        primitives: AbstractValue ShapedArray Tracer concrete_or_error eval_jaxpr find_top_trace
            get_aval get_opaque_trace_state is_concrete jaxpr_as_fun mapped_aval trace_state_clean
            unmapped_aval valid_jaxtype
        listing: ClosedJaxpr Jaxpr
        class: Atom Trace
        dict: pytype_aval_mappings
        refused: set_current_trace take_current_trace
        """,
    "experimental.array_serialization": "",
    "experimental.hijax": """
        class: AvalMutableQDD AvalQDD HiType MutableHiType QDD
        nothing: register_hitype
        same: aval_method
        primitives: AbstractValue HiPrimitive Zero aval_property control_flow_allowed_effects
            instantiate_zeros is_undefined_primal
        """,
    "experimental.multihost_utils": """
        same: process_allgather broadcast_one_to_all
        nothing: sync_global_devices
        """,
    "extend": "",
    "extend.core": """
        primitives: Primitive get_opaque_trace_state jaxpr_as_fun mapped_aval unmapped_aval
            valid_jaxtype
        listing: ClosedJaxpr Jaxpr
        class: DropVar Effect JaxprEqn Literal Token Trace Var
        refused: set_current_trace take_current_trace
        """,
    "extend.core.primitives": "class: call_p closed_call_p jit_p xla_pmap_p",
    "extend.linear_util": "flat: WrappedFun wrap_init\nsame: transformation",
    "extend.source_info_util": "nothing: register_exclusion",
    "interpreters": "",
    "interpreters.ad": """
        primitives: JVPTracer UndefinedPrimal Zero deflinear deflinear2 defjvp instantiate_zeros
            is_undefined_primal primitive_jvps primitive_transposes
        """,
    "interpreters.batching": """
        primitives: axis_primitive_batchers defbroadcasting defvectorized
            fancy_primitive_batchers not_mapped primitive_batchers
        """,
    "interpreters.mlir": """
        nothing: register_lowering
        same: lower_fun
        refused: emit_python_callback
        """,
    "interpreters.partial_eval": """
        refused: trace_to_jaxpr_dynamic
        flat: PartialVal trace_to_jaxpr_nounits
        primitives: custom_partial_eval_rules
        """,
    "interpreters.pxla": "class: ShardedDeviceArray",
    "interpreters.xla": """
        class: DeviceArray
        dict: canonicalize_dtype_handlers pytype_aval_mappings
        """,
    "linear_util": "flat: wrap_init",
    "lib": "",
    "lib.xla_bridge": "cpu: default_backend devices",
    "lib.xla_client": "class: ArrayImpl",
    "lib.xla_extension": "errors: XlaRuntimeError",
    "monitoring": """
        nothing: record_event record_event_duration_secs register_event_listener
            register_event_duration_secs_listener
        """,
    "profiler": "context: StepTraceAnnotation TraceAnnotation\nsame: annotate_function",
    "ref": "references: Ref addupdate freeze get new_ref set swap",
    "version": ".: __version__ __version_info__",
}


def _nothing(*args, **kwargs) -> None:
    """Do nothing."""


class _Context(contextlib.ContextDecorator):
    """A context that does nothing."""

    def __init__(self, *args, **kwargs) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


def _same(value=None, *args, **kwargs) -> Any:
    """Return the value itself."""
    return value


def _refused(path: str) -> Callable[..., NoReturn]:
    def refused(*args, **kwargs) -> NoReturn:
        raise NotImplementedError(f"jax.{path}: {_WHY}")

    return refused


class Inside(ModuleType):
    """A module built from rows of names (see NOTE [JAX's insides])."""

    def __init__(self, root: str, path: str, text: str) -> None:
        super().__init__(f"{root}.{path}", f"JAX's ``jax.{path}``.")
        self._root, self._path = root, path
        self._homes = {name: home for home, names in rows_of(text) for name in names}
        self.__all__ = sorted(self._homes)

    def __getattr__(self, name: str) -> Any:
        path = f"{self._path}.{name}"
        home = self._homes.get(name)
        if home is None:
            raise AttributeError(f"module 'jax.{self._path}' has no attribute {name!r}: {_WHY}")
        if home == "class":
            value: Any = type(name, (), {"__module__": self.__name__, "__doc__": f"``jax.{path}``"})
        elif home == "dict":
            value = defaultdict(_nothing)
        elif home == "context":
            value = _Context
        elif home == "refused":
            value = _refused(path)
        elif home in ("same", "nothing"):
            value = _same if home == "same" else _nothing
        else:
            module = self._root if home == "." else f"{self._root}.{home}"
            value = getattr(importlib.import_module(module), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return self.__all__


def register(root: str) -> None:
    """Register the modules below the package `root`."""
    for path, text in _NAMES.items():
        module = Inside(root, path, text)
        parent, _, child = f"{root}.{path}".rpartition(".")
        sys.modules[module.__name__] = module
        if any(other.startswith(f"{path}.") for other in _NAMES):
            module.__path__ = []
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)
