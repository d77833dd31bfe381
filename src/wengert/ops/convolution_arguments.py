"""Layer 5 · ops: the arguments of convolutions, and PyTorch's refusals."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from wengert.base.errors import c_name
from wengert.base.shapes import whole
from wengert.kernels.columns import result_size
from wengert.ops.coerce import dtype_name
from wengert.tape.modes import mixes_dtypes

Shape = tuple[int, ...]
_LETTERS = ("width", "height", "depth")


def ints(value: Any, op: str, arg: str) -> int | Shape:
    """An int, or a sequence of them as a tuple."""
    if type(value) is int:
        return value
    if isinstance(value, tuple | list):
        plain = []
        for i, item in enumerate(value):
            try:
                plain.append(whole(item))
            except TypeError:
                raise TypeError(
                    f"{op}(): argument '{arg}' failed to unpack the object at pos {i + 1} with "
                    f'error "type must be tuple of ints,but got {type(item).__name__}"'
                ) from None
        return tuple(plain)
    try:
        return whole(value)
    except TypeError:
        kinds = "an int or a tuple of ints"
        if arg == "padding" and "_" not in op:
            kinds += ", 'valid' or 'same'"
        raise TypeError(
            f"{op}() received an invalid combination of arguments - got {arg} of type "
            f"{type(value).__name__}, but expected {kinds}"
        ) from None


def _each(value: int | Shape, dims: int, arg: str) -> Shape:
    """Return one int for each dimension."""
    if isinstance(value, int):
        return (value,) * dims
    if len(value) == 1:
        return value * dims
    if len(value) != dims:
        raise RuntimeError(
            f"expected {arg} to be a single integer value or a list of {dims} values to match the "
            f"convolution dimensions, but got {arg}={list(value)}"
        )
    return value


def _by(sizes: Shape) -> str:
    return f"({' x '.join(map(str, sizes))})"


def _named(name: str, values: Shape) -> str:
    letters = _LETTERS[: len(values)][::-1]
    return " ".join(f"{name}_{a}: {n}" for a, n in zip(letters, values, strict=True))


Window = tuple[Shape, Shape, Shape, Shape]


@lru_cache(maxsize=1024)
def checked(
    op: str,
    shape: Shape,
    weight: Shape,
    bias: Shape | None,
    stride: int | Shape,
    padding: int | str | Shape,
    dilation: int | Shape,
    output_padding: int | Shape,
    groups: int,
) -> tuple[Window, Shape]:
    """Return stride, padding, dilation and output padding for each dimension, with batches.

    And how many zeros to add first, at the ends of the dimensions.
    """
    dims, transposed = int(op[-2]), "transpose" in op
    if len(shape) != dims + 2:
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {op}, but got "
            f"input of size: {list(shape)}"
        )
    _check_rank(
        op,
        shape,
        weight,
        stride=stride,
        padding=padding,
        dilation=dilation,
        output_padding=output_padding,
    )
    steps = _each(stride, dims, "stride")
    gaps = _each(dilation, dims, "dilation")
    more = _each(output_padding, dims, "output_padding")
    ends = (0,) * dims
    if isinstance(padding, str):
        pads, ends = _by_name(padding, steps, gaps, weight[2:])
        shape = (*shape[:2], *[n + end for n, end in zip(shape[2:], ends, strict=True)])
    else:
        pads = _each(padding, dims, "padding")
    if min(pads) < 0:
        raise RuntimeError(f"negative padding is not supported: padding is {list(pads)}")
    if min(more) < 0:
        raise RuntimeError(
            f"negative output_padding is not supported: output_padding is {list(more)}"
        )
    if min(steps) <= 0:
        raise RuntimeError(f"non-positive stride is not supported: stride is {list(steps)}")
    if min(gaps) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(gaps)}")
    if groups <= 0:
        raise RuntimeError(f"non-positive groups is not supported: groups is {groups}")
    _check_channels(shape, weight, bias, groups, transposed)
    if 0 in weight[2:]:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got {_named('kernel', weight[2:])}"
        )
    if transposed:
        _check_transposed(shape, weight, steps, pads, gaps, more)
    else:
        padded = tuple([n + 2 * pad for n, pad in zip(shape[2:], pads, strict=True)])
        kernel = tuple([gap * (k - 1) + 1 for gap, k in zip(gaps, weight[2:], strict=True)])
        if any(n < k for n, k in zip(padded, kernel, strict=True)):
            raise RuntimeError(
                f"Calculated padded input size per channel: {_by(padded)}. Kernel size: "
                f"{_by(kernel)}. Kernel size can't be greater than actual input size"
            )
    if shape[0] and shape[1] and 0 in shape:
        raise RuntimeError(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list(shape)}"
        )
    return (steps, pads, gaps, more), ends


def _check_rank(op: str, shape: Shape, weight: Shape, **params: Any) -> None:
    """Refuse a weight of another number of dimensions, with PyTorch's first error."""
    dims = int(op[-2])
    if len(weight) == dims + 2:
        return
    if len(weight) < 3:
        raise RuntimeError(
            f"weight should have at least three dimensions: {op}() takes one of {dims + 2}, but "
            f"its shape is {list(weight)}"
        )
    of_weight = len(weight) - 2
    # with a named padding, PyTorch checks the weight first, and differently
    params = {} if isinstance(params["padding"], str) else params
    for arg, value in params.items():
        given = (value,) * dims if isinstance(value, int) else value
        if len(given) not in (1, of_weight):
            raise RuntimeError(
                f"expected {arg} to be a single integer value or a list of {of_weight} values to "
                f"match the convolution dimensions, but got {arg}={list(given)}: {op}() takes a "
                f"weight of {dims + 2} dimensions, but its shape is {list(weight)}"
            )
    raise RuntimeError(
        f"Expected {len(weight)}-dimensional input for {len(weight)}-dimensional weight"
        f"{list(weight)}, but got {len(shape)}-dimensional input of size {list(shape)} "
        f"instead: {op}() takes a weight of {dims + 2} dimensions"
    )


