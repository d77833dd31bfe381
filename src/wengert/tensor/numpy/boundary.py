"""Layer 6 · tensor: errors where a gradient would be lost between tensors and NumPy.

NOTE [boundary]
NumPy's functions reach tensors through its protocols, and are differentiable. Code that reaches a
tensor only through ``__array__`` (methods of arrays, ``np.array([t])``) or ``__float__`` (``A[0, 0]
= t``, ``math.exp(t)``) gets a copy of the values. For a tensor that needs a gradient this is an
error, which shows the user's line and what to write instead. ``float(t)`` itself is common in
logging and stays silent: it is recognised by the instruction that the caller executes, and by the
function that this instruction calls. The functions of `math` warn, as in PyTorch. The user's line
is the innermost one outside of installed libraries, if there is one, since a line within a library
would not help the user.
"""

from __future__ import annotations

import builtins
import dis
import importlib
import inspect
import os
import sys
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from wengert.base import __file__ as _BASE
from wengert.ops.coerce import NOT_A_NUMBER
from wengert.ops.exports import EXPORTS
from wengert.prims.facet import NUMPY
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.modes import is_grad_enabled
from wengert.tape.sites import shown, warn

_OURS = os.path.dirname(os.path.dirname(_BASE))
_IDIOMS = os.path.join(_OURS, "compat", "")
_FOREIGN = (
    os.path.join(_OURS, "tensor", ""),
    os.path.join(os.path.dirname(np.__file__), ""),
    _IDIOMS,
)
_OPERATIONS = tuple(os.path.join(_OURS, part, "") for part in ("ops", "nn"))
"""The folders of functions that take numbers without differentiating with respect to them."""
_SCIPY = f"{os.sep}site-packages{os.sep}scipy{os.sep}"
_SPARSE = f"{_SCIPY}sparse{os.sep}"
_STACK = "np.stack([...])"
_LIBRARIES = f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
_ANY_ARRAY = (
    f"Write A @ x or np.dot(A, x) for A.dot(x), {_STACK} for np.array([...]) and for any list of "
    "tensors, a tensor for the array that is assigned to, any of NumPy's functions for an array's "
    "method."
)
_FRAMES = ("pandas", "xarray")
_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
"""PyTorch's warning."""
_ROOTS = os.path.join("scipy", "optimize", "_zeros_py.py")
"""The file of SciPy's root finders."""
_STORE = "subscript"
"""The placeholder for the callee if the caller writes to an element."""
_VERDICTS: dict[tuple[int, int], tuple[Any, str | None]] = {}
"""Cached verdicts by code and instruction offset, with the code to keep it alive."""
_ASSIGN = (
    "Make the array that is written to a tensor: wg.zeros(...) or wengert.numpy.zeros(...), in "
    "which x[i] = t is recorded."
)
_CURES = {
    "arange": "Write start + step * np.arange(n).",
    "array": f"Write {_STACK} or wengert.numpy.array([...]) for np.array([...]).",
    "asarray": "Pass the tensor itself to NumPy's functions, which differentiate.",
    "fill_diagonal": _ASSIGN,
    "fromiter": f"Write {_STACK} for np.fromiter(...).",
    "full": "Write wg.full(shape, 1.0) * t or np.broadcast_to(t, shape).",
    "vectorize": "Write the function with NumPy's own, which take whole tensors, or "
    "np.stack([f(v) for v in t]).",
}
_METHODS = {
    "dot": "Write A @ x or np.dot(A, x) for A.dot(x).",
    **dict.fromkeys(("__setitem__", "fill", "itemset", "put", "setfield"), _ASSIGN),
}
"""Hints for the methods of plain arrays."""
_WRITERS = frozenset(name for name, cure in _METHODS.items() if cure is _ASSIGN)
_PARTS = {
    "legendre": "np.sqrt((2 * n + 1) / (4 * np.pi) * scipy.special.poch(n + m + 1, -2 * m)) * "
    "scipy.special.lpmv(m, n, np.cos(theta))",
    "nn": "wg.nn.functional",
    "spherical": "np.sqrt(np.pi / (2 * x)) * scipy.special.{kind}v(n + 0.5, x)",
    "spectrum": "scipy.ndimage.{name}(np.ones(x.shape, complex), size) * x",
    "windows": "np.median(np.lib.stride_tricks.sliding_window_view(x, size), -1) or the like",
}
"""What stands in braces in `_SCIPYS`."""
_SCIPYS = """
fft dct dst idct idst -> scipy.fft.{name}(np.eye(n), axis=0) @ x
fft dctn dstn idctn idstn -> scipy.fft.dct(np.eye(n), axis=0) @ x and the like along each axis
fftpack fft fft2 fftn fftshift ifft ifft2 ifftn ifftshift -> np.fft.{name}
integrate cumulative_simpson simpson -> scipy.integrate.{name}(np.eye(n), axis=0) @ x
integrate dblquad fixed_quad nquad quad_vec tplquad -> scipy.integrate.cubature (SCIPY_ARRAY_API=1)
integrate quad -> np.trapezoid, or scipy.integrate.cubature (SCIPY_ARRAY_API=1)
integrate trapezoid -> np.trapezoid
interpolate BSpline -> scipy.interpolate.BSpline(t, np.eye(n), k)(at) @ c
interpolate CubicSpline make_interp_spline -> scipy.interpolate.{name}(t, np.eye(n))(at) @ y
interpolate RegularGridInterpolator interpn -> wg.nn.functional.grid_sample
interpolate interp1d -> np.interp
ndimage affine_transform geometric_transform map_coordinates rotate shift -> {nn}.grid_sample
ndimage black_tophat grey_closing grey_dilation grey_erosion grey_opening -> {nn}.max_pool2d
ndimage center_of_mass -> np.tensordot(np.indices(x.shape), x, x.ndim) / np.sum(x)
ndimage convolve correlate gaussian_filter gaussian_gradient_magnitude laplace -> {nn}.conv2d
ndimage convolve1d correlate1d -> scipy.ndimage.{name}(np.eye(n), weights, axis=0) @ x
ndimage fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform -> {spectrum}
ndimage gaussian_filter1d uniform_filter1d -> scipy.ndimage.{name}(np.eye(n), size, axis=0) @ x
ndimage gaussian_laplace generic_gradient_magnitude generic_laplace prewitt sobel -> {nn}.conv2d
ndimage generic_filter generic_filter1d median_filter percentile_filter rank_filter -> {windows}
ndimage maximum -> np.max
ndimage maximum_filter maximum_filter1d minimum_filter minimum_filter1d -> {nn}.max_pool2d
ndimage mean median sum -> np.{name}
ndimage minimum -> np.min
ndimage morphological_gradient morphological_laplace white_tophat -> {nn}.max_pool2d
ndimage spline_filter1d -> scipy.ndimage.spline_filter1d(np.eye(n), axis=0) @ x
ndimage standard_deviation -> np.std
ndimage sum_labels -> np.sum
ndimage uniform_filter -> {nn}.avg_pool2d
ndimage variance -> np.var
ndimage zoom -> {nn}.interpolate
optimize fmin fmin_bfgs fmin_cg fmin_l_bfgs_b fmin_ncg fmin_powell -> wengert.scipy.minimize
optimize fmin_slsqp fmin_tnc -> wengert.scipy.minimize
optimize fsolve -> wengert.scipy.root
optimize leastsq -> wengert.scipy.least_squares
signal coherence csd periodogram spectrogram stft welch -> wg.stft
signal convolve correlate -> np.{name}
signal convolve2d correlate2d -> {nn}.conv2d
signal detrend -> scipy.signal.detrend(np.eye(n), axis=0) @ x
signal fftconvolve oaconvolve -> np.convolve
signal filtfilt lfilter -> scipy.signal.{name}(b, a, np.eye(n), axis=0) @ x
signal istft -> wg.istft
signal medfilt medfilt2d order_filter -> {windows}
signal resample_poly -> scipy.signal.resample_poly(np.eye(n), up, down) @ x
signal savgol_filter -> scipy.signal.savgol_filter(np.eye(n), window, order, axis=0) @ x
signal sosfilt sosfiltfilt -> scipy.signal.{name}(sos, np.eye(n), axis=0) @ x
signal upfirdn -> scipy.signal.upfirdn(h, np.eye(n), axis=0) @ x
spatial cdist -> wg.cdist
spatial euclidean -> np.linalg.norm
spatial pdist -> {nn}.pdist
special assoc_legendre_p -> scipy.special.lpmv
special cbrt exp2 i0 sinc -> np.{name}
special comb -> scipy.special.binom
special diric -> np.sin(n * x / 2) / (n * np.sin(x / 2))
special factorial -> scipy.special.gamma(x + 1)
special legendre_p -> scipy.special.eval_legendre
special perm -> scipy.special.poch(x - k + 1, k)
special sph_harm_y -> {legendre} * np.exp(1j * m * phi)
special sph_legendre_p -> {legendre}
special spherical_in spherical_jn spherical_kn spherical_yn -> {spherical}
stats boxcox -> scipy.special.boxcox(x, lmbda)
"""
"""What to write for functions of a package that no namespace has by the same name."""
_MATH = {
    "comb": "scipy.special.binom",
    "dist": "np.linalg.norm",
    "fsum": "np.sum",
    "lgamma": "scipy.special.gammaln",
    "sumprod": "np.dot",
}


