"""Layer 9 · compat: gluon's dense, activation, normalisation, convolution and pooling layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet import ndarray as legacy
from wengert.compat.mxnet import numpy_extension
from wengert.compat.mxnet.base import refusal
from wengert.compat.mxnet.gluon.block import Block, HybridBlock
from wengert.compat.mxnet.neural import FUNCTIONS as NEURAL
from wengert.compat.mxnet.results import CLASSES, computed
from wengert.nn.functional import pad

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def called(name: str, x, *args, **kwargs) -> Any:
    """Apply a neural network function to arrays of the class of `x`."""
    return computed(type(x), NEURAL[name], (x, *args), kwargs)


class _Layer(HybridBlock):
    """Base class for layers: formats their representation and initializes their parameters."""

    shown: ClassVar[str] = ""
    """The format of the representation, with attributes in braces."""
    weight: Any
    bias: Any
    gamma: Any

    def __repr__(self) -> str:
        return self.shown.format(**vars(self)) if self.shown else super().__repr__()

    def _begin(self, name: str, shape, wanted=True, trained=True) -> None:
        """Create a parameter, initialized by the argument ``{name}_initializer``."""
        if not wanted:
            setattr(self, name, None)
            return
        held = vars(self)
        start = held.get(f"_{name.replace('_var', '_variance')}_initializer")
        request, kind = "write" if trained else "null", held.get("_dtype", "float32")
        param = self.params.get(name, grad_req=request, shape=shape, dtype=kind, init=start)
        setattr(self, name, param)


class _Spatial(_Layer):
    """Base class for spatial layers; sizes are one number for all dimensions, or one each."""

    _d: ClassVar[int]
    _layout: Any

    def _sizes(self, value) -> tuple[int, ...]:
        return (value,) * self._d if isinstance(value, int) else tuple(value)

    def _spread(self, *names: str) -> None:
        if self._layout not in (None, _LAYOUTS[self._d]):
            wanted = _LAYOUTS[self._d]
            raise NotImplementedError(f"layout {self._layout!r}: transpose to {wanted!r} first")
        self._layout = _LAYOUTS[self._d]
        for name in names:
            setattr(self, name, self._sizes(getattr(self, name)))


@arguments(
    "_channels, _kernel_size, _strides=1, _padding=0, _dilation=1, _groups=1, _layout=None, "
    "_activation=None, _use_bias=True, _weight_initializer=None, _bias_initializer='zeros', "
    "_in_channels=0"
)
class _Conv(_Spatial):
    """Convolution of (batch, channel, ...) with `channels` kernels.

    Parameters
    ----------
    channels : int. The number of output channels.
    kernel_size, strides, padding, dilation : int or tuple of int
    groups : int
    activation : str, optional
    use_bias : bool
    in_channels : int. The number of input channels; 0 infers it from the first batch.
    """

    _transposed: ClassVar[bool] = False
    _output_padding = 0

    def _prepare(self: Any) -> None:
        self._spread("_kernel_size", "_strides", "_padding", "_dilation")
        self._begin("weight", self._shape(self._in_channels))
        self._begin("bias", (self._channels,), self._use_bias)
        self._act = None if self._activation is None else [Activation(self._activation)]

    def _shape(self, inputs: int) -> tuple[int, ...]:
        if self._transposed:
            return (inputs, self._channels // self._groups, *self._kernel_size)
        return (self._channels, inputs // self._groups, *self._kernel_size)

    def _alias(self) -> str:
        return "conv"

    def __repr__(self) -> str:
        known = self.weight.shape[0 if self._transposed else 1]
        inputs = known if known < 0 or self._transposed else known * self._groups
        more = (
            ("padding", self._padding, any(self._padding)),
            ("dilation", self._dilation, any(step != 1 for step in self._dilation)),
            ("groups", self._groups, self._groups != 1),
            ("bias", False, self.bias is None),
        )
        parts = [f"{inputs} -> {self._channels}", f"kernel_size={self._kernel_size}"]
        parts += [f"stride={self._strides}"]
        parts += [f"{name}={value}" for name, value, told in more if told]
        return f"{type(self).__name__}({', '.join([*parts, *map(repr, self._act or ())])})"

    def infer_shape(self, x, *args) -> None:
        self.weight.shape = self._shape(x.shape[1])

    def hybrid_forward(self, F, x, weight, bias=None) -> Any:
        kind = "deconvolution" if self._transposed else "convolution"
        more = {"adj": self._sizes(self._output_padding)} if self._transposed else {}
        y = called(
            kind, x, weight, bias, kernel=self._kernel_size, stride=self._strides,
            pad=self._padding, dilate=self._dilation, num_group=self._groups,
            no_bias=bias is None, **more,
        )  # fmt: skip
        return y if self._act is None else self._act[0](y)


@arguments("padding/_output_padding=0")
class _Transposed(_Conv):
    _transposed = True


@arguments("_pool_size=2, _strides=None, _padding=0, _layout=None, _ceil_mode=False")
class _Pool(_Spatial):
    kind: ClassVar[str] = "max"
    whole: ClassVar[bool] = False
    _count_include_pad = True

    def _prepare(self: Any) -> None:
        self._strides = self._pool_size if self._strides is None else self._strides
        self._spread("_pool_size", "_strides", "_padding")

    def _alias(self) -> str:
        return "pool"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(size={self._pool_size}, stride={self._strides}, "
            f"padding={self._padding}, ceil_mode={self._ceil_mode}, global_pool={self.whole}, "
            f"pool_type={self.kind}, layout={self._layout})"
        )

    def forward(self, x, *args) -> Any:
        return called(
            "pooling", x, self._pool_size, self.kind, self.whole, self._strides, self._padding,
            "full" if self._ceil_mode else "valid", self._count_include_pad,
        )  # fmt: skip


@arguments("ceil_mode/_count_include_pad=True")
class _Average(_Pool):
    kind = "avg"


class _Global(_Pool):
    whole = True

    def __init__(self, layout: str | None = None, **kwargs) -> None:
        given: dict[str, Any] = {"pool_size": 1, "layout": layout, "ceil_mode": True}
        super().__init__(**given, **kwargs)


def _kinds(name: str, base: type, words: str | None, **held) -> None:
    """Define the layers of one, two and three dimensions in this module."""
    for d in _LAYOUTS:
        doc = words and words.format(d=d)
        body = {"_d": d, "__doc__": doc, "__module__": __name__, **held}
        globals()[name.format(d=d)] = type(name.format(d=d), (base,), body)


_kinds("Conv{d}D", _Conv, _Conv.__doc__)
_kinds("Conv{d}DTranspose", _Transposed, "The transpose of `Conv{d}D`.")
for _name, _base, _what in (("Max", _Pool, "largest element"), ("Avg", _Average, "mean")):
    _words = f"The {_what} of {{}} of the last {{{{d}}}} dimensions."
    _kinds(f"{_name}Pool{{d}}D", _base, _words.format("each window"))
    _whole = _words.format("all positions")
    _kinds(f"Global{_name}Pool{{d}}D", _Global, _whole, kind=_name.lower())


class Stack(Block):
    """Base class for blocks that run their children in turn."""

    def __init__(self, *args, **kwargs) -> None:
        if args:
            raise TypeError(f"{type(self).__name__}() takes no layers: write net.add(layer, ...)")
        super().__init__(**kwargs)

    def add(self, *blocks) -> None:
        """Append layers."""
        for block in blocks:
            self.register_child(block)

    def __len__(self) -> int:
        return len(self._children)

    def __getitem__(self, key) -> Any:
        layers = list(self._children.values())[key]
        if not isinstance(layers, list):
            return layers
        net = type(self)(prefix=self._prefix)
        net.add(*layers)
        return net

    def __iter__(self) -> Iterator[Any]:
        return iter(self._children.values())

    def forward(self, x, *args) -> Any:
        """Apply the layers in sequence."""
        for block in self._children.values():
            x = block(x, *args)
            args = ()
            if isinstance(x, tuple | list):
                x, args = x[0], tuple(x[1:])
        return (x, *args) if args else x


class Sequential(Stack):
    """A sequence of layers."""


class HybridSequential(Stack, HybridBlock):
    """A sequence of layers."""


@arguments(
    "_units, _activation=None, _use_bias=True, _flatten=True, _dtype='float32', "
    "_weight_initializer=None, _bias_initializer='zeros', _in_units=0"
)
class Dense(_Layer):
    """``activation(x @ weight.T + bias)``.

    Parameters
    ----------
    units : int. The size of the output.
    activation : str, optional
    use_bias : bool
    flatten : bool. Whether to flatten all dimensions but the first.
    in_units : int. The size of the input; 0 infers it from the first batch.
    """

    def _prepare(self: Any) -> None:
        self._begin("weight", (self._units, self._in_units))
        self._begin("bias", (self._units,), self._use_bias)
        # wrapped in a list, it is not listed as a child
        self._act = None if self._activation is None else [Activation(self._activation)]

    @property
    def act(self) -> Any:
        """The activation, or None."""
        return self._act and self._act[0]

    def __repr__(self) -> str:
        units, inputs = self.weight.shape
        return f"Dense({inputs} -> {units}, {self.act or 'linear'})"

    def infer_shape(self, x, *args) -> None:
        """Infer the number of inputs from the first batch."""
        count = math.prod(x.shape[1:]) if self._flatten else x.shape[-1]
        self.weight.shape = (self._units, count)

    def hybrid_forward(self, F, x, weight, bias=None) -> Any:
        y = called("fully_connected", x, weight, bias, self._units, bias is None, self._flatten)
        return y if self.act is None else self.act(y)


class Activation(_Layer):
    """The activation with the given name: relu, sigmoid, tanh, softrelu or softsign."""

    shown = "Activation({_act_type})"

    def __init__(self, activation: str, **kwargs) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def forward(self, x, *args) -> Any:
        return called("activation", x, self._act_type)


class _Rectifier(_Layer):
    """Base class for layers that `leaky_relu` computes."""

    kind: ClassVar[str]
    _alpha = 0.25

    def forward(self, x, *args) -> Any:
        return called("leaky_relu", x, act_type=self.kind, slope=self._alpha)


@arguments("_alpha")
class LeakyReLU(_Rectifier):
    """x where positive, else ``alpha * x``."""

    kind, shown = "leaky", "LeakyReLU({_alpha})"


@arguments("_alpha_initializer='one', _in_channels=1")
class PReLU(_Layer):
    """A `LeakyReLU` with a trained slope."""

    def _prepare(self: Any) -> None:
        self._begin("alpha", (self._in_channels,))

    def hybrid_forward(self, F, x, alpha) -> Any:
        return called("leaky_relu", x, alpha, act_type="prelu")


@arguments("_alpha=1.0")
class ELU(_Rectifier):
    """x where positive, else ``alpha * (exp(x) - 1)``."""

    kind = "elu"


class SELU(_Rectifier):
    """The scaled ELU, which preserves mean and variance."""

    kind = "selu"


class GELU(_Rectifier):
    """x times the standard normal distribution function at x."""

    kind = "gelu"


@arguments("_beta=1.0")
class Swish(_Layer):
    """``x * sigmoid(beta * x)``."""

    def forward(self, x, *args) -> Any:
        return x * called("sigmoid", x * self._beta)


@arguments("_rate, _axes=()")
class Dropout(_Layer):
    """Sets random elements to 0 in training.

    Parameters
    ----------
    rate : float. The probability of a zero.
    axes : tuple of int. The axes along which the mask is shared.
    """

    shown = "Dropout(p = {_rate}, axes={_axes})"

    def forward(self, x, *args) -> Any:
        return called("dropout", x, self._rate, axes=tuple(self._axes))


class Flatten(_Layer):
    """Flattens all dimensions but the first."""

    shown = "Flatten"

    def forward(self, x, *args) -> Any:
        return x.reshape(x.shape[0], math.prod(x.shape[1:]))


@arguments(
    "_axis=1, _epsilon=1e-5, _center=True, _scale=True, _beta_initializer='zeros', "
    "_gamma_initializer='ones', _in_channels=0"
)
class _Normalised(_Layer):
    """Base class for normalization along an axis, with a scale and shift that may be trained."""

    def _prepare(self: Any) -> None:
        self._begin("gamma", (self._in_channels,), trained=self._scale)
        self._begin("beta", (self._in_channels,), trained=self._center)

    def infer_shape(self, x, *args) -> None:
        for param in self._reg_params.values():
            param.shape = (x.shape[self._axis],)

    def __repr__(self) -> str:
        return self.shown.format(**vars(self), known=self.gamma.shape[0], fixed=not self._scale)


@arguments(
    "axis/_momentum=0.9, scale/_use_global_stats=False, "
    "gamma_initializer/_running_mean_initializer='zeros', "
    "running_mean_initializer/_running_variance_initializer='ones'"
)
class BatchNorm(_Normalised):
    """Batch normalisation, with running statistics for prediction.

    Parameters
    ----------
    axis : int. The axis of the channels.
    momentum : float. The decay rate of the running statistics.
    epsilon : float
    center, scale : bool. Whether to train `beta` and `gamma`.
    """

    shown = (
        "BatchNorm(axis={_axis}, eps={_epsilon}, momentum={_momentum}, fix_gamma={fixed}, "
        "use_global_stats={_use_global_stats}, in_channels={known})"
    )

    def _prepare(self: Any) -> None:
        super()._prepare()
        for name in ("running_mean", "running_var"):
            self._begin(name, (self._in_channels,), trained=False)

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var) -> Any:
        return called(
            "batch_norm", x, gamma, beta, running_mean, running_var, self._epsilon,
            self._momentum, not self._scale, self._use_global_stats, False, self._axis,
        )  # fmt: skip


@arguments("_axis=-1")
class LayerNorm(_Normalised):
    """Normalisation along an axis.

    Parameters
    ----------
    axis : int
    epsilon : float
    center, scale : bool. Whether to train `beta` and `gamma`.
    """

    shown = (
        "LayerNorm(eps={_epsilon}, axis={_axis}, center={_center}, scale={_scale}, "
        "in_channels={known})"
    )

    def hybrid_forward(self, F, x, gamma, beta) -> Any:
        return called("layer_norm", x, gamma, beta, self._axis, self._epsilon)


@arguments("_scale=False")
class InstanceNorm(_Normalised):
    """Normalisation of each channel of each example.

    Parameters
    ----------
    axis : int. The axis of the channels.
    epsilon : float
    center, scale : bool. Whether to train `beta` and `gamma`.
    """

    shown = (
        "InstanceNorm(eps={_epsilon}, axis={_axis}, center={_center}, scale={_scale}, "
        "in_channels={known})"
    )

    def hybrid_forward(self, F, x, gamma, beta) -> Any:
        if self._axis == 1:
            return called("instance_norm", x, gamma, beta, self._epsilon)
        moved = called("instance_norm", x.swapaxes(1, self._axis), gamma, beta, self._epsilon)
        return moved.swapaxes(1, self._axis)


@arguments("_num_groups=1")
class GroupNorm(_Normalised):
    """Normalisation of groups of channels of each example.

    Parameters
    ----------
    num_groups : int
    epsilon : float
    center, scale : bool. Whether to train `beta` and `gamma`.
    """

    shown = "GroupNorm(eps={_epsilon}, num_groups={_num_groups}, center={_center}, scale={_scale})"
    without = ("axis", "in_channels")

    def infer_shape(self, x, *args) -> None:
        """Set the shapes of scale and shift: one number for each group."""
        for param in self._reg_params.values():
            param.shape = (self._num_groups,)

    def hybrid_forward(self, F, x, gamma, beta) -> Any:
        return called("group_norm", x, gamma, beta, self._num_groups, self._epsilon)


class SyncBatchNorm(BatchNorm):
    """`BatchNorm`: there is one device."""

    def __init__(self, in_channels=0, num_devices: int | None = None, **kwargs) -> None:
        given: dict[str, Any] = {"in_channels": in_channels, **kwargs}
        super().__init__(**given)


@arguments("_padding=0")
class ReflectionPad2D(_Layer):
    """Pads images by reflection at their edges."""

    def forward(self, x, *args) -> Any:
        sides = (self._padding,) * 4 if isinstance(self._padding, int) else self._padding[4:]
        top, bottom, left, right = sides
        return computed(type(x), pad, (x, [left, right, top, bottom], "reflect"), {})


class Identity(_Layer):
    """Returns its input."""

    def forward(self, x, *args) -> Any:
        return x


@arguments(
    "_input_dim, _output_dim, _dtype='float32', _weight_initializer=None, _sparse_grad=False"
)
class Embedding(_Layer):
    """Maps each integer below `input_dim` to a trained vector.

    Parameters
    ----------
    input_dim : int. The number of vectors.
    output_dim : int. The size of a vector.
    """

    shown = "Embedding({_input_dim} -> {_output_dim}, {_dtype})"

    def _prepare(self: Any) -> None:
        self._begin("weight", (self._input_dim, self._output_dim))

    def hybrid_forward(self, F, x, weight) -> Any:
        return called("embedding", x, weight)


class _Function(HybridBlock):
    """A layer that applies a function, given by value or by name."""

    def __init__(self, function, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        self._function = function
        if not isinstance(function, str) and not callable(function):
            raise refusal(ValueError, "Unrecognized function in", function, type(function))

    def __repr__(self) -> str:
        named = getattr(self._function, "__name__", self._function)
        return f"{type(self).__name__}({named})"

    def _found(self, x) -> Callable[..., Any]:
        if not isinstance(self._function, str):
            return self._function
        where: Any = numpy_extension if isinstance(x, CLASSES["np"]) else legacy
        return getattr(where, self._function)


class Lambda(_Function):
    """A layer that computes ``function(x)``."""

    def forward(self, *args) -> Any:
        return self._found(args[0])(*args)


class HybridLambda(_Function):
    """A layer that computes ``function(F, x)``."""

    def forward(self, *args) -> Any:
        function = self._found(args[0])
        return function(*args) if isinstance(self._function, str) else function(legacy, *args)


__all__ = defined(globals())
