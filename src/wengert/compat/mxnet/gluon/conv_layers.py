"""Layer 9 · compat: gluon's convolutions and pooling, in one to three dimensions."""

from __future__ import annotations

from typing import Any, ClassVar

from wengert.base.sections import fill_sections
from wengert.compat.mxnet.gluon.basic_layers import Activation, called
from wengert.compat.mxnet.gluon.block import HybridBlock

__all__ = [f"{kind}{d}D" for kind in ("Conv", "MaxPool", "AvgPool") for d in (1, 2, 3)]

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def _sizes(value, d: int) -> tuple[int, ...]:
    return (value,) * d if isinstance(value, int) else tuple(value)


class _Conv(HybridBlock):
    """Convolution of (batch, channel, ...) with `channels` kernels.

    Parameters
    ----------
    channels : int. The number of results.
    kernel_size, strides, padding, dilation : int or tuple of int
    groups : int
    activation : str, optional
    use_bias : bool
    in_channels : int. The number of channels of the argument; 0: what the first batch has.
    """

    _d: ClassVar[int]
    _transposed: ClassVar[bool] = False

    def __init__(self, channels: int, kernel_size, strides=1, padding=0, *args, **kwargs) -> None:
        names = ["dilation", "groups", "layout", "activation", "use_bias", "weight_initializer"]
        names += ["bias_initializer", "in_channels"]
        if self._transposed:
            names.insert(0, "output_padding")
        given = {**dict(zip(names, args, strict=False))}
        given.update({name: kwargs.pop(name) for name in names if name in kwargs})
        super().__init__(**kwargs)
        d = self._d
        layout = given.get("layout") or _LAYOUTS[d]
        if layout != _LAYOUTS[d]:
            raise NotImplementedError(f"layout {layout!r}: transpose to {_LAYOUTS[d]!r} first")
        self._channels, self._kernel = channels, _sizes(kernel_size, d)
        self._strides, self._padding = _sizes(strides, d), _sizes(padding, d)
        self._dilation = _sizes(given.get("dilation", 1), d)
        self._groups = given.get("groups", 1)
        self._adj = _sizes(given.get("output_padding", 0), d)
        self._in = given.get("in_channels", 0)
        self.weight = self.params.get(
            "weight", shape=self._shape(self._in), init=given.get("weight_initializer")
        )
        start = given.get("bias_initializer", "zeros")
        wants_bias = given.get("use_bias", True)
        self.bias = self.params.get("bias", shape=(channels,), init=start) if wants_bias else None
        named = given.get("activation")
        self._activation = None if named is None else [Activation(named)]

    def _shape(self, inputs: int) -> tuple[int, ...]:
        if self._transposed:
            return (inputs, self._channels // self._groups, *self._kernel)
        return (self._channels, inputs // self._groups, *self._kernel)

    def _alias(self) -> str:
        return "conv"

    def __repr__(self) -> str:
        known = self.weight.shape[0 if self._transposed else 1]
        inputs = known if known < 0 or self._transposed else known * self._groups
        parts = [
            f"{inputs} -> {self._channels}",
            f"kernel_size={self._kernel}",
            f"stride={self._strides}",
        ]
        if any(self._padding):
            parts.append(f"padding={self._padding}")
        if any(step != 1 for step in self._dilation):
            parts.append(f"dilation={self._dilation}")
        if self._groups != 1:
            parts.append(f"groups={self._groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self._activation is not None:
            parts.append(repr(self._activation[0]))
        return f"{type(self).__name__}({', '.join(parts)})"

    def infer_shape(self, x, *args) -> None:
        self.weight.shape = self._shape(x.shape[1])

    def hybrid_forward(self, F, x, weight, bias=None) -> Any:
        kind = "deconvolution" if self._transposed else "convolution"
        more = {"adj": self._adj} if self._transposed else {}
        y = called(
            kind, x, weight, bias, kernel=self._kernel, stride=self._strides, pad=self._padding,
            dilate=self._dilation, num_group=self._groups, no_bias=bias is None, **more,
        )  # fmt: skip
        return y if self._activation is None else self._activation[0](y)


class Conv1D(_Conv):
    __doc__ = _Conv.__doc__
    _d = 1


class Conv2D(_Conv):
    __doc__ = _Conv.__doc__
    _d = 2


class Conv3D(_Conv):
    __doc__ = _Conv.__doc__
    _d = 3


class Conv1DTranspose(_Conv):
    """The transpose of `Conv1D`."""

    _d, _transposed = 1, True


class Conv2DTranspose(_Conv):
    """The transpose of `Conv2D`."""

    _d, _transposed = 2, True


class Conv3DTranspose(_Conv):
    """The transpose of `Conv3D`."""

    _d, _transposed = 3, True


class _Pool(HybridBlock):
    _d: ClassVar[int]
    _kind: ClassVar[str]
    _global: ClassVar[bool] = False

    def __init__(
        self,
        pool_size=2,
        strides=None,
        padding=0,
        layout: str | None = None,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        d = self._d
        if layout not in (None, _LAYOUTS[d]):
            raise NotImplementedError(f"layout {layout!r}: transpose to {_LAYOUTS[d]!r} first")
        self._size = (1,) * d if self._global else _sizes(pool_size, d)
        self._strides = self._size if strides is None else _sizes(strides, d)
        self._padding = _sizes(padding, d)
        self._ceil = ceil_mode or self._global
        self._count = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(size={self._size}, stride={self._strides}, "
            f"padding={self._padding}, ceil_mode={self._ceil}, global_pool={self._global}, "
            f"pool_type={self._kind}, layout={_LAYOUTS[self._d]})"
        )

    def forward(self, x, *args) -> Any:
        return called(
            "pooling", x, self._size, self._kind, self._global, self._strides, self._padding,
            "full" if self._ceil else "valid", self._count,
        )  # fmt: skip


def _pool(name: str, d: int, kind: str, whole: bool) -> Any:
    what = "largest element" if kind == "max" else "mean"
    where = "all positions" if whole else "each window"
    space = {"_d": d, "_kind": kind, "_global": whole, "__module__": __name__}
    space["__doc__"] = f"The {what} of {where} of the last {d} dimensions."
    return type(name, (_Pool,), space)


MaxPool1D, MaxPool2D, MaxPool3D = (_pool(f"MaxPool{d}D", d, "max", False) for d in (1, 2, 3))
AvgPool1D, AvgPool2D, AvgPool3D = (_pool(f"AvgPool{d}D", d, "avg", False) for d in (1, 2, 3))
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = (
    _pool(f"GlobalMaxPool{d}D", d, "max", True) for d in (1, 2, 3)
)
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = (
    _pool(f"GlobalAvgPool{d}D", d, "avg", True) for d in (1, 2, 3)
)

fill_sections(globals())