def loses(value: Any) -> bool:
    """Return whether using only the values of `value`, a tensor or lists, loses a gradient."""
    if isinstance(value, TensorBase):
        return value._edge is not None and is_grad_enabled()
    if isinstance(value, list | tuple):
        return any(loses(part) for part in value)
    if isinstance(value, dict):
        return any(loses(part) for part in value.values())
    return False


def array_lost() -> TypeError:
    """Return the error of ``__array__``."""
    frame, inner = _caller()
    cure = _cure_between(inner) or _cure(_callee(frame)) or _cure(_running(inner)) or _ANY_ARRAY
    return TypeError(
        "a tensor that needs a gradient was about to be copied into a plain NumPy array, losing "
        f"its gradient{_place(frame)}\n  What takes plain arrays only cannot be traced. {cure} "
        "If no gradient is wanted: x.detach()."
    )


def function_lost(label: str, cure: str = "") -> NotImplementedError:
    """Return the error of a function that has no derivative here."""
    cure = cure or "Use operations of wengert, or write an autograd.Function."
    return NotImplementedError(
        f"there is no derivative rule for {label}: called on a tensor that requires a gradient, it "
        f"would lose it.{_place(_users_frame())}\n  {cure} If no gradient is wanted: x.detach()."
    )


def target_lost(label: str) -> TypeError:
    """Return the error of a function that would write a tensor's values into a plain array."""
    return TypeError(
        f"{label} was about to write the values of a tensor that needs a gradient into a plain "
        f"NumPy array, losing the gradient{_place(_users_frame())}\n  {_ASSIGN} Or let the "
        "function make its result: a = a + t for a += t. If no gradient is wanted: t.detach()."
    )


