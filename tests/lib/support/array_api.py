"""Call each function of the array API standard on `wengert.numpy` and on array-api-strict.

    PYTHONPATH=src:tests/lib python -m support.array_api [--every N] [NAME ...]

An expression is evaluated with the names of the one namespace and of the other. What the strict
one refuses does not belong to the standard, and is not compared. All else must agree in kind,
dtype, shape and value. `DIFFERENCES` lists the calls that may differ, and how.
"""

from __future__ import annotations

import argparse
import collections
import enum
import inspect
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy

VERSION = "2024.12"
_DTYPES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
    """
DTYPES = _DTYPES.split()
SHAPES = "(), (0,), (3,), (2, 3), (2, 1, 3), (0, 2)"
UNARY = """
    abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag
    isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round
    sign signbit sin sinh sqrt square tan tanh trunc
    """
BINARY = """
    add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign
    divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and
    logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
    """
REDUCTIONS = "all any count_nonzero max mean min prod std sum var argmax argmin"
OPERATORS = "+ - * / // % ** & | ^ << >> < <= == != > >="
SETS = "unique_all unique_counts unique_inverse unique_values"
FOURIER = "fft ifft rfft irfft hfft ihfft"
FOURIER_N = "fftn ifftn rfftn irfftn"

DIFFERENCES = {
    # casts from one kind of dtype to another are what NumPy calls safe
    "xp.can_cast(": "gives True for False",
    # of no elements; the strict one reads memory that nobody has written to
    "xp.fft.irfft(x, n": "gives [",
    # numbers are NumPy's of that dtype
    "xp.finfo(": "gives np.float",
    # array-api-strict 2.6 leaves this argument unread
    "xp.isin(x, x, invert=True)": "gives",
    # complex numbers have no order
    "xp.maximum(x, 1j)": "raises RuntimeError: maximum not implemented for complex",
    "xp.minimum(x, 1j)": "raises RuntimeError: minimum not implemented for complex",
}
"""Beginnings of calls that may differ, and of what the difference is then."""

# Names in the expressions: x, y, z of the dtypes that are asked for, m a matrix of floats, p a
# positive definite one, i an array of places, b one of truths.
_ON_ONE = """
    xp.astype(x, xp.float64) | xp.astype(x, xp.int16, copy=False) | xp.astype(x, x.dtype)
    xp.empty_like(x).shape | xp.ones_like(x) | xp.zeros_like(x, dtype=xp.int8) | xp.full_like(x, 1)
    xp.asarray(x) | xp.asarray(x, copy=True) | xp.asarray(x, dtype=x.dtype, copy=False)
    xp.tril(x) | xp.triu(x, k=1) | xp.meshgrid(x, x) | xp.meshgrid(x, x, indexing="ij")
    xp.broadcast_to(x, (2, *x.shape)) | xp.broadcast_arrays(x, xp.ones_like(x))
    xp.isdtype(x.dtype, "integral") | xp.isdtype(x.dtype, ("real floating", "bool"))
    xp.isdtype(x.dtype, "numeric") | xp.isdtype(x.dtype, x.dtype) | xp.result_type(x, xp.int8)
    xp.result_type(x, 1) | xp.can_cast(x, xp.float32) | xp.can_cast(x.dtype, xp.complex128)
    xp.take(x, i, axis=0) | xp.take(x, i, axis=-1) | xp.take(x, i)
    xp.concat((x, x), axis=0) | xp.concat([x, x], axis=None) | xp.expand_dims(x, axis=0)
    xp.expand_dims(x, axis=-1) | xp.flip(x) | xp.flip(x, axis=-1) | xp.moveaxis(x, 0, -1)
    xp.permute_dims(x, tuple(reversed(range(x.ndim)))) | xp.repeat(x, 2) | xp.repeat(x, 2, axis=-1)
    xp.reshape(x, (-1,)) | xp.reshape(x, (1, *x.shape), copy=True)
    xp.reshape(x, x.shape, copy=False)
    xp.roll(x, 1) | xp.roll(x, (1, -1), axis=(0, -1)) | xp.roll(x, -2, axis=0)
    xp.squeeze(x, axis=1) | xp.squeeze(x[None, ...], axis=0) | xp.stack((x, x))
    xp.stack([x, x], axis=-1)
    xp.tile(x, (2,)) | xp.tile(x, (2, 1)) | xp.unstack(x) | xp.unstack(x, axis=-1)
    xp.nonzero(x) | xp.where(x == x, x, x) | xp.where(x != x, x, 1) | xp.searchsorted(x, x)
    xp.sort(x) | xp.sort(x, axis=0, descending=True) | xp.argsort(x, stable=True)
    xp.argsort(x, descending=True) | xp.cumulative_sum(x) | xp.cumulative_sum(x, axis=-1)
    xp.cumulative_sum(x, axis=0, include_initial=True) | xp.cumulative_prod(x, axis=0)
    xp.cumulative_sum(x, axis=0, dtype=xp.float64) | xp.diff(x) | xp.diff(x, axis=0, n=2)
    xp.diff(x, prepend=x, append=x) | xp.clip(x, 0, 1) | xp.clip(x, min=1) | xp.clip(x, None, 2)
    xp.clip(x) | xp.isin(x, x) | xp.isin(x, 1) | xp.isin(x, x, invert=True)
    xp.take_along_axis(x, xp.argsort(x), axis=-1) | xp.matrix_transpose(x)
    xp.sum(x, dtype=xp.float64)
    xp.finfo(x).eps | xp.iinfo(x.dtype).max | xp.finfo(x.dtype).dtype | xp.iinfo(x).bits
    x.mT | x.T | x.ndim | x.shape | x.size | x.dtype | x.device == xp.asarray(0.0).device
    x.to_device(x.device) | x.__array_namespace__() is xp | -x | +x | ~x | abs(x) | bool(x) | int(x)
    float(x) | complex(x) | operator.index(x) | x[0] | x[-1] | x[...] | x[..., 0] | x[None]
    x[::-1] | x[1:, ::2] | x[:, 0] | x[:, None] | x[x == x] | x[i] | x[i, 0] | x[i, i] | x[b]
    x.__dlpack_device__() | xp.from_dlpack(x) | put(x, 0, 1) | put(x, b, 0) | put(x, ..., x)
    put(x, slice(None, None, -1), x) | put(x, i, 1)
    """
_ON_TWO = """
    xp.matmul(x, xp.matrix_transpose(z)) | x @ y | xp.matmul(x, y) | xp.tensordot(x, z)
    xp.tensordot(x, y, axes=1) | xp.tensordot(x, z, axes=((0,), (0,))) | xp.vecdot(x, y)
    xp.vecdot(x, z, axis=-1) | xp.where(x != x, x, z) | xp.concat((x, z)) | xp.stack((x, z))
    xp.linalg.outer(y, x[0, :]) | xp.linalg.vecdot(x, y) | xp.linalg.cross(x, z)
    xp.linalg.matmul(x, y) | xp.linalg.tensordot(x, z) | xp.isin(x, y) | xp.clip(x, y, z)
    xp.searchsorted(xp.sort(y), x) | xp.result_type(x, y, 1) | xp.astype(x, y.dtype)
    """
_ON_MATRICES = """
    xp.linalg.cholesky(p) | xp.linalg.cholesky(p, upper=True) | xp.linalg.det(m) | xp.linalg.inv(p)
    xp.linalg.diagonal(m) | xp.linalg.diagonal(m, offset=1) | xp.linalg.eigh(p).eigenvalues
    xp.linalg.eigvalsh(p) | xp.linalg.matrix_norm(m) | xp.linalg.matrix_norm(m, ord="nuc")
    xp.linalg.matrix_norm(m, ord=2, keepdims=True) | xp.linalg.matrix_norm(m, ord=-inf)
    xp.linalg.matrix_norm(m, ord=1) | xp.linalg.matrix_power(m, 3) | xp.linalg.matrix_power(p, -2)
    xp.linalg.matrix_power(m, 0) | xp.linalg.matrix_rank(m) | xp.linalg.matrix_rank(m, rtol=0.9)
    xp.linalg.matrix_transpose(m) | xp.linalg.pinv(m) | xp.linalg.pinv(m, rtol=0.1)
    xp.linalg.qr(m).R.shape | xp.linalg.qr(m, mode="complete").Q.shape | xp.linalg.slogdet(m)
    xp.linalg.slogdet(m).logabsdet | xp.linalg.solve(p, m) | xp.linalg.solve(p, m[..., 0])
    xp.linalg.svd(m).S | xp.linalg.svd(m, full_matrices=False).Vh.shape | xp.linalg.svdvals(m)
    xp.linalg.trace(m) | xp.linalg.trace(m, offset=1, dtype=xp.complex128)
    xp.linalg.vector_norm(m)
    xp.linalg.vector_norm(m, axis=0) | xp.linalg.vector_norm(m, axis=(0, 1), keepdims=True)
    xp.linalg.vector_norm(m, ord=1, axis=-1) | xp.linalg.vector_norm(m, ord=inf, axis=0)
    xp.linalg.vector_norm(m, ord=0) | xp.linalg.vector_norm(m, ord=-inf)
    xp.linalg.vector_norm(m, ord=3.5)
    xp.linalg.eigh(p).eigenvectors.shape | xp.linalg.matrix_norm(m, ord=-2) | xp.linalg.cross(m, m)
    """
_ON_NOTHING = """
    xp.__array_api_version__ | xp.pi | xp.e | xp.inf | xp.nan | xp.newaxis
    xp.isinf(xp.asarray(xp.inf))
    xp.arange(5) | xp.arange(1, 6, 2) | xp.arange(0.0, 1.0, 0.25) | xp.arange(3, dtype=xp.float32)
    xp.arange(5, 0, -2) | xp.arange(3, device=xp.asarray(1).device) | xp.eye(3) | xp.eye(2, 3, k=1)
    xp.eye(3, None, k=-1, dtype=xp.int16) | xp.eye(2, device=xp.asarray(1).device)
    xp.linspace(0.0, 1.0, 5) | xp.linspace(0, 1, num=3, endpoint=False)
    xp.linspace(0, 1, 3, dtype=xp.float32)
    xp.linspace(1, 2, 0) | xp.linspace(0.0, 1.0, 3, device=xp.asarray(1).device)
    xp.linspace(0, 1j, 3)
    xp.full((2, 3), 1) | xp.full(3, 1.5) | xp.full((), True) | xp.full(2, 1j)
    xp.full((2,), 1, dtype=xp.float32)
    xp.zeros_like(xp.ones(2), device=xp.asarray(1).device)
    xp.full_like(xp.ones(2), 3, device=xp.asarray(1).device)
    xp.astype(xp.ones(2), xp.int8, device=xp.asarray(1).device)
    xp.full((2,), 1.0, device=xp.asarray(1).device) | xp.zeros(3) | xp.zeros((2, 3), dtype=xp.int8)
    xp.ones((), dtype=xp.bool) | xp.ones((2,), device=xp.asarray(1).device) | xp.empty((2, 0))
    xp.zeros(2, device=None) | xp.asarray(1) | xp.asarray(1.5) | xp.asarray(1j) | xp.asarray(True)
    xp.asarray([[1, 2], [3, 4]]) | xp.asarray([1, 2.0]) | xp.asarray([1], dtype=xp.complex64)
    xp.asarray([1.0, 2.0], device=xp.asarray(1).device, copy=True) | xp.asarray(())
    xp.broadcast_shapes((2, 1), (3,)) | xp.broadcast_shapes((), (0, 1)) | xp.broadcast_shapes()
    xp.isdtype(xp.bool, "bool") | xp.isdtype(xp.int8, ("signed integer", "bool"))
    xp.isdtype(xp.uint8, "signed integer") | xp.isdtype(xp.uint8, "unsigned integer")
    xp.isdtype(xp.complex64, "complex floating") | xp.isdtype(xp.float32, xp.float64)
    xp.fft.fftfreq(5) | xp.fft.fftfreq(4, d=0.1) | xp.fft.rfftfreq(5, d=2.0) | xp.fft.rfftfreq(4)
    xp.fft.fftfreq(3, dtype=xp.float32)
    xp.fft.rfftfreq(3, dtype=xp.float64, device=xp.asarray(1).device)
    sorted(xp.__array_namespace_info__().dtypes())
    sorted(xp.__array_namespace_info__().capabilities())
    sorted(xp.__array_namespace_info__().dtypes(kind="integral"))
    sorted(xp.__array_namespace_info__().dtypes(kind=("bool", "real floating")))
    sorted(xp.__array_namespace_info__().default_dtypes(device=None))
    xp.__array_namespace_info__().default_dtypes()["real floating"]
    xp.__array_namespace_info__().default_dtypes()["integral"]
    xp.__array_namespace_info__().default_dtypes()["indexing"]
    xp.__array_namespace_info__().capabilities()["boolean indexing"]
    len(xp.__array_namespace_info__().capabilities()["data-dependent shapes"] * [1])
    xp.zeros(2, device=xp.__array_namespace_info__().default_device())
    xp.finfo(xp.float32).max | xp.finfo(xp.float64).smallest_normal | xp.finfo(xp.complex64).bits
    xp.iinfo(xp.uint8).min | xp.iinfo(xp.int64).bits | xp.iinfo(xp.int16).dtype
    """


def parts(text: str) -> list[str]:
    return [
        part.strip() for line in text.splitlines() for part in line.split(" | ") if part.strip()
    ]


def calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """All calls: an expression, and what its names are, as lists of NumPy or as arrays of it."""
    yield from ((text, {}) for text in parts(_ON_NOTHING))
    shapes = eval(f"[{SHAPES}]")
    for kind, shape in itertools.product(DTYPES, shapes):
        given = {"x": values(shape, kind), "i": values((2,), "int64", 2), "b": truths(shape)}
        for name in UNARY.split():
            yield f"xp.{name}(x)", given
        for text in parts(_ON_ONE):
            yield text, given
        for name in REDUCTIONS.split():
            yield f"xp.{name}(x)", given
            for axis, keep in itertools.product((0, -1, (0, 1), ()), (False, True)):
                yield f"xp.{name}(x, axis={axis}, keepdims={keep})", given
        yield "xp.var(x, correction=1.0)", given
        yield "xp.std(x, axis=0, correction=1)", given
        for name in SETS.split():
            yield f"xp.{name}(x)", given
        for name in FOURIER.split():
            for more in ("", ", n=4", ", n=2, axis=0", ', norm="ortho"', ', norm="forward"'):
                yield f"xp.fft.{name}(x{more})", given
        for name in FOURIER_N.split():
            for more in ("", ", s=(2, 2), axes=(0, 1)", ', axes=(-1,), norm="ortho"'):
                yield f"xp.fft.{name}(x{more})", given
        yield "xp.fft.fftshift(x)", given
        yield "xp.fft.ifftshift(x, axes=-1)", given
        for number in ("1", "True", "2.5", "1j"):
            for name in BINARY.split():
                yield f"xp.{name}(x, {number})", given
            for symbol in OPERATORS.split():
                yield f"x {symbol} {number}", given
                yield f"{number} {symbol} x", given
    for one, other in itertools.product(DTYPES, DTYPES):
        for text in (f"xp.result_type(xp.{one}, xp.{other})", f"xp.can_cast(xp.{one}, xp.{other})"):
            yield text, {}
        given = {"x": values((2, 3), one), "y": values((3,), other, 1), "z": values((2, 3), other)}
        for name in BINARY.split():
            yield f"xp.{name}(x, y)", given
        for symbol in OPERATORS.split():
            yield f"x {symbol} y", given
            if symbol[0] not in "<>=!" or symbol in ("<<", ">>"):
                yield f"inplace(x, '{symbol}', y)", given
        for text in parts(_ON_TWO):
            yield text, given
    for kind in DTYPES[-4:]:
        for shape in ((3, 3), (3, 2), (2, 3, 3), (0, 0)):
            m = values(shape, kind, 5)
            wide = m @ numpy.swapaxes(m, -1, -2).conj()
            p = wide + 3 * numpy.eye(shape[-2], dtype=kind)
            for text in parts(_ON_MATRICES):
                yield text, {"m": m, "p": p.astype(kind)}


def values(shape: tuple[int, ...], kind: str, seed: int = 0) -> Any:
    """Few numbers, some of them negative and some twice, of any dtype."""
    draws = numpy.random.default_rng(seed).integers(-2, 4, shape)
    if kind == "bool":
        return numpy.asarray(draws > 0)
    if kind.startswith("u"):
        return numpy.asarray(abs(draws)).astype(kind)
    if kind.startswith("int"):
        return (numpy.asarray(draws) % 2 if seed == 2 else numpy.asarray(draws)).astype(kind)
    imaginary = 1j * draws[..., ::-1] if kind.startswith("c") and shape else 0
    return numpy.asarray(draws * 0.75 + imaginary).astype(kind)


def truths(shape: tuple[int, ...]) -> Any:
    return numpy.asarray(values(shape, "int64", 3) > 0)


_HELP = """
import operator
inf = float("inf")
def put(x, index, value):
    x = xp.asarray(x, copy=True)
    x[index] = value
    return x
