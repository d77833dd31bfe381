"""Layer 8 · nn: `Module`, which holds parameters and computes with them."""

from __future__ import annotations

import importlib
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar

from wengert.base.elsewhere import elsewhere
from wengert.nn.modules.backward_hooks import BackwardHook, hook_outputs_node
from wengert.nn.modules.conversion import Conversion
from wengert.nn.modules.hooks import ALWAYS, NOT_FULL, WITH_KWARGS, Hooks, check_kind, renumbered
from wengert.nn.modules.registering import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from wengert.nn.modules.registration import TABLES, Registration
from wengert.nn.modules.state import State
from wengert.nn.modules.state import _IncompatibleKeys as _IncompatibleKeys
from wengert.nn.modules.traversal import Traversal
from wengert.tape.compiled import FUNCTIONS
from wengert.tape.handles import RemovableHandle, flags_of, register
from wengert.tape.sites import warn

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


__getattr__ = elsewhere(__name__)

# programs set these to empty tables, so each use reads the global
_global_forward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Any] = OrderedDict()
_global_backward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Any] = OrderedDict()


def _forward_unimplemented(self: Any, *input: Any) -> Any:
    """Compute the result of a call of the module; for subclasses to override.

    Call the module rather than this method, since that also runs its hooks.
    """
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


def _renamed(method: Any, name: str) -> Any:
    """Return a copy of `method` under the `name` that errors in its arguments show."""
    copy = FunctionType(method.__code__, method.__globals__, closure=method.__closure__)
    for part in ("__defaults__", "__kwdefaults__", "__annotations__", "__doc__", "__dict__"):
        setattr(copy, part, getattr(method, part))
    copy.__qualname__ = name
    return copy


P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class _Forward(Protocol[P, R]):
    """An object with a `forward` method, whose arguments and result are those of a call."""

    @property
    def forward(self) -> Callable[P, R]: ...


_OPERATIONS = ("wengert.ops.", "wengert.nn.functional:", "wengert:")
"""The modules whose functions do not bind as methods; in PyTorch they are builtins."""