def check_number(tensor: Any, frame: Any) -> None:
    """Refuse to convert a tensor that needs a gradient to a number where that loses the gradient.

    The functions of `math` warn, unless the tensor belongs to another library's idiom: then they
    raise.

    Parameters
    ----------
    tensor: A tensor that needs a gradient, or has a tangent; only operations check the latter.
    frame: The frame that asks for the number.

    Raises
    ------
    TypeError
        If the frame stores the number in an array, calls a function of NumPy or SciPy, or belongs
        to one, or to an operation that takes a number.
    """
    code, offset = frame.f_code, frame.f_lasti
    known = _VERDICTS.get((id(code), offset))
    if known is None:
        if len(_VERDICTS) > 1000:
            _VERDICTS.clear()
        known = _VERDICTS[id(code), offset] = code, _verdict(frame)
    if known[1] is None:
        return
    if known[1] is NOT_A_NUMBER:
        raise TypeError(f"{_operation(frame)}(): {NOT_A_NUMBER}")
    if tensor._edge is None:
        return
    own = not type(tensor).__module__.startswith(("wengert.compat", "jax.", "tensorflow."))
    if own and known[1].endswith(_OF_MATH):
        warn(f"{_SCALAR} {known[1]}", UserWarning)
    else:
        raise TypeError(
            "a tensor that needs a gradient was about to become a Python number, losing its "
            f"gradient{_place(_users_frame())}\n  {known[1]} If no gradient is wanted: x.detach(), "
            "or float(x)."
        )


