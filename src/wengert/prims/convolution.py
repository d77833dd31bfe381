"""Layer 2 · prims: convolution, plain and transposed, over one to three dimensions.

See NOTE [three products] in `wengert.kernels.convolution`: the derivatives of a convolution with
respect to its input and its weight are bilinear, too, and derivatives of each other.
"""

from __future__ import annotations

from typing import Any

from wengert.kernels import convolution as kernels
from wengert.prims.families import bilinear, general
from wengert.prims.record import Case, case, not_implemented

Shape = tuple[int, ...]


def _case(*shapes: Shape, **params: Any) -> Case:
    """Return a case with the parameters of a plain convolution, except for those given."""
    dims = len(shapes[0]) - 2
    common: dict[str, Any] = {
        "stride": (1,) * dims,
        "padding": (0,) * dims,
        "dilation": (1,) * dims,
        "groups": 1,
    }
    return case(*shapes, **(common | params))


# -- the products ---------------------------------------------------------------------------------

_SECOND = "ConvolutionBackwardBackward0"


def _sized(params: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Return the parameters of a product of the size of an array of `shape`."""
    return params | {"size": shape[2:]}


bilinear(
    "correlate",
    kernels.correlate,
    vjp=(
        lambda F, g, weight, self_shape, **params: F.correlate_input(
            g, weight, **_sized(params, self_shape)
        ),
        lambda F, g, self, weight_shape, **params: F.correlate_weight(
            self, g, **_sized(params, weight_shape)
        ),
    ),
    promote=None,
    node=_SECOND,
    shows={"size": None},
    cases=(
        _case((2, 2, 5), (3, 2, 2), size=(4,)),
        _case((1, 4, 4, 3), (2, 2, 2, 3), size=(3, 3), stride=(2, 1), padding=(1, 1), groups=2),
        # a size that crops, one-sided padding, and unused elements
        _case((2, 1, 4, 5), (1, 1, 2, 2), size=(2, 5), dilation=(2, 1)),
        _case((1, 1, 6), (2, 1, 2), size=(4,), padding=(-1,)),
        _case((1, 1, 3, 2, 3), (1, 1, 2, 2, 1), size=(2, 1, 3)),
        _case((0, 1, 4), (2, 1, 2), size=(3,)),
    ),
    doc="the sums of the products of windows and weights",
    sparsity="correlation",
    fused="kernel",
)
bilinear(
    "correlate_input",
    kernels.correlate_input,
    vjp=(
        lambda F, g, weight, self_shape, **params: F.correlate(
            g, weight, **_sized(params, self_shape)
        ),
        lambda F, g, self, weight_shape, **params: F.correlate_weight(
            g, self, **_sized(params, weight_shape)
        ),
    ),
    promote=None,
    node=_SECOND,
    shows={"size": None},
    cases=(
        _case((2, 3, 4), (3, 2, 2), size=(5,)),
        _case((1, 2, 3, 2), (2, 2, 3, 3), size=(5, 4), stride=(2, 3), padding=(1, 1), groups=2),
        _case((1, 1, 2, 3), (1, 3, 2, 2), size=(5, 7), stride=(2, 2), dilation=(3, 2)),
        # more input than output channels: computed the other way round
        _case((1, 5, 2, 2), (5, 1, 3, 2), size=(5, 4), stride=(2, 2), padding=(0, 1)),
        _case((1, 1, 2, 1, 3), (1, 1, 2, 2, 1), size=(3, 2, 3)),
        _case((0, 2, 3), (2, 1, 2), size=(4,)),
    ),
    layout="suggested",
    doc="the derivative of correlate with respect to its first argument",
    sparsity="correlation",
    fused="kernel",
)
bilinear(
    "correlate_weight",
    kernels.correlate_weight,
    vjp=(
        lambda F, g, other, self_shape, **params: F.correlate_input(
            other, g, **_sized(params, self_shape)
        ),
        lambda F, g, self, other_shape, **params: F.correlate(
            self, g, **_sized(params, other_shape)
        ),
    ),
    promote=None,
    node=_SECOND,
    shows={"size": None},
    cases=(
        _case((2, 2, 5), (2, 3, 4), size=(2,)),
        _case((3, 4, 4, 3), (3, 2, 2, 3), size=(2, 3), stride=(2, 1), padding=(1, 1), groups=2),
        _case((2, 1, 4, 5), (2, 1, 2, 4), size=(2, 2), dilation=(2, 1)),
        _case((2, 2, 3), (2, 2, 3), size=(1,)),
        _case((1, 1, 3, 2, 3), (1, 1, 2, 1, 3), size=(2, 2, 1)),
        _case((0, 1, 4), (0, 2, 3), size=(2,)),
    ),
    doc="the derivative of correlate with respect to its weight",
    fused="kernel",
)

# -- the operation --------------------------------------------------------------------------------

_OPERATION = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")


def _by_input(
    F: Any,
    g: Any,
    weight: Any,
    input_shape: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    transposed: bool,
    groups: int,
) -> Any:
    rule = F.correlate if transposed else F.correlate_input
    window = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return rule(g, weight, size=input_shape[2:], **window)


def _by_weight(
    F: Any,
    g: Any,
    input: Any,
    weight_shape: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    transposed: bool,
    groups: int,
) -> Any:
    first, second = (g, input) if transposed else (input, g)
    window = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return F.correlate_weight(first, second, size=weight_shape[2:], **window)


def _by_bias(F: Any, g: Any, weight_shape: Shape) -> Any:
    return F.sum_dim(g, dim=(0, *range(2, len(weight_shape))), keepdim=False)


def _plain(*shapes: Shape, **params: Any) -> Case:
    dims = len(shapes[0]) - 2
    return _case(*shapes, **({"transposed": False, "output_padding": (0,) * dims} | params))


_PLAIN: tuple[tuple[Shape, Shape, dict[str, Any]], ...] = (
    ((2, 2, 5), (3, 2, 3), {"padding": (1,)}),
    ((1, 2, 4, 3), (2, 2, 2, 3), {"stride": (2, 1), "padding": (1, 0)}),
    ((2, 2, 3, 4), (2, 1, 3, 3), {"padding": (1, 1), "groups": 2}),
    ((1, 1, 4, 3), (2, 1, 2, 2), {"dilation": (2, 1), "padding": (2, 1)}),
    ((2, 3, 2, 2), (2, 3, 1, 1), {}),
    ((1, 1, 3, 2, 3), (2, 1, 2, 2, 2), {"padding": (0, 0, 1)}),
    ((0, 2, 4), (2, 2, 3), {}),
)
_TRANSPOSED: tuple[tuple[Shape, Shape, dict[str, Any]], ...] = (
    ((2, 3, 4), (3, 2, 3), {"stride": (2,), "padding": (1,), "output_padding": (1,)}),
    ((1, 4, 2, 3), (4, 1, 2, 2), {"stride": (2, 2), "groups": 2}),
    ((1, 1, 2, 3), (1, 3, 2, 3), {"dilation": (2, 1), "output_padding": (1, 0)}),
    ((1, 1, 2, 2, 1), (1, 1, 2, 1, 2), {"stride": (1, 2, 1)}),
    ((0, 2, 3), (2, 1, 2), {}),
)


def _cases(bias: bool) -> tuple[Case, ...]:
    cases = []
    for transposed, samples in ((False, _PLAIN), (True, _TRANSPOSED)):
        for shape, weight, params in samples:
            results = weight[1] * params.get("groups", 1) if transposed else weight[0]
            more = ((results,),) if bias else ()
            cases.append(_plain(shape, weight, *more, transposed=transposed, **params))
    return tuple(cases)


# the rules of a transposed one do not need it
_OUTPUT_PADDING = {
    "output_padding": lambda stride, transposed: None if transposed else (0,) * len(stride)
}
_REFUSED = not_implemented("slow_conv2d_cpu", "b")
general(
    "convolution",
    kernels.convolution,
    args=("input", "weight", "bias"),
    params=_OPERATION,
    vjp=(_by_input, _by_weight, _by_bias),
    refuses=_REFUSED,
    cases=_cases(True),
    layout="suggested",
    shows={
        **_OUTPUT_PADDING,
        "bias_sym_sizes_opt": lambda weight_shape, transposed, groups: (
            weight_shape[1] * groups if transposed else weight_shape[0],
        ),
    },
    doc="convolution, or its transpose, and a number added for each channel",
    raises=False,
    autocast="lower",
    sparsity="convolution",
    fused="kernel",
)
bilinear(
    "convolution_without_bias",
    kernels.convolution,
    overload="convolution.default",
    vjp=(_by_input, _by_weight),
    promote=None,
    refuses=_REFUSED,
    node="ConvolutionBackward0",
    blanks=1,
    cases=_cases(False),
    layout="suggested",
    shows={**_OUTPUT_PADDING, "bias_sym_sizes_opt": lambda: (0,)},
    doc="convolution, or its transpose",
    autocast="lower",
    sparsity="convolution",
    fused="kernel",
)
