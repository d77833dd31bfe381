"""Layer 2 · prims: discrete Fourier transforms.

See NOTE [directions and norms] and NOTE [half spectra] in `wengert.kernels.fourier`. All are linear
maps of real vector spaces; their rules are their adjoints, and conjugate explicitly.
"""

from __future__ import annotations

from typing import Any

from wengert.kernels import fourier as kernels
from wengert.kernels import strided
from wengert.prims.families import linear
from wengert.prims.record import case

Dims = tuple[int, ...]

_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _adjoint_of_r2c(
    F: Any,
    g: Any,
    self_shape: Dims,
    dim: Dims,
    norm: str,
    forward: bool,
    onesided: bool,
    doubled: bool,
) -> Any:
    if not onesided:
        return F.real(F.fft_c2c(g, dim=dim, norm=_OTHER[norm], forward=not forward))
    return F.fft_c2r(
        g,
        dim=dim,
        norm=_OTHER[norm],
        forward=not forward,
        last_dim_size=self_shape[dim[-1]],
        halved=not doubled,
    )


linear(
    "fft_c2c",
    kernels.fft_c2c,
    vjp=lambda F, g, dim, norm, forward: F.fft_c2c(
        g, dim=dim, norm=_OTHER[norm], forward=not forward
    ),
    conj="explicit",
    domain="complex",
    cases=(
        case((4,), dim=(0,), norm="backward", forward=True),
        case((2, 3), dim=(1,), norm="backward", forward=False),
        case((2, 3), dim=(0, 1), norm="ortho", forward=True),
        case((2, 3, 2), dim=(2, 0), norm="forward", forward=True),
        case((2, 3), dim=(1, 0), norm="forward", forward=False),
        case((0, 3), dim=(1,), norm="backward", forward=True),
        case((2,), dim=(), norm="backward", forward=True),
    ),
    doc="the Fourier transform of complex values",
    batching="dims",
)
linear(
    "fft_r2c",
    kernels.fft_r2c,
    vjp=_adjoint_of_r2c,
    conj="explicit",
    cases=tuple(
        case(shape, dim=dim, norm=norm, forward=forward, onesided=onesided, doubled=doubled)
        for shape, dim, norm, forward, onesided, doubled in (
            ((4,), (0,), "backward", True, True, False),
            ((5,), (0,), "forward", True, True, True),
            ((2, 3), (0, 1), "ortho", True, True, False),
            ((2, 4), (1, 0), "backward", False, True, True),
            ((3, 4), (0, 1), "backward", True, False, False),
            ((2, 3, 3), (1, 2), "forward", False, False, False),
            ((1,), (0,), "backward", True, False, False),
            ((0, 3), (1,), "backward", True, True, False),
        )
    ),
    doc="the Fourier transform of real values",
    lacks="complex half",
    batching="dims",
)
linear(
    "fft_c2r",
    kernels.fft_c2r,
    vjp=lambda F, g, dim, norm, forward, halved: F.fft_r2c(
        g,
        dim=dim,
        norm=_OTHER[norm],
        forward=not forward,
        onesided=True,
        doubled=not halved,
    ),
    conj="explicit",
    domain="complex",
    cases=tuple(
        case(shape, dim=dim, norm=norm, forward=forward, last_dim_size=size, halved=halved)
        for shape, dim, norm, forward, size, halved in (
            ((3,), (0,), "backward", False, 4, False),
            ((3,), (0,), "forward", False, 5, True),
            ((2, 2), (0, 1), "ortho", True, 3, False),
            ((3, 2), (1, 0), "backward", False, 4, True),
            ((1,), (0,), "backward", True, 1, False),
            ((0, 2), (1,), "backward", False, 2, False),
        )
    ),
    doc="the real values that belong to half of a spectrum",
    batching="dims",
)

# -- signals in parts -----------------------------------------------------------------------------


def _joined(F: Any, g: Any, self_shape: Dims, size: int, step: int) -> Any:
    whole = F.overlap_add(g, step=step)
    used = (self_shape[1] - size) // step * step + size
    if used == self_shape[1]:
        return whole
    return F.slice_backward(whole, shape=self_shape, dim=1, start=0, end=used, step=1)


linear(
    "signal_parts",
    lambda self, size, step: strided.unfold(self, 1, size, step),
    vjp=_joined,
    cases=(
        case((2, 8), size=4, step=2),
        case((1, 8), size=3, step=2),
        case((1, 9), size=2, step=3),
        case((0, 4), size=2, step=1),
    ),
    doc="the parts of signals that begin `step` elements apart",
    batching="fold",
)
linear(
    "overlap_add",
    kernels.overlap_add,
    vjp=lambda F, g, self_shape, step: F.signal_parts(g, size=self_shape[2], step=step),
    cases=(
        case((2, 3, 4), step=2),
        case((1, 3, 5), step=2),
        case((1, 2, 2), step=3),
        case((0, 2, 3), step=1),
    ),
    doc="signals, from parts that overlap",
    batching="fold",
)
