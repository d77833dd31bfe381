"""Layer 9 · compat: parameters of gluon's blocks, whose shapes may be inferred later."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet import initializer, storage
from wengert.compat.mxnet.base import MXNetError, refusal
from wengert.compat.mxnet.context import Context, checked
from wengert.compat.mxnet.numpy.creation import made
from wengert.compat.mxnet.results import CLASSES, mark
from wengert.compat.mxnet.state import NUMPY


class DeferredInitializationError(MXNetError):
    """The error for a parameter whose shape is still unknown."""


class Parameter:
    """A trained array with its gradient.

    Parameters
    ----------
    name : str
    grad_req : {'write', 'add', 'null'}
    shape : tuple of int, optional. The shape, in which unknown sizes are 0 or -1.
    dtype : dtype
    lr_mult, wd_mult : float. The factors of the learning rate and of the weight decay.
    init : Initializer or str, optional. The initializer; default: the argument of `initialize`.

    Examples
    --------
    >>> from wengert.compat.mxnet import gluon, init
    >>> p = gluon.Parameter("w", shape=(2,))
    >>> p.initialize(init.One())
    >>> p.data().asnumpy()
    array([1., 1.], dtype=float32)
    """

    def __init__(
        self,
        name: str,
        grad_req="write",
        shape=None,
        dtype=np.float32,
        lr_mult=1.0,
        wd_mult=1.0,
        init=None,
        allow_deferred_init=False,
        differentiable=True,
        **more,
    ) -> None:
        self.name = name
        self._grad_req = grad_req if differentiable else "null"
        self._shape = (
            (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
        )
        self.dtype = np.dtype(dtype)
        self.lr_mult, self.wd_mult = lr_mult, wd_mult
        self.init = init
        self._data: Any = None
        self._pending: Any = None

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def shape(self) -> Any:
        """The shape; unknown sizes are -1."""
        if self._shape is None:
            return None
        return tuple(size if size > 0 else -1 for size in self._shape)

    @shape.setter
    def shape(self, value) -> None:
        known = self._shape or tuple(value)
        fits = len(known) == len(value) and all(
            a <= 0 or a == b for a, b in zip(known, value, strict=True)
        )
        if not fits:
            raise refusal(AssertionError, "Expected shape {}", tuple(value), self.shape)
        self._shape = tuple(value)

    @property
    def grad_req(self) -> str:
        """The request for the gradient: ``"write"``, ``"add"`` or ``"null"``."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, request: str) -> None:
        if request not in ("write", "add", "null"):
            raise refusal(AssertionError, "grad_req must be", request)
        self._grad_req = request
        if self._data is not None:
            self._attach()

    def _known(self) -> bool:
        return self._shape is not None and all(size > 0 for size in self._shape)

    def initialize(self, init=None, ctx=None, default_init=None, force_reinit=False) -> None:
        """Initialize the array now, or as soon as its shape is known.

        Parameters
        ----------
        init : Initializer or str, optional. The initializer; default: the parameter's own, or
            `default_init`.
        force_reinit : bool. Whether to initialize the array again.
        """
        checked(ctx)
        if self._data is not None and not force_reinit:
            return
        default = initializer.Uniform() if default_init is None else default_init
        given = init if init is not None else self.init
        self._data = None
        self._pending = default if given is None else given
        if self._known():
            self.finish()

    def finish(self, shape=None) -> None:
        """Complete a deferred initialization, given the shape."""
        if shape is not None and self._data is None:
            self.shape = shape
        if self._data is not None or self._pending is None:
            return
        chosen = initializer.create(self._pending)
        cls = CLASSES["np"] if NUMPY.get()[1] else CLASSES["nd"]
        data = made(np.zeros(self._shape or (), self.dtype), cls)
        fill = getattr(chosen, "_init_weight", chosen)
        fill(initializer.InitDesc(self.name), data)
        self._pending = None
        self._data = data
        self._attach()

    def _attach(self) -> None:
        if self._grad_req == "null":
            self._data.drop_grad()
            return
        zeros = made(np.zeros(self._data.shape, self.dtype), type(self._data))
        mark(self._data, zeros, self._grad_req)

    def _present(self) -> Any:
        if self._data is not None:
            return self._data
        if self._pending is not None:
            raise refusal(
                DeferredInitializationError,
                "Parameter '{}' has not been initialized yet",
                self.name,
            )
        raise refusal(RuntimeError, "Parameter '{}' has not been initialized. Note", self.name)

    def data(self, ctx=None) -> Any:
        """Return the array."""
        return self._present()

    def list_data(self) -> list[Any]:
        """Return the array in a list."""
        return [self._present()]

    def grad(self, ctx=None) -> Any:
        """Return the gradient."""
        if self._present().grad is None:
            raise refusal(RuntimeError, "Cannot get gradient", self.name)
        return self._data.grad

    def list_grad(self) -> list[Any]:
        """Return the gradient in a list."""
        return [self.grad()]

    def list_ctx(self) -> list[Context]:
        """Return the devices that hold the array."""
        self._present()
        return [Context("cpu")]

    def set_data(self, data) -> None:
        """Overwrite the values of the array."""
        values = data.asnumpy() if hasattr(data, "asnumpy") else np.asarray(data)
        self.shape = values.shape
        if self._data is None:
            if self._pending is None:
                raise AssertionError(f"Parameter '{self.name}' has not been initialized")
            self.finish()
        self._data[...] = made(values.astype(self.dtype), type(self._data))

    def zero_grad(self) -> None:
        """Set the gradient to zeros."""
        if self._data is not None and self._data.grad is not None:
            self._data.grad[...] = 0

    def reset_ctx(self, ctx) -> None:
        """Do nothing: only one context holds arrays."""
        checked(ctx)

    def cast(self, dtype) -> None:
        """Change the dtype of the array and of its gradient."""
        self.dtype = np.dtype(dtype)
        if self._data is not None:
            self._data = self._data.detach().astype(self.dtype)
            self._attach()