def _verdict(frame: Any) -> str | None:
    """Return what to write instead of the conversion in `frame`; None if it is allowed."""
    filename = frame.f_code.co_filename
    if filename.endswith(_ROOTS):
        # its C loop continues after an error, and raises a misleading one
        return f"Write wengert.scipy.root_scalar for scipy's search, {_OF_MATH}"
    if filename.startswith(_OPERATIONS):
        return NOT_A_NUMBER
    if _takes_numbers(filename):
        users = _users_frame()
        return _cure(_callee(users)) or _cure_of_scipy(None)
    return _cure(_callee(frame))


def _operation(frame: Any) -> str:
    """Return the name of the operation in which `frame` is."""
    while frame.f_back is not None and frame.f_back.f_code.co_filename.startswith(_OPERATIONS[0]):
        frame = frame.f_back
    return str(frame.f_code.co_name)


def _cure(function: Any) -> str | None:
    """Return what to write for a call of `function`, which sees no tensors; None if unknown."""
    if function == _STORE:
        return _ASSIGN
    owner = getattr(function, "__self__", None)
    name = _name(function)
    if isinstance(owner, np.ndarray):
        there = f"Write np.{name}(A, ...) for A.{name}(...)." if hasattr(np, name) else ""
        return _METHODS.get(name, there or "Write a function of NumPy's for the array's method.")
    if isinstance(function, _JOINED):
        return "Write np.concatenate for np.r_[...], and np.column_stack for np.c_[...]."
    module = getattr(function, "__module__", None)
    home = module if isinstance(module, str) else type(owner).__module__ or ""
    root = home.partition(".")[0]
    if root in ("math", "cmath"):
        return _cure_of_math(root, name)
    if root in ("_operator", "operator") and name == "setitem":
        return _ASSIGN
    if root == "array":
        return f"Write {_STACK} for array.array(...)."
    if root == "scipy":
        return _cure_of_scipy(function)
    if root != "numpy" and not isinstance(function, np.ufunc):
        return None
    if isinstance(owner, _DRAWERS):
        return (
            "Draw from the standard distribution and compute with the parameters: loc + scale * "
            f"rng.standard_normal(n); or write wengert.numpy.random.{name}."
        )
    if home.startswith("numpy.ma"):
        return "Write np.where with the mask for masked arrays."
    if name in _CURES:
        return _CURES[name]
    if isinstance(function, np.ufunc) or hasattr(function, "_implementation"):
        home = "np.linalg" if "linalg" in home else "np.fft" if "fft" in home else "np"
        return (
            "NumPy's functions do not record tensors within a list: write "
            f"{home}.{name}(np.stack([...])) for {home}.{name}([...])."
        )
    return "Write it with functions of NumPy's that take tensors."


_DRAWERS = np.random.Generator | np.random.RandomState
_JOINED = type(np.r_).__mro__[1]


_OF_MATH = "which does not differentiate."


def _cure_of_math(module: str, name: str) -> str:
    ours = _MATH.get(name) or f"np.{name}"
    special = importlib.import_module("wengert.tensor.numpy.special").RULES
    if name not in _MATH and name in TABLE and NUMPY[TABLE[name]]:
        ours = f"np.{NUMPY[TABLE[name]].split()[0]}"
    elif name in special and not hasattr(np, name):
        ours = f"scipy.special.{name}"
    if not ours.startswith("np.") or hasattr(np, ours[3:]) or "linalg" in ours:
        return f"Write {ours} for {module}.{name}, {_OF_MATH}"
    return f"Write it with NumPy's functions for {module}.{name}, {_OF_MATH}"


def _cure_between(frame: Any) -> str | None:
    """Return what to write for a call of the library of `frame`; None for a known library."""
    if frame is None:
        return None
    if isinstance(frame.f_locals.get("self"), np.vectorize):
        return _CURES["vectorize"]
    filename = frame.f_code.co_filename
    if _SPARSE in filename:
        return (
            "Write wengert.sparse.matmul(A, x), which differentiates, for A @ x and A.dot(x) with "
            "a sparse A; A.toarray() for other operations."
        )
    if _is_foreign(filename):
        return None
    library = str(frame.f_globals.get("__name__", "a library")).partition(".")[0]
    more = " To keep the gradient, compute with its values, .to_numpy()." * (library in _FRAMES)
    return f"{library} works on plain arrays: pass x.detach(), whose values it takes.{more}"


