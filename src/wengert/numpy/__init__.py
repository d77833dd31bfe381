"""Layer 9 · numpy: NumPy's names over recorded operations: ``import wengert.numpy as np``.

Change the import to differentiate a program written for NumPy. The functions are NumPy's, with its
arguments, defaults, dtypes and errors. The arrays are tensors: they have `requires_grad_`,
`backward` and `grad`, and support in-place writes.

>>> x = np.linspace(0, 1, 3).requires_grad_()
>>> y = np.zeros(3)
>>> y[1:] = np.sin(x[:-1])
>>> y += x**2
>>> np.sum(y).backward()
>>> x.grad
tensor([1.0000, 1.8776, 2.0000], dtype=torch.float64)

`linalg`, `fft`, `random` and SciPy's `special` are included. Names of NumPy that are missing here
raise an AttributeError that says why; functions without a derivative (see
`wengert.tensor.numpy.kinds`) raise when they are called on an array that requires a gradient.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as _np

from wengert.numpy import methods as _methods
from wengert.numpy import settings as _settings
from wengert.numpy.arrays import ndarray as ndarray
from wengert.numpy.creation import CREATORS as _CREATORS
from wengert.numpy.functions import Ufunc as _Ufunc
from wengert.numpy.functions import function_of as _function_of
from wengert.numpy.inspection import Inspection as _Inspection
from wengert.tensor.numpy.dispatch import kind_of as _kind_of

ufunc = _Ufunc
__array_namespace_info__ = _Inspection
__array_api_version__: str = min("2024.12", getattr(_np, "__array_api_version__", "2022.12"))
_ABSENT_METHODS = _methods.ABSENT  # importing it adds the methods of arrays
_MODULES = frozenset({"fft", "linalg", "random", "special"})
_NAMES = """
    False_ ScalarType True_ base_repr binary_repr bool bool_ broadcast_shapes byte cdouble character
    complex128 complex64 complexfloating csingle double dtype dtypes e errstate euler_gamma
    exceptions finfo flexible float16 float32 float64 floating format_float_positional
    format_float_scientific generic get_include getbufsize geterr geterrcall half iinfo index_exp
    inexact inf info int16 int32 int64 int8 int_ intc integer intp isdtype isfortran isscalar
    issubdtype iterable little_endian long longlong mintypecode nan ndindex newaxis number pi
    promote_types s_ sctypeDict setbufsize seterr seterrcall short show_config show_runtime
    signedinteger single typecodes typename typing ubyte uint uint16 uint32 uint64 uint8 uintc uintp
    ulong ulonglong unsignedinteger ushort
    """
_SAME = frozenset(_NAMES.split())
"""Names re-exported from NumPy: dtypes, constants, settings."""
_OLD = {"in1d": "isin", "row_stack": "vstack", "trapz": "trapezoid"}
"""Names that NumPy has removed, and their replacements."""
_DATES = "dates have no gradient"
_TEXTS = "texts have no gradient"
_WIDE = "the widest numbers are float64 and complex128"
_NUMPYS = "it is NumPy's own"
_ONE_DTYPE = "all elements of an array have one dtype, a number's"
_MATRICES = "arrays of two dimensions are matrices: write x @ y"
_POLYNOMIALS = "np.polyval, polyadd, polymul, ... take the coefficients"
_ABSENT = {
    "asmatrix": _MATRICES,
    "bmat": "write np.block",
    "broadcast": "write np.broadcast_arrays, or np.broadcast_shapes",
    "busdaycalendar": _DATES,
    "bytes_": _TEXTS,
    "char": _TEXTS,
    "clongdouble": _WIDE,
    "complex256": _WIDE,
    "core": _NUMPYS,
    "ctypeslib": _NUMPYS,
    "datetime64": _DATES,
    "datetime_data": _DATES,
    "emath": "convert to complex numbers first: np.sqrt(x.astype(complex))",
    "f2py": _NUMPYS,
    "flatiter": "x.flat is an array",
    "float128": _WIDE,
    "lib": _NUMPYS,
    "longdouble": _WIDE,
    "ma": "write np.where with the mask",
    "matrix": _MATRICES,
    "memmap": "write np.asarray(numpy.memmap(...))",
    "nditer": "write a loop over np.ndindex(x.shape)",
    "nested_iters": "write loops over np.ndindex",
    "object_": _ONE_DTYPE,
    "poly1d": _POLYNOMIALS,
    "polynomial": _POLYNOMIALS,
    "rec": _ONE_DTYPE,
    "recarray": _ONE_DTYPE,
    "record": _ONE_DTYPE,
    "str_": _TEXTS,
    "strings": _TEXTS,
    "test": _NUMPYS,
    "testing": "compare with x.detach().numpy()",
    "timedelta64": _DATES,
    "void": _ONE_DTYPE,
}


def ndenumerate(arr: Any) -> Any:
    """Iterate over pairs of an index and the element there (see `numpy.ndenumerate`).

    Examples
    --------
    >>> [(place, x.item()) for place, x in np.ndenumerate(np.eye(2)) if x]
    [((0, 0), 1.0), ((1, 1), 1.0)]
    """
    for place in _np.ndindex(*arr.shape):
        yield place, arr[place]


def _is_function(name: str) -> bool:
    """Return whether this is a function of NumPy that exists here, too."""
    value = _numpys(name)
    called = value.__name__ if isinstance(value, _np.ufunc) else name
    return value is not None and _kind_of(called) in ("rule", "constant", "refused")


def _numpys(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that NumPy has deprecated
        return None if name.startswith("_") else getattr(_np, name, None)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    made: Any
    if name in _CREATORS:
        made = _CREATORS[name]
    elif name in _settings.__all__:
        made = getattr(_settings, name)
    elif name in _SAME and hasattr(_np, name):
        made = getattr(_np, name)
    elif name not in _ABSENT and _is_function(_OLD.get(name, name)):
        made = _function_of(_OLD.get(name, name))
    else:
        why = ""
        if _numpys(name) is not None:
            cure = _ABSENT.get(name, f"write numpy.{name}, and x.detach() for an array x")
            why = f": NumPy has it, but {cure}"
        raise AttributeError(f"module 'wengert.numpy' has no attribute {name!r}{why}")
    return globals().setdefault(name, made)


def __dir__() -> list[str]:
    names = {"ndarray", "ndenumerate", "ufunc", *_MODULES, *_CREATORS, *_settings.__all__}
    functions = {name for name in dir(_np) if name not in _OLD and _is_function(name)}
    return sorted(names | (functions - _ABSENT.keys()) | {n for n in _SAME if hasattr(_np, n)})
