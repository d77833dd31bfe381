"""Layer 9 · compat: gluon's blocks: layers and models with parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from wengert.compat.kit.arguments import Given
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet import ndarray as legacy
from wengert.compat.mxnet import storage
from wengert.compat.mxnet.base import refusal
from wengert.compat.mxnet.context import checked
from wengert.compat.mxnet.gluon import parameter
from wengert.compat.mxnet.neural import Deferred
from wengert.compat.mxnet.results import CLASSES
from wengert.tape.sites import warn

_SCOPE: ContextVar[Any] = ContextVar("wengert_gluon_scope", default=None)
_COUNTS: dict[str, int] = {}
"""The number of blocks of each class outside all scopes."""


def _counted(counts: dict[str, int], kind: str) -> str:
    number = counts.get(kind, 0)
    counts[kind] = number + 1
    return f"{kind}{number}_"


class Block(Given):
    """A layer or model with parameters and children; a subclass defines `forward`.

    Parameters
    ----------
    prefix : str, optional. The prefix of the names of its parameters; default: the class's name and
        a number.
    params : ParameterDict, optional. Parameters to share with another block: ``other.params``.

    Examples
    --------
    >>> from wengert.compat.mxnet.gluon import nn
    >>> npx.set_np()
    >>> class Centred(nn.Block):
    ...     def forward(self, x):
    ...         return x - x.mean()
    >>> Centred()(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """

    def __init__(self, prefix: str | None = None, params=None) -> None:
        outer = _SCOPE.get()
        if prefix is None:
            prefix = _counted(_COUNTS if outer is None else outer._counts, self._alias())
        self._prefix = prefix if outer is None else outer._prefix + prefix
        self._counts: dict[str, int] = {}
        self._children: dict[str, Block] = {}
        self._reg_params: dict[str, parameter.Parameter] = {}
        if params is not None:
            self._params = parameter.ParameterDict(params.prefix, params)
        elif outer is None:
            self._params = parameter.ParameterDict(self._prefix)
        else:
            above = outer._params
            self._params = parameter.ParameterDict(above.prefix + prefix, above._shared)
        self._hooks: list[Callable[..., Any]] = []

    def _alias(self) -> str:
        """Return the default prefix of a block."""
        return type(self).__name__.lower()

    def __setattr__(self, name: str, value) -> None:
        before = vars(self).get(name)
        if isinstance(before, Block | parameter.Parameter) and not isinstance(value, type(before)):
            raise refusal(
                TypeError, "Changing attribute type", self.name, type(before), type(value)
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, parameter.Parameter):
            self._reg_params[name] = value
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        lines = [f"  ({name}): {child!r}" for name, child in self._children.items()]
        inner = "\n".join([line.replace("\n", "\n  ") for line in lines])
        return f"{type(self).__name__}(\n{inner}\n)"

    @property
    def prefix(self) -> str:
        """The prefix of the names of its parameters."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without its last underscore."""
        return self._prefix.removesuffix("_")

    @property
    def params(self) -> parameter.ParameterDict:
        """The block's own parameters, without those of its children."""
        return self._params

    @contextlib.contextmanager
    def name_scope(self) -> Iterator[Block]:
        """Return a context in which the names of new blocks begin with this block's prefix."""
        token = _SCOPE.set(self)
        try:
            yield self
        finally:
            _SCOPE.reset(token)

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Register `block` as a child, whose parameters then belong to this block too."""
        self._children[str(len(self._children)) if name is None else name] = block

    def register_forward_hook(self, hook: Callable[..., Any]) -> None:
        """Call ``hook(block, inputs, output)`` after each `forward`."""
        self._hooks.append(hook)

    def collect_params(self, select: str | None = None) -> parameter.ParameterDict:
        """Return the parameters of the block and its children; `select` filters them by name."""
        for name, value in vars(self).items():
            parts = value.values() if isinstance(value, dict) else value
            held = isinstance(value, list | tuple | dict) and name[0] != "_"
            blocks = {part for part in parts if isinstance(part, Block)} if held else set()
            if not blocks <= set(self._children.values()):
                warn(refusal(str, '"{}.{}" is an', self.name, name))
        found = parameter.ParameterDict(self._params.prefix)
        own = {**self._params._params, **{p.name: p for p in self._reg_params.values()}}
        found.update(own)
        for child in self._children.values():
            for name, param in child.collect_params().items():
                if name not in found:
                    found.update({name: param})
        return found if select is None else found.select(select)

    def _by_structure(self, prefix="") -> dict[str, parameter.Parameter]:
        """Return parameters by their position in the structure: ``0.weight``."""
        found = {prefix + name: param for name, param in self._reg_params.items()}
        for name, child in self._children.items():
            found |= child._by_structure(f"{prefix}{name}.")
        return found

    def initialize(self, init=None, ctx=None, verbose=False, force_reinit=False) -> None:
        """Initialize all parameters (see `Parameter.initialize`)."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Call ``fn(block)`` for all children and for this block."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active=True, **options) -> None:
        """Do nothing: blocks run eagerly."""

    def cast(self, dtype) -> None:
        """Change the dtype of all parameters."""
        for param in self.collect_params().values():
            param.cast(dtype)

    def save_parameters(self, filename: str, deduplicate=False) -> None:
        """Write all arrays to a file in NumPy's ``.npz`` format."""
        storage.save(filename, {name: p.data() for name, p in self._by_structure().items()})

    def load_parameters(self, filename: str, ctx=None, **options) -> None:
        """Load a file that `save_parameters` wrote for a block of the same structure."""
        checked(ctx)
        parameter.fill(
            self._by_structure(), storage.load(filename, CLASSES["nd"]), filename, **options
        )

    def __call__(self, *args) -> Any:
        """Call `forward`."""
        result = self.forward(*args)
        for hook in self._hooks:
            hook(self, args, result)
        return result

    def forward(self, *args) -> Any:
        """Compute the output; a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(self, x)")


class HybridBlock(Block):
    """A block that may define ``hybrid_forward(F, x, **params)`` instead of `forward`.

    `F` is ``mxnet.nd``, with `np` and `npx`; parameters in attributes are passed as arrays.
    """

    def infer_shape(self, *args) -> None:
        """Infer the shapes of parameters from the arguments."""

    def export(self, path: str, epoch=0) -> None:
        """Raise an error: a block has no graph to export."""
        raise NotImplementedError("export: models are Python functions here; save_parameters")

    def forward(self, x, *args) -> Any:
        """Call ``hybrid_forward``."""
        try:
            params = {name: param.data() for name, param in self._reg_params.items()}
        except parameter.DeferredInitializationError:
            self.infer_shape(x, *args)
            for param in self._reg_params.values():
                if param._known():
                    param.finish()
            params = {
                name: param.data() if param._known() else Deferred(param)
                for name, param in self._reg_params.items()
            }
        return self.hybrid_forward(legacy, x, *args, **params)

    def hybrid_forward(self, F, x, *args, **params) -> Any:
        """Compute the output; a subclass defines it."""
        raise refusal(NotImplementedError, "{} must define", type(self).__name__)


__all__ = defined(globals())
