"""Layer 9 · compat: TensorFlow's idiom: eager tensors, variables and gradient tapes.

Programs for TensorFlow 2 run after a change of the import line. Operations run eagerly, tapes
record the same operations as TensorFlow's, dtypes are not promoted, and errors belong to
TensorFlow's classes. ``docs/tensorflow.md`` lists the differences.

Examples
--------
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

from wengert.compat.kit.namespaces import gathered, homes_of
from wengert.compat.tensorflow import accumulator as autodiff
from wengert.compat.tensorflow.words import missing as _missing

_OFFERED = gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    conversion: IndexedSlices TensorSpec constant convert_to_tensor get_static_value identity
        is_tensor stop_gradient
    custom: RegisterGradient custom_gradient grad_pass_through gradients hessians no_gradient
        recompute_grad
    dtypes: DType as_dtype complex64 complex128 double float16 float32 float64 half int8 int16
        int32 int64 string uint8 uint16 uint32 uint64
    environment: control_dependencies device get_logger init_scope name_scope
    function: executing_eagerly function inside_function numpy_function py_function
    module: Module
    shapes: TensorShape
    tape: GradientTape UnconnectedGradients
    tensor: Tensor
    variable: Variable VariableAggregation VariableSynchronization
    """,
    "errors nest",
)
__version__ = "2.21.0"
"""The version of TensorFlow that the interface follows."""
version = SimpleNamespace(VERSION=__version__, GIT_VERSION="unknown", COMPILER_VERSION="unknown")
autograph = SimpleNamespace(
    experimental=SimpleNamespace(do_not_convert=lambda func=None: func or (lambda func: func)),
    set_verbosity=lambda level, alsologtostdout=False: None,
)
"""Functions run as they are, so that there is nothing to convert."""

newaxis = None
NotDifferentiable = globals()["no_gradient"]

_NAMES = """
    bitwise config data debugging distribute dtypes image initializers io keras linalg lookup
    math nn random saved_model signal sparse strings test train
    """
_MODULES = frozenset(_NAMES.split())
_LATER = homes_of(
    """
    array: TensorArray
    control: case cond foldl foldr map_fn scan switch_case vectorized_map while_loop
    debugging: Assert assert_equal assert_greater assert_less assert_rank
    dtypes: bool bfloat16
    keras: losses metrics optimizers
    printing: print
    sparse: SparseTensor
    """
)
"""Names whose modules are imported on first use."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    home, own = _LATER.get(name, ("operations", name))
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{home}")
    if home == "operations" and name not in module.__all__:
        raise _missing("", name)
    return globals().setdefault(name, getattr(module, own))


def __dir__() -> list[str]:
    functions = importlib.import_module(f"{__name__}.operations")
    return sorted({*__all__, "__version__", *_LATER, *_MODULES, *functions.__all__})


__all__ = [*_OFFERED, "NotDifferentiable", "autodiff", "autograph", "newaxis", "version"]
