"""wengert: PyTorch's autograd on NumPy arrays.

The package is the torch-style surface: ``import wengert as wg`` (or ``as torch``).
"""

import importlib as _importlib
import math as _math
import sys as _sys
import warnings as _warnings
from typing import Any as _Any

import wengert.base.sections as _sections  # noqa: F401  it fills in docstrings from here on
from wengert import autograd as autograd
from wengert.base.device import device as device
from wengert.base.device import get_default_device as get_default_device
from wengert.base.device import set_default_device as set_default_device
from wengert.base.dtypes import DTYPES as _DTYPES
from wengert.base.dtypes import NAMED_ONLY as _NAMED_ONLY
from wengert.base.dtypes import dtype as dtype
from wengert.base.dtypes import finfo as finfo
from wengert.base.dtypes import get_default_dtype as get_default_dtype
from wengert.base.dtypes import iinfo as iinfo
from wengert.base.dtypes import named_only as _named_only
from wengert.base.dtypes import set_default_dtype as set_default_dtype
from wengert.base.elsewhere import elsewhere as _elsewhere
from wengert.base.elsewhere import install_finder as _install_finder
from wengert.base.extras import bfloat16 as _bfloat16
from wengert.base.kept import hint as _hint
from wengert.base.layout import layout as layout
from wengert.base.layout import strided as strided
from wengert.base.memory_format import channels_last as channels_last
from wengert.base.memory_format import channels_last_3d as channels_last_3d
from wengert.base.memory_format import contiguous_format as contiguous_format
from wengert.base.memory_format import memory_format as memory_format
from wengert.base.memory_format import preserve_format as preserve_format
from wengert.base.size import Size as Size
from wengert.base.threads import get_num_threads as get_num_threads
from wengert.base.threads import set_num_threads as set_num_threads

# not on first use: the package of this name would be found before
from wengert.ops.create import tensor as tensor
from wengert.ops.exports import EXPORTS as _EXPORTS
from wengert.ops.pointwise import FUNCTIONS as _POINTWISE
from wengert.ops.pointwise import add as add
from wengert.ops.pointwise import conj as conj
from wengert.ops.pointwise import div as div
from wengert.ops.pointwise import divide as divide
from wengert.ops.pointwise import imag as imag
from wengert.ops.pointwise import pow as pow
from wengert.ops.pointwise import real as real
from wengert.ops.pointwise import rsub as rsub
from wengert.ops.pointwise import square as square
from wengert.ops.pointwise import sub as sub
from wengert.ops.pointwise import subtract as subtract
from wengert.ops.pointwise import true_divide as true_divide
from wengert.ops.typed import TYPED as _TYPED
from wengert.ops.typed import set_default_tensor_type as set_default_tensor_type
from wengert.ops.typed import typed as _typed
from wengert.tape.inference import inference_mode as inference_mode
from wengert.tape.inference import is_inference_mode_enabled as is_inference_mode_enabled
from wengert.tape.modes import enable_grad as enable_grad
from wengert.tape.modes import is_grad_enabled as is_grad_enabled
from wengert.tape.modes import no_grad as no_grad
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
from wengert.tape.tracebacks import install as _fold_tracebacks
from wengert.tape.versions import is_inference as is_inference
from wengert.tensor import lazy as _lazy_methods  # noqa: F401  it gives the class its methods
from wengert.tensor.overrides import publish as _publish
from wengert.tensor.overrides import published as _published
from wengert.tensor.predicates import can_cast as can_cast
from wengert.tensor.predicates import get_device as get_device
from wengert.tensor.predicates import is_complex as is_complex
from wengert.tensor.predicates import is_floating_point as is_floating_point
from wengert.tensor.predicates import is_same_size as is_same_size
from wengert.tensor.predicates import is_signed as is_signed
from wengert.tensor.predicates import is_tensor as is_tensor
from wengert.tensor.predicates import numel as numel
from wengert.tensor.predicates import promote_types as promote_types
from wengert.tensor.predicates import result_type as result_type
from wengert.tensor.predicates import typename as typename
from wengert.tensor.tensor import Tensor as Tensor

__version__ = "0.1.0"

# Infinities and NaNs come without a warning, as in PyTorch. This concerns the library's own frames
# alone: NumPy warns in the user's code as before, and np.errstate(all="raise") still raises in the
# forward pass.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"wengert\.")
_fold_tracebacks()
_hint()

float16 = half = _DTYPES["float16"]
float32 = float = _DTYPES["float32"]
float64 = double = _DTYPES["float64"]
complex64 = cfloat = _DTYPES["complex64"]
complex128 = cdouble = _DTYPES["complex128"]
uint8 = _DTYPES["uint8"]
int8 = _DTYPES["int8"]
int16 = short = _DTYPES["int16"]
int32 = int = _DTYPES["int32"]
int64 = long = _DTYPES["int64"]
uint16 = _DTYPES["uint16"]
uint32 = _DTYPES["uint32"]
uint64 = _DTYPES["uint64"]
bool = _DTYPES["bool"]

globals().update(_POINTWISE)

inf = _math.inf
nan = _math.nan
pi = _math.pi
e = _math.e
newaxis = None

