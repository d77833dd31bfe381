"""Layer 5 · ops · transforms: discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.dtypes import complex_of, default_float
from wengert.base.errors import wrong_type
from wengert.base.names import defined
from wengert.base.sections import named
from wengert.base.shapes import normal_dim
from wengert.ops.checks import numpy_names
from wengert.ops.coerce import dtype_name, integer, operand, wide
from wengert.ops.out import into
from wengert.prims import fourier as fourier
from wengert.tape.operands import cast
from wengert.tape.record import T

Dims = tuple[int, ...]

# the arguments and results of each transform ("c" complex, "r" real), and its direction
_TRANSFORMS = {
    "fft": ("cc", True),
    "ifft": ("cc", False),
    "rfft": ("rc", True),
    "irfft": ("cr", False),
    "hfft": ("cr", True),
    "ihfft": ("rc", False),
}


def _run(name: str, x: Any, dims: Dims, sizes: list[int | None], norm: Any, out: Any) -> Any:
    """Compute a transform along `dims`, with `sizes` elements along each (None: unchanged)."""
    kind, forward = _TRANSFORMS[name.rstrip("2n")]
    norm = "backward" if norm is None else _norm(name, norm)
    if out is not None and kind[1] == "c" and out._payload.dtype.kind != "c":
        raise RuntimeError(
            f"{name} expects a complex output tensor, but got {dtype_name(out._payload)}"
        )
    x = _input(name, kind, x)
    if kind == "cr":
        last = sizes[-1]
        if last is None:
            last = 2 * (x._payload.shape[dims[-1]] - 1)
        _check_sizes(x._payload.shape, dims, [*sizes[:-1], last])
        x = _resized(x, dims, [*sizes[:-1], last // 2 + 1])
        result = T.fft_c2r(
            x, dim=dims, norm=norm, forward=forward, last_dim_size=last, halved=False
        )
    else:
        _check_sizes(x._payload.shape, dims, sizes)
        x = _resized(x, dims, sizes)
        if x._payload.dtype.kind == "c":
            result = T.fft_c2c(x, dim=dims, norm=norm, forward=forward)
        else:
            half = kind == "rc"
            result = T.fft_r2c(
                x, dim=dims, norm=norm, forward=forward, onesided=half, doubled=False
            )
    return result if out is None else into(out, result, name)


def _norm(name: str, norm: Any) -> str:
    if norm is None:
        return "backward"
    if not isinstance(norm, str):
        raise wrong_type(f"fft_{name}", "norm", "str", norm)
    if norm not in ("backward", "forward", "ortho"):
        raise RuntimeError(
            f'Invalid normalization mode: "{norm}": give "backward" (the default), "forward" or '
            '"ortho"'
        )
    return norm


def _input(name: str, kind: str, x: Any) -> Any:
    """Return the input in a dtype that the transform accepts."""
    x = wide(x, name)
    dtype = x._payload.dtype
    if kind[0] == "r" and dtype.kind == "c":
        if name in ("ihfft2", "ihfftn"):
            raise RuntimeError(
                f"Only supports floating-point dtypes, but found: {dtype_name(x._payload)}; for "
                "complex input there is ifftn()"
            )
        shown = "rfftn expects a real-valued" if name[-1] in "2n" else f"{name} expects a real"
        raise RuntimeError(
            f"{shown} input tensor, but got {dtype_name(x._payload)}: for complex input there are "
            "fft() and its like"
        )
    if dtype.char in "dDfF" and (kind != "cr" or dtype.kind == "c"):
        return x
    if dtype.kind in "biu":
        dtype = default_float()
    if dtype.itemsize // (2 if dtype.kind == "c" else 1) < 4:
        raise RuntimeError(
            f"Unsupported dtype {dtype_name(x._payload)}: convert the input to float32 or float64"
        )
    # spectra must be complex; for real values there is a faster way to the whole spectrum
    return cast(x, complex_of(dtype) if kind == "cr" else dtype)


def _check_sizes(shape: Dims, dims: Dims, sizes: list[int | None]) -> None:
    for axis, size in zip(dims, sizes, strict=True):
        count = shape[axis] if size is None else size
        if count < 1:
            raise RuntimeError(
                f"Invalid number of data points ({count}) specified: dimension {axis} of shape "
                f"{list(shape)} needs at least 1"
            )


def _resized(x: Any, dims: Dims, sizes: list[int | None]) -> Any:
    """Return `x` cropped or padded with zeros to sizes along dims."""
    for axis, size in zip(dims, sizes, strict=True):
        if size is None or size == (have := (shape := x._payload.shape)[axis]):
            continue
        if size < have:
            x = T.slice(x, dim=axis, start=0, end=size, step=1)
        else:
            wide = (*shape[:axis], size, *shape[axis + 1 :])
            x = T.slice_backward(x, shape=wide, dim=axis, start=0, end=have, step=1)
    return x


# -- the functions --------------------------------------------------------------------------------

_WHAT = {
    "fft": "discrete Fourier transform",
    "ifft": "inverse discrete Fourier transform",
    "rfft": "discrete Fourier transform of real values: half of the spectrum",
    "irfft": "inverse of `rfft`: real values from half of a spectrum",
    "hfft": "discrete Fourier transform of values whose spectrum is real, given by half of them",
    "ihfft": "inverse of `hfft`: half of the values whose spectrum is real",
}
_INPUT = {
    "cc": "Real or complex; integers become floating.",
    "rc": "Real; integers become floating.",
    "cr": "Half of a spectrum (or of values) along the last of the dimensions, real or complex.",
}
_RESULT = {
    "cc": "Complex, of the same precision",
    "rc": "Complex, with n // 2 + 1 elements along the last of the dimensions",
    "cr": "Real; without sizes of its own with 2 * (n - 1) elements along the last dimension",
}
_SEVERAL: dict[str, tuple[str, Dims | None, str]] = {
    "n": ("multidimensional", None, "all, or as many of the last as `s` has"),
    "2": ("two-dimensional", (-2, -1), "the last two"),
}
"""The name, the default, and the description of the default of several dimensions."""


def _words(name: str, example: str, result: str) -> dict[str, str]:
    """Return what the docstring of a transform says of it."""
    base = name.rstrip("2n")
    kind = _TRANSFORMS[base][0]
    texts = {"what": _WHAT[base], "input": _INPUT[kind], "returns": _RESULT[kind]}
    return {**texts, "example": f"{example}\n{result}"}


def _line(name: str, example: str, result: str) -> Callable[..., Any]:
    @numpy_names
    def function(
        input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
    ) -> Any:
        """Return the {what}.

        Parameters
        ----------
        input : Tensor. {input}
        n : int, optional
            The length of the signal: the input is cut, or continued with zeros.
        dim : int. The dimension to transform.
        %(transform_norm)s

        Returns
        -------
        Tensor: {returns}. Differentiable, to any order.

        %(raises_transform)s

        Examples
        --------
        >>> {example}
        """
        x = operand(input, f"fft_{name}")
        ndim = x._payload.ndim
        axis = dim if type(dim) is int else integer(dim, f"fft_{name}", "dim")
        if not ndim:
            raise IndexError(f"Dimension specified as {axis} but tensor has no dimensions")
        size = None if n is None else integer(n, f"fft_{name}", "n")
        return _run(name, x, (normal_dim(axis, ndim),), [size], norm, out)

    return named(function, name, **_words(name, example, result))


def _grid(name: str, example: str, result: str) -> Callable[..., Any]:
    lead, dims, usual = _SEVERAL[name[-1]]

    @numpy_names
    def function(
        input: Any, s: Any = None, dim: Any = dims, norm: str | None = None, *, out: Any = None
    ) -> Any:
        """Return the {lead} {what}.

        Parameters
        ----------
        input : Tensor. {input}
        s : sequence of int, optional
            The lengths along `dim`: the input is cut, or continued with zeros; -1 leaves a length.
        dim : int or sequence of int, optional
            The dimensions to transform; by default {usual}.
        %(transform_norm)s

        Returns
        -------
        Tensor: {returns}. Differentiable, to any order.

        %(raises_transform)s

        Examples
        --------
        >>> {example}
        """
        return _of_several(name, input, s, dim, norm, out)

    return named(function, name, lead=lead, usual=usual, **_words(name, example, result))


def _of_several(name: str, input: Any, s: Any, dim: Any, norm: Any, out: Any) -> Any:
    x = operand(input, f"fft_{name}")
    ndim = x._payload.ndim
    sizes = None if s is None else _ints(s, name, "s")
    if dim is not None:
        given = _ints(dim, name, "dim")
        if given and not ndim:
            raise IndexError(f"Dimension specified as {given[0]} but tensor has no dimensions")
        dims = tuple([normal_dim(d, ndim) for d in given])
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"FFT dims must be unique: got {list(given)}")
        if sizes is not None and len(sizes) != len(dims):
            raise RuntimeError(
                "When given, dim and shape arguments must have the same length, but there are "
                f"{len(dims)} dims and {len(sizes)} sizes"
            )
    elif sizes is not None:
        if len(sizes) > ndim:
            raise RuntimeError(
                f"Got shape with {len(sizes)} values but input tensor only has {ndim} dimensions."
            )
        dims = tuple(range(ndim - len(sizes), ndim))
    else:
        dims = tuple(range(ndim))
    if not dims:
        if name.rstrip("2n") in ("fft", "ifft"):
            scale = _norm(name, norm)
            result = T.fft_c2c(_input(name, "cr", x), dim=(), norm=scale, forward=True)
            return result if out is None else into(out, result, name)
        raise RuntimeError(f"{name} must transform at least one axis")
    given_sizes = (-1,) * len(dims) if sizes is None else sizes
    wanted = [None if n == -1 else n for n in given_sizes]
    return _run(name, x, dims, wanted, norm, out)


def _ints(values: Any, name: str, arg: str) -> Dims:
    if hasattr(values, "__index__"):
        values = (values,)
    if not isinstance(values, tuple | list):
        raise wrong_type(f"fft_{name}", arg, "tuple of ints", values)
    return tuple([integer(value, f"fft_{name}", arg) for value in values])


fft = _line(
    "fft",
    "wg.fft.fft(wg.tensor([1.0, 2.0, 3.0, 4.0]))",
    "tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])",
)
ifft = _line(
    "ifft",
    "wg.fft.ifft(wg.fft.fft(wg.tensor([1.0, 2.0, 3.0, 4.0]))).real",
    "tensor([1., 2., 3., 4.])",
)
rfft = _line(
    "rfft", "wg.fft.rfft(wg.tensor([1.0, 2.0, 3.0, 4.0]))", "tensor([10.+0.j, -2.+2.j, -2.+0.j])"
)
irfft = _line(
    "irfft",
    "wg.fft.irfft(wg.fft.rfft(wg.tensor([1.0, 2.0, 3.0, 4.0])))",
    "tensor([1., 2., 3., 4.])",
)
hfft = _line("hfft", "wg.fft.hfft(wg.tensor([1.0, 2.0, 3.0]))", "tensor([ 8., -2.,  0., -2.])")
ihfft = _line(
    "ihfft", "wg.fft.ihfft(wg.tensor([8.0, -2.0, 0.0, -2.0])).real", "tensor([1., 2., 3.])"
)
fftn = _grid("fftn", "wg.fft.fftn(wg.ones(2, 2)).real", "tensor([[4., 0.],\n        [0., 0.]])")
ifftn = _grid("ifftn", "wg.fft.ifftn(wg.ones(2, 2)).real", "tensor([[1., 0.],\n        [0., 0.]])")
rfftn = _grid("rfftn", "wg.fft.rfftn(wg.ones(3, 4)).shape", "torch.Size([3, 3])")
irfftn = _grid(
    "irfftn", "wg.fft.irfftn(wg.fft.rfftn(wg.ones(2, 2)))", "tensor([[1., 1.],\n        [1., 1.]])"
)
hfftn = _grid("hfftn", "wg.fft.hfftn(wg.ones(2, 2)).shape", "torch.Size([2, 2])")
ihfftn = _grid("ihfftn", "wg.fft.ihfftn(wg.ones(3, 4)).shape", "torch.Size([3, 3])")
fft2 = _grid("fft2", "wg.fft.fft2(wg.ones(2, 2)).real", "tensor([[4., 0.],\n        [0., 0.]])")
ifft2 = _grid("ifft2", "wg.fft.ifft2(wg.ones(2, 2)).real", "tensor([[1., 0.],\n        [0., 0.]])")
rfft2 = _grid("rfft2", "wg.fft.rfft2(wg.ones(5, 3, 4)).shape", "torch.Size([5, 3, 3])")
irfft2 = _grid(
    "irfft2", "wg.fft.irfft2(wg.fft.rfft2(wg.ones(2, 2)))", "tensor([[1., 1.],\n        [1., 1.]])"
)
hfft2 = _grid("hfft2", "wg.fft.hfft2(wg.ones(2, 2)).shape", "torch.Size([2, 2])")
ihfft2 = _grid("ihfft2", "wg.fft.ihfft2(wg.ones(3, 4)).shape", "torch.Size([3, 3])")


__all__ = defined(globals())