def _cure_of_scipy(function: Any) -> str:
    """Return what to write for a SciPy function other than the ufuncs of ``scipy.special``.

    Such functions see only arrays. A counterpart is searched for by name in the package's own
    modules, in NumPy's, and among the functions that SciPy declares portable by the array API.
    """
    name = _name(function)
    owner = getattr(function, "__self__", None)
    home = str(getattr(function, "__module__", None) or type(owner).__module__).split(".")
    same = [
        f"{place}.{name}" if part is None else f"{place}.{part}.{name}"
        for module, place, part in (
            ("wengert.scipy.linalg" if "linalg" in home else "", "wengert.scipy.linalg", None),
            ("wengert.scipy" if "optimize" in home else "", "wengert.scipy", None),
            ("wengert.integrate" if "integrate" in home else "", "wengert.integrate", None),
            (
                "wengert.scipy.stats" if "stats" in home else "",
                "wengert.scipy.stats",
                getattr(getattr(owner, "dist", owner), "name", None),  # of a frozen distribution
            ),
            ("numpy.linalg" if "linalg" in home else "", "np.linalg", None),
            ("numpy.fft" if "fft" in home else "", "np.fft", None),
        )
        if module and callable(_there(module, part, name))
    ]
    if "special" in home:
        same += [f"wg.{name}"] * (name in TABLE and name in EXPORTS["wengert"])
    ours = _written(home[1], name) if len(home) > 1 else None
    ours = ours or (same[0] if same else None)
    own = f"scipy's {name}" if name else "what scipy calls"
    if ours is not None:
        return f"Write {ours} for {own}."
    if _is_portable(function):
        return (
            f"With SCIPY_ARRAY_API=1 in the environment before scipy is imported, {own} takes "
            "wengert.numpy.asarray(x)."
        )
    return (
        f"Write an autograd.Function around {own}, whose backward says what its derivative is, or "
        "compute with functions of NumPy's, which differentiate."
    )


def _written(package: str, name: str) -> str | None:
    """Return what `_SCIPYS` says to write for a function of a package of SciPy."""
    for line in _SCIPYS.strip().splitlines():
        names, _, cure = line.partition(" -> ")
        home, *rest = names.split()
        if home == package and name in rest:
            return cure.format(name=name, **_PARTS).format(name=name, kind=name[-2:-1])
    return None


def _there(module: str, part: str | None, name: str) -> Any:
    """Return the function of this name in a module, or in a part of it; None if there is none."""
    found: Any = importlib.import_module(module)
    if part is not None:
        found = getattr(found, part, None)
    return getattr(found, name, None) if name else None


def _is_portable(function: Any) -> bool:
    """Return whether SciPy computes `function` with any array API namespace, once told to."""
    home = sys.modules.get("scipy._lib._array_api")
    table = getattr(home, "xp_capabilities_table", {})
    try:
        known = table.get(function)
    except TypeError:  # the function is not hashable
        known = None
    told = getattr(home, "SCIPY_ARRAY_API", False)
    return known is not None and not (told or known["np_only"] or known["cpu_only"])


def _name(function: Any) -> str:
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.vectorize):
        return "vectorize"
    name = getattr(function, "__name__", "")
    if isinstance(owner, np.ndarray) or not isinstance(name, str):
        return name if isinstance(name, str) else ""
    return {"asanyarray": "asarray", "ascontiguousarray": "asarray"}.get(name, name)


_SEARCHES = "scipy.optimize._chandrupatla"
"""The module of SciPy's searches for roots and minima by the array API."""


def check_search(frame: Any) -> None:
    """Warn if the caller of a frame is a search, which a gradient does not pass in full.

    It chooses among points that it has halved intervals into: constants, to a gradient.
    """
    while frame is not None and "scipy" in frame.f_code.co_filename:
        if frame.f_globals.get("__name__") == _SEARCHES:
            warn(
                "scipy.optimize.elementwise differentiates the last steps of a search only: the "
                "gradient of what it finds is 0 where it has halved an interval. Write "
                "wengert.implicit.root around the search, which has the derivative of its result"
            )
            return
        frame = frame.f_back


def _users_frame() -> Any:
    """Return the innermost frame outside of libraries, or else outside of ours, NumPy and SciPy."""
    return _caller()[0]