class Constant(Parameter):
    """A parameter that is not trained.

    Parameters
    ----------
    name : str
    value : array_like
    """

    def __init__(self, name: str, value) -> None:
        values = value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value, np.float32)
        super().__init__(
            name,
            "null",
            values.shape,
            values.dtype,
            init=initializer.create("constant", value=values),
        )
        self.value = value


class ParameterDict(Mapping[str, Parameter]):
    """Parameters by name, in order.

    Parameters
    ----------
    prefix : str. The prefix of the names that are passed to `get`.
    shared : ParameterDict, optional. Parameters that `get` looks up first.
    """

    def __init__(self, prefix="", shared=None) -> None:
        self._prefix = prefix
        self._params: dict[str, Parameter] = {}
        self._shared = shared

    @property
    def prefix(self) -> str:
        """The prefix of the names that `get` returns."""
        return self._prefix

    def __repr__(self) -> str:
        lines = "".join(f"  {param!r}\n" for param in self._params.values())
        return f"{self._prefix} (\n{lines})"

    def __getitem__(self, key: str) -> Parameter:
        return self._params[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    __hash__ = object.__hash__

    def get(self, name: str, **kwargs) -> Parameter:  # type: ignore[override]
        """Return the parameter ``prefix + name``, created on first use with the given arguments."""
        full = self._prefix + name
        found = self._params.get(full)
        if found is None and self._shared is not None:
            found = self._shared._params.get(full) or self._shared._params.get(
                self._shared.prefix + name
            )
            if found is not None:
                self._params[full] = found
        if found is None:
            found = self._params[full] = Parameter(full, **kwargs)
        elif kwargs.get("shape") is not None and found._shape is not None:
            sizes = zip(np.atleast_1d(kwargs["shape"]), found._shape, strict=True)
            if any(a > 0 and b > 0 and a != b for a, b in sizes):
                raise refusal(
                    AssertionError, "Cannot retrieve Parameter", full, kwargs["shape"], found.shape
                )
        return found

    def get_constant(self, name: str, value=None) -> Parameter:
        """Return the constant ``prefix + name``, created on first use."""
        full = self._prefix + name
        if full not in self._params:
            self._params[full] = Constant(full, value)
        return self._params[full]

    def update(self, other) -> None:
        """Add the parameters of `other`."""
        for name, param in other.items():
            if self._params.setdefault(name, param) is not param:
                raise refusal(AssertionError, "Cannot update self", name)

    def select(self, pattern: str) -> ParameterDict:
        """Return the parameters whose names match a regular expression."""
        chosen = ParameterDict(self._prefix)
        chosen._params = {n: p for n, p in self._params.items() if re.match(pattern, n)}
        return chosen

    def initialize(self, init=None, ctx=None, verbose=False, force_reinit=False) -> None:
        """Initialize all parameters (see `Parameter.initialize`)."""
        checked(ctx)
        for param in self._params.values():
            param.initialize(None, ctx, init, force_reinit)

    def zero_grad(self) -> None:
        """Set all gradients to zeros."""
        for param in self._params.values():
            param.zero_grad()

    def reset_ctx(self, ctx) -> None:
        """Do nothing: only one context holds arrays."""
        checked(ctx)

    def setattr(self, name: str, value) -> None:
        """Set an attribute of all parameters: ``setattr('grad_req', 'null')``."""
        for param in self._params.values():
            setattr(param, name, value)

    def save(self, filename: str, strip_prefix="") -> None:
        """Write all arrays to a file in NumPy's ``.npz`` format."""
        arrays = {n.removeprefix(strip_prefix): p.data() for n, p in self._params.items()}
        storage.save(filename, arrays)

    def load(self, filename: str, ctx=None, **options) -> None:
        """Load a file that `save` wrote."""
        checked(ctx)
        prefix = options.get("restore_prefix", "")
        loaded = storage.load(filename, CLASSES["nd"])
        fill(self._params, {prefix + n: v for n, v in loaded.items()}, filename, **options)


def fill(params: dict[str, Parameter], arrays, filename: str, **options) -> None:
    """Set parameters to arrays from a file.

    Raises
    ------
    AssertionError: If an array is missing or unused; nothing is changed.
    """
    missing = sorted(set(params) - set(arrays))
    surplus = sorted(set(arrays) - set(params))
    if missing and not options.get("allow_missing"):
        raise AssertionError(f"Parameter '{missing[0]}' is missing in file '{filename}'")
    if surplus and not options.get("ignore_extra"):
        raise refusal(AssertionError, "Parameter '{}' loaded", surplus[0], filename)
    for name, param in params.items():
        if name in arrays:
            if param._data is None and param._pending is None:
                param._pending = "zeros"
            param.set_data(arrays[name])


__all__ = defined(globals())
