"""Layer 9 · compat: gluon's layers other than convolutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet import ndarray as legacy
from wengert.compat.mxnet import numpy_extension
from wengert.compat.mxnet.gluon.block import Block, HybridBlock
from wengert.compat.mxnet.neural import FUNCTIONS as NEURAL
from wengert.compat.mxnet.results import CLASSES, computed


def called(name: str, x, *args, **kwargs) -> Any:
    """A function of neural networks on arrays of the class of `x`."""
    return computed(type(x), NEURAL[name], (x, *args), kwargs)


class _Sequence(Block):
    def __init__(self, *args, **kwargs) -> None:
        if args:
            raise TypeError(f"{type(self).__name__}() takes no layers: write net.add(layer, ...)")
        super().__init__(**kwargs)

    def add(self, *blocks) -> None:
        """Put layers at the end."""
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
        """Compute by one layer after another."""
        for block in self._children.values():
            x = block(x, *args)
            args = ()
            if isinstance(x, tuple | list):
                x, args = x[0], tuple(x[1:])
        return (x, *args) if args else x


class Sequential(_Sequence):
    """Layers, one after another."""


class HybridSequential(_Sequence, HybridBlock):
    """Layers, one after another."""


class Dense(HybridBlock):
    """``activation(x @ weight.T + bias)``.

    Parameters
    ----------
    units : int. The number of outputs.
    activation : str, optional
    use_bias : bool
    flatten : bool. Whether all dimensions but the first count as one.
    in_units : int. The number of inputs; 0: what the first batch has.
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype="float32",
        weight_initializer=None,
        bias_initializer="zeros",
        in_units: int = 0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self._units, self._flatten = units, flatten
        self.weight = self.params.get(
            "weight", shape=(units, in_units), dtype=dtype, init=weight_initializer
        )
        self.bias = (
            self.params.get("bias", shape=(units,), dtype=dtype, init=bias_initializer)
            if use_bias
            else None
        )
        self.act = None if activation is None else _unregistered(Activation(activation))

    def __repr__(self) -> str:
        units, inputs = self.weight.shape
        return f"Dense({inputs} -> {units}, {self.act or 'linear'})"

    def infer_shape(self, x, *args) -> None:
        """The number of inputs, of the first batch."""
        count = math.prod(x.shape[1:]) if self._flatten else x.shape[-1]
        self.weight.shape = (self._units, count)

    def hybrid_forward(self, F, x, weight, bias=None) -> Any:
        y = called("fully_connected", x, weight, bias, self._units, bias is None, self._flatten)
        return y if self.act is None else self.act(y)


def _unregistered(block) -> Any:
    """A block in a list of its own, so that it is not shown as a child."""
    return _Held(block)


class _Held:
    def __init__(self, block) -> None:
        self.block = block

    def __call__(self, x) -> Any:
        return self.block(x)

    def __repr__(self) -> str:
        return repr(self.block)


class Activation(HybridBlock):
    """The function that its name says: relu, sigmoid, tanh, softrelu or softsign."""

    def __init__(self, activation: str, **kwargs) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def __repr__(self) -> str:
        return f"Activation({self._act_type})"

    def forward(self, x, *args) -> Any:
        return called("activation", x, self._act_type)


class LeakyReLU(HybridBlock):
    """The identity above 0, and `alpha` times it below."""

    def __init__(self, alpha: float, **kwargs) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def __repr__(self) -> str:
        return f"LeakyReLU({self._alpha})"

    def forward(self, x, *args) -> Any:
        return called("leaky_relu", x, act_type="leaky", slope=self._alpha)


class PReLU(HybridBlock):
    """As `LeakyReLU`, with a slope that is trained."""

    def __init__(self, alpha_initializer="one", in_channels: int = 1, **kw) -> None:
        super().__init__(**kw)
        self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F, x, alpha) -> Any:
        return called("leaky_relu", x, alpha, act_type="prelu")