def _caller() -> tuple[Any, Any]:
    """Return the user's frame, and the frame that it called."""
    inner = None
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and _is_foreign(frame.f_code.co_filename):
        frame, inner = frame.f_back, frame
    outer, called = frame, inner
    while _is_installed(outer.f_code.co_filename):
        outer, called = outer.f_back, outer
        if outer is None:
            break
    else:
        frame, inner = outer, called
    ours = inner is not None and inner.f_code.co_filename.startswith(
        ("<wengert ", _FOREIGN[0], _IDIOMS)
    )
    return frame, None if ours else inner


def _is_installed(filename: str) -> bool:
    """Return whether a file belongs to an installed library, or to Python."""
    return (
        any(folder in filename for folder in _LIBRARIES)
        or filename.startswith((_STANDARD, "<frozen ", "<wengert ", "<__array_function"))
        or _is_foreign(filename)
    )


def _is_foreign(filename: str) -> bool:
    ours = filename.startswith(("<wengert ", "<__array_function"))
    return ours or _SCIPY in filename or filename.startswith(_FOREIGN)


def _takes_numbers(filename: str) -> bool:
    """Return whether a file is NumPy's or SciPy's, whose compiled code converts to numbers."""
    return _SCIPY in filename or filename.startswith(_FOREIGN[1])


def _place(frame: Any) -> str:
    """Return a line that shows where `frame` is."""
    where = shown(([frame.f_code, frame.f_lasti], None))
    return f"\n  at {where}" if where else ""


def _running(frame: Any) -> Any:
    """Return the method that `frame` runs, of whatever object; None if it runs another function."""
    owner = None if frame is None else frame.f_locals.get("self")
    return None if owner is None else getattr(owner, frame.f_code.co_name, None)


_NO_NAMES = ("PUSH_NULL", "PRECALL", "NOP", "CACHE", "RESUME", "KW_NAMES")
"""Instructions at the place of a call that say nothing of what is called."""


def _callee(frame: Any) -> Any:
    """Return the function that the frame calls, `_STORE` for an element write, None if unknown.

    A call's source position begins where the expression of its function begins. So the instructions
    that load the function's name and attributes are found by their position, and the name is
    looked up.
    """
    loads: list[Any] = []
    at = None
    for instruction in dis.get_instructions(frame.f_code):
        # during a call of a Python function, `f_lasti` points after the instruction, at its cache
        if instruction.offset > frame.f_lasti:
            break
        if at is not None:
            loads.append(at)
        at = instruction
    if at is None:
        return None
    if at.opname in ("STORE_SUBSCR", "STORE_SLICE"):
        return _STORE
    place = at.positions
    reads = at.opname == "BINARY_SUBSCR" or (at.opname == "BINARY_OP" and at.argrepr == "[]")
    if not (reads or at.opname.startswith("CALL")) or place is None or place.col_offset is None:
        return None
    start = (place.lineno, place.col_offset)
    names = [
        i
        for i in loads
        if i.positions is not None and (i.positions.lineno, i.positions.col_offset) == start
    ]
    names = [i for i in names if i.opname not in _NO_NAMES]
    if at.opname == "CALL_KW":  # since Python 3.13, after the names of the keywords
        names = [i for i in names if i.opname != "LOAD_CONST"]
    if not names:
        return None
    if not all(i.opname.startswith("LOAD_") for i in names):
        # a method of an expression's value: assume an array if arrays have a writer of that name
        return _STORE if names[-1].argval in _WRITERS else None
    # the same expression may have been compiled more than once
    roots = [
        n for n, i in enumerate(names) if not i.opname.startswith(("LOAD_ATTR", "LOAD_METHOD"))
    ]
    if not roots:
        return None
    root, *attributes = (i.argval for i in names[roots[-1] :])
    scopes = (frame.f_locals, frame.f_globals, vars(builtins))
    found = next((scope[root] for scope in scopes if root in scope), None)
    for attribute in attributes:
        if isinstance(found, ModuleType | type | np.ndarray | _DRAWERS):
            found = getattr(found, attribute, None)
        elif isinstance(inspect.getattr_static(type(found), attribute, None), FunctionType):
            found = getattr(found, attribute)
        else:
            # do not run the user's properties here
            found = getattr(found, "__dict__", {}).get(attribute)
    return found
