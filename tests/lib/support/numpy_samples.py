"""Sample calls of NumPy's functions on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.numpy_calls import Call, cx, ints, mask, pos, rising, spd, sym, unit, x

__all__ = ["SAMPLES"]

_REDUCED = (
    Call(x(2, 3)),
    Call(x(2, 3), 0),
    Call(x(2, 3), axis=(0, 1)),
    Call(x(2, 3), axis=-1, keepdims=True),
    Call(x(2, 3, 2), axis=(0, 2), keepdims=True),
    Call(x()),
)
_SUMMED = (
    *_REDUCED,
    Call(x(2, 3), axis=()),
    Call(x(2, 3), 1, where=mask(2, 3)),
    Call(x(2, 3), initial=2.0),
    Call(x(2, 3), dtype=np.complex128),
    Call(cx(2, 3), axis=0),
    Call(x(0, 3), axis=0),
)
_MOMENT = (
    *_REDUCED,
    Call(x(3, 4), ddof=1),
    Call(x(3, 4), axis=0, ddof=1),
    Call(x(3, 4), axis=1, where=np.array([True, False, True, True])),
    Call(cx(3, 4), axis=1),
)
_EXTREME = (*_REDUCED, Call(x(2, 3), initial=0.1), Call(x(2, 3), 1, initial=0.0, where=mask(2, 3)))
_SCAN = (Call(x(2, 3)), Call(x(2, 3), 0), Call(x(2, 3), axis=-1), Call(cx(3), 0))
_SCAN_1D = (
    Call(x(3)),
    Call(x(2, 3), axis=1),
    Call(x(2, 3), axis=0, include_initial=True),
)
_QUANTILE = (
    Call(x(5), 0.3),
    Call(x(3, 4), 0.5, 0),
    Call(x(3, 4), [0.1, 0.9], axis=1, keepdims=True),
    Call(x(2, 3, 4), 0.25, axis=(0, 2)),
    Call(x(2, 3, 4), [[0.25, 0.5]], axis=(0, 2), keepdims=True),
    Call(x(5), 0.3, method="lower"),
    Call(x(5), 0.3, method="midpoint"),
)
_PERCENT = tuple(
    Call(c.args[0], 100 * np.asarray(c.args[1]), *c.args[2:], **c.kwargs) for c in _QUANTILE
)
_MEDIAN = (
    Call(x(5)),
    Call(x(4)),
    Call(x(3, 4), axis=0),
    Call(x(3, 4), axis=1, keepdims=True),
    Call(x(2, 3, 4), axis=(0, 1)),
)
_STACKED = (Call([x(3), x(3)]), Call((x(2, 3), x(2, 3))), Call([x(2, 3), np.ones((2, 3))]))
_TWO = (Call(x(3), x(3)), Call(x(2, 3), x(3)), Call(x(2, 3), np.ones(3)))
_FFT = (
    Call(x(5)),
    Call(x(4), 3),
    Call(x(2, 3), 4, 0),
    Call(x(2, 3), axis=0, norm="ortho"),
    Call(x(3), norm="forward"),
)
_FFT_C = (*_FFT, Call(cx(4)), Call(cx(2, 3), axis=0))
_FFTN = (Call(x(2, 3)), Call(x(2, 3), (3, 2), axes=(0, 1)), Call(x(2, 3, 2), axes=(0, 1)))
_FFTN_C = (*_FFTN, Call(cx(2, 3), norm="ortho"))


def _double(v: Any) -> Any:
    return np.sum(v * v)


def _spread(v: Any) -> Any:
    return v * np.array([[1.0], [2.0]])


def _symmetric(function: Any, a: Any, *rest: Any, **kwargs: Any) -> Any:
    return function((a + np.swapaxes(a, -2, -1)) / 2, *rest, **kwargs)


def _recomposed(function: Any, a: Any, **kwargs: Any) -> Any:
    parts = _symmetric(function, a, **kwargs) if kwargs.get("hermitian") else function(a, **kwargs)
    count = parts[1].shape[-1]
    left, right = parts[0][..., :count], parts[2][..., :count, :]
    return parts[1], (left * np.expand_dims(np.exp(parts[1]), -2)) @ right


def _diagonalised(function: Any, a: Any, **kwargs: Any) -> Any:
    values, vectors = _symmetric(function, a, **kwargs)
    return values, (vectors * np.exp(values)) @ np.swapaxes(vectors, -2, -1)


def _sized(function: Any, a: Any) -> Any:
    values, vectors = function(a)
    return values, np.abs(vectors)


def _between_zeros(function: Any, a: Any, *rest: Any) -> Any:
    return function(a * np.array([0.0, 1.0, 1.0, 0.0]), *rest)


def _twice(function: Any, a: Any) -> Any:
    return function(np.concatenate([a, a]))


def _steep(function: Any, a: Any) -> Any:
    return function(a + 5 * np.arange(4.0))


def _of_polynomial(function: Any, a: Any) -> Any:
    return function(np.poly(a))


SAMPLES: dict[str, tuple[Call, ...]] = {
    # reductions and scans
    "all": (Call(x(2, 3)), Call(x(2, 3), axis=0), Call(x(2, 3), axis=1, keepdims=True)),
    "any": (Call(x(2, 3)), Call(x(2, 3), axis=0), Call(x(2, 3), 1, where=mask(2, 3))),
    "amax": _EXTREME,
    "amin": _EXTREME,
    "max": _EXTREME,
    "min": _EXTREME,
    "sum": _SUMMED,
    "prod": _SUMMED,
    "mean": (*_REDUCED, Call(x(2, 3), 1, where=mask(2, 3)), Call(cx(2, 3), axis=0)),
    "var": _MOMENT,
    "std": _MOMENT,
    "ptp": (Call(x(2, 3)), Call(x(2, 3), 0), Call(x(2, 3), axis=1, keepdims=True)),
    "average": (
        Call(x(2, 3)),
        Call(x(2, 3), 0),
        Call(x(2, 3), axis=1, weights=pos(3)),
        Call(x(2, 3), weights=pos(2, 3), returned=True),
        Call(x(2, 3), 0, pos(2, 3), keepdims=True),
    ),
    "trace": (Call(x(3, 3)), Call(x(2, 3, 4), 1, 0, 2)),
    "cumsum": _SCAN,
    "cumprod": _SCAN,
    "cumulative_sum": _SCAN_1D,
    "cumulative_prod": _SCAN_1D,
    "nansum": (Call(x(2, 3)), Call(x(2, 3), 0), Call(x(2, 3), axis=1, keepdims=True)),
    "nanprod": (Call(x(2, 3)), Call(x(2, 3), 0)),
    "nancumsum": (Call(x(2, 3)), Call(x(2, 3), 0)),
    "nancumprod": (Call(x(2, 3)), Call(x(2, 3), 0)),
    "nanmax": (Call(x(2, 3)), Call(x(2, 3), 0), Call(x(2, 3), axis=1, keepdims=True)),
    "nanmin": (Call(x(2, 3)), Call(x(2, 3), 0)),
    "nanmean": (Call(x(2, 3)), Call(x(2, 3), 0), Call(x(2, 3), axis=1, keepdims=True)),
    "nanvar": (Call(x(2, 3)), Call(x(2, 3), 0), Call(x(3, 4), axis=1, ddof=1)),
    "nanstd": (Call(x(2, 3)), Call(x(2, 3), 0), Call(x(3, 4), axis=1, ddof=1)),
    "quantile": _QUANTILE,
    "nanquantile": _QUANTILE[:4] + _QUANTILE[5:],
    "percentile": _PERCENT,
    "nanpercentile": _PERCENT[:4] + _PERCENT[5:],
    "median": _MEDIAN,
    "nanmedian": _MEDIAN,
    "clip": (
        Call(x(2, 3), -0.5, 0.5),
        Call(x(2, 3), x(3), None),
        Call(x(2, 3), a_max=0.5, a_min=None),
        Call(x(4), -1, x(4)),
    ),
    # shapes
    "reshape": (
        Call(x(2, 3), (3, 2)),
        Call(x(2, 3), -1),
        Call(x(2, 3), (3, 2), order="F"),
        Call(x(2, 3), (-1, 2), order="F"),
    ),
    "ravel": (Call(x(2, 3)), Call(x(2, 3), order="F")),
    "transpose": (Call(x(2, 3)), Call(x(2, 3, 4), (1, 2, 0))),
    "permute_dims": (Call(x(2, 3)), Call(x(2, 3, 4), (1, 2, 0))),
    "matrix_transpose": (Call(x(2, 3)), Call(x(2, 3, 4))),
    "swapaxes": (Call(x(2, 3, 4), 0, 2),),
    "moveaxis": (Call(x(2, 3, 4), 0, -1), Call(x(2, 3, 4), [0, 1], [-1, -2])),
    "rollaxis": (Call(x(2, 3, 4), 2), Call(x(2, 3, 4), 0, 3), Call(x(2, 3, 4), 1, 1)),
    "expand_dims": (Call(x(2, 3), 0), Call(x(2, 3), (0, -1))),
    "squeeze": (Call(x(1, 3, 1)), Call(x(1, 3, 1), 0), Call(x(1, 3, 1), axis=(0, 2))),
    "broadcast_to": (Call(x(3), (2, 3)), Call(x(), 3)),
    "broadcast_arrays": (Call(x(3), x(2, 1)),),
    "atleast_1d": (Call(x()), Call(x(2), x(1, 2))),
    "atleast_2d": (Call(x()), Call(x(3)), Call(x(2, 2), x(2))),
    "atleast_3d": (Call(x()), Call(x(3)), Call(x(2, 3))),
    "concatenate": (
        *_STACKED,
        Call([x(2, 3), x(2, 2)], 1),
        Call([x(2, 3), x(2)], axis=None),
        Call([x(2), x(3)], dtype=np.complex128),
    ),
    "concat": _STACKED,
    "stack": (*_STACKED, Call([x(2, 3), x(2, 3)], axis=-1)),
    "unstack": (Call(x(2, 3)), Call(x(2, 3), axis=1)),
    "hstack": _STACKED,
    "vstack": _STACKED,
    "dstack": _STACKED,
    "column_stack": _STACKED,
    "block": (Call([[x(2, 2), x(2, 1)], [x(1, 2), x(1, 1)]]), Call([x(2), x(3)])),
    "append": (Call(x(3), 2.0), Call(x(2, 3), x(1, 3), 0)),
    "split": (Call(x(4), 2), Call(x(2, 5), [1, 3], axis=1)),
    "array_split": (Call(x(5), 2), Call(x(2, 5), [1, 3], 1)),
    "hsplit": (Call(x(4), 2), Call(x(2, 4), 2)),
    "vsplit": (Call(x(4, 2), 2),),
    "dsplit": (Call(x(2, 2, 4), 2),),
    "delete": (Call(x(5), 1), Call(x(3, 4), [0, 2], axis=1), Call(x(5), slice(1, 3))),
    "insert": (
        Call(x(4), 1, x()),
        Call(x(4), [1, 3], x(2)),
        Call(x(2, 3), 1, x(2), axis=1),
        Call(x(2, 3), 1, x(2, 3), axis=0),
        Call(x(4), slice(1, 3), x(2)),
        Call(x(4), -1, 5.0),
    ),
    "flip": (Call(x(2, 3)), Call(x(2, 3), 0), Call(x(2, 3), (0, 1))),
    "fliplr": (Call(x(2, 3)),),
    "flipud": (Call(x(2, 3)),),
    "roll": (Call(x(5), 2), Call(x(2, 3), 1, axis=1), Call(x(2, 3), 1, axis=(0, 1))),
    "rot90": (*[Call(x(2, 3), k) for k in range(-1, 4)], Call(x(2, 3, 2), 1, (1, 2))),
    "repeat": (Call(x(3), 2), Call(x(2, 3), [1, 2], axis=0), Call(x(2, 3), 2, axis=1)),
    "tile": (Call(x(3), 2), Call(x(2, 3), (2, 1)), Call(x(3), (2, 2))),
    "resize": (Call(x(3), (2, 4)), Call(x(2, 3), 4)),
    "tril": (Call(x(3, 3)), Call(x(2, 3, 3), 1)),
    "triu": (Call(x(3, 3)), Call(x(2, 3, 3), -1)),
    "diag": (Call(x(3)), Call(x(3, 4), 1), Call(x(2), -1)),
    "diagflat": (Call(x(2, 2)), Call(x(2), 1)),
    "diagonal": (Call(x(3, 4)), Call(x(2, 3, 4), 1, 1, 2)),
    "pad": (
        Call(x(3), 2),
        Call(x(2, 3), ((1, 0), (0, 2)), constant_values=1.5),
        *[Call(x(3), (2, 1), mode=mode) for mode in ("edge", "reflect", "symmetric", "wrap")],
        Call(x(2, 3), 1, mode="reflect"),
    ),
    "trim_zeros": (Call(x(4), via=_between_zeros), Call(x(4), "f", via=_between_zeros)),
    "copy": (Call(x(2, 3)),),
    "full_like": (Call(x(2, 3), x()), Call(x(2), x(1), shape=(3,), dtype=np.complex128)),
    "astype": (Call(x(2, 3), np.float64), Call(x(3), np.complex128)),
    "real": (Call(x(3)), Call(cx(3))),
    "imag": (Call(cx(3)),),
    "angle": (Call(cx(3)), Call(cx(3), deg=True)),
    "ix_": (Call(x(3), ints(2)), Call(mask(4), x(2), x(3))),
    "meshgrid": (
        Call(x(2), x(3)),
        Call(x(2), x(3), indexing="ij"),
        Call(x(2), x(3), x(2), sparse=True),
        Call(x(2)),
    ),
    # choice and order
    "nan_to_num": (Call(x(3)), Call(x(3), nan=1.0, posinf=2.0)),
    "sinc": (Call(x(3)),),
    "i0": (Call(x(3)),),
    "fix": (Call(x(3)),),
    "round": (Call(x(3)), Call(x(3), 2)),
    "around": (Call(x(3)), Call(x(3), 1)),
    "real_if_close": (Call(x(3)), Call(cx(3))),
    "take": (
        Call(x(5), [0, 2, 2]),
        Call(x(2, 3), [[0, 1], [2, 2]], axis=1),
        Call(x(5), [7, -1], mode="wrap"),
        Call(x(5), 1),
    ),
    "take_along_axis": (
        Call(x(2, 3), np.array([[0, 2], [1, 1]]), axis=1),
        Call(x(4), np.array([1, 0]), 0),
    ),
    "compress": (Call([True, False, True], x(3)), Call([False, True], x(2, 3), axis=0)),
    "extract": (Call(mask(2, 3), x(2, 3)),),
    "choose": (
        Call(np.array([0, 1, 1]), [x(3), x(3)]),
        Call(np.array([[0, 3], [1, 2]]), [x(2), x()], mode="wrap"),
    ),
    "select": (Call([mask(3), mask(3)], [x(3), x(3)], 2.0),),
    "where": (Call(mask(3), x(3), x(3)), Call(mask(2, 3), x(3), 0.0), Call(np.arange(3), x(3), 1)),
    "piecewise": (
        Call(x(4), [np.array([True, False, True, False])], [np.exp, np.sin]),
        Call(x(4), [np.arange(4) < 1, np.arange(4) > 2], [2.0, np.exp]),
    ),
    "sort": (Call(x(5)), Call(x(2, 3), 0), Call(x(2, 3), None), Call(cx(4))),
    "sort_complex": (Call(cx(4)),),
    "partition": (Call(x(5), 4),),
    "unique": (
        Call(x(4)),
        Call(x(2), via=_twice),
        Call(x(2, 3), return_index=True, return_inverse=True, return_counts=True),
        Call(x(2, 3), axis=1),
    ),
    "unique_all": (Call(x(4)),),
    "unique_counts": (Call(x(4)),),
    "unique_inverse": (Call(x(4)),),
    "unique_values": (Call(x(4)),),
    "union1d": (Call(x(3), x(2)),),
    "setdiff1d": (Call(x(3), np.zeros(2)),),
    "intersect1d": (Call(rising(3), np.arange(3.0)),),
    "setxor1d": (Call(x(3), x(2)),),
    "bincount": (Call(ints(5), weights=x(5)), Call(ints(5), x(5), minlength=6)),
    "histogram": (
        Call(x(6)),
        Call(x(6), 4, (-2.0, 2.0), weights=x(6)),
        Call(x(6), [-3.0, 0.0, 0.5, 3.0], density=True, weights=pos(6)),
    ),
    "histogram_bin_edges": (Call(x(6), 3), Call(x(6), 3, (0.0, 1.0))),
    # products
    "dot": (
        Call(x(3), x(3)),
        Call(x(2, 3), x(3)),
        Call(x(2, 3), x(3, 2)),
        Call(x(2, 3), x(2, 3, 2)),
        Call(x(), x(2)),
    ),
    "vdot": (Call(x(2, 3), x(2, 3)), Call(cx(3), cx(3))),
    "inner": (Call(x(3), x(3)), Call(x(2, 3), x(4, 3)), Call(x(), x(2))),
    "outer": (Call(x(2), x(3)), Call(x(2, 2), x(3))),
    "tensordot": (
        Call(x(2, 3, 4), x(3, 4, 2)),
        Call(x(2, 3), x(2, 4), axes=(0, 0)),
        Call(x(2, 3, 4), x(4, 2), axes=([0, 2], [1, 0])),
        Call(x(2), x(3), axes=0),
    ),
    "kron": (Call(x(2), x(3)), Call(x(2, 2), x(1, 3)), Call(x(2), x(2, 2))),
    "einsum": (
        Call("ij,jk->ik", x(2, 3), x(3, 2)),
        Call("ii", x(3, 3)),
        Call("i,i,i->", x(3), x(3), x(3), optimize=True),
        Call(x(2, 3), [0, 1], x(3), [1], [0]),
    ),
    "cross": (
        Call(x(3), x(3)),
        Call(x(3, 2), x(3, 2), axis=0),
        Call(x(2, 3), x(3, 2), axisb=0, axisc=0),
    ),
    "convolve": (
        *[Call(x(5), x(3), mode) for mode in ("full", "same", "valid")],
        Call(x(2), x(4), "same"),
        Call(x(3), x(4), "same"),
        Call(cx(3), x(2)),
    ),
    "correlate": (
        *[Call(x(5), x(3), mode) for mode in ("full", "same", "valid")],
        Call(x(2), x(5), "full"),
        Call(x(2), x(4), "same"),
        Call(cx(3), cx(2), "full"),
    ),
    # along an axis
    "diff": (
        Call(x(5)),
        Call(x(3, 4), 2, axis=0),
        Call(x(3), prepend=x(), append=x(2)),
    ),
    "ediff1d": (Call(x(4)), Call(x(2, 2), to_end=x(), to_begin=[1.0, 2.0])),
    "gradient": (
        Call(x(5)),
        Call(x(5), 0.5),
        Call(x(4), np.array([0.0, 1.0, 2.5, 3.0])),
        Call(x(3, 4)),
        Call(x(3, 4), 2.0, axis=1, edge_order=2),
        Call(x(3, 4), 2.0, np.array([0.0, 1.0, 3.0, 4.0])),
        Call(x(5), rising(5)),
    ),
    "trapezoid": (
        Call(x(5)),
        Call(x(5), rising(5)),
        Call(x(2, 5), dx=0.5, axis=1),
        Call(x(3, 4), x(3), axis=0),
        Call(x(3, 4), x(3, 4), axis=0),
        Call(x(4), x(3, 4)),
    ),
    "interp": (
        Call(unit(3), np.array([-1.0, 0.0, 1.0]), x(3)),
        Call(np.array([0.5, 2.2, 9.0, -3.0]), rising(4), x(4), left=1.5),
        Call(x(3), np.array([0.5, 1.0, 2.0]), x(3), period=3.0),
    ),
    "unwrap": (Call(x(4), via=_steep), Call(x(5)), Call(x(2, 3), axis=0)),
    "apply_along_axis": (
        Call(_double, 0, x(3, 2)),
        Call(_double, 1, x(3, 2)),
        Call(_spread, 1, x(2, 3)),
    ),
    "apply_over_axes": (Call(np.sum, x(2, 3, 2), [0, 2]),),
    "cov": (
        Call(x(3, 5)),
        Call(x(5), x(5)),
        Call(x(4, 2), rowvar=False, ddof=0),
        Call(x(2, 4), aweights=pos(4)),
    ),
    "corrcoef": (Call(x(3, 5)), Call(x(5), x(5)), Call(x(5, 2), rowvar=False)),
    "linspace": (
        Call(x(), x(), 4),
        Call(x(2), x(2), 3, axis=1),
        Call(x(), 1.0, 4, endpoint=False, retstep=True),
        Call(x(), x(), 1),
    ),
    "logspace": (Call(x(), x(), 3), Call(x(), 1.0, 4, base=2.0)),
    "geomspace": (
        Call(pos(), pos(), 4),
        Call(pos(2), 2.0, 3),
        Call(pos(), pos(), 4, endpoint=False, via=lambda f, a, b, *n, **k: f(-a, -b, *n, **k)),
        Call(cx(2), cx(2), 4, axis=-1),
    ),
    # polynomials
    "vander": (Call(x(3)), Call(x(3), 4, increasing=True)),
    "polyval": (Call(x(3), x(2)), Call(x(3), x())),
    "polyadd": (Call(x(3), x(2)),),
    "polysub": (Call(x(3), x(4)),),
    "polymul": (Call(x(3), x(2)),),
    "polydiv": (Call(x(4), pos(2)), Call(x(2), pos(3))),
    "polyder": (Call(x(4)), Call(x(4), 2)),
    "polyint": (Call(x(3)), Call(x(3), 2, [1.0, 2.0])),
    "polyfit": (
        Call(rising(5), x(5), 2),
        Call(rising(5), x(5, 2), 1),
        Call(rising(5), x(5), 1, w=pos(5)),
    ),
    "poly": (Call(x(3)), Call(sym(3, 3), via=_symmetric)),
    "roots": (Call(rising(3), via=_of_polynomial), Call(x(3))),
    # linear algebra
    "linalg.solve": (
        Call(spd(3, 3), x(3)),
        Call(spd(3, 3), x(3, 2)),
        Call(spd(2, 3, 3), x(3)),
        Call(spd(3, 3, 3), x(3, 3)),
    ),
    "linalg.inv": (Call(spd(3, 3)), Call(spd(2, 3, 3))),
    "linalg.det": (Call(x(3, 3)), Call(x(2, 3, 3))),
    "linalg.slogdet": (Call(spd(3, 3)), Call(spd(2, 3, 3))),
    "linalg.tensorsolve": (Call(spd(4, 4), x(4)), Call(x(2, 3, 6), x(2, 3))),
    "linalg.tensorinv": (Call(x(2, 3, 6)), Call(spd(3, 3), ind=1)),
    "linalg.lstsq": (Call(x(5, 3), x(5)), Call(x(5, 3), x(5, 2), rcond=None), Call(x(2, 3), x(2))),
    "linalg.pinv": (
        Call(x(3, 2)),
        Call(x(2, 2, 3)),
        Call(spd(3, 3), hermitian=True, via=_symmetric),
    ),
    "linalg.qr": (Call(x(3, 2)), Call(x(3, 3), mode="complete"), Call(x(3, 2), "r")),
    "linalg.svdvals": (Call(x(3, 2)),),
    "linalg.cholesky": (
        Call(spd(3, 3), via=_symmetric),
        Call(spd(3, 3), upper=True, via=_symmetric),
    ),
    "linalg.svd": (
        Call(x(3, 2), via=_recomposed),
        Call(x(2, 3), full_matrices=False, via=_recomposed),
        Call(sym(3, 3), hermitian=True, via=_recomposed),
        Call(x(3, 2), compute_uv=False),
    ),
    "linalg.eig": (Call(x(3, 3), via=_sized), Call(sym(3, 3), via=_sized)),
    "linalg.eigh": (
        Call(sym(3, 3), via=_diagonalised),
        Call(sym(3, 3), UPLO="U", via=_diagonalised),
    ),
    "linalg.eigvalsh": (Call(sym(3, 3), via=_symmetric), Call(sym(3, 3), UPLO="U", via=_symmetric)),
    "linalg.eigvals": (Call(sym(3, 3)), Call(x(3, 3))),
    "linalg.norm": (
        Call(x(3)),
        Call(x(2, 3)),
        Call(x(3), 3),
        Call(x(2, 3), 1),
        Call(x(2, 3), "fro", keepdims=True),
        Call(x(2, 3), "nuc"),
        Call(x(3, 3), 2),
        Call(x(2, 3), np.inf, axis=1),
        Call(x(2, 3, 4), axis=(0, 2)),
        Call(cx(3)),
    ),
    "linalg.matrix_norm": (
        Call(x(2, 3)),
        Call(x(2, 2, 3), ord="nuc"),
        Call(x(3, 2), keepdims=True),
    ),
    "linalg.vector_norm": (Call(x(2, 3)), Call(x(2, 3), axis=1, ord=3), Call(x(3), keepdims=True)),
    "linalg.cond": (Call(spd(3, 3)), Call(spd(3, 3), 1), Call(spd(3, 3), "fro")),
    "linalg.matrix_power": (Call(x(3, 3), 3), Call(spd(3, 3), -2), Call(x(3, 3), 1)),
    "linalg.multi_dot": (Call([x(2, 3), x(3, 2), x(2, 4)]), Call([x(3), x(3, 2), x(2)])),
    "linalg.cross": (Call(x(3), x(3)), Call(x(3, 2), x(3, 2), axis=0)),
    "linalg.diagonal": (Call(x(2, 3, 3)), Call(x(3, 3), offset=1)),
    "linalg.trace": (Call(x(2, 3, 3)), Call(x(3, 3), offset=1)),
    "linalg.outer": (Call(x(2), x(3)),),
    "linalg.matmul": (Call(x(3), x(3)), Call(x(2, 3), x(3, 2))),
    "linalg.vecdot": _TWO,
    "linalg.tensordot": (Call(x(2, 3), x(3, 2), axes=1),),
    "linalg.matrix_transpose": (Call(x(2, 3)),),
    # transforms
    **{f"fft.{name}": _FFT_C for name in ("fft", "ifft", "irfft", "hfft")},
    **{f"fft.{name}": _FFT for name in ("rfft", "ihfft")},
    **{f"fft.{name}": _FFTN_C for name in ("fftn", "ifftn", "irfftn", "fft2", "ifft2", "irfft2")},
    **{f"fft.{name}": _FFTN for name in ("rfftn", "rfft2")},
    "fft.fftshift": (Call(x(5)), Call(x(2, 3), axes=1)),
    "fft.ifftshift": (Call(x(5)), Call(x(2, 3), axes=(0, 1))),
}