_EXPORTED = _EXPORTS["wengert"]
_OWN = __name__
"""The package's name, which `compat.install` may replace."""
_LAZY = frozenset(
    {
        "__config__",
        "__future__",
        "_C",
        "_VF",
        "_utils",
        "_dynamo",
        "_vmap_internals",
        "accelerator",
        "amp",
        "backends",
        "compat",
        "compiler",
        "cpu",
        "cuda",
        "distributed",
        "distributions",
        "fft",
        "func",
        "futures",
        "hub",
        "implicit",
        "integrate",
        "jit",
        "library",
        "linalg",
        "masked",
        "multiprocessing",
        "nn",
        "numpy",
        "optim",
        "overrides",
        "profiler",
        "quasirandom",
        "random",
        "return_types",
        "scipy",
        "serialization",
        "sparse",
        "signal",
        "special",
        "testing",
        "torch_version",
        "types",
        "utils",
        "version",
        "viz",
    }
)
_MIXED_PRECISION = (
    "GradScaler",
    "autocast",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
)
_SETTINGS = (
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "use_deterministic_algorithms",
)
_PRIVATE = {
    "base.layout": "_mkldnn jagged sparse_bsc sparse_bsr sparse_csc",
    "ops.control": (
        "_assert _assert_async _check _check_index _check_is_size _check_not_implemented "
        "_check_tensor_all _check_type _check_value _check_with"
    ),
    "ops.distinct": "_unique _unique2",
    "ops.rejection": "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad",
}
"""Private names that programs call, by module; no list of names has them."""
_FROM_LAZY = {
    **{name: module for module, names in _PRIVATE.items() for name in names.split()},
    **dict.fromkeys(_MIXED_PRECISION, "amp"),
    **dict.fromkeys(_SETTINGS, "base.settings"),
    "compile": "compiler",
    "get_device_module": "accelerator",
    "Future": "futures",
    "default_generator": "ops.generator",
    "TypedStorage": "tensor.storage",
    "UntypedStorage": "tensor.storage",
    "is_storage": "tensor.storage",
    "sparse_coo": "base.layout",
    "sparse_csr": "base.layout",
    **{
        f"sparse_{kind}_tensor": "sparse.creation"
        for kind in ("coo", "csr", "csc", "bsr", "bsc", "compressed")
    },
    "spmm": "sparse.operations",
    "get_printoptions": "tensor.printing",
    "is_warn_always_enabled": "tape.sites",
    "load": "serialization",
    "set_warn_always": "tape.sites",
    "vmap": "func",
    "printoptions": "tensor.printing",
    "save": "serialization",
    "set_printoptions": "tensor.printing",
    "is_anomaly_check_nan_enabled": "autograd.anomaly_mode",
    "is_anomaly_enabled": "autograd.anomaly_mode",
    "memory_report": "autograd.memory",
}


def __getattr__(name: str) -> _Any:
    """Import rarely used parts when they are first used."""
    if name == "__all__":
        return [one for one in __dir__() if one[0] != "_" and one not in _LAZY]
    if name in _LAZY:
        return _importlib.import_module(f"{_OWN}.{name}")
    if name in _EXPORTED:
        module = _importlib.import_module(f"{_OWN}.ops.{_EXPORTS['wengert'][name]}")
        return globals().setdefault(name, _published(getattr(module, name), _OWN, name))
    if name in _FROM_LAZY:
        module = _importlib.import_module(f"{_OWN}.{_FROM_LAZY[name]}")
        return globals().setdefault(name, getattr(module, name))
    if name == "bfloat16" or name in _TYPED:
        try:
            kind = _bfloat16() if name == "bfloat16" else _typed(name)
            return globals().setdefault(name, kind)
        except ImportError as error:
            if name == "bfloat16":
                return _named_only(name, error)
            raise AttributeError(str(error)) from error
    if name in _NAMED_ONLY:
        return _named_only(name)
    if name.endswith("Storage"):
        storage = _importlib.import_module(f"{_OWN}.tensor.storage")
        named = "FloatStorage" if name == "Storage" else name
        if named in storage.STORAGES:
            return storage.storage_class(named)
    if name.startswith("_foreach_"):
        found = _importlib.import_module(f"{_OWN}.ops.foreach").foreach(name)
        if found is not None:
            return globals().setdefault(name, found)
    if name == "detach" or (name[-1:] == "_" and name[0] != "_"):
        found = _method_functions().get(name)
        if found is not None:
            return globals().setdefault(name, _published(found, _OWN, name))
    return _elsewhere(_OWN)(name)


def _method_functions() -> dict[str, _Any]:
    """Return the methods that are also functions: ``exp_(x)`` for ``x.exp_()``."""
    return _importlib.import_module(f"{_OWN}.tensor.method_functions").FUNCTIONS


def __dir__() -> list[str]:
    """List the public names, without the internal subpackages."""
    own = {name for name, value in globals().items() if not isinstance(value, type(_sys))}
    lazy = {*_LAZY, *_EXPORTED, *_FROM_LAZY, *_TYPED, *_method_functions()}
    found = own | lazy | {"autograd", "random", "return_types"}
    found -= {"bfloat16", "BFloat16Tensor"}  # they need an optional package
    return sorted(name for name in found if not name.startswith("_") or name.startswith("__"))


_install_finder()
_publish(_sys.modules[__name__], autograd)
