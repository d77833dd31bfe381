"""Layer 2 · prims: block diagonals, and elements moved between channels and pixels."""

from wengert.kernels import structure as kernels
from wengert.prims.families import linear
from wengert.prims.record import case

linear(
    "block_diag",
    kernels.block_diag,
    args=("*tensors",),
    promote="same",
    vjp=lambda F, g, tensors_shape: F.block_diag_backward(g, shapes=tensors_shape),
    cases=(case((1, 2), (3,), ()), case((2, 0), (0, 1), (2, 2)), case((2, 3))),
    doc="zeros with matrices along the diagonal; vectors and numbers are rows",
)
linear(
    "block_diag_backward",
    kernels.block_diag_backward,
    outputs=None,
    vjp=lambda F, g: F.block_diag(*g),
    cases=(case((4, 5), shapes=((1, 2), (2, 2), (1,))), case((1, 2), shapes=((), (0, 1)))),
    doc="the blocks along the diagonal",
)
linear(
    "pixel_shuffle",
    kernels.pixel_shuffle,
    vjp=lambda F, g, upscale_factor: F.pixel_unshuffle(g, downscale_factor=upscale_factor),
    cases=(
        case((2, 4, 2, 3), upscale_factor=2),
        case((9, 1, 2), upscale_factor=3),
        case((0, 4, 1, 1), upscale_factor=2),
    ),
    layout="suggested",
    doc="channels spread over places",
    batching="leading",
)
linear(
    "pixel_unshuffle",
    kernels.pixel_unshuffle,
    vjp=lambda F, g, downscale_factor: F.pixel_shuffle(g, upscale_factor=downscale_factor),
    cases=(
        case((2, 1, 4, 2), downscale_factor=2),
        case((1, 3, 6), downscale_factor=3),
        case((0, 1, 2, 2), downscale_factor=2),
    ),
    layout="suggested",
    doc="places gathered into channels",
    batching="leading",
)
linear(
    "channel_shuffle",
    kernels.channel_shuffle,
    vjp=lambda F, g, self_shape, groups: F.channel_shuffle(
        g, groups=max(self_shape[1] // groups, 1)
    ),
    cases=(
        case((2, 6, 2), groups=3),
        case((1, 4, 1, 2), groups=2),
        case((0, 4, 1), groups=4),
        case((2, 4, 2), groups=4),
        case((2, 4, 2), groups=1),
    ),
    layout="suggested",
    doc="the channels in another order: the first of each group, the second of each, and so on",
    batching="fold",
)