class Module(Registration, Traversal, Conversion, Hooks, State):
    """The base class of all neural network modules.

    A subclass makes its parameters and submodules in ``__init__``, after ``super().__init__()``,
    and computes the result of a call in `forward`. Attributes that are parameters, buffers or
    modules are registered, so that `parameters`, `state_dict`, `to` and other methods find them.

    Attributes
    ----------
    training : bool. Whether the module is in training mode rather than in evaluation mode (see
        `train`, `eval`).

    Examples
    --------
    %(a_line)s
    >>> line(wg.tensor(3.0)).backward()
    >>> line.slope.grad
    tensor(3.)
    >>> [name for name, _ in line.named_parameters()]
    ['slope']
    """

    training: bool
    _is_hooked: Any = False
    _compiled_call_impl: Any = None
    call_super_init: bool = False
    _shows: ClassVar[str] = ""
    """The fields of `extra_repr`: ``name`` shows an attribute's value, ``name=`` name and value,
    ``name?`` the same if it is true; a bias shows as whether there is one."""
    dump_patches: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep library functions in a class body, such as ``act = wg.tanh``, from binding."""
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("wengert.nn.") and "__init__" not in vars(cls):
            cls.__init__ = _renamed(cls.__init__, f"{cls.__name__}.__init__")  # type: ignore[method-assign]
        for name, value in list(vars(cls).items()):
            if isinstance(value, FUNCTIONS) and f"{value.__module__}:".startswith(_OPERATIONS):
                setattr(cls, name, staticmethod(value))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make the tables of parameters, buffers and modules."""
        if not self.call_super_init:
            name = type(self).__name__
            if kwargs:
                raise TypeError(
                    f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _modules={},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # an attribute rather than a method, so that subclasses may take any arguments
    forward: Callable[..., Any] = _forward_unimplemented

    def __call__(self: _Forward[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result of `forward`, running hooks before and after it."""
        if not self._is_hooked:  # type: ignore[attr-defined]
            return self.forward(*args, **kwargs)
        if self._compiled_call_impl is not None:  # type: ignore[attr-defined]
            return self._compiled_call_impl(*args, **kwargs)  # type: ignore[attr-defined]
        return _call_with_hooks(self, args, kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if not self._is_hooked:
            return self.forward(*args, **kwargs)
        return _call_with_hooks(self, args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the calls of this module from now on (see `wengert.compile`).

        Parameters
        ----------
        *args, **kwargs: The further arguments of `wengert.compile`.

        Examples
        --------
        >>> layer = nn.Linear(2, 1)
        >>> x = wg.ones(3, 2)
        >>> before = layer(x)
        >>> layer.compile()
        >>> wg.allclose(layer(x), before)
        True
        """
        compiler = importlib.import_module("wengert.compiler")
        self.__dict__["_compiled_call_impl"] = compiler.compile(self._call_impl, *args, **kwargs)
        self.__dict__["_is_hooked"] = True

    # -- printing ----------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return the text that `repr` shows beside the submodules; for subclasses to override.

        Examples
        --------
        >>> nn.Dropout(0.25).extra_repr()
        'p=0.25, inplace=False'
        """
        shown = []
        for word in self._shows.split():
            name = word.rstrip("=?")
            value = getattr(self, name)
            if name == "bias":
                value = value is not None
            if word[-1] != "?" or value:
                shown.append(str(value) if word == name else f"{name}={value}")
        return ", ".join(shown)

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inner = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        if len(lines) == 1 and not inner:
            return f"{self._get_name()}({lines[0]})"
        lines += inner
        if not lines:
            return f"{self._get_name()}()"
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"

    # -- copies ------------------------------------------------------------------------------------

    def _replicate_for_data_parallel(self) -> Any:
        replica = self.__new__(type(self))
        own = {"_buffers": dict(self._buffers), "_modules": dict(self._modules), "_parameters": {}}
        replica.__dict__.update(self.__dict__, **own, _is_replica=True)
        return replica

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles and copies: all attributes except compiled code."""
        state = dict(self.__dict__)
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # older pickles do not have it
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        for name in TABLES & state.keys():
            # handle numbers come from another process, or from the module that this copies
            self.__dict__[name] = renumbered(state[name])


# -- calls with hooks ------------------------------------------------------------------------------


def _hooks(module: Any, name: str, common: Any) -> list[tuple[Any, Any]]:
    own = module.__dict__.get(name)
    return [*common.items(), *own.items()] if own else [*common.items()]


def _call_with_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    after = _hooks(module, "_forward_hooks", _global_forward_hooks)
    called: set[Any] = set()
    result = None
    try:
        for key, hook in _hooks(module, "_forward_pre_hooks", _global_forward_pre_hooks):
            args, kwargs = _before(module, hook, flags_of(key), args, kwargs)
        both = _hooks(module, "_backward_hooks", _global_backward_hooks)
        full = [hook for key, hook in both if not flags_of(key) & NOT_FULL]
        older = [hook for key, hook in both if flags_of(key) & NOT_FULL]
        before = _hooks(module, "_backward_pre_hooks", _global_backward_pre_hooks)
        earlier = [hook for _, hook in before]
        backward = None
        if full or earlier:
            backward = BackwardHook(module, full, earlier)
            args = backward.setup_input_hook(args)
        result = module.forward(*args, **kwargs)
        for key, hook in after:
            called.add(key)
            made = _after(module, hook, flags_of(key), args, kwargs, result)
            if made is not None:
                result = made
        if backward is not None:
            result = backward.setup_output_hook(result)
        if older:
            hook_outputs_node(module, older, args, result)
        return result
    except Exception:
        for key, hook in after:
            if flags_of(key) & ALWAYS and key not in called:
                result = _silenced(module, hook, flags_of(key), args, kwargs, result)
        raise


def _before(
    module: Any, hook: Any, flags: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Run a hook before `forward`, and return the arguments as it leaves them."""
    if flags & WITH_KWARGS:
        made = hook(module, args, kwargs)
        if made is None:
            return args, kwargs
        if not (isinstance(made, tuple) and len(made) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                f"{made}."
            )
        return made
    made = hook(module, args)
    if made is None:
        return args, kwargs
    return made if isinstance(made, tuple) else (made,), kwargs


def _after(module: Any, hook: Any, flags: int, args: Any, kwargs: Any, result: Any) -> Any:
    if flags & WITH_KWARGS:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)


def _silenced(module: Any, hook: Any, flags: int, args: Any, kwargs: Any, result: Any) -> Any:
    """Run a hook after an error in `forward`; an error in the hook itself becomes a warning."""
    try:
        made = _after(module, hook, flags, args, kwargs, result)
    except Exception as error:
        warn(
            "module forward hook with ``always_call=True`` raised an exception that was silenced "
            f"as another error was raised in forward: {error}",
        )
        return result
    return result if made is None else made


# -- hooks of all modules --------------------------------------------------------------------------


def _everywhere(table: Any, hook: Any, what: str, flags: int = 0) -> RemovableHandle:
    handle = register(table, hook, what, flags)
    Module._is_hooked = _Watch()
    return handle


class _Watch:
    """The descriptor that `Module._is_hooked` is while global hooks may exist: true while any does.

    A module's own attribute hides it, so only calls of modules without hooks evaluate it.
    """

    def __bool__(self) -> bool:
        if (
            _global_forward_pre_hooks
            or _global_forward_hooks
            or _global_backward_pre_hooks
            or _global_backward_hooks
        ):
            return True
        Module._is_hooked = False
        return False


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the `forward` of every module.

    See `Module.register_forward_pre_hook`. Hooks of all modules run before a module's own.
    """
    return _everywhere(_global_forward_pre_hooks, hook, "register_module_forward_pre_hook")


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the `forward` of every module.

    See `Module.register_forward_hook`. Hooks of all modules run before a module's own.

    Examples
    --------
    %(a_double)s
    >>> seen = []
    >>> with wg.nn.modules.module.register_module_forward_hook(lambda m, a, out: seen.append(m)):
    ...     _ = Double()(wg.ones(1))
    >>> seen
    [Double()]
    """
    flags = WITH_KWARGS * with_kwargs | ALWAYS * always_call
    return _everywhere(_global_forward_hooks, hook, "register_module_forward_hook", flags)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward pass reaches any module."""
    return _everywhere(_global_backward_pre_hooks, hook, "register_module_full_backward_pre_hook")


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` for every module (see `Module`)."""
    check_kind(_global_backward_hooks, 0, "as a global Module hook")
    return _everywhere(_global_backward_hooks, hook, "register_module_full_backward_hook")


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` with the last node of every module.

    See `Module.register_backward_hook`.
    """
    check_kind(_global_backward_hooks, NOT_FULL, "as a global Module hook")
    return _everywhere(_global_backward_hooks, hook, "register_module_backward_hook", NOT_FULL)