def inplace(x, symbol, y):
    names = {"x": xp.asarray(x, copy=True), "y": y}
    exec(f"x {symbol}= y", names)
    return names["x"]
"""


def evaluated(xp: Any, text: str, given: dict[str, Any]) -> Any:
    """The value of an expression, or the error that came."""
    names: dict[str, Any] = {"xp": xp}
    exec(_HELP, names)
    # a byte of each array's own, so that nothing is shared between the two
    names |= {name: xp.asarray(value.copy()) for name, value in given.items()}
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return eval(text, names)
    except Exception as error:
        return error


def difference(ours: Any, strict: Any, ours_xp: Any, strict_xp: Any) -> str:
    """What is different, or nothing."""
    if isinstance(ours, Exception):
        return f"raises {type(ours).__name__}: {ours}".splitlines()[0][:90]
    if isinstance(strict, list | tuple):
        if not isinstance(ours, list | tuple) or len(ours) != len(strict):
            return f"gives {type(ours).__name__}"
        if getattr(strict, "_fields", ()) != getattr(ours, "_fields", ()):
            return f"has the fields {getattr(ours, '_fields', ())}"
        found = (difference(*pair, ours_xp, strict_xp) for pair in zip(ours, strict, strict=True))
        return next(filter(None, found), "")
    if isinstance(strict, type(strict_xp.asarray(0))):
        if type(ours) is not ours_xp.ndarray:
            return f"gives {type(ours).__name__}"
        a, b = ours.detach().numpy(), numpy.asarray(strict)
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"gives {a.dtype} {a.shape} for {b.dtype} {b.shape}"
        near = 1e-4 if b.dtype.name in ("float32", "complex64") else 1e-9
        return "" if numpy.allclose(a, b, near, near, equal_nan=True) else f"gives {a} for {b}"
    if type(strict) is type(strict_xp.float64):
        return "" if ours == numpy.dtype(strict._np_dtype) else f"gives {ours} for {strict}"
    if isinstance(ours, enum.IntEnum):
        ours = int(ours)
    same = ours == strict or (ours != ours and strict != strict)
    return "" if same and type(ours) is type(strict) else f"gives {ours!r} for {strict!r}"


def compared(every: int, names: tuple[str, ...] = ()) -> tuple[int, list[tuple[str, str, str]]]:
    """How many calls the standard allows, and those that differ: text, arguments, difference."""
    import array_api_strict as strict_xp

    import wengert.numpy as ours_xp

    strict_xp.set_array_api_strict_flags(api_version=VERSION)
    count, found = 0, []
    for number, (text, given) in enumerate(calls()):
        if number % every or (names and not any(name in text for name in names)):
            continue
        strict = evaluated(strict_xp, text, given)
        if isinstance(strict, Exception):
            continue
        count += 1
        what = difference(evaluated(ours_xp, text, given), strict, ours_xp, strict_xp)
        known = (what.startswith(v) for k, v in DIFFERENCES.items() if text.startswith(k))
        if what and not any(known):
            kinds = ", ".join(f"{n} {v.dtype} {v.shape}" for n, v in given.items())
            found.append((text, kinds, what))
    return count, found


def signatures(xp: Any, strict: Any) -> list[str]:
    """What differs in the arguments of the functions: names, places, and how they are passed."""
    wrong = []
    for path in ("", "linalg", "fft"):
        ours, theirs = (getattr(module, path) if path else module for module in (xp, strict))
        for name in theirs.__all__:
            function = getattr(theirs, name)
            if not inspect.isfunction(function) or name.endswith("_array_api_strict_flags"):
                continue
            asked = inspect.signature(function).parameters.values()
            found = list(inspect.signature(getattr(ours, name)).parameters.values())
            named = {given.name for given in found if given.kind is not given.POSITIONAL_ONLY}
            for place, want in enumerate(asked):
                if want.kind is want.KEYWORD_ONLY:
                    if want.name not in named:
                        wrong.append(f"{name}: no {want.name}")
                elif len(found) <= place or found[place].kind is want.KEYWORD_ONLY:
                    wrong.append(f"{name}: {want.name} is no positional argument")
                elif want.kind is want.POSITIONAL_OR_KEYWORD and found[place].name != want.name:
                    wrong.append(f"{name}: {found[place].name} is not {want.name}")
                    break
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the calls to compare")
    parser.add_argument("--every", type=int, default=1, help="compare one call in so many")
    given = parser.parse_args()
    count, found = compared(given.every, tuple(given.names))
    groups = collections.Counter((text, what) for text, _, what in found)
    examples = {(text, what): kinds for text, kinds, what in found}
    for (text, what), times in sorted(groups.items()):
        print(f"{times:4}  {text:50}  {what}  [{examples[text, what]}]")
    print(f"{count} calls, {len(found)} differ")


if __name__ == "__main__":
    main()