def _by_name(name: str, stride: Shape, dilation: Shape, kernel: Shape) -> tuple[Shape, Shape]:
    """Return a named padding as the zeros on both sides, and those added only at the end."""
    dims = len(stride)
    if name == "valid":
        return (0,) * dims, (0,) * dims
    if name != "same":
        raise RuntimeError(f"Invalid padding string: '{name}': there are 'valid' and 'same'")
    if any(step != 1 for step in stride):
        raise RuntimeError(
            "padding='same' is not supported for strided convolutions: give the number of zeros"
        )
    whole = [gap * (k - 1) for gap, k in zip(dilation, kernel, strict=True)]
    return tuple([n // 2 for n in whole]), tuple([n % 2 for n in whole])


def _check_channels(
    shape: Shape, weight: Shape, bias: Shape | None, groups: int, transposed: bool
) -> None:
    given = "transposed=1" if transposed else f"groups={groups}"
    if weight[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(weight)} instead"
        )
    if weight[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{list(weight)}] instead"
        )
    channels = weight[0] if transposed else weight[1] * groups
    if shape[1] != channels:
        raise RuntimeError(
            f"Given {given}, weight of size {list(weight)}, expected input{list(shape)} to have "
            f"{channels} channels, but got {shape[1]} channels instead"
        )
    results = weight[1] * groups if transposed else weight[0]
    if bias is not None and bias != (results,):
        given = f"transposed={int(transposed)}, " if transposed else ""
        raise RuntimeError(
            f"Given {given}weight of size {list(weight)}, expected bias to be 1-dimensional with "
            f"{results} elements, but got bias of size {list(bias)} instead"
        )


def _check_transposed(
    shape: Shape, weight: Shape, stride: Shape, padding: Shape, dilation: Shape, more: Shape
) -> None:
    if any(n >= max(s, d) for n, s, d in zip(more, stride, dilation, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"{_named('output_padding', more)} {_named('stride', stride)} "
            f"{_named('dilation', dilation)}"
        )
    size = result_size(shape[2:], weight[2:], stride, padding, dilation, True, more)
    if min(size) < 1 and 0 not in shape[2:]:
        raise RuntimeError(
            f"Given input size per channel: {_by(shape[2:])}. Calculated output size per channel: "
            f"{_by(size)}. Output size is too small"
        )


def check_dtypes(x: Any, w: Any, b: Any) -> None:
    """Refuse arrays of several dtypes."""
    if (x.dtype == w.dtype and (b is None or b.dtype == x.dtype)) or mixes_dtypes():
        return
    if x.dtype != w.dtype:
        have, found = dtype_name(x), dtype_name(w)
        if "c" in (x.dtype.kind, w.dtype.kind):
            raise RuntimeError(
                f"Input type (CPU{have}Type) and weight type (torch.{found}Tensor) should be the "
                "same: convert one of them with .to(dtype)"
            )
        raise RuntimeError(
            f"expected scalar type {have} but found {found}: the input is {x.dtype}, the weight "
            f"{w.dtype}; convert one of them with .to(dtype)"
        )
    have, found = c_name(x.dtype), c_name(b.dtype)
    raise RuntimeError(
        f"Input type ({have}) and bias type ({found}) should be the same: convert one of them with "
        ".to(dtype)"
    )
