"""Layer 2 · prims: sliding blocks of images as columns, and their sum."""

from __future__ import annotations

from typing import Any

from wengert.kernels import fold as kernels
from wengert.prims.families import linear
from wengert.prims.record import Case, case, not_implemented

Shape = tuple[int, ...]


def _case(shape: Shape, kernel: Shape, **params: Any) -> Case:
    common = {"dilation": (1, 1), "padding": (0, 0), "stride": (1, 1)}
    return case(shape, kernel_size=kernel, **(common | params))


linear(
    "im2col",
    kernels.im2col,
    vjp=lambda F, g, self_shape, **window: F.col2im(g, output_size=self_shape[-2:], **window),
    shows={
        "self_sym_sizes": None,
        "self_sym_argsize_minus_2": lambda self_shape: self_shape[-2],
        "self_sym_argsize_minus_1": lambda self_shape: self_shape[-1],
    },
    refuses=not_implemented("im2col_out_cpu", "i"),
    cases=(
        _case((2, 2, 3, 4), (2, 3)),
        _case((1, 5, 4), (2, 2), stride=(2, 1), padding=(1, 0)),
        _case((1, 1, 5, 5), (2, 2), dilation=(2, 3), stride=(3, 1), padding=(0, 2)),
        _case((0, 1, 3, 3), (2, 2)),
    ),
    doc="each block of images, sliding over them, as a column",
    batching="leading",
)
linear(
    "col2im",
    kernels.col2im,
    vjp=lambda F, g, kernel_size, dilation, padding, stride: F.im2col(
        g, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
    ),
    refuses=not_implemented("col2im_out_cpu", "i"),
    cases=(
        _case((2, 12, 4), (2, 3), output_size=(3, 4)),
        _case((4, 9), (2, 2), stride=(2, 1), padding=(1, 0), output_size=(5, 4)),
        _case(
            (1, 4, 12), (2, 2), dilation=(2, 3), stride=(3, 1), padding=(0, 2), output_size=(6, 5)
        ),
        _case((0, 4, 4), (2, 2), output_size=(3, 3)),
    ),
    doc="images that add up columns",
    batching="leading",
)