class ELU(HybridBlock):
    """The identity above 0, and ``alpha * (exp(x) - 1)`` below."""

    def __init__(self, alpha: float = 1.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def forward(self, x, *args) -> Any:
        return called("leaky_relu", x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """The scaled ELU, which keeps mean and variance."""

    def forward(self, x, *args) -> Any:
        return called("leaky_relu", x, act_type="selu")


class GELU(HybridBlock):
    """x times the probability that a normal number is below it."""

    def forward(self, x, *args) -> Any:
        return called("leaky_relu", x, act_type="gelu")


class Swish(HybridBlock):
    """``x * sigmoid(beta * x)``."""

    def __init__(self, beta: float = 1.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def forward(self, x, *args) -> Any:
        return x * called("sigmoid", x * self._beta)


class Dropout(HybridBlock):
    """Elements set to 0 at random in training.

    Parameters
    ----------
    rate : float. The probability.
    axes : tuple of int. Along which the choice is the same.
    """

    def __init__(self, rate: float, axes=(), **kwargs) -> None:
        super().__init__(**kwargs)
        self._rate, self._axes = rate, tuple(axes)

    def __repr__(self) -> str:
        return f"Dropout(p = {self._rate}, axes={self._axes})"

    def forward(self, x, *args) -> Any:
        return called("dropout", x, self._rate, axes=self._axes)


class Flatten(HybridBlock):
    """All dimensions but the first as one."""

    def __repr__(self) -> str:
        return "Flatten"

    def forward(self, x, *args) -> Any:
        return x.reshape(x.shape[0], math.prod(x.shape[1:]))


class BatchNorm(HybridBlock):
    """Batch normalisation, with running statistics for prediction.

    Parameters
    ----------
    axis : int. Where the channels are.
    momentum : float. How much of the running statistics a batch leaves.
    epsilon : float
    center, scale : bool. Whether `beta` and `gamma` are trained.
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer="zeros",
        gamma_initializer="ones",
        running_mean_initializer="zeros",
        running_variance_initializer="ones",
        in_channels: int = 0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self._axis, self._momentum, self._eps = axis, momentum, epsilon
        self._scale, self._global = scale, use_global_stats
        inits = {
            "gamma": ("write" if scale else "null", gamma_initializer),
            "beta": ("write" if center else "null", beta_initializer),
            "running_mean": ("null", running_mean_initializer),
            "running_var": ("null", running_variance_initializer),
        }
        for name, (request, start) in inits.items():
            param = self.params.get(name, grad_req=request, shape=(in_channels,), init=start)
            setattr(self, name, param)

    def __repr__(self) -> str:
        channels = self._reg_params["gamma"].shape[0]
        return (
            f"BatchNorm(axis={self._axis}, eps={self._eps}, momentum={self._momentum}, "
            f"fix_gamma={not self._scale}, use_global_stats={self._global}, "
            f"in_channels={channels})"
        )

    def infer_shape(self, x, *args) -> None:
        for param in self._reg_params.values():
            param.shape = (x.shape[self._axis],)

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var) -> Any:
        return called(
            "batch_norm", x, gamma, beta, running_mean, running_var, self._eps, self._momentum,
            not self._scale, self._global, False, self._axis,
        )  # fmt: skip


class LayerNorm(HybridBlock):
    """Normalisation along an axis.

    Parameters
    ----------
    axis : int
    epsilon : float
    center, scale : bool. Whether `beta` and `gamma` are trained.
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        in_channels: int = 0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self._axis, self._eps, self._center, self._scale = axis, epsilon, center, scale
        request = {True: "write", False: "null"}
        self.gamma = self.params.get(
            "gamma", grad_req=request[scale], shape=(in_channels,), init=gamma_initializer
        )
        self.beta = self.params.get(
            "beta", grad_req=request[center], shape=(in_channels,), init=beta_initializer
        )

    def __repr__(self) -> str:
        return (
            f"LayerNorm(eps={self._eps}, axis={self._axis}, center={self._center}, "
            f"scale={self._scale}, in_channels={self.gamma.shape[0]})"
        )

    def infer_shape(self, x, *args) -> None:
        """The size of the axis, of the first batch."""
        for param in self._reg_params.values():
            param.shape = (x.shape[self._axis],)

    def hybrid_forward(self, F, x, gamma, beta) -> Any:
        return called("layer_norm", x, gamma, beta, self._axis, self._eps)


class Embedding(HybridBlock):
    """A vector for each number below `input_dim`.

    Parameters
    ----------
    input_dim : int. How many vectors there are.
    output_dim : int. How long they are.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype="float32",
        weight_initializer=None,
        sparse_grad: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self._sizes, self._dtype = (input_dim, output_dim), dtype
        self.weight = self.params.get(
            "weight", shape=self._sizes, dtype=dtype, init=weight_initializer
        )

    def __repr__(self) -> str:
        return f"Embedding({self._sizes[0]} -> {self._sizes[1]}, {self._dtype})"

    def hybrid_forward(self, F, x, weight) -> Any:
        return called("embedding", x, weight)


class _Function(HybridBlock):
    """A function, or the name of one, as a layer."""

    def __init__(self, function, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        self._function = function
        if not isinstance(function, str) and not callable(function):
            raise ValueError(
                f"Unrecognized function in lambda: {function} of type {type(function)}"
            )

    def __repr__(self) -> str:
        named = getattr(self._function, "__name__", self._function)
        return f"{type(self).__name__}({named})"

    def _found(self, x) -> Callable[..., Any]:
        if not isinstance(self._function, str):
            return self._function
        where: Any = numpy_extension if isinstance(x, CLASSES["np"]) else legacy
        return getattr(where, self._function)


class Lambda(_Function):
    """``function(x)`` as a layer."""

    def forward(self, *args) -> Any:
        return self._found(args[0])(*args)


class HybridLambda(_Function):
    """``function(F, x)`` as a layer."""

    def forward(self, *args) -> Any:
        function = self._found(args[0])
        return function(*args) if isinstance(self._function, str) else function(legacy, *args)


__all__ = defined(globals())
fill_sections(globals())
