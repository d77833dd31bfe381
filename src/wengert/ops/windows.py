"""Layer 5 · ops: the arguments of pooling: sizes of windows, steps, padding; PyTorch's refusals."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from wengert.base.shapes import whole
from wengert.kernels.windows import pooled_size
from wengert.ops.checks import flag

Shape = tuple[int, ...]
WORDS = ("no", "one", "two", "three")
_LETTERS = "THW"
_SHAPES = ("(N, C, L) or (C, L)", "(N, C, H, W) or (C, H, W)", "(N, C, D, H, W) or (C, D, H, W)")
_DIMS = ("dimension", "two dimensions", "three dimensions")


def words_of(d: int, count: int = 4) -> dict[str, Any]:
    """Return words for docstrings of pooling over `d` dimensions, with an example of one line."""
    kernel = "2" if d == 1 else f"({'1, ' * (d - 1)}2)"
    shape = f"{'1, ' * d}{count}"
    return {
        **{"d": d, "dims": _DIMS[d - 1], "shapes": _SHAPES[d - 1]},
        **{"shape": shape, "kernel": kernel},
    }


def several(value: Any, op: str, arg: str, position: int) -> Shape:
    """Return `value`, an int or a sequence of ints, as a tuple."""
    if type(value) is int:
        return (value,)
    several = value if isinstance(value, tuple | list) else (value,)
    try:
        return tuple([whole(item) for item in several])
    except TypeError:
        kind = type(value).__name__
        raise TypeError(
            f"{op}(): argument '{arg}' (position {position}) must be tuple of ints, not {kind}"
        ) from None


def each(value: Any, dims: int, op: str, arg: str, position: int) -> Shape:
    """Return `value` for each dimension: one int for all of them, or one per dimension."""
    given = several(value, op, arg, position)
    if len(given) == dims:
        return given
    if len(given) == 1:
        return given * dims
    if op == "max_pool1d":
        raise RuntimeError(
            f"max_pool1d() {arg} must be an int, list of ints or tuple of ints of size 1 but got "
            f"size {len(given)}"
        )
    if dims == 1:
        raise RuntimeError(f"{op}() argument '{arg}' should contain one int (got {len(given)})")
    omitted = "either be omitted, a single int" if arg == "stride" else "either be a single int"
    raise RuntimeError(
        f"{op}: {arg} must {omitted}, or a tuple of {WORDS[dims]} ints; it has {len(given)}"
    )


def window(
    op: str,
    shape: Shape,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[Shape, Shape, Shape, Shape]:
    """The kernel size, stride, padding and dilation of each dimension, checked."""
    if not type(kernel_size) is type(padding) is type(dilation) is int or not (
        stride is None or type(stride) is int
    ):
        # convert sequences to tuples of ints, the cache key of the checked arguments
        kernel_size = several(kernel_size, op, "kernel_size", 2)
        stride = None if stride is None else several(stride, op, "stride", 3)
        padding = several(padding, op, "padding", 4)
        dilation = several(dilation, op, "dilation", 5)
    return _checked(op, shape, kernel_size, stride, padding, dilation, flag(ceil_mode, "ceil_mode"))


@lru_cache(maxsize=1024)
def _checked(
    op: str,
    shape: Shape,
    kernel_size: int | Shape,
    stride: int | Shape | None,
    padding: int | Shape,
    dilation: int | Shape,
    ceil_mode: bool,
) -> tuple[Shape, Shape, Shape, Shape]:
    dims = int(op[-2])
    if op == "max_pool1d" or (op == "avg_pool1d" and len(shape) not in (2, 3)):
        _check_vectors(op, shape)
    kernel = each(kernel_size, dims, op, "kernel_size", 2)
    steps = kernel if stride is None or stride == () else each(stride, dims, op, "stride", 3)
    pads = each(padding, dims, op, "padding", 4)
    gaps = each(dilation, dims, op, "dilation", 5)
    if op == "max_pool1d":
        _check_one(shape, kernel[0], steps[0], pads[0], gaps[0], ceil_mode)
    else:
        _check(op, shape, kernel, steps, pads, gaps, ceil_mode)
    return kernel, steps, pads, gaps


def _check_vectors(op: str, shape: Shape) -> None:
    if op == "avg_pool1d":
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 "
            "'self' (while checking arguments for avg_pool1d)"
        )
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            f"{op}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(shape)}"
        )


def _check_one(
    shape: Shape, kernel: int, stride: int, padding: int, dilation: int, ceil: bool
) -> None:
    for name, value, least in (
        ("kernel_size", kernel, 1),
        ("stride", stride, 1),
        ("padding", padding, 0),
        ("dilation", dilation, 1),
    ):
        if value < least:
            must = "greater than zero" if least else "non-negative"
            raise RuntimeError(f"max_pool1d() {name} must be {must}, but got {value}")
    if padding > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={padding} and kernel_size={kernel}"
        )
    count = pooled_size(shape[-1], kernel, stride, padding, dilation, ceil)
    if count < 1:
        raise RuntimeError(
            f"max_pool1d() Invalid computed output size: {count}. Output size is too small: the "
            f"window is longer than the input with its padding, {shape[-1]} + 2 * {padding}"
        )


def _spelled(what: str, values: Shape) -> str:
    letters = _LETTERS[-len(values) :] if len(values) > 1 else "W"
    return " ".join([f"{what}{letter}: {v}" for letter, v in zip(letters, values, strict=True)])


def _check(
    op: str,
    shape: Shape,
    kernel: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    ceil: bool,
) -> None:
    dims = len(kernel)
    kinds = f"{dims + 1}D or {dims + 2}D (batch mode) tensor"
    if (op.startswith("max") or dims == 3) and len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"non-empty {kinds} expected for input, but it has the shape {list(shape)}"
        )
    if len(shape) <= dims:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{len(shape)}, "
            f"{len(shape) - 1}], but got -{dims + 1}): {op}() takes {kinds}s"
        )
    for k, step, pad, gap in zip(kernel, stride, padding, dilation, strict=True):
        if step == 0:
            raise RuntimeError(f"stride should not be zero, but got stride: {stride}")
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > max((k - 1) * gap + 1, 0) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={pad}, kernel_size={k} and dilation={gap}"
            )
    for name, what, values in (
        ("kernel size", "k", kernel),
        ("stride", "d", stride),
        ("dilation", "dilation", dilation),
    ):
        if min(values) <= 0:
            raise RuntimeError(
                f"{name} should be greater than zero, but got {_spelled(what, values)}"
            )
    sizes = shape[-dims:]
    if len(shape) > dims + 2 or 0 in shape[-dims - 1 :]:
        if op == "max_pool3d":
            raise RuntimeError(
                "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions "
                f"to have positive length, but input has a shape of {list(shape)}"
            )
        raise RuntimeError(
            f"Expected {kinds} with optional 0 dim batch size for input, but got:{list(shape)}"
        )
    if op == "avg_pool3d" and any(n < k for n, k in zip(sizes, kernel, strict=True)):
        raise RuntimeError(
            f"input image ({_spelled('', sizes)}) smaller than kernel size "
            f"({_spelled('k', kernel)})"
        )
    counts = [
        pooled_size(n, *parts, ceil)
        for n, parts in zip(sizes, zip(kernel, stride, padding, dilation, strict=True), strict=True)
    ]
    if min(counts) < 1:
        planes = shape[-dims - 1]
        was, will = ("x".join(map(str, (planes, *v))) for v in (sizes, counts))
        raise RuntimeError(
            f"Given input size: ({was}). Calculated output size: ({will}). Output size is too small"
        )
